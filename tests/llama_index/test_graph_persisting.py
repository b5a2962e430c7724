"""A property graph that is persisted and loaded, and one that several threads write."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

import fsspec
from llama_index.core import StorageContext
from llama_index.core.graph_stores.types import (
    PropertyGraphStore,
)

from llama_index_recallm import RecallMPropertyGraphStore
from tests.llama_index.property_graphs import (
    NewStore,
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
    source_of,
    triplet_lines,
    upsert_chunk,
    upsert_graph,
)
from tests.llama_index.test_graph_values import KEPT_OR_REFUSED


def _filled(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo", "Ann LIKES tea", document="d1")
    upsert_chunk(store, "c2", "Ann KNOWS Bo", document="d2")
    store.upsert_llama_nodes([make_chunk("c3", "e\u0301\x00 北京\r\n", page=1, tags=["x", None])])
    store.upsert_nodes([make_entity('the "Bear"', "A`B", age=1.0, sure=True, nested={"a": [1]})])
    store.upsert_relations([make_relation("Ann", "R\n`", "x y", since=2020)])


def test_persist(store: PropertyGraphStore, new_store: NewStore, tmp_path: Path) -> None:
    _filled(store)
    path = str(tmp_path / "graph.json")
    store.persist(path)
    again = RecallMPropertyGraphStore.from_persist_path(path, memory=new_store().memory)
    assert snapshot(again) == snapshot(store)
    asked = ["c3", "c1", "c2"]
    assert again.get_llama_nodes(asked) == store.get_llama_nodes(asked)


def test_persist_typed_values(
    store: PropertyGraphStore, new_store: NewStore, tmp_path: Path
) -> None:
    for name, value in KEPT_OR_REFUSED.items():
        try:
            store.upsert_nodes([make_entity(name, "THING", held=value)])
        except ValueError:
            continue
    path = str(tmp_path / "graph.json")
    store.persist(path)
    assert snapshot(
        RecallMPropertyGraphStore.from_persist_path(path, memory=new_store().memory)
    ) == snapshot(store)


def test_provenance_is_persisted(
    store: PropertyGraphStore, new_store: NewStore, tmp_path: Path
) -> None:
    _filled(store)
    path = str(tmp_path / "graph.json")
    store.persist(path)
    again = RecallMPropertyGraphStore.from_persist_path(path, memory=new_store().memory)
    for one in (store, again):
        one.delete(ids=["c1"])
    assert snapshot(again) == snapshot(store)
    assert triplet_lines(again.get_triplets(relation_names=["KNOWS", "LIKES"])) == ["Ann KNOWS Bo"]


def test_a_storage_context_reads_again(
    store: PropertyGraphStore, new_store: NewStore, tmp_path: Path
) -> None:
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


def test_persist_to_a_file_system(
    store: PropertyGraphStore, new_store: NewStore, tmp_path: Path
) -> None:
    _filled(store)
    fs = fsspec.filesystem("memory")
    path = f"{tmp_path}/graph.json"
    store.persist(path, fs)
    assert not Path(path).exists()
    assert snapshot(
        RecallMPropertyGraphStore.from_persist_path(path, fs=fs, memory=new_store().memory)
    ) == snapshot(store)
    fs.rm(path)


def test_two_stores(store: PropertyGraphStore, new_store: NewStore) -> None:
    other = new_store()
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


def test_chunks_upserted_concurrently(store: PropertyGraphStore) -> None:
    async def run() -> None:
        await asyncio.gather(
            *(asyncio.to_thread(upsert_chunk, store, f"c{n}", "Ann KNOWS Bo") for n in range(8))
        )

    asyncio.run(run())
    for n in range(7):
        store.delete(ids=[f"c{n}"])
    assert ids(store.get()) == ["Ann", "Bo", "c7"]
    assert source_of(store, "Ann") == "c7"
    store.delete(ids=["c7"])
    assert is_empty(store)


def test_upserted_while_another_chunk_is_deleted(store: PropertyGraphStore) -> None:
    async def run(n: int) -> None:
        await asyncio.gather(
            store.adelete(ids=[f"c{n}"]),
            asyncio.to_thread(upsert_chunk, store, f"c{n + 1}", "Ann KNOWS Bo"),
        )

    upsert_chunk(store, "c0", "Ann KNOWS Bo")
    for n in range(10):
        asyncio.run(run(n))
        assert triplet_lines(store.get_triplets(relation_names=["KNOWS"])) == ["Ann KNOWS Bo"]
    assert ids(store.get()) == ["Ann", "Bo", "c10"]


def test_an_end_that_is_upserted_meanwhile(store: PropertyGraphStore) -> None:
    async def run(n: int) -> None:
        node = make_entity(f"n{n}", "CITY", size=n)
        await asyncio.gather(
            store.aupsert_relations([make_relation("hub", "R", f"n{n}")]),
            store.aupsert_nodes([node]),
            store.aupsert_relations([make_relation(f"n{n}", "R", "hub")]),
        )

    for n in range(20):
        asyncio.run(run(n))
    for n in range(20):
        node = entity_of(store, f"n{n}")
        assert (node.label, node.properties) == ("CITY", {"size": n})
