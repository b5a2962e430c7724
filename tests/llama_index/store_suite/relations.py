"""Relations: direction, label, properties; upserted again."""

from __future__ import annotations

import pytest
from llama_index.core.graph_stores.types import EntityNode, PropertyGraphStore

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    entity_of,
    ids,
    is_empty,
    make_entity,
    make_relation,
    relation_of,
    triplet_lines,
    upsert_graph,
)

__all__ = ["RelationTests"]

LABELS = {
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


class RelationTests(PropertyGraphTests):
    """A relation is read once, as it was upserted last."""

    def test_a_relation_comes_back(self, store: PropertyGraphStore) -> None:
        """Direction, label and properties are kept, and the ends with theirs."""
        store.upsert_nodes(
            [make_entity("Ann", "PERSON", age=1), make_entity("Acme", "FIRM", size=2)]
        )
        store.upsert_relations([make_relation("Ann", "RUNS", "Acme", since=2020, sure=True)])
        [(subject, relation, object)] = store.get_triplets(ids=["Ann"])
        assert (subject.id, subject.label, subject.properties) == ("Ann", "PERSON", {"age": 1})
        assert (object.id, object.label, object.properties) == ("Acme", "FIRM", {"size": 2})
        assert (relation.source_id, relation.label, relation.target_id) == ("Ann", "RUNS", "Acme")
        assert relation.properties == {"since": 2020, "sure": True}

    def test_both_directions(self, store: PropertyGraphStore) -> None:
        """The opposite direction is another relation, with its own properties."""
        upsert_graph(store, "a", "b")
        store.upsert_relations(
            [make_relation("a", "R", "b", n=1), make_relation("b", "R", "a", n=2)]
        )
        found = {t[0].id: t[1].properties for t in store.get_triplets(relation_names=["R"])}
        assert found == {"a": {"n": 1}, "b": {"n": 2}}

    def test_several_labels(self, store: PropertyGraphStore) -> None:
        """Two nodes may stand in several relations; labels that differ in casing are two."""
        upsert_graph(store, "a KNOWS b", "a LIKES b", "a likes b")
        assert triplet_lines(store.get_triplets(ids=["a"])) == [
            "a KNOWS b",
            "a LIKES b",
            "a likes b",
        ]

    def test_a_relation_to_itself(self, store: PropertyGraphStore) -> None:
        """A node may stand in a relation to itself; it is shown once."""
        upsert_graph(store, "a KNOWS a")
        assert triplet_lines(store.get_triplets(ids=["a"])) == ["a KNOWS a"]
        assert triplet_lines(store.get_rel_map(store.get(ids=["a"]), depth=2)) == ["a KNOWS a"]

    def test_keys_do_not_run_together(self, store: PropertyGraphStore) -> None:
        """Relations stay apart although their ends and labels, written in a row, are the same."""
        store.upsert_nodes([make_entity(name) for name in ("a", "a_R", "b", "R_b")])
        store.upsert_relations(
            [make_relation("a", "R_R", "b", n=1), make_relation("a_R", "R", "b", n=2)]
        )
        store.upsert_relations([make_relation("a", "R", "R_b", n=3)])
        found = {
            triplet_lines([t])[0]: t[1].properties for t in store.get_triplets(ids=["b", "R_b"])
        }
        assert found == {"a R_R b": {"n": 1}, "a_R R b": {"n": 2}, "a R R_b": {"n": 3}}

    @pytest.mark.parametrize("label", LABELS.values(), ids=LABELS.keys())
    def test_relation_labels_are_kept(self, store: PropertyGraphStore, label: str) -> None:
        """A label is text: it comes back, and does nothing else."""
        upsert_graph(store, "a KNOWS b")
        store.upsert_relations([make_relation("a", label, "b", n=1)])
        relation = relation_of(store, label)
        assert (relation.label, relation.properties) == (label, {"n": 1})
        assert triplet_lines(store.get_triplets(relation_names=["KNOWS"])) == ["a KNOWS b"]
        assert ids(store.get()) == ["a", "b"]

    def test_unknown_ends_are_made(self, store: PropertyGraphStore) -> None:
        """A relation to an id that is not there makes an entity with that id."""
        upsert_graph(store, "a")
        store.upsert_relations([make_relation("a", "R", "b"), make_relation("c", "R", "d")])
        assert triplet_lines(store.get_triplets(relation_names=["R"])) == ["a R b", "c R d"]
        for id in "bcd":
            assert entity_of(store, id).name == id

    def test_ends_are_exact(self, store: PropertyGraphStore) -> None:
        """An end that differs from a node in casing or by its stem alone is another node."""
        upsert_graph(store, "universe")
        store.upsert_relations([make_relation("Universe", "R", "university")])
        assert ids(store.get()) == ["Universe", "universe", "university"]

    def test_an_end_that_a_relation_created_can_be_upserted(
        self, store: PropertyGraphStore
    ) -> None:
        """Upserted later it gets its label and properties, and keeps its relations."""
        store.upsert_relations([make_relation("a", "R", "b")])
        store.upsert_nodes([make_entity("b", "CITY", size=3)])
        [(_, _, object)] = store.get_triplets(relation_names=["R"])
        assert (object.label, object.properties) == ("CITY", {"size": 3})

    def test_ends_keep_what_they_are(self, store: PropertyGraphStore) -> None:
        """A relation changes neither label nor properties of its ends."""
        store.upsert_nodes([make_entity("a", "CITY", size=3)])
        store.upsert_relations([make_relation("a", "R", "b", size=9)])
        node = entity_of(store, "a")
        assert (node.label, node.properties) == ("CITY", {"size": 3})

    def test_a_relation_upserted_again_is_one(self, store: PropertyGraphStore) -> None:
        """Its properties are merged: new values win, others stay."""
        upsert_graph(store, "a", "b")
        store.upsert_relations([make_relation("a", "R", "b", since=2020, where="Rome")])
        store.upsert_relations([make_relation("a", "R", "b", since=2021, how="well")])
        merged = {"since": 2021, "where": "Rome", "how": "well"}
        assert relation_of(store, "R").properties == merged
        [(_, relation, _)] = store.get_rel_map(store.get(ids=["b"]), depth=1)
        assert relation.properties == merged

    def test_relations_twice_in_one_call(self, store: PropertyGraphStore) -> None:
        """Upserts of one call are merged in their order."""
        store.upsert_relations(
            [make_relation("a", "R", "b", x=1, y=1), make_relation("a", "R", "b", x=2)]
        )
        assert relation_of(store, "R").properties == {"x": 2, "y": 1}

    def test_nothing_shows_old_ends(self, store: PropertyGraphStore) -> None:
        """What is upserted of a node is seen at once wherever the node is shown."""
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

    def test_relations_are_not_shared(self, store: PropertyGraphStore) -> None:
        """To change what was handed in or given out changes nothing in the store."""
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

    def test_no_relations(self, store: PropertyGraphStore) -> None:
        """To upsert an empty list is to do nothing."""
        store.upsert_relations([])
        assert is_empty(store)
