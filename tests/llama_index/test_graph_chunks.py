"""Chunks in a property graph store, and what deleting takes along."""

from __future__ import annotations

from typing import Any

from llama_index.core.graph_stores.types import TRIPLET_SOURCE_KEY, ChunkNode, PropertyGraphStore
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    Node,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from tests.llama_index.property_graphs import (
    NewStore,
    all_triplet_lines,
    chunk_of,
    entity_of,
    ids,
    make_chunk,
    make_entity,
    make_relation,
    snapshot,
    triplet_lines,
    upsert_graph,
)

TEXTS = {
    "empty": "",
    "edges": "\n  indented\r\nlines\t \n",
    "nul": "a\x00b",
    "script": "e\u0301 é 北京 שלום 👩‍👩‍👧",
    "long": "All work and no play. " * 1500,
}


LINKS = {
    NodeRelationship.SOURCE: RelatedNodeInfo(node_id="d1", metadata={"a": 1}, hash="x"),
    NodeRelationship.PREVIOUS: RelatedNodeInfo(node_id="c0"),
    NodeRelationship.CHILD: [RelatedNodeInfo(node_id="c8"), RelatedNodeInfo(node_id="c9")],
}


IMAGE = "https://example.org/a.png"


NODES: dict[str, BaseNode] = {
    "TextNode": TextNode(
        id_="c1",
        text="Logan works.",
        metadata={"page": 7, "tags": ["x", None], "b": True, "a": {"deep": 1.5}, "é": "'\"`"},
        relationships=dict(LINKS),
        excluded_embed_metadata_keys=["page"],
        start_char_idx=3,
        end_char_idx=15,
        text_template="{metadata_str}::{content}",
    ),
    "Document": Document(id_="c1", text="Logan works.", metadata={"page": 7}),
    "Node": Node(
        id_="c1",
        text_resource=MediaResource(text="Logan works."),
        image_resource=MediaResource.model_validate({"url": IMAGE}),
        extra_info={"page": 7},
    ),
    "ImageNode": ImageNode(id_="c1", text="Logan", image_url=IMAGE, metadata={"page": 7}),
    "IndexNode": IndexNode(id_="c1", text="Logan", index_id="i1", extra_info={"page": 7}),
}


def test_nodes_come_back(new_store: NewStore) -> None:
    for case, node in NODES.items():
        store = new_store()
        mine = node.model_copy(deep=True)
        store.upsert_llama_nodes([mine])
        assert mine == node
        [found] = store.get_llama_nodes(["c1"])
        assert (type(found), found.hash) == (type(node), node.hash), case
        assert found.model_dump() == node.model_dump(), case


def test_texts_are_verbatim(store: PropertyGraphStore) -> None:
    mine = {case: make_chunk(case, text) for case, text in TEXTS.items()}
    store.upsert_llama_nodes([*mine.values()])
    for case, text in TEXTS.items():
        [found] = store.get_llama_nodes([case])
        assert (found.get_content(), found.hash) == (text, mine[case].hash), case
        assert chunk_of(store, case).text == text


def test_the_order_is_as_asked(store: PropertyGraphStore) -> None:
    upsert_graph(store, "entity KNOWS entity")
    store.upsert_llama_nodes([make_chunk(id, f"text of {id}") for id in ("b", "a", "c")])
    asked = ["c", "nobody", "b", "entity", "a"]
    assert [node.node_id for node in store.get_llama_nodes(asked)] == ["c", "b", "a"]
    assert [node.node_id for node in store.get_llama_nodes(asked[::-1])] == ["a", "b", "c"]


def test_another_text_replaces_the_first(store: PropertyGraphStore) -> None:
    """In a later call, in the same call, and after a deletion."""
    mine = make_chunk("c1", "second", page=2)
    store.upsert_llama_nodes([make_chunk("c1", "first", page=1), make_chunk("c2", "other")])
    store.upsert_llama_nodes([mine])
    assert store.get_llama_nodes(["c1"]) == [mine]
    assert (chunk_of(store, "c1").text, chunk_of(store, "c1").properties["page"]) == ("second", 2)
    last = make_chunk("c1", "last")
    store.upsert_llama_nodes([make_chunk("c1", "third", page=3), last])
    assert store.get_llama_nodes(["c1"]) == [last]
    assert ids(store.get()) == ["c1", "c2"]
    store.delete(ids=["c1"])
    store.upsert_llama_nodes([mine])
    assert store.get_llama_nodes(["c1"]) == [mine]


def test_metadata_keys(store: PropertyGraphStore) -> None:
    keys = ["id", "id_", "name", "label", "text", "properties", "type", "session", "", "é`'"]
    mine = make_chunk("c1", "text").model_copy(update={"metadata": dict.fromkeys(keys, 1)})
    store.upsert_llama_nodes([mine])
    assert store.get_llama_nodes(["c1"]) == [mine]
    assert (chunk_of(store, "c1").text, chunk_of(store, "c1").label) == ("text", "text_chunk")


