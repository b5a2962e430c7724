"""LlamaIndex's nodes and relations as entities, triplets and passages, and back.

An entity node is an entity: its id, its name (the label of the entity), its label (the type).
A chunk node is a passage with its text, and an entity of the same id, on no concept, with its label
and properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    Relation,
)
from llama_index.core.schema import BaseNode, Document, TextNode
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from llama_index_recallm._values import decoded, encoded
from recallm import Entity, InvalidInputError, MemoryGraph, NewEntity, Passage, Triplet

__all__ = [
    "MENTIONS",
    "TemporalRelation",
    "alike",
    "as_again",
    "as_chunk",
    "as_entity",
    "as_llama_node",
    "as_passage",
    "is_bare",
    "is_chunk",
    "node_of",
    "relation_of",
]

MENTIONS = "MENTIONS"
"""The label of a relation by which a chunk says that it speaks of an entity."""

_CONTENT = ("_node_content", "_node_type", "document_id", "doc_id", "ref_doc_id")


class TemporalRelation(Relation):
    """A relation with its strength (how many knowledge updates showed it) and the t_index of the
    latest of them. It equals a ``Relation`` with the same label, ends and properties."""

    strength: int
    t_index: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relation):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Relation.model_fields)

    __hash__ = None  # type: ignore[assignment]


class _IdentifiedNode(EntityNode):
    """An entity whose id is not its name: one that was not made by LlamaIndex."""

    entity_id: str

    @property
    def id(self) -> str:
        """The entity's id."""
        return self.entity_id


def as_entity(node: EntityNode, model: str, *, source: bool) -> NewEntity:
    """What is written of an entity node; ``source``: the chunk that it names is kept as evidence,
    not as a property."""
    return NewEntity(
        id=node.id,
        type=node.label,
        label=node.name,
        properties=encoded(
            without_source(node.properties) if source else node.properties, of=node.name
        ),
        embeddings=_embeddings(node, model),
    )


def as_again(entity: Entity) -> NewEntity:
    """What says of an entity that it is spoken of once more, and changes nothing of it."""
    return NewEntity(
        id=entity.id,
        type=entity.type,
        label=entity.label,
        concept=bool(entity.concept),
        mentioned=True,
    )


def as_chunk(node: ChunkNode, model: str) -> NewEntity:
    """What is written of a chunk node besides its passage."""
    return NewEntity(
        id=node.id,
        type=node.label,
        concept=False,
        properties=encoded(node.properties, of=node.id),
        embeddings=_embeddings(node, model),
    )


def as_passage(node: ChunkNode, *, timestamp_key: str | None) -> dict[str, Any]:
    """A chunk node's text as an item of ``RecallM.update_many``."""
    document = node.properties.get("ref_doc_id")
    own = {
        key: value
        for key, value in node.properties.items()
        if key not in _CONTENT and key != TRIPLET_SOURCE_KEY
    }
    return {
        "id": node.id,
        "text": node.text,
        "source": document if document not in (None, "None") else None,
        "timestamp": None if timestamp_key is None else _moment(own.get(timestamp_key), node.id),
        "metadata": encoded(own, of=node.id),
    }


def is_chunk(entity: Entity) -> bool:
    """Whether the entity stands for a chunk of text: the passage with its id brought it."""
    return entity.concept == "" and entity.source == entity.id


def is_bare(entity: Entity) -> bool:
    """Whether the entity is no more than an id that a relation named."""
    return entity == replace(entity, type="entity", label=entity.id, properties={})


def alike(graph: MemoryGraph, labels: Iterable[str]) -> list[Entity]:
    """The entities on the concepts of these labels, with other capitals too: those of acronyms are
    not stemmed, so that "AWS" and "aws" are two concepts."""
    forms = {form for it in labels for form in (it, it.lower(), it.upper(), it.title()) if form}
    return graph.entities(labels=sorted(forms)) if forms else []


def node_of(
    entity: Entity, passage: Passage | None, *, source: str | None = None
) -> LabelledNode | None:
    """The node that an entity is; None for a chunk whose text was forgotten. ``passage`` is the
    chunk's; ``source`` is the chunk that it is shown by, where that is not the entity's latest."""
    properties = decoded(entity.properties)
    if entity.concept == "":
        if passage is None:
            return None
        return ChunkNode(text=passage.text, id_=entity.id, label=entity.type, properties=properties)
    shown = source or entity.source
    if shown is not None:
        properties[TRIPLET_SOURCE_KEY] = shown
    named: dict[str, Any] = {
        "name": entity.label,
        "label": entity.type,
        "properties": properties,
    }
    node = EntityNode(**named)
    return node if node.id == entity.id else _IdentifiedNode(entity_id=entity.id, **named)


def relation_of(triplet: Triplet) -> TemporalRelation:
    """The relation that a triplet is."""
    properties = decoded(triplet.properties)
    if triplet.source not in (None, triplet.subject):
        properties[TRIPLET_SOURCE_KEY] = triplet.source
    return TemporalRelation(
        label=triplet.predicate,
        source_id=triplet.subject,
        target_id=triplet.object,
        properties=properties,
        strength=triplet.strength,
        t_index=triplet.t_index,
    )


def without_source(properties: Mapping[str, Any]) -> dict[str, Any]:
    """``properties`` without the chunk that they come from."""
    return {key: value for key, value in properties.items() if key != TRIPLET_SOURCE_KEY}


def as_llama_node(chunk: ChunkNode) -> BaseNode:
    """The node that a chunk was made from, with the chunk's text; a plain one where it was made
    from none."""
    content = chunk.properties.get("_node_content")
    if content is None:
        return TextNode(id_=chunk.id, text=chunk.text, metadata=chunk.properties)
    if chunk.properties.get("_node_type") == Document.class_name():
        node: BaseNode = Document.from_json(content)
    else:
        node = metadata_dict_to_node(chunk.properties)
    node.set_content(chunk.text)
    return node


def _embeddings(node: LabelledNode, model: str) -> Mapping[str, Sequence[float]]:
    return {} if node.embedding is None else {model: node.embedding}


def _moment(value: object, id: str) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        if len(str(value)) == len("2026-01-31"):
            moment = moment.replace(tzinfo=UTC)
    except ValueError:
        moment = None
    if moment is None or moment.utcoffset() is None:
        raise InvalidInputError(
            f"chunk {id!r} has the timestamp {value!r}; give an aware datetime, ISO 8601 text "
            "with a time zone, or a date",
            argument="timestamp_key",
        )
    return moment
