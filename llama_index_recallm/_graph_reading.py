"""The graph of a memory as LlamaIndex's nodes, paths and schema, and which nodes are meant by
names, filters and documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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

from llama_index_recallm._metadata_filters import checked_filters, passes
from llama_index_recallm._nodes import entities_named_like, is_chunk, node_of, relation_of
from llama_index_recallm._property_values import decoded
from recallm import Entity, Passage, RecallM, Triplet
from recallm.adapting import checks

_SOURCE_KEYS = (TRIPLET_SOURCE_KEY, "ref_doc_id")
"""The properties by which an entity names its chunk and its document."""


def llama_id(name: str) -> str:
    """The id that LlamaIndex makes of an entity's name."""
    return name.replace('"', " ")


# -- which nodes are meant ---------------------------------------------------------------------


def entities_meant_by(memory: RecallM, names: Iterable[str]) -> list[Entity]:
    """For each of ``names``, in their order: the entity with exactly this id, else the entities
    whose name differs in casing alone, else those on the same concept."""
    graph = memory.graph
    names = list(dict.fromkeys(checks.strings(names, "ids")))
    exact = {entity.id: entity for entity in graph.entities([*names, *map(llama_id, names)])}
    similar = entities_named_like(
        graph, [name for name in names if not {name, llama_id(name)} & exact.keys()]
    )
    meant: dict[str, Entity] = {}
    for name in names:
        matching = [exact[id] for id in (name, llama_id(name)) if id in exact][:1]
        if not matching:
            folded = {name.casefold(), llama_id(name).casefold()}
            matching = [
                entity
                for entity in similar
                if folded & {entity.id.casefold(), entity.label.casefold()}
            ]
        if not matching:
            concept = graph.concept_name(name)
            matching = [entity for entity in similar if entity.concept == concept]
        meant.update((entity.id, entity) for entity in matching)
    return list(meant.values())


def ids_allowed_by(memory: RecallM, query: VectorStoreQuery) -> Collection[str] | None:
    """The ids of the nodes that a vector query may return; None: all."""
    graph = memory.graph
    allowed: list[Entity] | None = None
    if query.node_ids is not None:
        allowed = graph.entities(query.node_ids)
    if query.doc_ids is not None:
        passages = [
            passage.id
            for document in query.doc_ids
            for passage in memory.passages(session=document)
        ]
        of_documents = graph.entities(passages=passages)
        ids = {entity.id for entity in of_documents}
        allowed = (
            of_documents if allowed is None else [entity for entity in allowed if entity.id in ids]
        )
    if (filters := checked_filters(query.filters)) is not None:
        nodes = nodes_of(memory, graph.entities() if allowed is None else allowed)
        return [id for id, node in nodes.items() if passes(filters, _searched_properties(node))]
    return None if allowed is None else [entity.id for entity in allowed]


class SourceNames:
    """The entities of a memory whose properties name a chunk or a document: those that were written
    without one. Only the first call, and those after an update without a passage, read all
    entities: what a passage brought names no source in its properties."""

    def __init__(self, memory: RecallM) -> None:
        self._memory = memory
        self._seen: tuple[int, frozenset[str]] | None = None

    def ids_of(self, chunks: Iterable[str], documents: Collection[str]) -> list[str]:
        """The ids of these chunks, of the chunks of these documents (a document that was not split
        is a chunk with the document's own id), and of the entities that were written without a
        chunk and name such a chunk or document."""
        memory = self._memory
        chunk_ids = {*chunks, *documents}
        for document in documents:
            chunk_ids.update(passage.id for passage in memory.passages(session=document))
        if not chunk_ids:
            return []
        chunk_key, document_key = _SOURCE_KEYS
        sources: dict[str, set[str]] = {chunk_key: chunk_ids, document_key: {*documents}}

        def names_a_source(entity: Entity) -> bool:
            named = {key: entity.properties.get(key) for key in sources}
            return any(isinstance(id, str) and id in sources[key] for key, id in named.items())

        return [
            entity.id
            for entity in memory.graph.entities(chunk_ids | self._ids())
            if (entity.id in chunk_ids and is_chunk(entity))
            or (entity.source is None and names_a_source(entity))
        ]

    def _ids(self) -> frozenset[str]:
        """The ids of these entities, and perhaps of some that exist no more."""
        with self._memory.graph.reader() as reader:
            now = reader.state.t_index
        if self._seen is None or not self._all_are_passages(self._seen[0], now):
            found = frozenset(
                entity.id
                for entity in self._memory.graph.entities()
                if not is_chunk(entity) and not entity.properties.keys().isdisjoint(_SOURCE_KEYS)
            )
        else:
            found = self._seen[1]
        self._seen = now, found
        return found

    def _all_are_passages(self, before: int, now: int) -> bool:
        """Whether each update after ``before`` has a passage, which was not forgotten since."""
        return before == now or now - before == len(
            self._memory.passages(since=before + 1, until=now)
        )


