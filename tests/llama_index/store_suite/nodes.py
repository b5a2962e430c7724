"""Entities: names, labels, properties; upserted again."""

from __future__ import annotations

import pytest
from llama_index.core.graph_stores.types import ChunkNode, EntityNode, PropertyGraphStore

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    all_triplet_lines,
    entity_of,
    ids,
    is_refused,
    make_entity,
    make_relation,
    triplet_lines,
    upsert_graph,
)

__all__ = ["NodeTests"]

NAMES = {
    "single_quote": "O'Brien",
    "double_quote": 'say "hi"',
    "backtick": "a`b",
    "backslash": "a\\b\\",
    "newline": "two\nlines\r\n",
    "tab": "a\tb",
    "blanks": "  wide   blank ",
    "braces": "{name}: {{0}} $name %s",
    "nul": "a\x00b",
    "emoji": "👩‍👩‍👧 family",
    "right_to_left": "שלום עולם",
    "composed": "caf\u00e9",
    "combining": "cafe\u0301",
    "han": "北京市",
    "cypher": "x' OR 1=1 DETACH DELETE n //",
    "sql": "x'); DROP TABLE entity; --",
    "comment": "/* a */ -- b",
    "number": "42",
    "dashes": "a-b_c.d/e:f",
    "percent": "100%_",
    "long": "n" * 1000,
}
LABELS = {
    "blank": "a city",
    "quotes": "\"x\" 'y' `z`",
    "cypher": "X`) DETACH DELETE n //",
    "brace": "X {a: 1}",
    "newline": "A\nB",
    "script": "都市",
    "chunk": "Chunk",
    "reserved": "__Node__",
}
ODD = {
    "empty": "",
    "blank": " ",
    "lone_surrogate": "a\ud800b",
    "of_10000": "n" * 10_000,
    "of_50000": "é" * 50_000,
}
ALIKE = ["university", "universe", "Universal", "University", "UNIVERSE", "universities"]


