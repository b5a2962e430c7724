"""Random vectors in a store, and what a search among them must find."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from recallm.model import Horizon
from recallm.stores.base import GraphStore
from recallm.testing.marked_text import prepared, vector
from recallm.vectors import decode, encode
from recallm.vectors.chroma import ChromaIndex
from recallm.vectors.index import VectorIndex

__all__ = [
    "RANDOM",
    "check_searches",
    "collection_sizes",
    "collections",
    "keys_by_cosine",
    "nearest_keys",
    "random_unit_vector",
    "wait_until_flushed",
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


def keys_by_cosine(store: GraphStore, question: np.ndarray, namespace: str = "n") -> list[int]:
    """All keys in the order of their cosines, computed one by one."""
    with store.reader(namespace, Horizon()) as reader:
        state = reader.state.vectors
        assert state is not None
        stored = reader.vectors(model=state.model)
    rows = {key: decode(blob).astype(np.float64) for key, blob in stored.items()}
    cosines = {key: float(row @ question / np.linalg.norm(row)) for key, row in rows.items()}
    return sorted(cosines, key=lambda key: -cosines[key])


def nearest_keys(
    index: VectorIndex,
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
    return sorted(index._client.list_collections(), key=lambda it: str(it.name))


def collection_sizes(index: ChromaIndex) -> list[int]:
    return [each.count() for each in collections(index)]


def wait_until_flushed(index: ChromaIndex) -> None:
    """Wait until all vectors have been moved into Chroma."""
    deadline = time.monotonic() + 60
    while True:
        with index._lock:
            if not index._writes:
                return
        assert time.monotonic() < deadline
        time.sleep(0.005)


def check_searches(index: ChromaIndex, store: GraphStore, namespace: str = "n") -> None:
    """Searches find what the store has, however many vectors are in Chroma by now."""
    for _ in range(2):
        wanted = random_unit_vector()
        order = keys_by_cosine(store, wanted, namespace)
        assert nearest_keys(index, store, wanted, 10, namespace=namespace) == order[:10]
        assert nearest_keys(index, store, wanted, 9_999, namespace=namespace) == order
        some = [key >> 20 for key in order[5::3]]
        assert nearest_keys(index, store, wanted, 7, some, namespace=namespace) == order[5::3][:7]
        wait_until_flushed(index)
    assert not index._is_off
