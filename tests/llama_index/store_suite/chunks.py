"""LlamaIndex's own nodes, which come back as they were."""

from __future__ import annotations

import pytest
from llama_index.core.graph_stores.types import ChunkNode, PropertyGraphStore
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

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    chunk_of,
    ids,
    is_refused,
    make_chunk,
    make_entity,
    make_relation,
    snapshot,
    triplet_lines,
    upsert_graph,
)

__all__ = ["ChunkTests"]

TEXTS = {
    "empty": "",
    "blanks": "  \n ",
    "edges": "\n  indented\r\nlines\t \n",
    "nul": "a\x00b",
    "script": "e\u0301 é 北京 שלום 👩‍👩‍👧",
    "cypher": "MATCH (n) DETACH DELETE n; // ' \" ` \\ {x} $y",
    "no_word": "?!… — ***",
    "numbers": "1 2.5 -3",
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


class ChunkTests(PropertyGraphTests):
    """``upsert_llama_nodes``, ``get_llama_nodes``, and chunks among the nodes."""

    @pytest.mark.parametrize("node", NODES.values(), ids=NODES.keys())
    def test_nodes_come_back(self, store: PropertyGraphStore, node: BaseNode) -> None:
        """Class, text, metadata, links and all else are the same, so that the hash holds."""
        mine = node.model_copy(deep=True)
        store.upsert_llama_nodes([mine])
        assert mine == node
        [found] = store.get_llama_nodes(["c1"])
        assert type(found) is type(node)
        assert found.get_content() == node.get_content()
        assert found.metadata == node.metadata
        assert found.relationships == node.relationships
        assert found.hash == node.hash
        assert found.model_dump() == node.model_dump()

    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
    def test_texts_are_verbatim(self, store: PropertyGraphStore, text: str) -> None:
        """No character is lost or changed; an empty text is a text."""
        mine = make_chunk("c1", text)
        store.upsert_llama_nodes([mine])
        [found] = store.get_llama_nodes(["c1"])
        assert found.get_content() == text
        assert found.hash == mine.hash
        assert chunk_of(store, "c1").text == text

    def test_the_order_is_as_asked(self, store: PropertyGraphStore) -> None:
        """Nodes come in the order of the ids; ids of no chunk are left out."""
        upsert_graph(store, "entity KNOWS entity")
        store.upsert_llama_nodes([make_chunk(id, f"text of {id}") for id in ("b", "a", "c")])
        asked = ["c", "nobody", "b", "entity", "a"]
        assert [it.node_id for it in store.get_llama_nodes(asked)] == ["c", "b", "a"]
        assert [it.node_id for it in store.get_llama_nodes(asked[::-1])] == ["a", "b", "c"]

    def test_nothing_asked(self, store: PropertyGraphStore) -> None:
        """An empty list names nothing, and an empty list upserts nothing."""
        store.upsert_llama_nodes([make_chunk("c1", "text")])
        store.upsert_llama_nodes([])
        assert store.get_llama_nodes([]) == []
        assert store.get_llama_nodes(["nobody"]) == []
        assert ids(store.get()) == ["c1"]

    def test_a_chunk_is_a_node(self, store: PropertyGraphStore) -> None:
        """``get`` gives it as a ChunkNode with its text and metadata."""
        store.upsert_llama_nodes([make_chunk("c1", "Logan works.", "d1", page=7)])
        node = chunk_of(store, "c1")
        assert (node.text, node.id_) == ("Logan works.", "c1")
        assert (node.properties["page"], node.properties["ref_doc_id"]) == (7, "d1")

    def test_another_text_replaces_the_first(self, store: PropertyGraphStore) -> None:
        """A chunk that is upserted again is as it was upserted last."""
        store.upsert_llama_nodes([make_chunk("c1", "first", page=1), make_chunk("c2", "other")])
        mine = make_chunk("c1", "second", page=2)
        store.upsert_llama_nodes([mine])
        [found] = store.get_llama_nodes(["c1"])
        assert found == mine
        assert (chunk_of(store, "c1").text, chunk_of(store, "c1").properties["page"]) == (
            "second",
            2,
        )
        assert ids(store.get()) == ["c1", "c2"]

    def test_the_same_text_again(self, store: PropertyGraphStore) -> None:
        """A chunk that is upserted again as it was changes nothing."""
        mine: list[BaseNode] = [
            make_chunk("c1", "Logan works.", "d1", page=1),
            make_chunk("c2", "Logan works."),
        ]
        store.upsert_llama_nodes(mine)
        before = snapshot(store)
        store.upsert_llama_nodes(mine)
        assert snapshot(store) == before
        assert len(store.get_llama_nodes(["c1", "c2"])) == 2

    def test_a_chunk_twice_in_one_call(self, store: PropertyGraphStore) -> None:
        """The last is the one that counts."""
        mine = make_chunk("c1", "second", page=2)
        store.upsert_llama_nodes(
            [make_chunk("c1", "first", page=1), make_chunk("c2", "other"), mine]
        )
        assert store.get_llama_nodes(["c1"]) == [mine]
        assert ids(store.get()) == ["c1", "c2"]

    def test_a_text_that_cannot_be_stored(self, store: PropertyGraphStore) -> None:
        """It is stored, or the whole call is refused."""
        odd = ChunkNode(id_="c2", text="a\ud800b")
        if not is_refused(store, nodes=[ChunkNode(id_="c1", text="text"), odd]):
            assert chunk_of(store, "c2").text == odd.text

    def test_metadata_keys(self, store: PropertyGraphStore) -> None:
        """Metadata may have any names, those of the store's own fields among them."""
        keys = ["id", "id_", "name", "label", "text", "properties", "type", "session", "", "é`'"]
        mine = make_chunk("c1", "text").model_copy(update={"metadata": dict.fromkeys(keys, 1)})
        store.upsert_llama_nodes([mine])
        assert store.get_llama_nodes(["c1"]) == [mine]
        assert (chunk_of(store, "c1").text, chunk_of(store, "c1").label) == ("text", "text_chunk")

    def test_chunks_of_one_text(self, store: PropertyGraphStore) -> None:
        """Two chunks may say the same."""
        store.upsert_llama_nodes([make_chunk("c1", "same"), make_chunk("c2", "same")])
        store.delete(ids=["c1"])
        assert [it.node_id for it in store.get_llama_nodes(["c1", "c2"])] == ["c2"]

    def test_an_entity_under_the_id_of_a_chunk(self, store: PropertyGraphStore) -> None:
        """It is refused, or the text stays all the same."""
        mine = make_chunk("c1", "text")
        store.upsert_llama_nodes([mine])
        is_refused(store, nodes=[make_entity("c1", "PERSON", age=1)])
        assert store.get_llama_nodes(["c1"]) == [mine]

    def test_chunk_nodes(self, store: PropertyGraphStore) -> None:
        """A ChunkNode that is upserted as a node comes back: text, label, properties, id."""
        mine = ChunkNode(id_="c1", text="text", label="PAGE", properties={"n": 1, "x": None})
        nameless = ChunkNode(text="another text")
        store.upsert_nodes([mine, nameless])
        assert ids(store.get()) == sorted(["c1", nameless.id])
        node = chunk_of(store, "c1")
        assert (node.text, node.label, node.properties) == ("text", "PAGE", {"n": 1, "x": None})
        assert chunk_of(store, nameless.id).text == "another text"

    def test_chunk_nodes_are_not_shared(self, store: PropertyGraphStore) -> None:
        """To change what was handed in or given out changes nothing in the store."""
        mine = make_chunk("c1", "text", tags=["x"])
        store.upsert_llama_nodes([mine])
        mine.metadata["tags"].append("y")
        mine.text = "other"
        [first] = store.get_llama_nodes(["c1"])
        first.metadata["tags"].append("z")
        node = chunk_of(store, "c1")
        node.text = "other"
        node.properties["more"] = 1
        [second] = store.get_llama_nodes(["c1"])
        assert (second.get_content(), second.metadata) == ("text", {"tags": ["x"]})
        assert "more" not in chunk_of(store, "c1").properties
        assert chunk_of(store, "c1").text == "text"

    def test_relations_of_chunks(self, store: PropertyGraphStore) -> None:
        """Chunks may be ends of relations like other nodes."""
        store.upsert_llama_nodes([make_chunk("c1", "one"), make_chunk("c2", "two")])
        store.upsert_relations([make_relation("c1", "NEXT", "c2", gap=0)])
        [(subject, relation, object)] = store.get_triplets(relation_names=["NEXT"])
        assert isinstance(subject, ChunkNode)
        assert isinstance(object, ChunkNode)
        assert (subject.text, relation.properties, object.text) == ("one", {"gap": 0}, "two")

    def test_a_chunk_that_a_relation_names_first(self, store: PropertyGraphStore) -> None:
        """A node that a relation made becomes the chunk that is upserted under its id."""
        store.upsert_llama_nodes([make_chunk("c1", "one")])
        store.upsert_relations([make_relation("c1", "NEXT", "c2")])
        store.upsert_llama_nodes([make_chunk("c2", "two")])
        assert [it.get_content() for it in store.get_llama_nodes(["c2"])] == ["two"]
        assert chunk_of(store, "c2").text == "two"
        assert triplet_lines(store.get_triplets(relation_names=["NEXT"])) == ["c1 NEXT c2"]
        assert ids(store.get()) == ["c1", "c2"]
