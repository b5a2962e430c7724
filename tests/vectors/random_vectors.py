"""Random vectors in a store, and what a search among them must find."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from recallm.model import Horizon
from recallm.stores.base import GraphStore
from recallm.vectors import decode, encode
from recallm.vectors.statements import VectorIndex
from tests.store_suite.marked_text import prepared, vector

__all__ = [
    "RANDOM",
    "check_nearest",
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