def has_properties(part: LabelledNode | Relation, properties: dict[str, Any] | None) -> bool:
    """Whether a node or a relation has all of ``properties``; an entity's name is one of them, as
    the schema says, unless the entity has a property ``name`` of its own."""
    own = _searched_properties(part)
    return all(key in own and own[key] == value for key, value in (properties or {}).items())


def _searched_properties(part: LabelledNode | Relation) -> dict[str, Any]:
    name = {"name": part.name} if isinstance(part, EntityNode) else {}
    return name | part.properties


# -- nodes and paths ---------------------------------------------------------------------------


def nodes_of(memory: RecallM, entities: Collection[Entity]) -> dict[str, LabelledNode]:
    """Entities as nodes, by id; without chunks whose text was forgotten."""
    passages = _passages_of_chunks(memory, entities)
    nodes = {entity.id: node_of(entity, passages.get(entity.id)) for entity in entities}
    return {id: node for id, node in nodes.items() if node is not None}


def paths_of(memory: RecallM, triplets: Collection[Triplet]) -> list[Path]:
    """Triplets with the nodes at their ends, which name the chunk that shows the triplet."""
    end_ids = {end for triplet in triplets for end in (triplet.subject, triplet.object)}
    entities = {entity.id: entity for entity in memory.graph.entities(end_ids)}
    passages = _passages_of_chunks(memory, entities.values())
    paths: list[Path] = []
    for triplet in triplets:
        ends = [
            node_of(entities[id], passages.get(id), source=triplet.source)
            if id in entities
            else None
            for id in (triplet.subject, triplet.object)
        ]
        if None not in ends:
            source, target = cast("list[LabelledNode]", ends)
            paths.append((source, relation_of(triplet), target))
    return paths


def llama_graph(memory: RecallM) -> dict[str, Any]:
    """All nodes and relations in the form that LlamaIndex's ``SimplePropertyGraphStore`` keeps."""
    graph = LabelledPropertyGraph()
    for path in paths_of(memory, memory.graph.triplets()):
        graph.add_triplet(path)
    for node in nodes_of(memory, memory.graph.entities()).values():
        graph.add_node(node)
    return graph.model_dump()


def _passages_of_chunks(memory: RecallM, entities: Iterable[Entity]) -> dict[str, Passage]:
    """The passages of the chunks among these entities, by id."""
    return memory.get_many([entity.id for entity in entities if is_chunk(entity)])


# -- the schema --------------------------------------------------------------------------------


def schema_of(entities: Iterable[Entity], triplets: Iterable[Triplet]) -> dict[str, Any]:
    """``node_props`` and ``rel_props`` (label → property → type), ``relationships`` (labels of the
    source, the relation and the target), each sorted."""
    labels: dict[str, str] = {}
    nodes: dict[str, dict[str, str]] = {}
    for entity in entities:
        labels[entity.id] = entity.type
        properties = nodes.setdefault(entity.type, {})
        if not is_chunk(entity):
            properties.setdefault("name", "str")
        properties.update(_types(entity.properties))
    relations: dict[str, dict[str, str]] = {}
    relationships: set[tuple[str, str, str]] = set()
    for triplet in triplets:
        relations.setdefault(triplet.predicate, {}).update(_types(triplet.properties))
        if triplet.subject in labels and triplet.object in labels:
            relationships.add((labels[triplet.subject], triplet.predicate, labels[triplet.object]))
    return {
        "node_props": {label: dict(sorted(nodes[label].items())) for label in sorted(nodes)},
        "rel_props": {name: dict(sorted(relations[name].items())) for name in sorted(relations)},
        "relationships": sorted(relationships),
    }


_IN_GENERAL = (
    "Node labels and their properties:",
    "Relation labels and their properties:",
    "Relations:",
    "({})-[{}]->({})",
)
_IN_NEO4J = (
    "Values of RecallMEntity.type, and what is in properties:",
    "Values of RecallMTriplet.name, and what is in properties:",
    "Type of the subject, name of the triplet, type of the object:",
    "{}, {}, {}",
)
"""The headings of a schema's parts, and the form of a relation between two labels."""


def schema_text(schema: Mapping[str, Any], *, in_neo4j: bool = False) -> str:
    """``schema_of`` in words; ``in_neo4j`` as values of ``type`` and ``name`` in Neo4j's nodes for
    entities and triplets."""
    nodes, relations, relationships, form = _IN_NEO4J if in_neo4j else _IN_GENERAL
    return "\n".join(
        [
            nodes,
            *_property_lines(schema["node_props"]),
            relations,
            *_property_lines(schema["rel_props"]),
            relationships,
            *(form.format(*map(_in_one_line, parts)) for parts in schema["relationships"]),
        ]
    )


def _types(properties: Mapping[str, Any]) -> dict[str, str]:
    return {name: type(value).__name__ for name, value in decoded(properties).items()}


def _property_lines(properties_by_label: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        f"{_in_one_line(label)}: "
        + ", ".join(f"{_in_one_line(name)} ({kind})" for name, kind in properties.items())
        for label, properties in properties_by_label.items()
    ]


def _in_one_line(name: str) -> str:
    """A name without line breaks: none can look like another line of the schema."""
    return " ".join(name.split())