def test_chunks_of_one_text(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes([make_chunk("c1", "same"), make_chunk("c2", "same")])
    store.delete(ids=["c1"])
    assert [node.node_id for node in store.get_llama_nodes(["c1", "c2"])] == ["c2"]


def test_chunk_nodes(store: PropertyGraphStore) -> None:
    mine = ChunkNode(id_="c1", text="text", label="PAGE", properties={"n": 1, "x": None})
    nameless = ChunkNode(text="another text")
    store.upsert_nodes([mine, nameless])
    assert ids(store.get()) == sorted(["c1", nameless.id])
    node = chunk_of(store, "c1")
    assert (node.text, node.label, node.properties) == ("text", "PAGE", {"n": 1, "x": None})
    assert chunk_of(store, nameless.id).text == "another text"


def test_a_chunk_that_a_relation_names_first(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes([make_chunk("c1", "one")])
    store.upsert_relations([make_relation("c1", "NEXT", "c2")])
    store.upsert_llama_nodes([make_chunk("c2", "two")])
    assert [node.get_content() for node in store.get_llama_nodes(["c2"])] == ["two"]
    assert chunk_of(store, "c2").text == "two"
    assert triplet_lines(store.get_triplets(relation_names=["NEXT"])) == ["c1 NEXT c2"]
    assert ids(store.get()) == ["c1", "c2"]


def _people_and_chunks(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes(
        [make_chunk("c1", "one", "d1", page=1), make_chunk("c2", "two", "d2", page=2)]
    )
    store.upsert_nodes(
        [
            make_entity("Ann", "PERSON", age=30, city="Rome"),
            make_entity("Bo", "PERSON", age=30, city="Oslo"),
        ]
    )
    upsert_graph(store, "Ann KNOWS Bo", "Bo KNOWS Ann", "Ann LIKES tea", "Bo LIKES tea")


def test_nothing_is_named(store: PropertyGraphStore) -> None:
    _people_and_chunks(store)
    before = snapshot(store)
    unmet: list[dict[str, Any]] = [
        {"ids": []},
        {"ids": [], "entity_names": [], "relation_names": []},
        {"ids": ["nobody"], "entity_names": ["nobody"], "relation_names": ["HATES", "knows"]},
        {"properties": {"age": "30"}},
        {"properties": {"age": 30, "city": "Paris"}},
        {"properties": {"name": "Ann", "age": 31}},
        {"ids": ["ann", "ANN", "anns", "LIKES"], "entity_names": ["ann", "bos"]},
    ]
    for conditions in unmet:
        store.delete(**conditions)
        assert snapshot(store) == before, conditions
    store.delete()
    store.delete_llama_nodes()
    store.delete_llama_nodes(node_ids=["nobody"], ref_doc_ids=["c9"])
    assert snapshot(store) == before


DELETED: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"ids": ["Ann"]}, ["Bo", "c1", "c2", "tea"], ["Bo LIKES tea"]),
    ({"entity_names": ["Ann", 'the "Bear"', "x"]}, ["Bo", "c1", "c2", "tea"], ["Bo LIKES tea"]),
    ({"properties": {"age": 30, "city": "Rome"}}, ["Bo", "c1", "c2", "tea"], ["Bo LIKES tea"]),
    ({"properties": {"name": "Ann"}}, ["Bo", "c1", "c2", "tea"], ["Bo LIKES tea"]),
    (
        {"relation_names": ["KNOWS", "HATES"]},
        ["Ann", "Bo", "c1", "c2", "tea"],
        ["Ann LIKES tea", "Bo LIKES tea"],
    ),
]


def test_what_is_named_is_deleted(new_store: NewStore) -> None:
    for conditions, nodes, triplets in DELETED:
        store = new_store()
        _people_and_chunks(store)
        if "entity_names" in conditions:
            store.upsert_nodes([make_entity('the "Bear"')])
        store.delete(**conditions)
        assert (ids(store.get()), all_triplet_lines(store)) == (nodes, triplets), conditions
        assert entity_of(store, "Bo").properties == {"age": 30, "city": "Oslo"}


def test_chunks_by_document(store: PropertyGraphStore) -> None:
    _people_and_chunks(store)
    store.upsert_llama_nodes([make_chunk("c3", "three", "d1"), make_chunk("c4", "four")])
    store.delete_llama_nodes(ref_doc_ids=["d1", "nobody"])
    assert ids(store.get()) == ["Ann", "Bo", "c2", "c4", "tea"]
    store.delete_llama_nodes(node_ids=["c4", "nobody"], ref_doc_ids=["d2"])
    assert ids(store.get()) == ["Ann", "Bo", "tea"]
    assert len(all_triplet_lines(store)) == 4


def test_a_document_that_was_not_split(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes([Document(id_="d1", text="one"), Document(id_="d2", text="two")])
    for id in ("d1", "d2"):
        store.upsert_nodes([make_entity(f"of {id}", **{TRIPLET_SOURCE_KEY: id})])
    store.delete_llama_nodes(ref_doc_ids=["d1"])
    assert ids(store.get()) == ["d2", "of d2"]
    store.delete_llama_nodes(node_ids=["d2"])
    assert store.get() == []


def test_nodes_upserted_after_their_deletion_are_new(store: PropertyGraphStore) -> None:
    store.upsert_nodes([make_entity("a", "OLD", n=1)])
    store.upsert_relations([make_relation("a", "R", "b", n=1)])
    store.delete(ids=["a"])
    store.upsert_nodes([make_entity("a", "NEW")])
    assert (entity_of(store, "a").label, entity_of(store, "a").properties) == ("NEW", {})
    assert all_triplet_lines(store) == []
    store.upsert_relations([make_relation("a", "R", "b", m=2)])
    [(_, relation, _)] = store.get_triplets(relation_names=["R"])
    assert relation.properties == {"m": 2}