class NodeTests(PropertyGraphTests):
    """Entities keep their exact names."""

    def test_an_entity_comes_back(self, store: PropertyGraphStore) -> None:
        """Class, id, name, label and properties are as they were."""
        store.upsert_nodes([make_entity("Ann Lee", "PERSON", age=30, nick=None)])
        node = entity_of(store, "Ann Lee")
        assert (node.name, node.label) == ("Ann Lee", "PERSON")
        assert node.properties == {"age": 30, "nick": None}

    @pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
    def test_names_are_kept(self, store: PropertyGraphStore, name: str) -> None:
        """A name is text, found by the id that LlamaIndex makes of it (blanks for ``"``)."""
        mine = make_entity(name, "THING", n=1)
        store.upsert_nodes([mine, make_entity("bystander")])
        node = entity_of(store, mine.id)
        assert (node.name, node.properties) == (name, {"n": 1})
        store.delete(ids=[mine.id])
        assert ids(store.get()) == ["bystander"]

    @pytest.mark.parametrize("label", LABELS.values(), ids=LABELS.keys())
    def test_node_labels_are_kept(self, store: PropertyGraphStore, label: str) -> None:
        """A label is text: it comes back, and does nothing else."""
        upsert_graph(store, "x KNOWS y")
        store.upsert_nodes([make_entity("a", label, n=1)])
        node = entity_of(store, "a")
        assert (node.label, node.properties) == (label, {"n": 1})
        assert ids(store.get()) == ["a", "x", "y"]
        assert all_triplet_lines(store) == ["x KNOWS y"]

    def test_names_that_are_alike(self, store: PropertyGraphStore) -> None:
        """Names that differ in casing or in an ending are different nodes."""
        for n, name in enumerate(ALIKE):
            store.upsert_nodes([make_entity(name, "THING", n=n)])
        assert ids(store.get()) == sorted(ALIKE)
        for n, name in enumerate(ALIKE):
            assert entity_of(store, name).properties == {"n": n}
        upsert_graph(store, "universe HAS university")
        assert triplet_lines(store.get_triplets(ids=["University", "universities"])) == []
        store.delete(ids=["universe", "University"])
        assert ids(store.get()) == sorted({*ALIKE} - {"universe", "University"})

    def test_composed_and_combined(self, store: PropertyGraphStore) -> None:
        """No normal form is applied: names that look the same may be two."""
        store.upsert_nodes([make_entity("caf\u00e9", n=1), make_entity("cafe\u0301", n=2)])
        assert entity_of(store, "caf\u00e9").properties == {"n": 1}
        assert entity_of(store, "cafe\u0301").properties == {"n": 2}

    def test_a_node_upserted_again_is_one(self, store: PropertyGraphStore) -> None:
        """Its properties are merged: new values win, others stay; the label is the new one."""
        store.upsert_nodes([make_entity("a", "OLD", x=1, y={"p": 1}, z=[1])])
        store.upsert_nodes([make_entity("a", "NEW", x=2, y={"q": 2}, w=None)])
        node = entity_of(store, "a")
        assert (node.label, node.properties) == (
            "NEW",
            {"x": 2, "y": {"q": 2}, "z": [1], "w": None},
        )
        assert ids(store.get()) == ["a"]

    def test_nodes_twice_in_one_call(self, store: PropertyGraphStore) -> None:
        """Upserts of one call are merged in their order."""
        store.upsert_nodes(
            [make_entity("a", "OLD", x=1, y=1), make_entity("b"), make_entity("a", "NEW", x=2)]
        )
        node = entity_of(store, "a")
        assert (node.label, node.properties) == ("NEW", {"x": 2, "y": 1})

    def test_relations_survive_an_upsert(self, store: PropertyGraphStore) -> None:
        """An entity that is upserted again keeps its relations."""
        upsert_graph(store, "a KNOWS b")
        store.upsert_nodes([make_entity("a", "NEW", n=1)])
        assert triplet_lines(store.get_triplets(ids=["a"])) == ["a KNOWS b"]

    def test_nodes_handed_in_are_not_shared(self, store: PropertyGraphStore) -> None:
        """To change a node that was upserted changes nothing in the store."""
        mine = make_entity("a", "THING", tags=["x"], place={"city": "Rome"})
        store.upsert_nodes([mine])
        mine.properties["tags"].append("y")
        mine.properties["place"]["city"] = "Oslo"
        mine.properties["more"] = 1
        mine.label = "OTHER"
        node = entity_of(store, "a")
        assert (node.label, node.properties) == (
            "THING",
            {"tags": ["x"], "place": {"city": "Rome"}},
        )

    def test_nodes_returned_are_not_shared(self, store: PropertyGraphStore) -> None:
        """To change a node that was read changes nothing in the store, nor in another reading."""
        store.upsert_nodes([make_entity("a", "THING", tags=["x"]), make_entity("b")])
        upsert_graph(store, "b KNOWS b")
        first, second = entity_of(store, "a"), entity_of(store, "a")
        first.properties["tags"].append("y")
        first.properties["more"] = 1
        first.name = "other"
        for [(subject, _, _)] in (
            store.get_triplets(ids=["b"]),
            store.get_rel_map([make_entity("b")], depth=1),
        ):
            assert isinstance(subject, EntityNode)
            subject.properties["more"] = 1
            subject.name = "other"
        assert second.properties == {"tags": ["x"]}
        assert entity_of(store, "a").properties == {"tags": ["x"]}
        assert (entity_of(store, "b").name, entity_of(store, "b").properties) == ("b", {})

    def test_an_upsert_changes_nothing_in_the_node(self, store: PropertyGraphStore) -> None:
        """What is handed in stays as it is."""
        mine = make_entity("a", "THING", tags=["x"], n=None)
        before = mine.model_copy(deep=True)
        store.upsert_nodes([mine])
        assert mine == before

    def test_no_nodes(self, store: PropertyGraphStore) -> None:
        """To upsert an empty list is to do nothing."""
        store.upsert_nodes([])
        assert store.get() == []

    def test_many_nodes(self, store: PropertyGraphStore) -> None:
        """Two thousand entities of one call are all there."""
        names = [f"n{n:04}" for n in range(2000)]
        store.upsert_nodes([make_entity(name) for name in names])
        assert ids(store.get()) == names
        assert ids(store.get(ids=names)) == names
        store.upsert_relations([make_relation("n0000", "R", name) for name in names])
        assert len(store.get_triplets(ids=names)) == 2000
        assert len(store.get_rel_map([make_entity(name) for name in names], limit=5000)) == 2000
        store.delete(ids=names[1:])
        assert ids(store.get()) == names[:1]

    @pytest.mark.parametrize("name", ODD.values(), ids=ODD.keys())
    def test_unusual_names_are_stored_or_refused(
        self, store: PropertyGraphStore, name: str
    ) -> None:
        """Where something cannot be a name, a label or an end, the whole call is refused."""
        upsert_graph(store, "a")
        if not is_refused(store, nodes=[make_entity("b"), make_entity(name)]):
            assert entity_of(store, make_entity(name).id).name == name
        if not is_refused(store, nodes=[make_entity("c"), make_entity("d", label=name)]):
            assert entity_of(store, "d").label == name
        for relation in (
            make_relation("a", "R", name),
            make_relation(name, "R", "a"),
            make_relation("a", name, "e"),
        ):
            if not is_refused(store, relations=[make_relation("a", "Q", "f"), relation]):
                assert len(store.get_triplets(ids=["a"], relation_names=[relation.label])) > 0

    def test_one_bad_node_refuses_the_whole_call(self, store: PropertyGraphStore) -> None:
        """A call with one node that cannot be stored writes none, whatever their classes."""
        fine = ChunkNode(id_="c1", text="Ann was there.")
        assert is_refused(store, nodes=[fine, make_entity("a", "THING", held=object())])
        bad = ChunkNode(id_="c2", text="text", properties={"held": object()})
        assert is_refused(store, nodes=[make_entity("a"), fine, bad])
