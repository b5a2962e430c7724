"""Nodes and relations in a property graph store."""

from __future__ import annotations

from llama_index.core.graph_stores.types import ChunkNode, PropertyGraphStore

from tests.llama_index.property_graphs import (
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
    "backtick": "a`b",
    "backslash": "a\\b\\",
    "newline": "two\nlines\r\n",
    "blanks": "  wide   blank ",
    "braces": "{name}: {{0}} $name %s",
    "nul": "a\x00b",
    "emoji": "👩‍👩‍👧 family",
    "composed": "caf\u00e9",
    "combining": "cafe\u0301",
    "cypher": "x' OR 1=1 DETACH DELETE n //",
    "sql": "x'); DROP TABLE entity; --",
    "percent": "100%_",
    "long": "n" * 1000,
    "quotes": "\"x\" 'y' `z`",
    "arrow": "-->",
    "chunk": "Chunk",
}


ALIKE = ["university", "universe", "Universal", "University", "UNIVERSE", "universities"]


def test_names_and_labels_are_kept(store: PropertyGraphStore) -> None:
    """Of entities, of their types, and of relations."""
    upsert_graph(store, "x KNOWS y")
    for case, name in NAMES.items():
        store.upsert_nodes([make_entity(name, "THING", n=1), make_entity(case, name, n=2)])
        store.upsert_relations([make_relation("x", name, "y", n=3)])
        node, labelled = entity_of(store, make_entity(name).id), entity_of(store, case)
        assert (node.name, node.properties) == (name, {"n": 1}), case
        assert (labelled.label, labelled.properties) == (name, {"n": 2}), case
        relation = relation_of(store, name)
        assert (relation.label, relation.properties) == (name, {"n": 3}), case
        store.delete(ids=[node.id, case])
        store.delete(relation_names=[name])
        assert ids(store.get()) == ["x", "y"], case
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
    old, new = make_entity("a", "OLD", x=1, y={"p": 1}, z=[1]), make_entity("a", "NEW", x=2, w=None)
    merged = ("NEW", {"x": 2, "y": {"p": 1}, "z": [1], "w": None})
    store.upsert_nodes([old])
    store.upsert_relations([make_relation("a", "R", "b", size=9)])
    node = entity_of(store, "a")
    assert (node.label, node.properties) == ("OLD", {"x": 1, "y": {"p": 1}, "z": [1]})
    store.upsert_nodes([new])
    for [(subject, _, _)] in (
        store.get_triplets(ids=["b"]),
        store.get_triplets(entity_names=["a"]),
        store.get_rel_map([make_entity("b")], depth=1),
        store.get_rel_map([old], depth=1),
    ):
        assert (subject.label, subject.properties) == merged
    assert ids(store.get()) == ["a", "b"]
    store.delete(ids=["a"])
    store.upsert_nodes([old, make_entity("c"), new])
    node = entity_of(store, "a")
    assert (node.label, node.properties) == merged


def test_one_bad_node_refuses_the_whole_call(store: PropertyGraphStore) -> None:
    fine = ChunkNode(id_="c1", text="Ann was there.")
    assert is_refused(store, nodes=[fine, make_entity("a", "THING", held=object())])
    bad = ChunkNode(id_="c2", text="text", properties={"held": object()})
    assert is_refused(store, nodes=[make_entity("a"), fine, bad])


def test_unknown_ends_are_made(store: PropertyGraphStore) -> None:
    """By their exact ids."""
    upsert_graph(store, "a", "universe")
    relations = [make_relation("a", "R", "b"), make_relation("c", "R", "d")]
    store.upsert_relations([*relations, make_relation("Universe", "R", "university")])
    found = triplet_lines(store.get_triplets(relation_names=["R"]))
    assert found == ["Universe R university", "a R b", "c R d"]
    assert ids(store.get()) == ["Universe", "a", "b", "c", "d", "universe", "university"]
    for id in "bcd":
        assert entity_of(store, id).name == id


def test_a_relation_upserted_again_is_one(store: PropertyGraphStore) -> None:
    old = make_relation("a", "R", "b", since=2020, where="Rome")
    new = make_relation("a", "R", "b", since=2021, how="well")
    merged = {"since": 2021, "where": "Rome", "how": "well"}
    store.upsert_relations([old])
    store.upsert_relations([new])
    assert relation_of(store, "R").properties == merged
    [(_, relation, _)] = store.get_rel_map(store.get(ids=["b"]), depth=1)
    assert relation.properties == merged
    store.delete(relation_names=["R"])
    store.upsert_relations([old, new])
    assert relation_of(store, "R").properties == merged
