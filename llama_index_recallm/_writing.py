"""What is written for LlamaIndex's nodes and relations.

LlamaIndex hands a chunk over in three calls: its text, its entities, its relations. They are one
knowledge update: what names its chunk (``triplet_source_id``, or a relation from the chunk itself)
joins the update that brought the chunk's text. So the store counts which chunks show an entity or a
relation, and forgetting a chunk leaves what another one shows as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    Relation,
)

from llama_index_recallm._nodes import (
    alike,
    as_again,
    as_chunk,
    as_entity,
    as_passage,
    is_bare,
    is_chunk,
    without_source,
)
from llama_index_recallm._values import encoded
from recallm import (
    Entity,
    GraphUpdate,
    InvalidInputError,
    NewEntity,
    NewTriplet,
    RecallM,
)

__all__ = ["checked", "write_chunks", "write_entities", "write_relations"]

_AT_ONCE = 500
"""How many knowledge updates are one transaction: an index may hand over a whole library."""


def write_chunks(
    memory: RecallM, nodes: Sequence[ChunkNode], *, model: str, timestamp_key: str | None
) -> None:
    """Write the texts of chunks, each a knowledge update. An entity that one spells out is said by
    it too; another text under the same id takes the place of the one before."""
    known = {it.id for it in memory.graph.entities([node.id for node in nodes]) if is_chunk(it)}
    items: list[dict[str, Any]] = []
    for node, mentioned in zip(nodes, _spelled(memory, nodes), strict=True):
        item = as_passage(node, timestamp_key=timestamp_key)
        item["entities"] = [as_chunk(node, model), *map(as_again, mentioned)]
        item["replace"] = node.id in known
        items.append(item)
        known.add(node.id)
    written = memory.update_many(items, batch_size=_AT_ONCE)
    # A text that was there before keeps its update: what is new of its node joins it.
    again = [
        GraphUpdate(entities=item["entities"], passage=update.id)
        for item, update in zip(items, written, strict=True)
        if update.duplicate
    ]
    _write(memory, again)


def write_entities(memory: RecallM, nodes: Sequence[EntityNode], *, model: str) -> None:
    """Write entity nodes: those that name a chunk as part of its update, the others together as one
    of their own."""
    sources = _passages(memory, map(_source, nodes))
    told: dict[str | None, list[NewEntity]] = {}
    for node in nodes:
        source = sources.get(_source(node))
        told.setdefault(source, []).append(as_entity(node, model, source=source is not None))
    _write(
        memory,
        [GraphUpdate(entities=entities, passage=source) for source, entities in told.items()],
    )


def write_relations(memory: RecallM, relations: Sequence[Relation]) -> None:
    """Write relations, as ``write_entities`` does entities. Their ends are spoken of with them; one
    that is not there becomes an entity with that name."""
    ends = {end for relation in relations for end in (relation.source_id, relation.target_id)}
    known = {entity.id: entity for entity in memory.graph.entities(ends)}
    chunks = [id for id, entity in known.items() if is_chunk(entity)]
    sources = _passages(memory, [*map(_source, relations), *chunks])
    told: dict[str | None, tuple[dict[str, NewEntity], list[NewTriplet]]] = {}
    for relation in relations:
        source = sources.get(_source(relation)) or sources.get(_chunk_at(relation, known))
        entities, triplets = told.setdefault(source, ({}, []))
        for end in (relation.source_id, relation.target_id):
            if end not in known:
                entities[end] = NewEntity(id=end, mentioned=True)
            elif not is_chunk(known[end]):  # a chunk is shown by its own passage alone
                entities[end] = as_again(known[end])
        own = relation.properties
        if source is not None and source != relation.source_id:
            own = without_source(own)
        triplets.append(
            NewTriplet(
                subject=relation.source_id,
                predicate=relation.label,
                object=relation.target_id,
                properties=encoded(own, of=relation.label),
            )
        )
    _write(
        memory,
        [
            GraphUpdate(entities=entities.values(), triplets=triplets, passage=source)
            for source, (entities, triplets) in told.items()
        ],
    )


def checked(
    memory: RecallM, nodes: Iterable[LabelledNode], model: str
) -> tuple[list[ChunkNode], list[EntityNode]]:
    """The chunk nodes and the entity nodes of ``nodes``, all of which can be written.

    Raises:
        InvalidInputError: one cannot be written.
        DimensionError: an embedding has another dimension than the others.

    """
    chunks, entities = _split(nodes)
    told = [as_chunk(node, model) for node in chunks]
    told += [as_entity(node, model, source=False) for node in entities]
    if told:
        memory.graph.check([GraphUpdate(entities=told)])
    kept = memory.graph.entities([it.id for it in (*chunks, *entities)])
    texts = {it.id for it in chunks} | {it.id for it in kept if is_chunk(it)}
    named = {it.id for it in entities} | {
        it.id for it in kept if not is_chunk(it) and not is_bare(it)
    }
    both = sorted(texts & named & {it.id for it in (*chunks, *entities)})
    if both:
        raise InvalidInputError(
            f"{both[0]!r} is the id of a text chunk and of an entity; give each its own",
            argument="nodes",
        )
    return chunks, entities


def _split(nodes: Iterable[LabelledNode]) -> tuple[list[ChunkNode], list[EntityNode]]:
    chunks: list[ChunkNode] = []
    entities: list[EntityNode] = []
    for node in nodes:
        if isinstance(node, ChunkNode):
            chunks.append(node)
        elif isinstance(node, EntityNode):
            entities.append(node)
        else:
            raise InvalidInputError(
                f"a node must be an EntityNode or a ChunkNode, not {type(node).__name__}",
                argument="nodes",
            )
    return chunks, entities


def _write(memory: RecallM, updates: Sequence[GraphUpdate]) -> None:
    if len(updates) > _AT_ONCE:
        memory.graph.check(updates)
    for start in range(0, len(updates), _AT_ONCE):
        memory.graph.upsert_many(updates[start : start + _AT_ONCE])


def _spelled(memory: RecallM, nodes: Sequence[ChunkNode]) -> list[list[Entity]]:
    """For each chunk the entities that are there already and that its text names as they are
    named, whatever their capitals: LlamaIndex tells of an entity once, and of no later chunk."""
    labels = [
        {mention.label for said in extraction.statements for mention in said.concepts}
        for extraction in memory.extract(node.text for node in nodes)
    ]
    if not any(labels):
        return [[] for _ in nodes]
    by_name: dict[str, list[Entity]] = {}
    for entity in alike(memory.graph, set().union(*labels)):
        by_name.setdefault(entity.label.casefold(), []).append(entity)
    return [
        [
            entity
            for name in sorted({it.casefold() for it in said})
            for entity in by_name.get(name, ())
        ]
        for said in labels
    ]


def _source(part: LabelledNode | Relation) -> str | None:
    """The chunk that a node or a relation names as its source."""
    source = part.properties.get(TRIPLET_SOURCE_KEY)
    return source if isinstance(source, str) and source else None


def _passages(memory: RecallM, ids: Iterable[str | None]) -> dict[str | None, str]:
    """Those of ``ids`` that are passages, by themselves."""
    wanted = {id for id in ids if id is not None}
    chunks = {it.id for it in memory.graph.entities(wanted) if is_chunk(it)}
    return {id: id for id in (*chunks, *memory.get_many(wanted - chunks))}


def _chunk_at(relation: Relation, known: dict[str, Entity]) -> str | None:
    """The chunk that a relation begins or ends at."""
    for end in (relation.source_id, relation.target_id):
        if end in known and is_chunk(known[end]):
            return end
    return None
