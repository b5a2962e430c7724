"""``vector_query``: nodes by their embeddings."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
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
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    ids,
    make_chunk,
    make_relation,
    snapshot,
    upsert_graph,
)

__all__ = ["VectorTests"]

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
    return [it.id for it in _asked(store, *args, **more)[0]]


def _filter(key: str, value: Any, operator: str = "==") -> MetadataFilter:
    return MetadataFilter(key=key, value=value, operator=FilterOperator(operator))


FILTERS: dict[str, tuple[list[MetadataFilter], str, list[str]]] = {
    "equal": ([_filter("kind", "road")], "and", ["east", "north"]),
    "unequal": ([_filter("kind", "road", "!=")], "and", ["northeast", "up"]),
    "greater": ([_filter("n", 2, ">")], "and", ["northeast", "up"]),
    "at_most": ([_filter("n", 2, "<=")], "and", ["east", "north"]),
    "in": ([_filter("kind", ["path", "stair"], "in")], "and", ["northeast", "up"]),
    "both": ([_filter("kind", "road"), _filter("n", 1)], "and", ["east"]),
    "either": ([_filter("kind", "stair"), _filter("n", 1)], "or", ["east", "up"]),
    "none": ([_filter("kind", "sea")], "and", []),
    "name": ([_filter("name", "up")], "and", ["up"]),
    "a_name_that_is_code": ([_filter("name", "' OR true RETURN 1 //")], "and", []),
    "no_filters": ([], "and", ["east", "north", "northeast", "up"]),
}


class VectorTests(PropertyGraphTests):
    """Skipped where ``supports_vector_queries`` is False, but for the first."""

    def test_vector_queries_are_declared(self, store: PropertyGraphStore) -> None:
        """A store answers vector queries or says that it does not."""
        if store.supports_vector_queries:
            assert _asked(store, EAST) == ([], [])
        else:
            with pytest.raises(NotImplementedError):
                _asked(store, EAST)

    def test_the_nearest_come_first(self, vectors: PropertyGraphStore) -> None:
        """In order of similarity, each with its own; the length of an embedding does not count."""
        _places(vectors)
        nodes, scores = _asked(vectors, [3.0, 1.0, 0.0])
        assert [it.id for it in nodes[:3]] == ["east", "northeast", "north"]
        assert len(nodes) == len(scores)
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores[:3])) == 3

    def test_found_nodes_have_all_their_properties(self, vectors: PropertyGraphStore) -> None:
        """What is found has its class, name, label and properties."""
        _places(vectors)
        [node], _ = _asked(vectors, UP, k=1)
        assert isinstance(node, EntityNode)
        assert (node.name, node.label, node.properties) == (
            "up",
            "PLACE",
            {"kind": "stair", "n": 4},
        )

    @pytest.mark.parametrize("k", [0, 1, 2, 3])
    def test_similarity_top_k(self, vectors: PropertyGraphStore, k: int) -> None:
        """At most so many are found."""
        _places(vectors)
        assert _near(vectors, [3.0, 1.0, 0.0], k) == ["east", "northeast", "north"][:k]

    def test_nodes_without_embeddings(self, vectors: PropertyGraphStore) -> None:
        """They are not found; where there are no others, nothing is."""
        upsert_graph(vectors, "a KNOWS b")
        assert _asked(vectors, EAST) == ([], [])
        _places(vectors)
        assert sorted(_near(vectors, EAST, 99)) == ["east", "north", "northeast", "up"]

    def test_chunks_are_found(self, vectors: PropertyGraphStore) -> None:
        """Chunks that are upserted with embeddings are nodes like others."""
        mine = make_chunk("c1", "text")
        mine.embedding = EAST
        vectors.upsert_llama_nodes([mine, make_chunk("c2", "text")])
        vectors.upsert_nodes([ChunkNode(id_="c3", text="more", embedding=NORTH)])
        nodes, _ = _asked(vectors, EAST)
        assert [it.id for it in nodes] == ["c1", "c3"]
        assert isinstance(nodes[0], ChunkNode)
        assert nodes[0].text == "text"

    @pytest.mark.parametrize("embedding", [[1.0, 0.0], [1.0, 0.0, 0.0, 0.0], []], ids=len)
    def test_another_dimension_is_refused(
        self, vectors: PropertyGraphStore, embedding: list[float]
    ) -> None:
        """The first embedding fixes the dimension; a call with another one writes nothing."""
        vectors.upsert_nodes([_at("east", EAST)])
        before = snapshot(vectors)
        with pytest.raises(ValueError, match=DIMENSION):
            vectors.upsert_nodes([_at("good", NORTH), _at("bad", embedding)])
        mine = make_chunk("c1", "text")
        mine.embedding = embedding
        with pytest.raises(ValueError, match=DIMENSION):
            vectors.upsert_llama_nodes([mine])
        assert snapshot(vectors) == before
        assert _near(vectors, EAST) == ["east"]

    def test_a_large_call_with_one_bad_node_writes_nothing(
        self, vectors: PropertyGraphStore
    ) -> None:
        """However many nodes stand before the one with another dimension."""
        many = [make_chunk(f"c{n}", f"text {n}") for n in range(1100)]
        for node in many:
            node.embedding = EAST
        many[-1].embedding = [1.0]
        with pytest.raises(ValueError, match=DIMENSION):
            vectors.upsert_llama_nodes([*many])
        assert vectors.get() == []

    @pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
    def test_embeddings_that_are_not_finite(self, vectors: PropertyGraphStore, odd: float) -> None:
        """An embedding and a query of anything but finite numbers are refused."""
        _places(vectors)
        before = snapshot(vectors)
        with pytest.raises(ValueError, match=r"."):
            vectors.upsert_nodes([_at("good", EAST), _at("bad", [1.0, odd, 0.0])])
        assert snapshot(vectors) == before
        with pytest.raises(ValueError, match=r"."):
            _asked(vectors, [1.0, odd, 0.0])

    def test_mixed_nodes_of_two_dimensions(self, vectors: PropertyGraphStore) -> None:
        """Chunks and entities of one call share the dimension, and are refused together."""
        with pytest.raises(ValueError, match=DIMENSION):
            vectors.upsert_nodes(
                [ChunkNode(id_="c1", text="Ann", embedding=EAST), _at("a", [1.0, 0.0])]
            )
        assert vectors.get() == []

    def test_two_dimensions_in_the_first_call(self, vectors: PropertyGraphStore) -> None:
        """Neither is written, so that the next call is free to choose."""
        with pytest.raises(ValueError, match=DIMENSION):
            vectors.upsert_nodes([_at("a", EAST), _at("b", [1.0])])
        assert vectors.get() == []
        vectors.upsert_nodes([_at("b", [1.0])])
        assert _near(vectors, [1.0]) == ["b"]

    @pytest.mark.parametrize("embedding", [[1.0, 0.0], [1.0, 0.0, 0.0, 0.0]], ids=len)
    def test_a_query_of_another_dimension(
        self, vectors: PropertyGraphStore, embedding: list[float]
    ) -> None:
        """It is refused."""
        _places(vectors)
        with pytest.raises(ValueError, match=DIMENSION):
            _asked(vectors, embedding)

    def test_a_new_embedding_replaces_the_old(self, vectors: PropertyGraphStore) -> None:
        """A node has one embedding: the last."""
        _places(vectors)
        vectors.upsert_nodes([_at("east", UP)])
        assert _near(vectors, EAST, 1) == ["northeast"]
        assert ids(_asked(vectors, UP, 2)[0]) == ["east", "up"]
        assert len(_near(vectors, EAST, 99)) == 4

    def test_an_upsert_without_an_embedding(self, vectors: PropertyGraphStore) -> None:
        """It leaves the embedding that a node has."""
        _places(vectors)
        vectors.upsert_nodes([_at("east", None, kind="alley")])
        [node], _ = _asked(vectors, EAST, 1)
        assert (node.id, node.properties["kind"]) == ("east", "alley")

    def test_relations_leave_embeddings(self, vectors: PropertyGraphStore) -> None:
        """A relation that is upserted changes nothing of its ends' embeddings."""
        _places(vectors)
        before = _near(vectors, [3.0, 1.0, 0.0])
        vectors.upsert_relations([make_relation("east", "NEAR", "north")])
        assert _near(vectors, [3.0, 1.0, 0.0]) == before

    def test_deleted_nodes_are_not_found(self, vectors: PropertyGraphStore) -> None:
        """Nor is a deleted node that came back without an embedding."""
        _places(vectors)
        vectors.delete(ids=["east"])
        assert _near(vectors, EAST, 1) == ["northeast"]
        vectors.upsert_nodes([_at("east", None)])
        assert "east" not in _near(vectors, EAST, 99)

    def test_entities_deleted_with_a_chunk_are_not_found(self, vectors: PropertyGraphStore) -> None:
        """Neither a deleted chunk nor the entities that only it showed are found."""
        mine = make_chunk("c1", "text")
        mine.embedding = EAST
        vectors.upsert_llama_nodes([mine])
        vectors.upsert_nodes([_at("a", EAST, **{TRIPLET_SOURCE_KEY: "c1"}), _at("b", NORTH)])
        vectors.delete(ids=["c1"])
        assert _near(vectors, EAST) == ["b"]

    def test_two_stores_of_vectors(
        self, vectors: PropertyGraphStore, other: PropertyGraphStore
    ) -> None:
        """Each has its own nodes, and its own dimension."""
        _places(vectors)
        assert _asked(other, EAST) == ([], [])
        other.upsert_nodes([_at("east", [1.0, 0.0])])
        assert _near(other, [1.0, 0.0]) == ["east"]
        assert len(_near(vectors, EAST)) == 4

    def test_embeddings_are_persisted(
        self,
        vectors: PropertyGraphStore,
        loaded: Callable[..., PropertyGraphStore],
        tmp_path: Path,
    ) -> None:
        """A loaded store finds what the first one finds, and keeps its dimension."""
        _places(vectors)
        path = str(tmp_path / "graph.json")
        vectors.persist(path)
        again = loaded(path)
        query = [3.0, 1.0, 0.5]
        assert _near(again, query) == _near(vectors, query)
        with pytest.raises(ValueError, match=DIMENSION):
            again.upsert_nodes([_at("a", [1.0])])

    def test_the_embedding_is_not_shared(self, vectors: PropertyGraphStore) -> None:
        """To change what was handed in changes nothing in the store."""
        mine = _at("east", list(EAST))
        vectors.upsert_nodes([mine, _at("north", list(NORTH))])
        assert mine.embedding is not None
        mine.embedding[:] = UP
        assert _near(vectors, EAST, 1) == ["east"]

    @pytest.mark.parametrize(
        ("filters", "condition", "found"), FILTERS.values(), ids=FILTERS.keys()
    )
    def test_filters(
        self,
        vectors: PropertyGraphStore,
        filters: list[MetadataFilter],
        condition: str,
        found: list[str],
    ) -> None:
        """Only nodes whose properties pass the filters are found."""
        _places(vectors)
        chosen = MetadataFilters(filters=[*filters], condition=FilterCondition(condition))
        assert sorted(_near(vectors, EAST, 99, filters=chosen)) == found

    def test_filters_before_top_k(self, vectors: PropertyGraphStore) -> None:
        """What is filtered out takes no place."""
        _places(vectors)
        chosen = MetadataFilters(filters=[_filter("kind", "stair")])
        assert _near(vectors, EAST, 1, filters=chosen) == ["up"]
