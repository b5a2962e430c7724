"""The exact search, and how it follows the store."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from recallm.model import AddVectors, Horizon, Selection, statement_key
from recallm.stores.base import GraphStore
from recallm.stores.sqlite import SQLiteStore
from recallm.testing.marked_text import prepared, vector
from recallm.vectors import decode, encode
from recallm.vectors.exact import ExactIndex
from recallm.vectors.index import VectorIndex
from recallm.vectors.matrix import GrowingMatrix, Matrix

RANDOM = np.random.default_rng(3)


@pytest.fixture
def store() -> Iterator[GraphStore]:
    store = SQLiteStore()
    yield store
    store.close()


def tell(store: GraphStore, first: int, count: int, namespace: str = "n") -> None:
    store.apply(
        namespace,
        [
            prepared(str(n), f"[Ann] {n}", vectors=(vector(0, encode(RANDOM.normal(size=8))),))
            for n in range(first, first + count)
        ],
    )


def expected(store: GraphStore, asked: np.ndarray, namespace: str = "n") -> list[int]:
    """The keys by cosine, one by one."""
    with store.reader(namespace, Horizon()) as reader:
        state = reader.state.vectors
        assert state is not None
        vectors = reader.vectors(model=state.model)
    rows = {key: decode(blob).astype(np.float64) for key, blob in vectors.items()}
    cosines = {key: float(row @ asked / np.linalg.norm(row)) for key, row in rows.items()}
    return sorted(cosines, key=lambda key: -cosines[key])


def keys(
    index: VectorIndex,
    store: GraphStore,
    asked: np.ndarray,
    limit: int,
    moments: list[int] | None = None,
    namespace: str = "n",
) -> list[int]:
    with store.reader(namespace, Horizon()) as reader:
        state = reader.state.vectors
        assert state is not None
        view = index.caught_up(namespace, state, reader)
    return [key for key, _ in view.nearest(asked, limit, moments=moments)]


def unit(size: int = 8) -> np.ndarray:
    row = RANDOM.normal(size=size).astype(np.float32)
    return np.asarray(row / np.linalg.norm(row))


def test_it_finds_what_is_nearest(store: GraphStore) -> None:
    tell(store, 0, 300)
    index, asked = ExactIndex(), unit()
    order = expected(store, asked)
    assert keys(index, store, asked, 10) == order[:10]
    assert keys(index, store, asked, 9_999) == order
    assert keys(index, store, asked, 0) == []
    even = [t for t in range(1, 301) if t % 2 == 0]
    assert keys(index, store, asked, 9, even) == [key for key in order if (key >> 20) % 2 == 0][:9]
    assert keys(index, store, asked, 9, [5]) == [5 << 20]
    assert keys(index, store, asked, 9, []) == []


def test_it_follows_the_store(store: GraphStore) -> None:
    """What comes, goes, and is given to earlier statements, in any order."""
    index, asked = ExactIndex(), unit()
    tell(store, 0, 50)
    assert keys(index, store, asked, 99) == expected(store, asked)
    tell(store, 50, 30)
    store.apply("n", [prepared("bare", "[Bo]"), prepared("bare2", "[Cy]")])
    tell(store, 80, 5)
    assert keys(index, store, asked, 99) == expected(store, asked)
    for id in ("0", "84", "40"):
        store.forget("n", Selection(kind="id", value=id))
    store.amend(
        "n", AddVectors(model="m", vectors={statement_key(81, 0): encode(RANDOM.normal(size=8))})
    )
    assert keys(index, store, asked, 99) == expected(store, asked)
    store.forget("n", Selection(kind="before", value=70))
    tell(store, 100, 5)
    assert keys(index, store, asked, 99) == expected(store, asked)
    store.forget("n", Selection(kind="everything", value=True))
    store.apply("n", [prepared("x", "[Ann]", vectors=(vector(0, encode([1, 2, 3]), "other"),))])
    assert keys(index, store, unit(3), 99) == expected(store, unit(3))


def test_an_older_snapshot_brings_nothing_back(store: GraphStore) -> None:
    """Whoever opened a reader before a forget asks after another who has seen it."""
    index, asked = ExactIndex(), unit()
    tell(store, 0, 5)
    keys(index, store, asked, 99)
    tell(store, 5, 1)
    with store.reader("n", Horizon()) as older:
        state = older.state.vectors
        assert state is not None
        for id in ("5", "2"):
            store.forget("n", Selection(kind="id", value=id))
        left = expected(store, asked)
        assert keys(index, store, asked, 99) == left
        view = index.caught_up("n", state, older)
    assert [key for key, _ in view.nearest(asked, 99)] == left
    assert keys(index, store, asked, 99) == left


def test_namespaces_are_apart(store: GraphStore) -> None:
    index, asked = ExactIndex(), unit()
    for name in ("n", 'it\'s \x00 "another"'):
        tell(store, 0, 5, name)
    for name in ("n", 'it\'s \x00 "another"'):
        found = keys(index, store, asked, 99, namespace=name)
        assert found == expected(store, asked, name)


def test_views_stay_as_they_were() -> None:
    matrix = GrowingMatrix(2)
    matrix.add([(1, encode([1, 0])), (2, encode([0, 1])), (3, encode([1, 1]))])
    before = matrix.view
    matrix.keep(np.array([1, 3]))
    middle = matrix.view
    for key in range(4, 100):
        matrix.add([(key, encode([1, key]))])
    matrix.keep(np.array([3]))
    asked = np.array([1, 0], np.float32)
    assert [key for key, _ in before.nearest(asked, 9)] == [1, 3, 2]
    assert [key for key, _ in middle.nearest(asked, 9)] == [1, 3]
    assert [key for key, _ in matrix.view.nearest(asked, 9)] == [3]
    assert matrix.keys.tolist() == [3]


def test_of_equal_ones_the_latest_come_first() -> None:
    matrix = GrowingMatrix(2)
    matrix.add([(key, encode([0, 1])) for key in (5, 1, 9, 3)] + [(7, encode([1, 0]))])
    asked = np.array([0, 1], np.float32)
    assert matrix.view.nearest(asked, 3) == [(9, 1.0), (5, 1.0), (3, 1.0)]
    assert Matrix(np.empty(0, np.int64), np.empty((0, 2), np.float32)).nearest(asked, 3) == []


def test_threads_and_writers(store: GraphStore) -> None:
    """Whoever asks gets what was there: nothing half caught up."""
    index, asked = ExactIndex(), unit()
    tell(store, 0, 10)
    failures: list[object] = []

    def ask() -> None:
        for _ in range(40):
            with store.reader("n", Horizon()) as reader:
                state = reader.state.vectors
                assert state is not None
                view = index.caught_up("n", state, reader)
            found = [key for key, _ in view.nearest(asked, 10_000)]
            if len(found) != len(set(found)):
                failures.append(found)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(20):
        tell(store, 10 + 10 * n, 10)
        store.forget("n", Selection(kind="id", value=str(7 * n)))
    for thread in threads:
        thread.join()
    assert not failures
    assert keys(index, store, asked, 10_000) == expected(store, asked)
