"""Persisted stores, and what stores do not share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import fsspec
import pytest
from llama_index.core import StorageContext
from llama_index.core.graph_stores.types import DEFAULT_PG_PERSIST_FNAME, PropertyGraphStore

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    all_triplet_lines,
    chunk_of,
    entity_of,
    ids,
    is_empty,
    make_chunk,
    make_entity,
    make_relation,
    relation_of,
    snapshot,
    triplet_lines,
    upsert_chunk,
    upsert_graph,
)
from tests.llama_index.store_suite.values import KEPT_OR_REFUSED

__all__ = ["PersistingTests"]

Load = Callable[..., PropertyGraphStore]


def _filled(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo", "Ann LIKES tea", document="d1")
    upsert_chunk(store, "c2", "Ann KNOWS Bo", document="d2")
    store.upsert_llama_nodes([make_chunk("c3", "e\u0301\x00 北京\r\n", page=1, tags=["x", None])])
    store.upsert_nodes([make_entity('the "Bear"', "A`B", age=1.0, sure=True, nested={"a": [1]})])
    store.upsert_relations([make_relation("Ann", "R\n`", "x y", since=2020)])


class PersistingTests(PropertyGraphTests):
    """Persisting, and two stores beside each other."""

    def test_persist(self, store: PropertyGraphStore, loaded: Load, tmp_path: Path) -> None:
        """What is persisted to a path is loaded from it as it was."""
        _filled(store)
        path = str(tmp_path / "graph.json")
        store.persist(path)
        again = loaded(path)
        assert snapshot(again) == snapshot(store)
        asked = ["c3", "c1", "c2"]
        assert again.get_llama_nodes(asked) == store.get_llama_nodes(asked)

    def test_persist_typed_values(
        self, store: PropertyGraphStore, loaded: Load, tmp_path: Path
    ) -> None:
        """All values that the store accepted are loaded as they were."""
        for name, value in KEPT_OR_REFUSED.items():
            try:
                store.upsert_nodes([make_entity(name, "THING", held=value)])
            except ValueError:
                continue
        path = str(tmp_path / "graph.json")
        store.persist(path)
        assert snapshot(loaded(path)) == snapshot(store)

    def test_persist_nothing(self, store: PropertyGraphStore, loaded: Load, tmp_path: Path) -> None:
        """An empty store is loaded as an empty store."""
        path = str(tmp_path / "graph.json")
        store.persist(path)
        again = loaded(path)
        assert is_empty(again)

    def test_persist_again(self, store: PropertyGraphStore, loaded: Load, tmp_path: Path) -> None:
        """What is persisted last is what is loaded."""
        path = str(tmp_path / "graph.json")
        upsert_graph(store, "a KNOWS b", "c")
        store.persist(path)
        store.delete(ids=["a"])
        store.persist(path)
        assert ids(loaded(path).get()) == ["b", "c"]

    def test_provenance_is_persisted(
        self, store: PropertyGraphStore, loaded: Load, tmp_path: Path
    ) -> None:
        """From a loaded store chunks are deleted as from the first."""
        _filled(store)
        path = str(tmp_path / "graph.json")
        store.persist(path)
        again = loaded(path)
        for one in (store, again):
            one.delete(ids=["c1"])
        assert snapshot(again) == snapshot(store)
        assert triplet_lines(again.get_triplets(relation_names=["KNOWS", "LIKES"])) == [
            "Ann KNOWS Bo"
        ]

    def test_a_loaded_store_is_another(
        self, store: PropertyGraphStore, loaded: Load, tmp_path: Path
    ) -> None:
        """What is written to one is not seen in the other."""
        path = str(tmp_path / "graph.json")
        upsert_graph(store, "a KNOWS b")
        store.persist(path)
        again = loaded(path)
        upsert_graph(again, "a KNOWS c")
        store.delete(ids=["b"])
        assert ids(store.get()) == ["a"]
        assert ids(again.get()) == ["a", "b", "c"]

    def test_persist_a_storage_context(
        self, store: PropertyGraphStore, loaded: Load, tmp_path: Path
    ) -> None:
        """LlamaIndex persists the store with the rest of an index's storage."""
        upsert_graph(store, "a KNOWS b")
        StorageContext.from_defaults(property_graph_store=store).persist(str(tmp_path))
        again = loaded(str(tmp_path / DEFAULT_PG_PERSIST_FNAME))
        assert all_triplet_lines(again) == ["a KNOWS b"]

    @pytest.mark.usefixtures("loaded")
    def test_a_storage_context_reads_again(self, store: PropertyGraphStore, tmp_path: Path) -> None:
        """LlamaIndex opens the directory with a store of its own, which shows the same nodes and
        relations."""
        _filled(store)
        store.upsert_nodes([make_entity("held", day=date(2024, 5, 2))])
        StorageContext.from_defaults(property_graph_store=store).persist(str(tmp_path))
        again = StorageContext.from_defaults(persist_dir=str(tmp_path)).property_graph_store
        assert again is not None
        assert ids(again.get()) == ids(store.get())
        assert all_triplet_lines(again) == all_triplet_lines(store)
        assert chunk_of(again, "c1").text == chunk_of(store, "c1").text
        bear = make_entity('the "Bear"').id
        assert entity_of(again, bear) == entity_of(store, bear)
        assert relation_of(again, "LIKES").properties == relation_of(store, "LIKES").properties

    @pytest.mark.usefixtures("loaded")
    def test_a_storage_context_in_a_file_system(
        self, store: PropertyGraphStore, tmp_path: Path
    ) -> None:
        """The directory may stand in any file system of fsspec's."""
        upsert_graph(store, "a KNOWS b")
        fs = fsspec.filesystem("memory")
        folder = f"bucket/{tmp_path.name}"
        StorageContext.from_defaults(property_graph_store=store).persist(folder, fs=fs)
        again = StorageContext.from_defaults(persist_dir=folder, fs=fs).property_graph_store
        assert again is not None
        assert all_triplet_lines(again) == ["a KNOWS b"]
        fs.rm(folder, recursive=True)

    def test_paths_of_a_loaded_store(
        self, store: PropertyGraphStore, loaded: Load, tmp_path: Path
    ) -> None:
        """They lead where they led before."""
        upsert_graph(store, "a R b", "b R c", "c R d")
        path = str(tmp_path / "graph.json")
        store.persist(path)
        found = loaded(path).get_rel_map([make_entity("a")], depth=2)
        assert sorted(set(triplet_lines(found))) == ["a R b", "b R c"]

    def test_persist_to_a_file_system(
        self, store: PropertyGraphStore, loaded: Load, tmp_path: Path
    ) -> None:
        """The file may stand in any file system of fsspec's."""
        _filled(store)
        fs = fsspec.filesystem("memory")
        path = f"{tmp_path}/graph.json"
        store.persist(path, fs)
        assert not Path(path).exists()
        assert snapshot(loaded(path, fs=fs)) == snapshot(store)
        fs.rm(path)

    def test_two_stores(self, store: PropertyGraphStore, other: PropertyGraphStore) -> None:
        """Two stores do not see each other's nodes, even under the same ids."""
        _filled(store)
        assert is_empty(other)
        before = snapshot(store)
        upsert_graph(other, "Ann HATES tea")
        other.upsert_llama_nodes([make_chunk("c1", "another text", "d1")])
        assert snapshot(store) == before
        assert triplet_lines(other.get_rel_map([make_entity("Ann")], depth=3)) == ["Ann HATES tea"]
        other.delete_llama_nodes(ref_doc_ids=["d1"])
        other.delete(ids=["Ann", "Bo", "tea"])
        assert snapshot(store) == before
        assert other.get() == []
