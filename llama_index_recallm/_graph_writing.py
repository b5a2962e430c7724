"""LlamaIndex's nodes and relations as knowledge updates.

LlamaIndex hands a chunk over in three calls: its text, its entities, its relations. Here they are
one knowledge update: entities and relations that name their chunk (``triplet_source_id``, or a
relation that begins or ends at the chunk) join the update of the chunk's text. So the memory knows
which chunks show an entity or a relation, and forgetting a chunk keeps what another chunk shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    Relation,
)

from llama_index_recallm._nodes import (
    chunk_entity,
    entities_named_like,
    entity_of,
    is_bare,
    is_chunk,
    json_values,
    mention_of,
    passage_item,
    without_source,
)
from recallm import (
    DimensionError,
    Entity,
    GraphUpdate,
    InvalidInputError,
    NewEntity,
    NewTriplet,
    RecallM,
)

SourcedEntity = tuple[str | None, NewEntity]
"""An entity with the chunk whose update it joins."""

_N = TypeVar("_N", ChunkNode, EntityNode)

_BATCH = 500
"""Knowledge updates in one transaction: an index may hand over a whole library."""


def write_chunks(
    memory: RecallM, nodes: Sequence[ChunkNode], *, model: str, timestamp_key: str | None
) -> None:
    """Write the texts of chunks, each a knowledge update. A chunk mentions every known entity whose
    name is in its text. A new text under the id of a known chunk replaces the old one."""
    known_ids = {
        entity.id
        for entity in memory.graph.entities([node.id for node in nodes])
        if is_chunk(entity)
    }
    items: list[dict[str, Any]] = []
    for node, mentioned in zip(nodes, _mentioned_entities(memory, nodes), strict=True):
        item = passage_item(node, timestamp_key=timestamp_key)
        item["entities"] = [chunk_entity(node, model), *map(mention_of, mentioned)]
        item["replace"] = node.id in known_ids
        items.append(item)
        known_ids.add(node.id)
    written = memory.update_many(items, batch_size=_BATCH)
    # A known text keeps its update, which new properties and entities of the node join.
    additions = [
        GraphUpdate(entities=item["entities"], passage=update.id)
        for item, update in zip(items, written, strict=True)
        if update.duplicate
    ]
    _write(memory, additions)


def write_entities(memory: RecallM, entities: Sequence[SourcedEntity]) -> None:
    """Write entities: those of a chunk join its update, the others together are one update of
    their own."""
    by_source: dict[str | None, list[NewEntity]] = {}
    for source, entity in entities:
        by_source.setdefault(source, []).append(entity)
    _write(
        memory,
        [GraphUpdate(entities=entities, passage=source) for source, entities in by_source.items()],
    )


def write_relations(memory: RecallM, relations: Sequence[Relation]) -> None:
    """Write relations: those that name a chunk, or begin or end at one, join its update. Their ends
    are mentioned with them; an unknown end becomes an entity with that name."""
    ends = {end for relation in relations for end in (relation.source_id, relation.target_id)}
    known = {entity.id: entity for entity in memory.graph.entities(ends)}
    chunks = [id for id, entity in known.items() if is_chunk(entity)]
    passages = _existing_passages(memory, [*map(_named_source, relations), *chunks])
    by_source: dict[str | None, tuple[dict[str, NewEntity], list[NewTriplet]]] = {}
    for relation in relations:
        possible_sources = (_named_source(relation), _chunk_at_an_end(relation, known))
        source = next((id for id in possible_sources if id in passages), None)
        entities, triplets = by_source.setdefault(source, ({}, []))
        for end in (relation.source_id, relation.target_id):
            if end not in known:
                entities[end] = NewEntity(id=end, mentioned=True)
            elif not is_chunk(known[end]):  # only its own passage mentions a chunk
                entities[end] = mention_of(known[end])
        properties = relation.properties
        if source is not None and source != relation.source_id:
            properties = without_source(properties)
        triplets.append(
            NewTriplet(
                subject=relation.source_id,
                predicate=relation.label,
                object=relation.target_id,
                properties=json_values(properties, of=relation.label),
            )
        )
    _write(
        memory,
        [
            GraphUpdate(entities=entities.values(), triplets=triplets, passage=source)
            for source, (entities, triplets) in by_source.items()
        ],
    )


def checked_nodes(
    memory: RecallM, nodes: Iterable[LabelledNode], model: str
) -> tuple[list[ChunkNode], list[SourcedEntity]]:
    """The chunk nodes among ``nodes``, and the entities that the entity nodes among them become."""
    chunks, entities = _split(nodes)
    of_chunks = [chunk_entity(node, model) for node in chunks]
    chunk_ids = {chunk.id for chunk in chunks}
    passages = _existing_passages(memory, map(_named_source, entities)) | chunk_ids
    of_entities = list(_new_entities(entities, passages, model))
    new = [*of_chunks, *(entity for _, entity in of_entities)]
    _check_dimensions(memory, [*chunks, *entities], model)
    known = memory.graph.entities({entity.id for entity in new})
    chunk_ids |= {entity.id for entity in known if is_chunk(entity)}
    entity_ids = {entity.id for entity in entities} | {
        entity.id for entity in known if not is_chunk(entity) and not is_bare(entity)
    }
    used_twice = sorted(chunk_ids & entity_ids)
    if used_twice:
        raise InvalidInputError(
            f"{used_twice[0]!r} is the id of a text chunk and of an entity; give each its own",
            argument="nodes",
        )
    return chunks, of_entities


def _new_entities(
    nodes: Sequence[EntityNode], passages: Collection[str], model: str
) -> Iterator[SourcedEntity]:
    """Each node as an entity of the chunk that the node names, where there is such a chunk.
    LlamaIndex hands an entity over once for each chunk that shows it, each time embedded with the
    chunk's id: the last embedding is written, which would replace the others."""
    last = {node.id: place for place, node in enumerate(nodes) if node.embedding is not None}
    for place, node in enumerate(nodes):
        source = _named_source(node)
        if source not in passages:
            source = None
        embedding_model = model if last.get(node.id) == place else None
        yield source, entity_of(node, embedding_model, source=source is not None)


