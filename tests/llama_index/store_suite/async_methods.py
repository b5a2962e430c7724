"""The async methods do and return what the sync methods do."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.graph_stores.types import EntityNode, PropertyGraphStore
from llama_index.core.vector_stores.types import VectorStoreQuery

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    all_triplet_lines,
    entity_of,
    ids,
    is_empty,
    make_chunk,
    make_entity,
    make_relation,
    source_of,
    triplet_lines,
    upsert_chunk,
    upsert_graph,
    with_types,
)

__all__ = ["AsyncTests"]


class AsyncTests(PropertyGraphTests):
    """Each beside its synchronous one."""

    def test_aupsert_nodes(self, store: PropertyGraphStore) -> None:
        """Nodes are upserted."""
        asyncio.run(store.aupsert_nodes([make_entity("a", "CITY", n=1)]))
        [node] = store.get(ids=["a"])
        assert (node.label, node.properties) == ("CITY", {"n": 1})

    def test_aupsert_relations(self, store: PropertyGraphStore) -> None:
        """Relations are upserted."""
        asyncio.run(store.aupsert_relations([make_relation("a", "R", "b", n=1)]))
        assert triplet_lines(store.get_triplets(ids=["a"])) == ["a R b"]

    def test_aget(self, store: PropertyGraphStore) -> None:
        """Nodes by properties and ids, in this order."""
        store.upsert_nodes([make_entity("a", n=1), make_entity("b", n=1), make_entity("c", n=2)])
        assert ids(asyncio.run(store.aget())) == ["a", "b", "c"]
        assert ids(asyncio.run(store.aget({"n": 1}, ["a", "c"]))) == ["a"]
        assert asyncio.run(store.aget(ids=[])) == []

    def test_aget_triplets(self, store: PropertyGraphStore) -> None:
        """Triplets by names, labels, properties and ids, in this order."""
        upsert_graph(store, "a R b", "a Q b", "c R d")
        assert triplet_lines(asyncio.run(store.aget_triplets())) == ["a Q b", "a R b", "c R d"]
        assert triplet_lines(asyncio.run(store.aget_triplets(["a"], ["R"], None, ["b"]))) == [
            "a R b"
        ]

    def test_aget_rel_map(self, store: PropertyGraphStore) -> None:
        """Depth, limit and ignored labels, in this order."""
        upsert_graph(store, "a R b", "b R c", "c R d", "a Q e")
        found = asyncio.run(store.aget_rel_map([make_entity("a")], 2, 5, ["Q"]))
        assert triplet_lines(found) == ["a R b", "b R c"]
        assert len(asyncio.run(store.aget_rel_map([make_entity("a")], 3, 1))) == 1

    def test_aget_llama_nodes(self, store: PropertyGraphStore) -> None:
        """Chunks, in the order of the ids."""
        store.upsert_llama_nodes([make_chunk("c1", "one", page=1), make_chunk("c2", "two")])
        asked = ["c2", "nobody", "c1"]
        found = asyncio.run(store.aget_llama_nodes(asked))
        assert [it.get_content() for it in found] == ["two", "one"]
        assert found == store.get_llama_nodes(asked)

    def test_adelete(self, store: PropertyGraphStore) -> None:
        """By names, labels, properties and ids, in this order."""
        upsert_graph(store, "a R b", "a Q b", "c R d")
        asyncio.run(store.adelete(ids=[]))
        assert len(store.get()) == 4
        asyncio.run(store.adelete(None, ["Q"]))
        assert all_triplet_lines(store) == ["a R b", "c R d"]
        asyncio.run(store.adelete(["a"]))
        asyncio.run(store.adelete(ids=["c"]))
        assert ids(store.get()) == ["b", "d"]

    def test_adelete_llama_nodes(self, store: PropertyGraphStore) -> None:
        """By node ids and by documents, with everything that only they show."""
        upsert_chunk(store, "c1", "a R b", document="d1")
        upsert_chunk(store, "c2", "b R c", document="d2")
        asyncio.run(store.adelete_llama_nodes(["nobody"]))
        assert len(store.get()) == 5
        asyncio.run(store.adelete_llama_nodes(["c1"]))
        assert ids(store.get()) == ["b", "c", "c2"]
        asyncio.run(store.adelete_llama_nodes(None, ["d2"]))
        assert store.get() == []

    def test_avector_query(self, vectors: PropertyGraphStore) -> None:
        """Nodes and similarities."""
        vectors.upsert_nodes([EntityNode(name=f"n{n}", embedding=[1.0, n]) for n in range(3)])
        query = VectorStoreQuery(query_embedding=[1.0, 1.0], similarity_top_k=2)
        nodes, scores = asyncio.run(vectors.avector_query(query))
        again, others = vectors.vector_query(query)
        assert [it.id for it in nodes] == [it.id for it in again]
        assert nodes[0].id == "n1"
        assert scores == others

    def test_aget_schema(self, store: PropertyGraphStore) -> None:
        """The schema, and as text."""
        upsert_graph(store, "a R b")
        assert with_types(asyncio.run(store.aget_schema(True))) == with_types(
            store.get_schema(True)
        )
        assert asyncio.run(store.aget_schema_str(True)) == store.get_schema_str(True)

    def test_astructured_query(
        self, store: PropertyGraphStore, request: pytest.FixtureRequest
    ) -> None:
        """Rows, or a refusal where the sync method refuses."""
        upsert_graph(store, "a")
        if store.supports_structured_queries:
            rows = asyncio.run(store.astructured_query(request.getfixturevalue("entity_query")))
            assert "a" in {row["name"] for row in rows}
        else:
            with pytest.raises(NotImplementedError):
                asyncio.run(store.astructured_query("MATCH (n) RETURN n"))

    def test_side_by_side(self, store: PropertyGraphStore) -> None:
        """What runs at the same time is all done."""

        async def run() -> None:
            calls = [
                store.aupsert_relations([make_relation("hub", "R", f"n{n}")]) for n in range(10)
            ]
            await asyncio.gather(
                *calls, *(store.aget_rel_map([make_entity("hub")]) for _ in range(10))
            )

        asyncio.run(run())
        assert len(store.get_triplets(ids=["hub"])) == 10

    def test_chunks_upserted_concurrently(self, store: PropertyGraphStore) -> None:
        """Chunks that say the same at the same time are all sources of it."""

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

    def test_upserted_while_another_chunk_is_deleted(self, store: PropertyGraphStore) -> None:
        """What a chunk shows stays, although another chunk that shows it is deleted meanwhile."""

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

    def test_an_end_that_is_upserted_meanwhile(self, store: PropertyGraphStore) -> None:
        """A relation that makes its end takes nothing from who upserts that end meanwhile."""

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
