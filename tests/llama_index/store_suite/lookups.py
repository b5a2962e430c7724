"""What ``get`` and ``get_triplets`` give for which arguments."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.graph_stores.types import PropertyGraphStore

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    case_name,
    ids,
    make_chunk,
    make_entity,
    make_relation,
    triplet_lines,
    upsert_graph,
)

__all__ = ["LookupTests"]

ALL = ["Ann KNOWS Bo", "Ann LIKES tea", "Bo KNOWS Cy", "Bo LIKES tea"]

Cases = list[tuple[dict[str, Any], list[str]]]
GET: Cases = [
    ({}, ["Ann", "Bo", "Cy", "tea"]),
    ({"ids": ["Cy", "Ann"]}, ["Ann", "Cy"]),
    ({"ids": ["Ann", "Ann"]}, ["Ann"]),
    ({"ids": []}, []),
    ({"ids": ["nobody"]}, []),
    ({"ids": ["nobody", "tea"]}, ["tea"]),
    ({"properties": {"city": "Rome"}}, ["Ann", "Bo"]),
    ({"properties": {"city": "Rome", "age": 30}}, ["Ann"]),
    ({"properties": {"city": "Rome", "age": 99}}, []),
    ({"properties": {"age": "30"}}, []),
    ({"properties": {"name": "Ann"}}, ["Ann"]),
    ({"properties": {"name": "Ann", "age": 30}}, ["Ann"]),
    ({"properties": {"name": "Ann", "age": 40}}, []),
    ({"properties": {"name": "ann"}}, []),
    ({"properties": {"name": "Bo"}, "ids": ["Ann"]}, []),
    ({"properties": {"size": None}}, []),
    ({"properties": {"age": 30}, "ids": ["Ann", "Bo"]}, ["Ann"]),
    ({"properties": {"age": 30}, "ids": []}, []),
]
TRIPLETS: Cases = [
    ({}, ALL),
    ({"entity_names": ["Ann"]}, ["Ann KNOWS Bo", "Ann LIKES tea"]),
    ({"entity_names": ["Cy"]}, ["Bo KNOWS Cy"]),
    ({"entity_names": ["Ann", "Cy"]}, ["Ann KNOWS Bo", "Ann LIKES tea", "Bo KNOWS Cy"]),
    ({"entity_names": ["nobody"]}, []),
    ({"entity_names": []}, []),
    ({"relation_names": ["KNOWS"]}, ["Ann KNOWS Bo", "Bo KNOWS Cy"]),
    ({"relation_names": ["KNOWS", "LIKES", "HATES"]}, ALL),
    ({"relation_names": ["knows"]}, []),
    ({"relation_names": []}, []),
    ({"ids": ["tea"]}, ["Ann LIKES tea", "Bo LIKES tea"]),
    ({"ids": ["nobody"]}, []),
    ({"ids": []}, []),
    ({"properties": {"since": 2000}}, ["Ann KNOWS Bo", "Bo KNOWS Cy"]),
    ({"properties": {"since": 2000, "how": "well"}}, ["Ann KNOWS Bo"]),
    ({"properties": {"since": 2000, "how": "ill"}}, []),
    ({"properties": {"city": "Oslo"}}, ["Bo KNOWS Cy"]),
    ({"properties": {"since": 1999}}, []),
    ({"properties": {"name": "Cy"}}, ["Bo KNOWS Cy"]),
    ({"entity_names": ["Ann"], "relation_names": ["LIKES"]}, ["Ann LIKES tea"]),
    ({"entity_names": ["Ann"], "ids": ["tea"]}, ["Ann LIKES tea"]),
    ({"ids": ["Bo"], "relation_names": ["KNOWS"]}, ["Ann KNOWS Bo", "Bo KNOWS Cy"]),
    ({"ids": ["Ann"], "properties": {"since": 2010}}, ["Ann LIKES tea"]),
    ({"relation_names": ["LIKES"], "properties": {"since": 2000}}, []),
    ({"entity_names": ["Ann"], "ids": []}, []),
    ({"entity_names": ["Ann"], "relation_names": []}, []),
]


def _people(store: PropertyGraphStore) -> None:
    store.upsert_nodes(
        [
            make_entity("Ann", "PERSON", city="Rome", age=30),
            make_entity("Bo", "PERSON", city="Rome", age=40),
            make_entity("Cy", "PERSON", city="Oslo", age=30),
            make_entity("tea", "DRINK"),
        ]
    )
    store.upsert_relations(
        [
            make_relation("Ann", "KNOWS", "Bo", since=2000, how="well"),
            make_relation("Bo", "KNOWS", "Cy", since=2000),
            make_relation("Ann", "LIKES", "tea", since=2010),
            make_relation("Bo", "LIKES", "tea"),
        ]
    )


class LookupTests(PropertyGraphTests):
    """Conditions are conjunctions; an empty list names nothing."""

    @pytest.mark.parametrize(("conditions", "found"), GET, ids=[case_name(it) for it, _ in GET])
    def test_get(
        self, store: PropertyGraphStore, conditions: dict[str, Any], found: list[str]
    ) -> None:
        """Nodes by ids and by properties, all of which must match; with neither, all nodes."""
        _people(store)
        assert ids(store.get(**conditions)) == found

    def test_get_gives_chunks_too(self, store: PropertyGraphStore) -> None:
        """Chunks are nodes; they are found by id and by metadata."""
        upsert_graph(store, "a")
        store.upsert_llama_nodes(
            [make_chunk("c1", "text", "d1", page=7), make_chunk("c2", "text", "d2")]
        )
        assert ids(store.get()) == ["a", "c1", "c2"]
        assert ids(store.get(ids=["c1", "a"])) == ["a", "c1"]
        assert ids(store.get(properties={"page": 7})) == ["c1"]
        assert ids(store.get(properties={"ref_doc_id": "d2"})) == ["c2"]

    def test_names_beside_properties(self, store: PropertyGraphStore) -> None:
        """A property ``name`` of an entity's own counts in the place of the entity's name; a
        chunk has no name."""
        store.upsert_nodes([make_entity("a").model_copy(update={"properties": {"name": "b"}})])
        store.upsert_nodes([make_entity("b"), make_entity('c "d"')])
        store.upsert_llama_nodes([make_chunk("c1", "b")])
        assert ids(store.get(properties={"name": "b"})) == ["a", "b"]
        assert store.get(properties={"name": "a"}) == []
        assert len(store.get(properties={"name": 'c "d"'})) == 1
        assert store.get(properties={"name": "c1"}) == []

    @pytest.mark.parametrize("value", [1, "1", "", 0, 0.5], ids=repr)
    def test_get_by_value(self, store: PropertyGraphStore, value: Any) -> None:
        """A property matches a value that equals it."""
        values = {"one": 1, "str": "1", "empty": "", "zero": 0, "half": 0.5}
        store.upsert_nodes([make_entity(name, "THING", v=it) for name, it in values.items()])
        wanted = sorted(name for name, it in values.items() if it == value)
        assert ids(store.get(properties={"v": value})) == wanted

    @pytest.mark.parametrize(
        ("conditions", "found"), TRIPLETS, ids=[case_name(it) for it, _ in TRIPLETS]
    )
    def test_get_triplets(
        self, store: PropertyGraphStore, conditions: dict[str, Any], found: list[str]
    ) -> None:
        """Triplets of which an end has one of the names and one of the ids, whose label is one of
        those named, and which, or an end of which, has the properties; with nothing named, all."""
        _people(store)
        assert triplet_lines(store.get_triplets(**conditions)) == found

    def test_names_with_quotes(self, store: PropertyGraphStore) -> None:
        """``entity_names`` are names and ``ids`` ids where the two differ."""
        mine = make_entity('the "Bear"')
        store.upsert_nodes([mine, make_entity("b")])
        store.upsert_relations([make_relation(mine.id, "EATS", "b")])
        assert len(store.get_triplets(entity_names=['the "Bear"'])) == 1
        assert len(store.get_triplets(ids=[mine.id])) == 1

    def test_arguments_are_not_changed(self, store: PropertyGraphStore) -> None:
        """The lists and dicts of a question stay as they are."""
        _people(store)
        names, labels, properties, some = ["Ann"], ["KNOWS"], {"since": 2000}, ["Bo"]
        store.get(properties=properties, ids=some)
        store.get_triplets(names, labels, properties, some)
        store.get_rel_map([make_entity("Ann")], ignore_rels=labels)
        assert (names, labels, properties, some) == (["Ann"], ["KNOWS"], {"since": 2000}, ["Bo"])
