"""``delete`` and ``delete_llama_nodes``: exactly what is named."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.graph_stores.types import TRIPLET_SOURCE_KEY, PropertyGraphStore
from llama_index.core.schema import Document

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    all_triplet_lines,
    case_name,
    entity_of,
    ids,
    is_empty,
    make_chunk,
    make_entity,
    make_relation,
    snapshot,
    upsert_graph,
)

__all__ = ["DeletingTests"]


def _people(store: PropertyGraphStore) -> None:
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


class DeletingTests(PropertyGraphTests):
    """Everything that is not named stays."""

    @pytest.mark.parametrize(
        "conditions",
        [
            {},
            {"ids": []},
            {"entity_names": []},
            {"relation_names": []},
            {"ids": [], "entity_names": [], "relation_names": []},
            {"ids": ["nobody"]},
            {"entity_names": ["nobody"]},
            {"relation_names": ["HATES"]},
            {"relation_names": ["knows"]},
            {"properties": {"age": 31}},
            {"properties": {"age": "30"}},
            {"properties": {"age": 30, "city": "Paris"}},
            {"ids": ["ann", "ANN", "anns", "LIKES"]},
            {"entity_names": ["ann", "bos"]},
        ],
        ids=case_name,
    )
    def test_nothing_is_named(self, store: PropertyGraphStore, conditions: dict[str, Any]) -> None:
        """Empty lists, what is unknown and what is merely alike delete nothing at all."""
        _people(store)
        before = snapshot(store)
        store.delete(**conditions)
        assert snapshot(store) == before

    @pytest.mark.parametrize(
        "conditions",
        [
            {},
            {"node_ids": []},
            {"ref_doc_ids": []},
            {"node_ids": ["nobody"]},
            {"ref_doc_ids": ["nobody"]},
            {"node_ids": ["nobody"], "ref_doc_ids": ["c9"]},
        ],
        ids=case_name,
    )
    def test_no_llama_nodes_are_named(
        self, store: PropertyGraphStore, conditions: dict[str, Any]
    ) -> None:
        """Empty lists and unknown ids delete nothing at all."""
        _people(store)
        before = snapshot(store)
        store.delete_llama_nodes(**conditions)
        assert snapshot(store) == before

    def test_an_entity_by_id(self, store: PropertyGraphStore) -> None:
        """Its relations go with it; its neighbours stay as they are."""
        _people(store)
        store.delete(ids=["Ann"])
        assert ids(store.get()) == ["Bo", "c1", "c2", "tea"]
        assert all_triplet_lines(store) == ["Bo LIKES tea"]
        assert entity_of(store, "Bo").properties == {"age": 30, "city": "Oslo"}

    def test_a_neighbour_without_relations_stays(self, store: PropertyGraphStore) -> None:
        """A node need not be in a relation to stay."""
        store.upsert_nodes([make_entity("a", "THING", n=1)])
        store.upsert_relations([make_relation("a", "R", "b"), make_relation("c", "R", "a")])
        store.delete(ids=["a"])
        assert ids(store.get()) == ["b", "c"]
        assert all_triplet_lines(store) == []

    def test_an_entity_by_name(self, store: PropertyGraphStore) -> None:
        """``entity_names`` are names where they differ from ids."""
        _people(store)
        store.upsert_nodes([make_entity('the "Bear"')])
        store.delete(entity_names=["Ann", 'the "Bear"', "nobody"])
        assert ids(store.get()) == ["Bo", "c1", "c2", "tea"]
        assert all_triplet_lines(store) == ["Bo LIKES tea"]

    def test_relations_by_label(self, store: PropertyGraphStore) -> None:
        """Only the relations with these labels go; all nodes stay."""
        _people(store)
        nodes, _ = snapshot(store)
        store.delete(relation_names=["KNOWS", "HATES"])
        assert snapshot(store)[0] == nodes
        assert all_triplet_lines(store) == ["Ann LIKES tea", "Bo LIKES tea"]

    def test_nodes_by_properties(self, store: PropertyGraphStore) -> None:
        """Those that have them all go, with their relations."""
        _people(store)
        store.delete(properties={"age": 30, "city": "Rome"})
        assert ids(store.get()) == ["Bo", "c1", "c2", "tea"]
        assert all_triplet_lines(store) == ["Bo LIKES tea"]

    def test_chunks_by_properties(self, store: PropertyGraphStore) -> None:
        """Chunks are found by their metadata like other nodes."""
        _people(store)
        store.delete(properties={"page": 1})
        assert ids(store.get()) == ["Ann", "Bo", "c2", "tea"]

    def test_chunks_by_node_id(self, store: PropertyGraphStore) -> None:
        """The chunks named go, whichever way they are named."""
        _people(store)
        store.delete_llama_nodes(node_ids=["c1", "nobody"])
        assert store.get_llama_nodes(["c1"]) == []
        assert ids(store.get()) == ["Ann", "Bo", "c2", "tea"]
        store.delete(ids=["c2"])
        assert ids(store.get()) == ["Ann", "Bo", "tea"]
        assert len(all_triplet_lines(store)) == 4

    def test_chunks_by_document(self, store: PropertyGraphStore) -> None:
        """All chunks of the documents named go, and no others."""
        _people(store)
        store.upsert_llama_nodes([make_chunk("c3", "three", "d1"), make_chunk("c4", "four")])
        store.delete_llama_nodes(ref_doc_ids=["d1", "nobody"])
        assert ids(store.get()) == ["Ann", "Bo", "c2", "c4", "tea"]
        store.delete_llama_nodes(node_ids=["c4"], ref_doc_ids=["d2"])
        assert ids(store.get()) == ["Ann", "Bo", "tea"]

    def test_a_document_with_its_own_id(self, store: PropertyGraphStore) -> None:
        """A document's id names the chunks of the document, and the chunk whose own id it is."""
        store.upsert_llama_nodes(
            [make_chunk("n1", "one", "n2"), make_chunk("n2", "two"), make_chunk("n3", "n2")]
        )
        store.delete_llama_nodes(ref_doc_ids=["n2"])
        assert ids(store.get()) == ["n3"]
        assert store.get_llama_nodes(["n1", "n2"]) == []

    def test_a_document_that_was_not_split(self, store: PropertyGraphStore) -> None:
        """A document that was not split is deleted by its id, with the entities that name it."""
        store.upsert_llama_nodes([Document(id_="d1", text="one"), Document(id_="d2", text="two")])
        store.upsert_nodes(
            [make_entity("Ann", ref_doc_id="d1"), make_entity("Bo", ref_doc_id=["d1"])]
        )
        store.delete_llama_nodes(ref_doc_ids=["d1"])
        assert ids(store.get()) == ["Bo", "d2"]
        store.delete_llama_nodes(node_ids=["d2"])
        assert ids(store.get()) == ["Bo"]

    def test_entities_of_a_document_that_was_not_split(self, store: PropertyGraphStore) -> None:
        """The entities whose source the document is are deleted with it."""
        store.upsert_llama_nodes([Document(id_="d1", text="one"), Document(id_="d2", text="two")])
        for id in ("d1", "d2"):
            store.upsert_nodes([make_entity(f"of {id}", **{TRIPLET_SOURCE_KEY: id})])
        store.delete_llama_nodes(ref_doc_ids=["d1"])
        assert ids(store.get()) == ["d2", "of d2"]

    def test_nodes_by_name(self, store: PropertyGraphStore) -> None:
        """An entity's name is a property to delete by, as it is one to find by."""
        _people(store)
        store.delete(properties={"name": "Ann", "age": 31})
        assert len(store.get()) == 5
        store.delete(properties={"name": "Ann"})
        assert ids(store.get()) == ["Bo", "c1", "c2", "tea"]

    def test_everything_in_turn(self, store: PropertyGraphStore) -> None:
        """Relations, then nodes by a property, then nodes by name."""
        store.upsert_nodes([make_entity("Ann", "PERSON", age=30), make_entity("Acme", "COMPANY")])
        store.upsert_relations([make_relation("Ann", "WORKS_FOR", "Acme")])
        store.delete(relation_names=["WORKS_FOR"])
        assert all_triplet_lines(store) == []
        store.delete(properties={"age": 30})
        assert ids(store.get()) == ["Acme"]
        store.delete(entity_names=["Acme"])
        assert is_empty(store)

    def test_nodes_upserted_after_their_deletion_are_new(self, store: PropertyGraphStore) -> None:
        """Nothing of a deleted node or relation is left to merge with."""
        store.upsert_nodes([make_entity("a", "OLD", n=1)])
        store.upsert_relations([make_relation("a", "R", "b", n=1)])
        store.delete(ids=["a"])
        store.upsert_nodes([make_entity("a", "NEW")])
        assert (entity_of(store, "a").label, entity_of(store, "a").properties) == ("NEW", {})
        assert all_triplet_lines(store) == []
        store.upsert_relations([make_relation("a", "R", "b", m=2)])
        [(_, relation, _)] = store.get_triplets(relation_names=["R"])
        assert relation.properties == {"m": 2}

    def test_a_chunk_upserted_after_its_deletion_is_new(self, store: PropertyGraphStore) -> None:
        """A deleted chunk can be upserted again, with another text too."""
        store.upsert_llama_nodes([make_chunk("c1", "one", page=1)])
        store.delete(ids=["c1"])
        mine = make_chunk("c1", "two")
        store.upsert_llama_nodes([mine])
        assert store.get_llama_nodes(["c1"]) == [mine]

    def test_everything_one_by_one(self, store: PropertyGraphStore) -> None:
        """When all is deleted nothing is left."""
        _people(store)
        for node in store.get():
            store.delete(ids=[node.id])
        assert is_empty(store)
