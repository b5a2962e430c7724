"""Provenance: a store knows every chunk that shows an entity or a relation, so that deleting one
chunk deletes exactly what no other shows."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.graph_stores.types import TRIPLET_SOURCE_KEY, PropertyGraphStore
from llama_index.core.schema import ImageNode

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    all_triplet_lines,
    entity_of,
    ids,
    is_empty,
    is_refused,
    make_chunk,
    make_entity,
    make_relation,
    relation_of,
    snapshot,
    source_of,
    triplet_lines,
    upsert_chunk,
    upsert_graph,
)

__all__ = ["ProvenanceTests"]


class ProvenanceTests(PropertyGraphTests):
    """Entities and relations with ``triplet_source_id``; what a deleted chunk takes along."""

    def test_entities_of_one_chunk_are_deleted_with_it(self, store: PropertyGraphStore) -> None:
        """A relation and its ends are deleted with their only chunk."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo", "Cy")
        store.delete(ids=["c1"])
        assert is_empty(store)

    def test_entities_of_another_chunk_stay(self, store: PropertyGraphStore) -> None:
        """What two chunks show is deleted with the second of them."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo", "Ann LIKES tea")
        upsert_chunk(store, "c2", "Ann KNOWS Bo", "Bo LIKES milk")
        store.delete(ids=["c1"])
        assert ids(store.get()) == ["Ann", "Bo", "c2", "milk"]
        assert all_triplet_lines(store) == ["Ann KNOWS Bo", "Bo LIKES milk"]
        store.delete(ids=["c2"])
        assert is_empty(store)

    @pytest.mark.parametrize("gone", ["c1", "c2"])
    def test_the_shown_source_exists(self, store: PropertyGraphStore, gone: str) -> None:
        """Whichever chunk is deleted, the rest names the other one as its source."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        upsert_chunk(store, "c2", "Ann KNOWS Bo")
        store.delete(ids=[gone])
        left = {"c1": "c2", "c2": "c1"}[gone]
        assert relation_of(store, "KNOWS").properties == {TRIPLET_SOURCE_KEY: left}
        assert entity_of(store, "Ann").properties == {TRIPLET_SOURCE_KEY: left}
        assert [it.node_id for it in store.get_llama_nodes(["c1", "c2"])] == [left]

    def test_the_newest_source_is_shown(self, store: PropertyGraphStore) -> None:
        """Relations and their ends name the latest of their chunks, although the index does not
        upsert known ends again."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        assert source_of(store, "Ann") == relation_of(store, "KNOWS").properties[TRIPLET_SOURCE_KEY]
        assert source_of(store, "Ann") == "c1"
        upsert_chunk(store, "c2", "Ann KNOWS Bo")
        for [(subject, relation, object)] in (
            store.get_triplets(ids=["Ann"]),
            store.get_rel_map([make_entity("Bo")], depth=1),
        ):
            sources = [it.properties[TRIPLET_SOURCE_KEY] for it in (subject, relation, object)]
            assert sources == ["c2", "c2", "c2"]
        assert source_of(store, "Ann") == "c2"

    def test_of_three_sources(self, store: PropertyGraphStore) -> None:
        """The order of several sources stays, however many are deleted."""
        for id in ("c1", "c2", "c3"):
            upsert_chunk(store, id, "Ann KNOWS Bo")
        for gone, left in (("c3", "c2"), ("c1", "c2")):
            store.delete(ids=[gone])
            assert source_of(store, "Bo") == left
            assert relation_of(store, "KNOWS").properties[TRIPLET_SOURCE_KEY] == left

    @pytest.mark.parametrize("gone", [1, 2])
    def test_an_entity_of_two_chunks_stays_with_the_other(
        self, store: PropertyGraphStore, gone: int
    ) -> None:
        """The entity stays with the properties of the other chunk, which may be earlier values;
        those of the deleted chunk alone are deleted."""
        said: dict[int, dict[str, Any]] = {
            1: {"age": 30, "city": "Oslo"},
            2: {"age": 31, "job": "cook"},
        }
        for n, own in said.items():
            store.upsert_llama_nodes([make_chunk(f"c{n}", f"text {n}", f"d{n}")])
            store.upsert_nodes(
                [make_entity("Ann", "PERSON", **own, **{TRIPLET_SOURCE_KEY: f"c{n}"})]
            )
        assert entity_of(store, "Ann").properties == {
            **said[1],
            **said[2],
            TRIPLET_SOURCE_KEY: "c2",
        }
        left = 3 - gone
        store.delete_llama_nodes(ref_doc_ids=[f"d{gone}"])
        assert entity_of(store, "Ann").properties == {**said[left], TRIPLET_SOURCE_KEY: f"c{left}"}
        store.delete(ids=[f"c{left}"])
        assert store.get() == []

    @pytest.mark.parametrize("gone", [1, 2])
    def test_a_relation_of_two_chunks_stays_with_the_other(
        self, store: PropertyGraphStore, gone: int
    ) -> None:
        """The relation stays, with the properties that the other chunk gives it."""
        said: dict[int, dict[str, Any]] = {
            1: {"since": 1990, "page": 1},
            2: {"since": 2001, "file": "b.txt"},
        }
        for n, own in said.items():
            store.upsert_llama_nodes([make_chunk(f"c{n}", f"text {n}", f"d{n}")])
            relation = make_relation("Ann", "KNOWS", "Bo", **own, **{TRIPLET_SOURCE_KEY: f"c{n}"})
            store.upsert_relations([relation])
        assert relation_of(store, "KNOWS").properties == {
            **said[1],
            **said[2],
            TRIPLET_SOURCE_KEY: "c2",
        }
        left = 3 - gone
        store.delete_llama_nodes(ref_doc_ids=[f"d{gone}"])
        assert relation_of(store, "KNOWS").properties == {
            **said[left],
            TRIPLET_SOURCE_KEY: f"c{left}",
        }
        store.delete(ids=[f"c{left}"])
        assert is_empty(store)

    def test_an_entity_that_another_chunk_relates(self, store: PropertyGraphStore) -> None:
        """A chunk that shows a relation of an entity is a source of the entity."""
        upsert_chunk(store, "c1", "Ann")
        upsert_chunk(store, "c2", "Ann KNOWS Bo")
        store.delete(ids=["c1"])
        assert ids(store.get()) == ["Ann", "Bo", "c2"]
        assert source_of(store, "Ann") == "c2"

    def test_an_entity_that_another_chunk_mentions(self, store: PropertyGraphStore) -> None:
        """A chunk with a relation MENTIONS to an entity is a source of the entity."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        store.upsert_llama_nodes([make_chunk("c2", "two")])
        store.upsert_relations([make_relation("c2", "MENTIONS", "Ann")])
        store.delete(ids=["c1"])
        assert ids(store.get()) == ["Ann", "c2"]
        assert source_of(store, "Ann") == "c2"
        store.delete(ids=["c2"])
        assert store.get() == []

    def test_an_end_that_a_relation_made(self, store: PropertyGraphStore) -> None:
        """An end that a relation created is deleted with the relation's chunk."""
        store.upsert_llama_nodes([make_chunk("c1", "one"), make_chunk("c2", "two")])
        store.upsert_relations([make_relation("a", "R", "b", **{TRIPLET_SOURCE_KEY: "c1"})])
        store.upsert_relations([make_relation("b", "R", "c", **{TRIPLET_SOURCE_KEY: "c2"})])
        store.delete(ids=["c1"])
        assert ids(store.get()) == ["b", "c", "c2"]
        assert all_triplet_lines(store) == ["b R c"]

    def test_entities_without_a_source_stay(self, store: PropertyGraphStore) -> None:
        """No chunk takes along what was once upserted without one."""
        upsert_graph(store, "Ann KNOWS Bo", "Cy")
        before = snapshot(store)
        upsert_chunk(store, "c1", "Ann KNOWS Bo", "Bo LIKES Cy")
        store.delete(ids=["c1"])
        assert snapshot(store) == before

    def test_no_source_after_a_source(self, store: PropertyGraphStore) -> None:
        """That holds for what is upserted without a source later as well."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        store.upsert_nodes([make_entity("Ann")])
        store.delete(ids=["c1"])
        assert ids(store.get()) == ["Ann"]
        assert source_of(store, "Ann") is None
        assert all_triplet_lines(store) == []

    def test_deleting_an_unknown_chunk_deletes_nothing(self, store: PropertyGraphStore) -> None:
        """Nor does one whose id is merely alike."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        before = snapshot(store)
        for id in ("C1", "c", "c11", "c2"):
            store.delete(ids=[id])
            store.delete_llama_nodes(node_ids=[id])
        assert snapshot(store) == before

    def test_deleted_as_a_llama_node(self, store: PropertyGraphStore) -> None:
        """``delete_llama_nodes`` by node id takes along what ``delete`` does."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo", "Ann LIKES tea")
        upsert_chunk(store, "c2", "Ann KNOWS Bo")
        store.delete_llama_nodes(node_ids=["c1"])
        assert ids(store.get()) == ["Ann", "Bo", "c2"]
        assert all_triplet_lines(store) == ["Ann KNOWS Bo"]

    def test_deleted_with_its_document(self, store: PropertyGraphStore) -> None:
        """``delete_llama_nodes`` by document deletes what only the document's chunks show."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo", document="d1")
        upsert_chunk(store, "c2", "Bo KNOWS Cy", document="d1")
        upsert_chunk(store, "c3", "Cy LIKES tea", document="d2")
        store.delete_llama_nodes(ref_doc_ids=["d1"])
        assert ids(store.get()) == ["Cy", "c3", "tea"]
        assert all_triplet_lines(store) == ["Cy LIKES tea"]
        assert source_of(store, "Cy") == "c3"

    def test_a_chunk_and_an_entity_at_once(self, store: PropertyGraphStore) -> None:
        """An entity that is named is deleted, although another chunk shows it too."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        upsert_chunk(store, "c2", "Ann KNOWS Cy")
        store.delete(ids=["Ann", "c1"])
        assert ids(store.get()) == ["Cy", "c2"]
        store.delete(ids=["c2"])
        assert store.get() == []

    def test_a_chunk_whose_relation_is_deleted(self, store: PropertyGraphStore) -> None:
        """Its entities are still its own."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        store.delete(relation_names=["KNOWS"])
        assert ids(store.get()) == ["Ann", "Bo", "c1"]
        store.delete(ids=["c1"])
        assert store.get() == []

    @pytest.mark.parametrize("text", ["", " \n", "?!…"])
    def test_a_chunk_without_words(self, store: PropertyGraphStore, text: str) -> None:
        """A chunk of an image may have no text; what was read from it is its own all the same."""
        node = ImageNode(id_="c1", text=text, image_url="https://example.org/a.png")
        store.upsert_llama_nodes([node])
        store.upsert_nodes(
            [make_entity(name, **{TRIPLET_SOURCE_KEY: "c1"}) for name in ("Ann", "Bo")]
        )
        store.upsert_relations([make_relation("Ann", "KNOWS", "Bo", **{TRIPLET_SOURCE_KEY: "c1"})])
        assert source_of(store, "Ann") == "c1"
        assert relation_of(store, "KNOWS").properties == {TRIPLET_SOURCE_KEY: "c1"}
        store.delete(ids=["c1"])
        assert is_empty(store)

    def test_a_chunk_upserted_twice(self, store: PropertyGraphStore) -> None:
        """To tell the same of the same chunk again changes nothing."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        before = snapshot(store)
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        assert snapshot(store) == before
        store.delete(ids=["c1"])
        assert store.get() == []

    def test_a_chunk_with_another_text(self, store: PropertyGraphStore) -> None:
        """With a chunk everything is deleted that any of its texts showed."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        upsert_chunk(store, "c1", "Ann LIKES tea")
        assert "Ann LIKES tea" in all_triplet_lines(store)
        store.delete(ids=["c1"])
        assert is_empty(store)

    def test_a_source_that_is_not_there(self, store: PropertyGraphStore) -> None:
        """A source that is no chunk of the store is shown like any other property."""
        store.upsert_nodes([make_entity("Ann", "PERSON", **{TRIPLET_SOURCE_KEY: "elsewhere"})])
        store.upsert_relations(
            [make_relation("Ann", "R", "Bo", **{TRIPLET_SOURCE_KEY: "elsewhere"})]
        )
        assert source_of(store, "Ann") == "elsewhere"
        assert relation_of(store, "R").properties == {TRIPLET_SOURCE_KEY: "elsewhere"}

    def test_found_by_source(self, store: PropertyGraphStore) -> None:
        """The source is a property that can be asked for."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        upsert_chunk(store, "c2", "Cy LIKES tea")
        assert ids(store.get(properties={TRIPLET_SOURCE_KEY: "c2"})) == ["Cy", "tea"]
        found = store.get_triplets(properties={TRIPLET_SOURCE_KEY: "c1"})
        assert triplet_lines(found) == ["Ann KNOWS Bo"]

    def test_one_bad_chunk_refuses_the_whole_call(self, store: PropertyGraphStore) -> None:
        """A call with one node or relation that cannot be stored writes nothing for any chunk."""
        store.upsert_llama_nodes([make_chunk("c1", "one"), make_chunk("c2", "two")])
        first, second = {TRIPLET_SOURCE_KEY: "c1"}, {TRIPLET_SOURCE_KEY: "c2"}
        assert is_refused(
            store, nodes=[make_entity("a", **first), make_entity("b", held=object(), **second)]
        )
        assert is_refused(
            store,
            relations=[
                make_relation("a", "R", "b", **first),
                make_relation("a", "R", "c", held=object(), **second),
                make_relation("a", "R", "d"),
            ],
        )

    def test_two_chunks_at_once(self, store: PropertyGraphStore) -> None:
        """What only the deleted chunks show is deleted, although each shows it beside the other."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        upsert_chunk(store, "c2", "Ann KNOWS Bo", "Bo KNOWS Cy")
        upsert_chunk(store, "c3", "Cy LIKES tea")
        store.delete(ids=["c1", "c2"])
        assert ids(store.get()) == ["Cy", "c3", "tea"]

    def test_a_deleted_entity_leaves_its_chunk(self, store: PropertyGraphStore) -> None:
        """A chunk's text stays when its entity is deleted, and no longer shows the entity."""
        upsert_chunk(store, "c1", "Ann KNOWS Bo")
        store.delete(ids=["Ann"])
        assert ids(store.get()) == ["Bo", "c1"]
        assert all_triplet_lines(store) == []

    def test_many_chunks_of_one_call(self, store: PropertyGraphStore) -> None:
        """The index upserts all chunks of a build in three calls: each keeps its own."""
        store.upsert_llama_nodes([make_chunk(f"c{n}", f"text {n}") for n in range(20)])
        store.upsert_nodes(
            [make_entity(f"n{n}", **{TRIPLET_SOURCE_KEY: f"c{n}"}) for n in range(20)]
        )
        store.upsert_relations(
            [make_relation("n0", "R", f"n{n}", **{TRIPLET_SOURCE_KEY: f"c{n}"}) for n in range(20)]
        )
        for n in range(1, 20):
            store.delete(ids=[f"c{n}"])
        assert ids(store.get()) == ["c0", "n0"]
        assert all_triplet_lines(store) == ["n0 R n0"]
