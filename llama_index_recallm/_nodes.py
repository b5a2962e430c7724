"""LlamaIndex's nodes and relations as entities, triplets and passages, and back.

An entity node is an entity with the node's id; the node's name is the entity's label, the node's
label is the entity's type. A chunk node is a passage with the node's text, and an entity of the
same id without a concept, which has the node's label and properties. A recalled statement is a
text node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    Relation,
)
from llama_index.core.schema import (
    BaseNode,
    Document,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node
from pydantic_core import to_jsonable_python

from recallm import (
    Entity,
    InvalidInputError,
    MemoryGraph,
    NewEntity,
    Passage,
    RecalledStatement,
    Triplet,
)
from recallm.adapting import as_content, checks, shown_name, statement_metadata

MENTIONS = "MENTIONS"
"""The label of LlamaIndex's relations from a chunk to the entities that it mentions."""

TripletKey = tuple[str, str, str]
"""The ids of the ends of a triplet, with its predicate between them."""

_NODE_KEYS = ("_node_content", "_node_type", "document_id", "doc_id", "ref_doc_id")
"""The keys under which LlamaIndex keeps a whole node in its metadata."""

_SHOWN_TO_MODELS = ("timestamp", "speaker")
"""The metadata that a language model sees beside a statement, where they are known."""


class TemporalRelation(Relation):
    """A relation with its strength (how many knowledge updates showed it) and the t_index of the
    latest one. It equals a ``Relation`` with the same label, ends and properties."""

    strength: int
    t_index: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relation):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Relation.model_fields)

    __hash__ = None  # type: ignore[assignment]


class _IdentifiedNode(EntityNode):
    """An entity whose id is not its name: LlamaIndex did not create it."""

    entity_id: str

    @property
    def id(self) -> str:
        """The entity's id."""
        return self.entity_id


def json_values(properties: Mapping[str, Any], *, of: str) -> dict[str, Any]:
    """``properties`` as JSON values: times are ISO 8601 text, tuples and sets are lists, bytes are
    base64, paths, UUIDs and Decimals are text, NumPy's scalars are Python's. ``of`` names their
    owner in an error."""

    def plain(value: object) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"{value!r} has no JSON form")

    try:
        values = to_jsonable_python(dict(properties), bytes_mode="base64", fallback=plain)
        return checks.properties(values, "properties")
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"a property of {of!r} cannot be stored: {error}", argument="properties"
        ) from None


def entity_of(node: EntityNode, model: str | None, *, source: bool) -> NewEntity:
    """An entity node as it is written; ``model`` names its embedding (None: written already).
    ``source``: the chunk that the node names is written as evidence, not as a property."""
    return NewEntity(
        id=node.id,
        type=node.label,
        label=node.name,
        properties=json_values(
            without_source(node.properties) if source else node.properties, of=node.name
        ),
        embeddings=_embeddings(node, model),
    )


def mention_of(entity: Entity) -> NewEntity:
    """One more mention of an entity, which changes nothing else of it."""
    return NewEntity(
        id=entity.id,
        type=entity.type,
        label=entity.label,
        concept=bool(entity.concept),
        mentioned=True,
    )


def chunk_entity(node: ChunkNode, model: str) -> NewEntity:
    """The entity that is written for a chunk node beside its passage."""
    return NewEntity(
        id=node.id,
        type=node.label,
        concept=False,
        properties=json_values(node.properties, of=node.id),
        embeddings=_embeddings(node, model),
    )


def passage_item(node: ChunkNode, *, timestamp_key: str | None) -> dict[str, Any]:
    """A chunk node's text as an item of ``RecallM.update_many``."""
    document = node.properties.get("ref_doc_id")
    own = {
        key: value
        for key, value in node.properties.items()
        if key not in _NODE_KEYS and key != TRIPLET_SOURCE_KEY
    }
    return {
        "id": node.id,
        "text": node.text,
        "source": document if document not in (None, "None") else None,
        "timestamp": None if timestamp_key is None else _timestamp(own.get(timestamp_key), node.id),
        "metadata": json_values(own, of=node.id),
    }


