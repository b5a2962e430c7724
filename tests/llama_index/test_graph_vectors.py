"""Nodes of a property graph store by their embeddings."""

from __future__ import annotations

import math
from typing import Any

import pytest
from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    PropertyGraphStore,
)
from llama_index.core.vector_stores.types import (
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)

from tests.llama_index.property_graphs import (
    ids,
    make_chunk,
    snapshot,
    upsert_graph,
)

DIMENSION = r"dimension|embedding"


EAST = [1.0, 0.0, 0.0]


NORTH = [0.0, 1.0, 0.0]


NORTH_EAST = [1.0, 1.0, 0.0]


UP = [0.0, 0.0, 2.0]


def _at(name: str, embedding: list[float] | None, **properties: Any) -> EntityNode:
    return EntityNode(name=name, label="PLACE", embedding=embedding, properties=properties)


def _places(store: PropertyGraphStore) -> None:
    store.upsert_nodes(
        [
            _at("east", EAST, kind="road", n=1),
            _at("north", NORTH, kind="road", n=2),
            _at("northeast", NORTH_EAST, kind="path", n=3),
            _at("up", UP, kind="stair", n=4),
            _at("nowhere", None, kind="road", n=5),
        ]
    )


def _asked(
    store: PropertyGraphStore,
    embedding: list[float],
    k: int = 10,
    filters: MetadataFilters | None = None,
) -> tuple[list[LabelledNode], list[float]]:
    return store.vector_query(
        VectorStoreQuery(query_embedding=embedding, similarity_top_k=k, filters=filters)
    )


def _near(store: PropertyGraphStore, *args: Any, **more: Any) -> list[str]:
    return [node.id for node in _asked(store, *args, **more)[0]]


def test_the_nearest_come_first(store: PropertyGraphStore) -> None:
    _places(store)
    nodes, scores = _asked(store, [3.0, 1.0, 0.0])
    assert [node.id for node in nodes[:3]] == ["east", "northeast", "north"]
    assert len(nodes) == len(scores)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores[:3])) == 3
    for k in (0, 1, 2):
        assert _near(store, [3.0, 1.0, 0.0], k) == ["east", "northeast"][:k]


def test_nodes_without_embeddings(store: PropertyGraphStore) -> None:
    upsert_graph(store, "a KNOWS b")
    assert _asked(store, EAST) == ([], [])
    _places(store)
    assert sorted(_near(store, EAST, 99)) == ["east", "north", "northeast", "up"]
    west = [-1.0, 0.0, 0.0]
    kept = EntityNode(name="west", properties={"embedding": west, "n": 6})  # as other stores do
    store.upsert_nodes([kept])
    nodes, _ = _asked(store, west, 1)
    assert [(node.id, node.properties) for node in nodes] == [("west", {"n": 6})]


def test_chunks_are_found(store: PropertyGraphStore) -> None:
    mine = make_chunk("c1", "text")
    mine.embedding = EAST
    store.upsert_llama_nodes([mine, make_chunk("c2", "text")])
    store.upsert_nodes([ChunkNode(id_="c3", text="more", embedding=NORTH)])
    nodes, _ = _asked(store, EAST)
    assert [node.id for node in nodes] == ["c1", "c3"]
    assert isinstance(nodes[0], ChunkNode)
    assert nodes[0].text == "text"


def test_what_is_no_embedding_of_these_is_refused(store: PropertyGraphStore) -> None:
    with pytest.raises(ValueError, match=DIMENSION):
        store.upsert_nodes([_at("a", EAST), _at("b", [1.0])])
    assert store.get() == []
    _places(store)
    before = snapshot(store)
    not_finite = [[1.0, odd, 0.0] for odd in (math.nan, math.inf, -math.inf)]
    for embedding in ([1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [], *not_finite):
        mine = make_chunk("c1", "text")
        mine.embedding = embedding
        with pytest.raises(ValueError, match=r"dimension|embedding|finite"):
            store.upsert_nodes([_at("good", NORTH), _at("bad", embedding)])
        with pytest.raises(ValueError, match=r"dimension|embedding|finite"):
            store.upsert_llama_nodes([mine])
        with pytest.raises(ValueError, match=r"dimension|embedding|finite"):
            _asked(store, embedding)
        assert snapshot(store) == before


def test_a_large_call_with_one_bad_node_writes_nothing(store: PropertyGraphStore) -> None:
    many = [make_chunk(f"c{n}", f"text {n}") for n in range(502)]
    for node in many:
        node.embedding = EAST
    many[-1].embedding = [1.0]
    with pytest.raises(ValueError, match=DIMENSION):
        store.upsert_llama_nodes([*many])
    assert store.get() == []


def test_a_new_embedding_replaces_the_old(store: PropertyGraphStore) -> None:
    _places(store)
    store.upsert_nodes([_at("east", None, kind="alley")])
    [node], _ = _asked(store, EAST, 1)
    assert (node.id, node.properties["kind"]) == ("east", "alley")
    store.upsert_nodes([_at("east", UP)])
    assert _near(store, EAST, 1) == ["northeast"]
    assert ids(_asked(store, UP, 2)[0]) == ["east", "up"]
    assert len(_near(store, EAST, 99)) == 4


def test_deleted_nodes_are_not_found(store: PropertyGraphStore) -> None:
    """Nor those that are deleted with their chunk."""
    _places(store)
    store.delete(ids=["east"])
    assert _near(store, EAST, 1) == ["northeast"]
    store.upsert_nodes([_at("east", None)])
    mine = make_chunk("c1", "text")
    mine.embedding = EAST
    store.upsert_llama_nodes([mine])
    store.upsert_nodes([_at("a", EAST, **{TRIPLET_SOURCE_KEY: "c1"})])
    assert ids(_asked(store, EAST, 2)[0]) == ["a", "c1"]
    store.delete(ids=["c1"])
    assert sorted(_near(store, EAST, 99)) == ["north", "northeast", "up"]


def test_filters(store: PropertyGraphStore) -> None:
    """What each operator means, test_metadata_filters.py has. A name is a property too."""
    _places(store)
    cases = [
        (MetadataFilter(key="kind", value="stair"), ["up"]),
        (MetadataFilter(key="name", value="up"), ["up"]),
        (MetadataFilter(key="name", value="' OR true RETURN 1 //"), []),
    ]
    for condition, found in cases:
        assert _near(store, EAST, 1, filters=MetadataFilters(filters=[condition])) == found
    everything = ["east", "north", "northeast", "up"]
    assert sorted(_near(store, EAST, 99, filters=MetadataFilters(filters=[]))) == everything
