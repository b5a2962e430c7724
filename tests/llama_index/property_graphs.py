"""What tests of property graph stores share: small graphs, a splitter, an embedding."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from llama_index.core.graph_stores.types import (
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
    Triplet,
)
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)

from llama_index_recallm import RecallMPropertyGraphStore

NewStore = Callable[[], RecallMPropertyGraphStore]
"""A store on an empty namespace of its own."""


def make_entity(name: str, label: str = "THING", **properties: Any) -> EntityNode:
    """An entity."""
    return EntityNode(name=name, label=label, properties=properties)


def make_relation(source: str, label: str, target: str, **properties: Any) -> Relation:
    """A relation between two ids."""
    return Relation(source_id=source, label=label, target_id=target, properties=properties)


def make_chunk(id: str, text: str, document: str | None = None, **metadata: Any) -> TextNode:
    """A text node, of a document if one is given."""
    node = TextNode(id_=id, text=text, metadata=metadata)
    if document is not None:
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document)
    return node


def upsert_graph(store: PropertyGraphStore, *said: str) -> None:
    """Upsert entities and relations without a source: ``"a KNOWS b"`` a relation, ``"a"`` an
    entity."""
    parts = [line.split() for line in said]
    names = dict.fromkeys(name for part in parts for name in (part[0], part[-1]))
    store.upsert_nodes([make_entity(name) for name in names])
    relations = [make_relation(*part) for part in parts if len(part) == 3]
    if relations:
        store.upsert_relations(relations)


def upsert_chunk(
    store: PropertyGraphStore,
    id: str,
    *said: str,
    document: str | None = None,
    text: str | None = None,
) -> TextNode:
    """Upsert a chunk that says ``"a KNOWS b"`` and names ``"a"``, as ``PropertyGraphIndex`` does:
    in three calls. Entities and relations name the chunk as source; known entities are left out.
    Without a ``text``, the chunk's is what is said."""
    node = make_chunk(id, text or f"{id}: " + "; ".join(said), document)
    parts = [line.split(maxsplit=2) for line in said]
    names = dict.fromkeys(name for part in parts for name in (part[0], part[-1]))
    known = {node.id for node in store.get(ids=list(names))}
    source = {TRIPLET_SOURCE_KEY: id}
    store.upsert_llama_nodes([node])
    if entities := [make_entity(name, **source) for name in names if name not in known]:
        store.upsert_nodes(entities)
    if relations := [make_relation(*part, **source) for part in parts if len(part) == 3]:
        store.upsert_relations(relations)
    return node


def ids(nodes: Iterable[LabelledNode]) -> list[str]:
    """The ids of the nodes, in order."""
    return sorted(node.id for node in nodes)


def triplet_lines(triplets: Iterable[Triplet]) -> list[str]:
    """What the triplets say, in order: ``"a KNOWS b"``."""
    told = []
    for subject, relation, object in triplets:
        assert (relation.source_id, relation.target_id) == (subject.id, object.id)
        told.append(f"{subject.id} {relation.label} {object.id}")
    return sorted(told)


def all_triplet_lines(store: PropertyGraphStore) -> list[str]:
    """What all triplets of the store say."""
    return triplet_lines(_triplets(store))


def is_empty(store: PropertyGraphStore) -> bool:
    """Whether there is neither node nor triplet."""
    return not store.get() and not store.get_triplets()


def entity_of(store: PropertyGraphStore, id: str) -> EntityNode:
    """The one entity with this id."""
    [node] = store.get(ids=[id])
    assert isinstance(node, EntityNode)
    assert node.id == id
    return node


def chunk_of(store: PropertyGraphStore, id: str) -> ChunkNode:
    """The one chunk with this id."""
    [node] = store.get(ids=[id])
    assert isinstance(node, ChunkNode)
    assert node.id == id
    return node


def relation_of(store: PropertyGraphStore, label: str) -> Relation:
    """The one relation with this label."""
    [(_, relation, _)] = store.get_triplets(relation_names=[label])
    return relation


def source_of(store: PropertyGraphStore, id: str) -> Any:
    """The source that the entity with this id is shown with."""
    return entity_of(store, id).properties.get(TRIPLET_SOURCE_KEY)


def with_types(value: Any) -> Any:
    """``value`` so that it equals only what is of the same type all through."""
    if isinstance(value, dict):
        members = [(with_types(key), with_types(it)) for key, it in value.items()]
        return (type(value).__name__, sorted(members, key=repr))
    if isinstance(value, list | tuple):
        return (type(value).__name__, [with_types(part) for part in value])
    return (type(value).__name__, repr(value))


def snapshot(store: PropertyGraphStore) -> Any:
    """All nodes and triplets that the store shows, in a fixed order."""

    def shown(it: LabelledNode | Relation) -> Any:
        return (type(it).__name__, it.id, with_types(it.model_dump(exclude={"embedding"})))

    nodes = [shown(node) for node in store.get()]
    triplets = [tuple(shown(part) for part in triplet) for triplet in _triplets(store)]
    return sorted(nodes), sorted(triplets)


def _triplets(store: PropertyGraphStore) -> list[Triplet]:
    return store.get_triplets(ids=[node.id for node in store.get()])


def is_refused(
    store: PropertyGraphStore,
    nodes: Sequence[LabelledNode] = (),
    relations: Sequence[Relation] = (),
) -> bool:
    """Upsert; whether the store refused it, in which case it must have changed nothing."""
    before = snapshot(store)
    try:
        if nodes:
            store.upsert_nodes(nodes)
        if relations:
            store.upsert_relations(list(relations))
    except ValueError as refusal:
        message = str(refusal)
    else:
        return False
    assert message
    assert snapshot(store) == before
    return True


_SAID = re.compile(r"(\w+) ([A-Z_]{2,}) (\w+)")


class Paragraphs(TransformComponent):
    """Cuts documents into their paragraphs: ``d1`` into the nodes ``d1/0``, ``d1/1``, linked."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """The nodes of all documents."""
        return [part for document in nodes for part in self._cut(document)]

    def _cut(self, document: BaseNode) -> list[TextNode]:
        cut = [
            TextNode(
                id_=f"{document.node_id}/{n}",
                text=text,
                metadata=dict(document.metadata),
                relationships={NodeRelationship.SOURCE: document.as_related_node_info()},
            )
            for n, text in enumerate(document.get_content().split("\n\n"))
        ]
        for one, next in itertools.pairwise(cut):
            one.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id=next.node_id)
            next.relationships[NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id=one.node_id)
        return cut


class LineExtractor(TransformComponent):
    """Reads ``Ann WORKS_FOR Acme`` in a text as two entities and a relation."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """The same nodes, with what they say in their metadata."""
        for node in nodes:
            said = _SAID.findall(node.get_content())
            names = dict.fromkeys(name for subject, _, object in said for name in (subject, object))
            node.metadata[KG_NODES_KEY] = [make_entity(name) for name in names]
            node.metadata[KG_RELATIONS_KEY] = [make_relation(*parts) for parts in said]
        return nodes
