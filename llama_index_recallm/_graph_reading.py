"""The graph of a memory as LlamaIndex's nodes and paths; which nodes are meant by names, filters
and documents, and which relations are around them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from llama_index.core.graph_stores.types import (
    EntityNode,
    LabelledNode,
    Relation,
)
from llama_index.core.graph_stores.types import Triplet as Path
from llama_index.core.vector_stores.types import MetadataFilters, VectorStoreQuery
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

from llama_index_recallm._nodes import (
    MENTIONS,
    TripletKey,
    entities_named_like,
    is_chunk,
    json_values,
    key_of,
    node_of,
    relation_of,
)
from recallm import Entity, InvalidInputError, MemoryGraph, Passage, RecallM, Triplet
from recallm.adapting import checks


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


def checked_filters(filters: object) -> MetadataFilters | None:
    """LlamaIndex's filters, with the meaning that its ``SimpleVectorStore`` gives them; None where
    there are none."""
    if filters is None:
        return None
    if not isinstance(filters, MetadataFilters):
        raise InvalidInputError(
            f"filters must be MetadataFilters, not {type(filters).__name__}", argument="filters"
        )
    passes(filters, {})  # refuses what LlamaIndex does not know
    return filters if filters.filters else None


def passes(filters: MetadataFilters, metadata: dict[str, Any]) -> bool:
    """Whether JSON values pass."""
    try:
        return build_metadata_filter_fn(lambda _: metadata, filters)("")
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"filters cannot be used: {error}", argument="filters") from error


def has_properties(part: LabelledNode | Relation, properties: dict[str, Any] | None) -> bool:
    """Whether a node or a relation has all of ``properties``; an entity's name is one of them, as
    the schema says, unless the entity has a property ``name`` of its own."""
    own, wanted = _searched_properties(part), json_values(properties or {}, of="properties")
    return all(key in own and own[key] == value for key, value in wanted.items())


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


def _passages_of_chunks(memory: RecallM, entities: Iterable[Entity]) -> dict[str, Passage]:
    """The passages of the chunks among these entities, by id."""
    return memory.get_many([entity.id for entity in entities if is_chunk(entity)])


# -- the relations around nodes ----------------------------------------------------------------


def rel_map(
    graph: MemoryGraph,
    entities: Collection[str],
    chunks: Collection[str],
    *,
    depth: int,
    limit: int,
    ignored: Collection[str],
) -> list[Triplet]:
    """At most ``limit`` triplets within ``depth`` relations of ``entities``, or from ``chunks``, in
    the order of their t_index.

    Relations are followed in both directions; those with a label in ``ignored`` are followed too,
    but not returned. A chunk's MENTIONS only say where an entity comes from, and are not followed.
    The nearest triplets are chosen first; at each distance the latest of every given node, then the
    next one of every node.
    """
    not_returned = {*ignored}
    chosen: dict[TripletKey, Triplet] = {}
    origins = {id: id for id in entities}  # entity → the given node that it was reached from
    frontier = list(origins)
    for distance in range(depth):
        if len(chosen) >= limit:
            break
        found: list[tuple[str, Triplet]] = []
        if frontier:
            found += [
                (
                    origins[triplet.subject if triplet.subject in origins else triplet.object],
                    triplet,
                )
                for triplet in graph.triplets(ends=frontier)
            ]
        if distance == 0:
            found += [
                (chunk, triplet) for chunk in chunks for triplet in graph.triplets(passages=[chunk])
            ]
        found = [pair for pair in found if not _is_mention(pair[1])]
        new = [
            (origin, triplet)
            for origin, triplet in found
            if triplet.predicate not in not_returned and key_of(triplet) not in chosen
        ]
        for triplet in _round_robin(new)[: limit - len(chosen)]:
            chosen[key_of(triplet)] = triplet
        frontier = []
        for origin, triplet in found:
            for end in (triplet.subject, triplet.object):
                if end not in origins:
                    origins[end] = origin
                    frontier.append(end)
    return sorted(chosen.values(), key=lambda triplet: (triplet.t_index, *key_of(triplet)))


def _is_mention(triplet: Triplet) -> bool:
    """Whether it is LlamaIndex's own MENTIONS, which a chunk itself shows; a user's relations
    may have the same label."""
    return triplet.predicate == MENTIONS and triplet.source == triplet.subject


def _round_robin(found: list[tuple[str, Triplet]]) -> list[Triplet]:
    """The latest triplet of each origin, then the next of each, and so on; each triplet once."""
    latest_first = sorted(found, key=lambda pair: (-pair[1].t_index, key_of(pair[1])))
    counts: dict[str, int] = {}
    rounds: dict[TripletKey, tuple[int, Triplet]] = {}
    for origin, triplet in latest_first:
        if key_of(triplet) not in rounds:
            rounds[key_of(triplet)] = (counts.get(origin, 0), triplet)
            counts[origin] = counts.get(origin, 0) + 1
    return [triplet for _, triplet in sorted(rounds.values(), key=lambda numbered: numbered[0])]