def _check_dimensions(memory: RecallM, nodes: Iterable[LabelledNode], model: str) -> None:
    """Refuse embeddings of different dimensions, among themselves or beside the stored ones."""
    by_size = {len(node.embedding): node.embedding for node in nodes if node.embedding is not None}
    for embedding in by_size.values():
        memory.graph.nearest(embedding, model=model, ids=[])  # raises a DimensionError
    if len(by_size) > 1:
        raise DimensionError(model, expected=min(by_size), found=max(by_size))


def _split(nodes: Iterable[LabelledNode]) -> tuple[list[ChunkNode], list[EntityNode]]:
    chunks: list[ChunkNode] = []
    entities: list[EntityNode] = []
    for node in nodes:
        if isinstance(node, ChunkNode):
            chunks.append(_with_vector(node))
        elif isinstance(node, EntityNode):
            entities.append(_with_vector(node))
        else:
            raise InvalidInputError(
                f"a node must be an EntityNode or a ChunkNode, not {type(node).__name__}",
                argument="nodes",
            )
    return chunks, entities


def _with_vector(node: _N) -> _N:
    """``node`` with the vector that stands in its property "embedding", as other stores keep it. As
    a property, language models would read the numbers."""
    vector = node.properties.get("embedding")
    if not (isinstance(vector, list) and vector and set(map(type, vector)) <= {float, int}):
        return node
    rest = {key: value for key, value in node.properties.items() if key != "embedding"}
    return node.model_copy(update={"embedding": node.embedding or vector, "properties": rest})


def _write(memory: RecallM, updates: Sequence[GraphUpdate]) -> None:
    for start in range(0, len(updates), _BATCH):
        memory.graph.upsert_many(updates[start : start + _BATCH])


def _mentioned_entities(memory: RecallM, nodes: Sequence[ChunkNode]) -> list[list[Entity]]:
    """For each chunk the known entities whose names its text contains, in any casing: LlamaIndex
    hands an entity over once, and not for later chunks."""
    labels = [
        {mention.label for statement in extraction.statements for mention in statement.concepts}
        for extraction in memory.extract((node.text for node in nodes), triplets=False)
    ]
    if not any(labels):
        return [[] for _ in nodes]
    by_name: dict[str, list[Entity]] = {}
    for entity in entities_named_like(memory.graph, set().union(*labels)):
        by_name.setdefault(entity.label.casefold(), []).append(entity)
    return [
        [
            entity
            for name in sorted({label.casefold() for label in labels_of_chunk})
            for entity in by_name.get(name, ())
        ]
        for labels_of_chunk in labels
    ]


def _named_source(part: LabelledNode | Relation) -> str | None:
    """The chunk that a node or a relation names as its source."""
    source = part.properties.get(TRIPLET_SOURCE_KEY)
    return source if isinstance(source, str) and source else None


def _existing_passages(memory: RecallM, ids: Iterable[str | None]) -> set[str]:
    """Those of ``ids`` that are ids of passages."""
    return set(memory.get_many({id for id in ids if id is not None}))


def _chunk_at_an_end(relation: Relation, known: dict[str, Entity]) -> str | None:
    """The chunk that a relation begins or ends at."""
    for end in (relation.source_id, relation.target_id):
        if end in known and is_chunk(known[end]):
            return end
    return None
