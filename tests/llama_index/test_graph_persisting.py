"""A property graph that is persisted and loaded, and one that several threads write."""

from __future__ import annotations

import asyncio
from pathlib import Path

import fsspec
from llama_index.core.graph_stores.types import EntityNode, PropertyGraphStore
from llama_index.core.vector_stores.types import VectorStoreQuery

from llama_index_recallm import RecallMPropertyGraphStore
from tests.llama_index.property_graphs import (
    NewStore,
    entity_of,
    ids,
    is_empty,
    make_chunk,
    make_entity,
    make_relation,
    snapshot,
    source_of,
    triplet_lines,
    upsert_chunk,
    upsert_graph,
)
from tests.llama_index.test_graph_values import ACCEPTED


def _filled(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo", "Ann LIKES tea", document="d1")
    upsert_chunk(store, "c2", "Ann KNOWS Bo", document="d2")
    store.upsert_llama_nodes([make_chunk("c3", "e\u0301\x00 北京\r\n", page=1, tags=["x", None])])
    store.upsert_nodes([make_entity('the "Bear"', "A`B", age=1.0, sure=True, nested={"a": [1]})])
    store.upsert_relations([make_relation("Ann", "R\n`", "x y", since=2020)])


def test_persist(store: PropertyGraphStore, new_store: NewStore, tmp_path: Path) -> None:
    """Which chunk says what, every type of value and the vectors come back, on any file system."""
    _filled(store)
    store.upsert_nodes([EntityNode(name="held", properties=ACCEPTED, embedding=[0.0, 1.0])])
    path, asked = f"{tmp_path}/graph.json", ["c3", "c1", "c2"]
    for fs in (None, fsspec.filesystem("memory")):
        store.persist(path, fs)
        again = RecallMPropertyGraphStore.from_persist_path(path, fs, memory=new_store().memory)
        assert snapshot(again) == snapshot(store)
        assert again.get_llama_nodes(asked) == store.get_llama_nodes(asked)
        query = VectorStoreQuery(query_embedding=[0.0, 1.0])
        assert again.vector_query(query) == store.vector_query(query)
        Path(path).unlink(missing_ok=True)
    for each in (store, again):
        each.delete(ids=["c1"])
    assert snapshot(again) == snapshot(store)
    assert triplet_lines(again.get_triplets(relation_names=["KNOWS", "LIKES"])) == ["Ann KNOWS Bo"]


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

    for n in range(8):
        asyncio.run(run(n))
    for n in range(8):
        node = entity_of(store, f"n{n}")
        assert (node.label, node.properties) == ("CITY", {"size": n})