def is_chunk(entity: Entity) -> bool:
    """Whether the entity stands for a chunk of text: the passage with its id is its source."""
    return entity.concept == "" and entity.source == entity.id


def is_bare(entity: Entity) -> bool:
    """Whether the entity is only an id that a relation named."""
    return entity == replace(entity, type="entity", label=entity.id, properties={})


def entities_named_like(graph: MemoryGraph, labels: Iterable[str]) -> list[Entity]:
    """The entities on the concepts of these labels, in any casing: acronyms are not stemmed, so
    that "AWS" and "aws" are two concepts."""
    forms = {
        form
        for label in labels
        for form in (label, label.lower(), label.upper(), label.title())
        if form
    }
    return graph.entities(labels=sorted(forms)) if forms else []


def node_of(
    entity: Entity, passage: Passage | None, *, source: str | None = None
) -> LabelledNode | None:
    """An entity as a node; None for a chunk whose text was forgotten. ``passage`` is the chunk's;
    ``source`` is the chunk to name as the node's source, where that is not the latest one."""
    properties = dict(entity.properties)
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
    """A triplet as a relation."""
    properties = dict(triplet.properties)
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


def key_of(triplet: Triplet) -> TripletKey:
    """What no other triplet of a memory has."""
    return triplet.subject, triplet.predicate, triplet.object


def without_source(properties: Mapping[str, Any]) -> dict[str, Any]:
    """``properties`` without the id of the chunk that they come from."""
    return {key: value for key, value in properties.items() if key != TRIPLET_SOURCE_KEY}


def llama_node_of(chunk: ChunkNode) -> BaseNode:
    """The node that a chunk was made from, with the chunk's text; a plain text node where there was
    none."""
    content = chunk.properties.get("_node_content")
    if content is None:
        return TextNode(id_=chunk.id, text=chunk.text, metadata=chunk.properties)
    if chunk.properties.get("_node_type") == Document.class_name():
        node: BaseNode = Document.from_json(content)
    else:
        node = metadata_dict_to_node(chunk.properties)
    node.set_content(chunk.text)
    return node


def with_plain_metadata(node: BaseNode) -> BaseNode:
    """``node`` with its metadata, and that of the nodes that it names, as the store gives them
    back: LlamaIndex's own JSON knows no NumPy."""

    def plain(info: RelatedNodeInfo) -> RelatedNodeInfo:
        return info.model_copy(update={"metadata": json_values(info.metadata, of=info.node_id)})

    related = {
        kind: [plain(each) for each in info] if isinstance(info, list) else plain(info)
        for kind, info in node.relationships.items()
    }
    metadata = json_values(node.metadata, of=node.id_)
    return node.model_copy(update={"metadata": metadata, "relationships": related})


def statement_node(statement: RecalledStatement, *, include_properties: bool = False) -> TextNode:
    """A recalled statement as a node: its text, its passage as the source, its metadata.
    ``include_properties``: its own metadata stands behind the text, as LlamaIndex writes an entity
    with its properties."""
    metadata = statement_metadata(statement)
    own = dict(statement.metadata) if include_properties else {}
    # A fusion identifies nodes by their hash, which must not depend on the question.
    del metadata["score"]
    if statement.timestamp is not None:
        metadata["timestamp"] = statement.timestamp.isoformat(timespec="seconds")
    if statement.speaker is not None:
        metadata["speaker"] = shown_name(statement.speaker)
    shown = [key for key in _SHOWN_TO_MODELS if metadata[key] is not None]
    source = (
        {}
        if statement.passage is None
        else {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=statement.passage)}
    )
    return TextNode(
        id_=statement.id,
        text=as_content(f"{statement.text} ({own})" if own else statement.text),
        metadata=metadata,
        excluded_llm_metadata_keys=[key for key in metadata if key not in shown],
        excluded_embed_metadata_keys=[
            key for key in metadata if key != "speaker" or key not in shown
        ],
        relationships=source,
        metadata_separator=", ",
        text_template="[{metadata_str}] {content}",
    )


def _embeddings(node: LabelledNode, model: str | None) -> Mapping[str, Sequence[float]]:
    return {} if node.embedding is None or model is None else {model: node.embedding}


def _timestamp(value: object, id: str) -> datetime | None:
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
