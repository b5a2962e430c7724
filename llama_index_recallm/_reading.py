"""What of a memory LlamaIndex's nodes and relations are, and which of them names mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    EntityNode,
    LabelledNode,
    LabelledPropertyGraph,
    Relation,
)
from llama_index.core.graph_stores.types import Triplet as Path
from llama_index.core.vector_stores.types import VectorStoreQuery
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

from llama_index_recallm._nodes import alike, is_chunk, node_of, relation_of
from recallm import Entity, InvalidInputError, Passage, RecallM, Triplet

__all__ = [
    "among",
    "found",
    "has",
    "nodes_of",
    "of_sources",
    "paths_of",
    "several",
    "simple_form",
]


def several(names: Iterable[str], argument: str) -> list[str]:
    """Names as a list, refused where they are a str, whose letters would be taken for names, or
    hold something else."""
    listed = [] if isinstance(names, str) else list(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in listed):
        raise InvalidInputError(
            f"{argument} must be a list of str, not {names!r}", argument=argument
        )
    return listed


def found(memory: RecallM, names: Iterable[str]) -> list[Entity]:
    """The entities that ``names`` mean, in their order: those with exactly this id, else those
    whose name differs in its casing alone, else those on the same concept."""
    graph = memory.graph
    # LlamaIndex makes ids of names, and blanks of the quotation marks in them.
    wanted = list(dict.fromkeys(several(names, "ids")))
    exact = {entity.id: entity for entity in graph.entities([*wanted, *map(_id, wanted)])}
    near = alike(graph, [name for name in wanted if not {name, _id(name)} & exact.keys()])
    meant: dict[str, Entity] = {}
    for name in wanted:
        so_named = [exact[id] for id in (name, _id(name)) if id in exact][:1]
        if not so_named:
            folded = {name.casefold(), _id(name).casefold()}
            so_named = [it for it in near if folded & {it.id.casefold(), it.label.casefold()}]
        if not so_named:
            concept = graph.concept_name(name)
            so_named = [it for it in near if it.concept == concept]
        meant.update((entity.id, entity) for entity in so_named)
    return list(meant.values())


def among(memory: RecallM, query: VectorStoreQuery) -> Collection[str] | None:
    """The ids of the nodes that a vector query may give; None: all."""
    graph = memory.graph
    chosen: list[Entity] | None = None
    if query.node_ids is not None:
        chosen = graph.entities(query.node_ids)
    if query.doc_ids is not None:
        passages = [
            passage.id
            for document in query.doc_ids
            for passage in memory.passages(session=document)
        ]
        told = graph.entities(passages=passages)
        ids = {entity.id for entity in told}
        chosen = told if chosen is None else [it for it in chosen if it.id in ids]
    if query.filters is not None and query.filters.filters:
        nodes = nodes_of(memory, graph.entities() if chosen is None else chosen)
        meets = build_metadata_filter_fn(lambda id: _asked_for(nodes[id]), query.filters)
        return [id for id in nodes if meets(id)]
    return None if chosen is None else [entity.id for entity in chosen]


def nodes_of(memory: RecallM, entities: Collection[Entity]) -> dict[str, LabelledNode]:
    """The nodes that these entities are, by id; without chunks whose text was forgotten."""
    texts = _texts(memory, entities)
    nodes = {entity.id: node_of(entity, texts.get(entity.id)) for entity in entities}
    return {id: node for id, node in nodes.items() if node is not None}


def paths_of(memory: RecallM, triplets: Collection[Triplet]) -> list[Path]:
    """Triplets with the nodes at their ends; these name the chunk that shows the relation."""
    ends = {end for it in triplets for end in (it.subject, it.object)}
    entities = {entity.id: entity for entity in memory.graph.entities(ends)}
    texts = _texts(memory, entities.values())
    paths: list[Path] = []
    for it in triplets:
        nodes = [
            node_of(entities[id], texts.get(id), source=it.source) if id in entities else None
            for id in (it.subject, it.object)
        ]
        if None not in nodes:
            source, target = cast("list[LabelledNode]", nodes)
            paths.append((source, relation_of(it), target))
    return paths


def of_sources(memory: RecallM, chunks: Iterable[str], documents: Collection[str]) -> list[str]:
    """The ids of these chunks and of the chunks of these documents (a document that was not split
    is a chunk with the document's own id), and of the entities that came without a chunk and name
    such a chunk or document."""
    named = {*chunks, *documents}
    for document in documents:
        named.update(passage.id for passage in memory.passages(session=document))
    sources = {TRIPLET_SOURCE_KEY: named, "ref_doc_id": {*documents}}

    def names_one(entity: Entity) -> bool:
        own = {key: entity.properties.get(key) for key in sources}
        return any(isinstance(id, str) and id in sources[key] for key, id in own.items())

    return [
        entity.id
        for entity in memory.graph.entities()
        if (entity.id in named and is_chunk(entity))
        or (entity.source is None and names_one(entity))
    ]


def simple_form(memory: RecallM) -> dict[str, Any]:
    """All nodes and relations in the form that LlamaIndex's ``SimplePropertyGraphStore`` keeps."""
    graph = LabelledPropertyGraph()
    for path in paths_of(memory, memory.graph.triplets()):
        graph.add_triplet(path)
    for node in nodes_of(memory, memory.graph.entities()).values():
        graph.add_node(node)
    return graph.model_dump()


def has(part: LabelledNode | Relation, properties: dict[str, Any] | None) -> bool:
    """Whether a node or a relation has all of ``properties``; an entity's name is one of them, as
    the schema says, unless the entity has a property ``name`` of its own."""
    own = _asked_for(part)
    return all(key in own and own[key] == value for key, value in (properties or {}).items())


def _asked_for(part: LabelledNode | Relation) -> dict[str, Any]:
    """The properties by which a node or a relation is found."""
    name = {"name": part.name} if isinstance(part, EntityNode) else {}
    return name | part.properties


def _id(name: str) -> str:
    """The id that LlamaIndex makes of a name."""
    return name.replace('"', " ")


def _texts(memory: RecallM, entities: Iterable[Entity]) -> dict[str, Passage]:
    """The passages of the chunks among these entities, by id."""
    return memory.get_many([entity.id for entity in entities if is_chunk(entity)])
