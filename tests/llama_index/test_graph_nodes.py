"""Nodes and relations in a property graph store."""

from __future__ import annotations

import pytest
from llama_index.core.graph_stores.types import ChunkNode, EntityNode, PropertyGraphStore

from tests.llama_index.property_graphs import (
    NewStore,
    all_triplet_lines,
    entity_of,
    ids,
    is_refused,
    make_entity,
    make_relation,
    relation_of,
    triplet_lines,
    upsert_graph,
)

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


NODE_LABELS = {
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


def test_names_are_kept(subtests: pytest.Subtests, new_store: NewStore) -> None:
    for case, name in NAMES.items():
        with subtests.test(case):
            store = new_store()
            mine = make_entity(name, "THING", n=1)
            store.upsert_nodes([mine, make_entity("bystander")])
            node = entity_of(store, mine.id)
            assert (node.name, node.properties) == (name, {"n": 1})
            store.delete(ids=[mine.id])
            assert ids(store.get()) == ["bystander"]


def test_node_labels_are_kept(subtests: pytest.Subtests, new_store: NewStore) -> None:
    for case, label in NODE_LABELS.items():
        with subtests.test(case):
            store = new_store()
            upsert_graph(store, "x KNOWS y")
            store.upsert_nodes([make_entity("a", label, n=1)])
            node = entity_of(store, "a")
            assert (node.label, node.properties) == (label, {"n": 1})
            assert ids(store.get()) == ["a", "x", "y"]
            assert all_triplet_lines(store) == ["x KNOWS y"]


def test_names_that_are_alike(store: PropertyGraphStore) -> None:
    for n, name in enumerate(ALIKE):
        store.upsert_nodes([make_entity(name, "THING", n=n)])
    assert ids(store.get()) == sorted(ALIKE)
    for n, name in enumerate(ALIKE):
        assert entity_of(store, name).properties == {"n": n}
    upsert_graph(store, "universe HAS university")
    assert triplet_lines(store.get_triplets(ids=["University", "universities"])) == []
    store.delete(ids=["universe", "University"])
    assert ids(store.get()) == sorted({*ALIKE} - {"universe", "University"})


def test_a_node_upserted_again_is_one(store: PropertyGraphStore) -> None:
    store.upsert_nodes([make_entity("a", "OLD", x=1, y={"p": 1}, z=[1])])
    store.upsert_nodes([make_entity("a", "NEW", x=2, y={"q": 2}, w=None)])
    node = entity_of(store, "a")
    assert (node.label, node.properties) == (
        "NEW",
        {"x": 2, "y": {"q": 2}, "z": [1], "w": None},
    )
    assert ids(store.get()) == ["a"]


def test_nodes_twice_in_one_call(store: PropertyGraphStore) -> None:
    store.upsert_nodes(
        [make_entity("a", "OLD", x=1, y=1), make_entity("b"), make_entity("a", "NEW", x=2)]
    )
    node = entity_of(store, "a")
    assert (node.label, node.properties) == ("NEW", {"x": 2, "y": 1})


def test_nodes_handed_in_are_not_shared(store: PropertyGraphStore) -> None:
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


def test_nodes_returned_are_not_shared(store: PropertyGraphStore) -> None:
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


def test_unusual_names_are_stored_or_refused(
    subtests: pytest.Subtests, new_store: NewStore
) -> None:
    for case, name in ODD.items():
        with subtests.test(case):
            store = new_store()
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


def test_one_bad_node_refuses_the_whole_call(store: PropertyGraphStore) -> None:
    fine = ChunkNode(id_="c1", text="Ann was there.")
    assert is_refused(store, nodes=[fine, make_entity("a", "THING", held=object())])
    bad = ChunkNode(id_="c2", text="text", properties={"held": object()})
    assert is_refused(store, nodes=[make_entity("a"), fine, bad])


RELATION_LABELS = {
    "lower": "works for",
    "dash": "WORKS-FOR",
    "quotes": "say \"x\" 'y' `z`",
    "cypher": "R`]->() DETACH DELETE n //",
    "brace": "R {a: 1}",
    "newline": "A\nB",
    "arrow": "-->",
    "script": "работает_на",
    "emoji": "❤️",
    "semicolon": "R; MATCH (n) DETACH DELETE n",
}


def test_a_relation_comes_back(store: PropertyGraphStore) -> None:
    store.upsert_nodes([make_entity("Ann", "PERSON", age=1), make_entity("Acme", "FIRM", size=2)])
    store.upsert_relations([make_relation("Ann", "RUNS", "Acme", since=2020, sure=True)])
    [(subject, relation, object)] = store.get_triplets(ids=["Ann"])
    assert (subject.id, subject.label, subject.properties) == ("Ann", "PERSON", {"age": 1})
    assert (object.id, object.label, object.properties) == ("Acme", "FIRM", {"size": 2})
    assert (relation.source_id, relation.label, relation.target_id) == ("Ann", "RUNS", "Acme")
    assert relation.properties == {"since": 2020, "sure": True}


def test_relation_labels_are_kept(subtests: pytest.Subtests, new_store: NewStore) -> None:
    for case, label in RELATION_LABELS.items():
        with subtests.test(case):
            store = new_store()
            upsert_graph(store, "a KNOWS b")
            store.upsert_relations([make_relation("a", label, "b", n=1)])
            relation = relation_of(store, label)
            assert (relation.label, relation.properties) == (label, {"n": 1})
            assert triplet_lines(store.get_triplets(relation_names=["KNOWS"])) == ["a KNOWS b"]
            assert ids(store.get()) == ["a", "b"]


def test_unknown_ends_are_made(store: PropertyGraphStore) -> None:
    upsert_graph(store, "a")
    store.upsert_relations([make_relation("a", "R", "b"), make_relation("c", "R", "d")])
    assert triplet_lines(store.get_triplets(relation_names=["R"])) == ["a R b", "c R d"]
    for id in "bcd":
        assert entity_of(store, id).name == id


def test_ends_are_exact(store: PropertyGraphStore) -> None:
    upsert_graph(store, "universe")
    store.upsert_relations([make_relation("Universe", "R", "university")])
    assert ids(store.get()) == ["Universe", "universe", "university"]


def test_ends_keep_what_they_are(store: PropertyGraphStore) -> None:
    store.upsert_nodes([make_entity("a", "CITY", size=3)])
    store.upsert_relations([make_relation("a", "R", "b", size=9)])
    node = entity_of(store, "a")
    assert (node.label, node.properties) == ("CITY", {"size": 3})


def test_a_relation_upserted_again_is_one(store: PropertyGraphStore) -> None:
    upsert_graph(store, "a", "b")
    store.upsert_relations([make_relation("a", "R", "b", since=2020, where="Rome")])
    store.upsert_relations([make_relation("a", "R", "b", since=2021, how="well")])
    merged = {"since": 2021, "where": "Rome", "how": "well"}
    assert relation_of(store, "R").properties == merged
    [(_, relation, _)] = store.get_rel_map(store.get(ids=["b"]), depth=1)
    assert relation.properties == merged


def test_relations_twice_in_one_call(store: PropertyGraphStore) -> None:
    store.upsert_relations(
        [make_relation("a", "R", "b", x=1, y=1), make_relation("a", "R", "b", x=2)]
    )
    assert relation_of(store, "R").properties == {"x": 2, "y": 1}


def test_nothing_shows_old_ends(store: PropertyGraphStore) -> None:
    store.upsert_nodes([make_entity("a", "OLD", n=1, kept=True), make_entity("b")])
    store.upsert_relations([make_relation("a", "R", "b")])
    store.upsert_nodes([make_entity("a", "NEW", n=2)])
    for [(subject, _, _)] in (
        store.get_triplets(ids=["b"]),
        store.get_triplets(entity_names=["a"]),
        store.get_rel_map([make_entity("b")], depth=1),
        store.get_rel_map([make_entity("a", "OLD", n=1)], depth=1),
    ):
        assert isinstance(subject, EntityNode)
        assert (subject.label, subject.properties) == ("NEW", {"n": 2, "kept": True})


def test_relations_are_not_shared(store: PropertyGraphStore) -> None:
    mine = make_relation("a", "R", "b", tags=["x"])
    store.upsert_relations([mine])
    mine.properties["tags"].append("y")
    mine.properties["more"] = 1
    mine.label = "Q"
    given = relation_of(store, "R")
    assert given.properties == {"tags": ["x"]}
    given.properties["tags"].append("z")
    given.properties.clear()
    assert relation_of(store, "R").properties == {"tags": ["x"]}
