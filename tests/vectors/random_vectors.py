"""Random vectors in a store, and what a search among them must find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from recallm.model import Horizon
from recallm.stores.base import GraphStore
from recallm.vectors import decode, encode
from recallm.vectors.chroma import ChromaIndex
from recallm.vectors.index import ExactIndex
from tests.store_suite.marked_text import prepared, vector

__all__ = [
    "RANDOM",
    "check_nearest",
    "check_searches",
    "collection_sizes",
    "collections",
    "exact_cosines",
    "nearest_keys",
    "random_unit_vector",
    "write_vectors",
]

RANDOM = np.random.default_rng(3)


def write_vectors(store: GraphStore, first: int, count: int, namespace: str = "n") -> None:
    store.apply(
        namespace,
        [
            prepared(str(n), f"[Ann] {n}", vectors=(vector(0, encode(RANDOM.normal(size=8))),))
            for n in range(first, first + count)
        ],
    )


def exact_cosines(
    store: GraphStore, question: np.ndarray, namespace: str = "n"
) -> dict[int, float]:
    """The cosine of each stored vector with the question, by key, computed one by one; greatest
    first."""
    with store.reader(namespace, Horizon()) as reader:
        state = reader.state.vectors
        assert state is not None
        stored = reader.vectors(model=state.model)
    rows = {key: decode(blob).astype(np.float64) for key, blob in stored.items()}
    cosines = {key: float(row @ question / np.linalg.norm(row)) for key, row in rows.items()}
    return dict(sorted(cosines.items(), key=lambda item: -item[1]))


def check_nearest(found: list[int], cosines: Mapping[int, float], limit: int | None = None) -> None:
    """``found`` are the ``limit`` nearest of the vectors with these ``cosines``, nearest first. Of
    two cosines that are equal but for the error of float32, either may come first."""
    assert len(set(found)) == len(found)
    assert [cosines[key] for key in found] == pytest.approx(
        sorted(cosines.values(), reverse=True)[:limit], rel=0, abs=1e-6
    )


def nearest_keys(
    index: ExactIndex,
    store: GraphStore,
    question: np.ndarray,
    limit: int,
    updates: list[int] | None = None,
    namespace: str = "n",
) -> list[int]:
    with store.reader(namespace, Horizon()) as reader:
        state = reader.state.vectors
        assert state is not None
        view = index.catch_up(namespace, state, reader)
    return [key for key, _ in view.nearest(question, limit, updates=updates)]


def random_unit_vector(size: int = 8) -> np.ndarray:
    row = RANDOM.normal(size=size).astype(np.float32)
    return np.asarray(row / np.linalg.norm(row))


def collections(index: ChromaIndex) -> list[Any]:
    return sorted(index._client.list_collections(), key=lambda each: str(each.name))


def collection_sizes(index: ChromaIndex) -> list[int]:
    return [each.count() for each in collections(index)]


def check_searches(index: ChromaIndex, store: GraphStore, namespace: str = "n") -> None:
    """Searches find what the store has, while Chroma is filled and afterwards."""
    for _ in range(2):
        wanted = random_unit_vector()
        cosines = exact_cosines(store, wanted, namespace)
        for limit in (10, 9_999):
            found = nearest_keys(index, store, wanted, limit, namespace=namespace)
            check_nearest(found, cosines, limit)
        some = {key: cosines[key] for key in list(cosines)[5::3]}
        updates = [key >> 20 for key in some]
        check_nearest(nearest_keys(index, store, wanted, 7, updates, namespace=namespace), some, 7)
    assert not index._is_off
