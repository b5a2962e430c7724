"""The exact search, and how an index follows the store."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from recallm.model import AddVectors, Horizon, Selection, VectorState, statement_key
from recallm.stores.base import GraphStore
from recallm.stores.sqlite import SQLiteStore
from recallm.vectors import encode
from recallm.vectors.arrays import Matrix
from recallm.vectors.statements import CachedVectors, VectorIndex
from tests.store_suite.marked_text import prepared, vector
from tests.vectors.random_vectors import (
    RANDOM,
    check_nearest,
    exact_cosines,
    nearest_keys,
    random_unit_vector,
    write_vectors,
)


@pytest.fixture
def store() -> Iterator[GraphStore]:
    store = SQLiteStore()
    yield store
    store.close()


def test_the_index_finds_the_nearest_statements(store: GraphStore) -> None:
    write_vectors(store, 0, 300)
    index, question = VectorIndex(), random_unit_vector()
    cosines = exact_cosines(store, question)
    for limit in (10, 9_999):
        check_nearest(nearest_keys(index, store, question, limit), cosines, limit)
    assert nearest_keys(index, store, question, 0) == []
    even = list(range(2, 301, 2))
    matches = {key: cosines[key] for key in cosines if (key >> 20) % 2 == 0}
    check_nearest(nearest_keys(index, store, question, 9, even), matches, 9)
    assert nearest_keys(index, store, question, 9, [5]) == [5 << 20]
    assert nearest_keys(index, store, question, 9, []) == []


def test_the_index_follows_the_store(store: GraphStore) -> None:
    """New vectors, forgotten ones, and vectors given to earlier statements, in any order."""
    index, question = VectorIndex(), random_unit_vector()
    write_vectors(store, 0, 50)
    check_nearest(nearest_keys(index, store, question, 99), exact_cosines(store, question))
    write_vectors(store, 50, 30)
    store.apply("n", [prepared("bare", "[Bo]"), prepared("bare2", "[Cy]")])
    write_vectors(store, 80, 5)
    check_nearest(nearest_keys(index, store, question, 99), exact_cosines(store, question))
    for id in ("0", "84", "40"):
        store.forget("n", Selection(kind="id", value=id))
    vectors = {statement_key(81, 0): encode(RANDOM.normal(size=8))}
    store.amend("n", AddVectors(model="m", vectors=vectors))
    check_nearest(nearest_keys(index, store, question, 99), exact_cosines(store, question))
    store.forget("n", Selection(kind="before", value=70))
    write_vectors(store, 100, 5)
    check_nearest(nearest_keys(index, store, question, 99), exact_cosines(store, question))
    store.forget("n", Selection(kind="everything", value=True))
    store.apply("n", [prepared("x", "[Ann]", vectors=(vector(0, encode([1, 2, 3]), "other"),))])
    question = random_unit_vector(3)
    check_nearest(nearest_keys(index, store, question, 99), exact_cosines(store, question))


def test_an_older_snapshot_restores_nothing(store: GraphStore) -> None:
    """A reader opened before a forget catches up after a reader opened behind it."""
    index, question = VectorIndex(), random_unit_vector()
    write_vectors(store, 0, 5)
    nearest_keys(index, store, question, 99)
    write_vectors(store, 5, 1)
    with store.reader("n", Horizon()) as older:
        state = older.state.vectors
        assert state is not None
        for id in ("5", "2"):
            store.forget("n", Selection(kind="id", value=id))
        left = exact_cosines(store, question)
        check_nearest(nearest_keys(index, store, question, 99), left)
        view = index.catch_up("n", state, older)
    check_nearest([key for key, _ in view.nearest(question, 99)], left)
    check_nearest(nearest_keys(index, store, question, 99), left)


def test_an_interrupted_read_is_taken_up_again(store: GraphStore) -> None:
    """Vectors of earlier statements, which no later t shows."""
    index, question = VectorIndex(), random_unit_vector()
    write_vectors(store, 0, 5)
    store.apply("n", [prepared("bare", "[Bo]")])
    nearest_keys(index, store, question, 99)
    vectors = {statement_key(6, 0): encode(RANDOM.normal(size=8))}
    store.amend("n", AddVectors(model="m", vectors=vectors))
    with store.reader("n", Horizon()) as reader, pytest.MonkeyPatch.context() as patch:
        state = reader.state
        assert state.vectors is not None
        patch.setattr(reader, "vectors", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            index.catch_up("n", state.vectors, reader)
    assert index.view_of("n", state) is None
    check_nearest(nearest_keys(index, store, question, 99), exact_cosines(store, question))


def test_an_older_reader_may_read_first(store: GraphStore) -> None:
    """The cache was made for a later reader, which reads after it."""
    write_vectors(store, 0, 5)
    with store.reader("n", Horizon()) as older:
        before = older.state.vectors
        store.forget("n", Selection(kind="id", value="2"))
        with store.reader("n", Horizon()) as later:
            after = later.state.vectors
            assert before is not None
            assert after is not None
            cache = CachedVectors(after)
            cache.catch_up(before, older)
            assert [key >> 20 for key in cache.keys] == [1, 2, 3, 4, 5]
            cache.catch_up(after, later)
            assert [key >> 20 for key in cache.keys] == [1, 2, 4, 5]


def test_namespaces_are_apart(store: GraphStore) -> None:
    index, question = VectorIndex(), random_unit_vector()
    for name in ("n", 'it\'s \x00 "another"'):
        write_vectors(store, 0, 5, name)
    for name in ("n", 'it\'s \x00 "another"'):
        found = nearest_keys(index, store, question, 99, namespace=name)
        check_nearest(found, exact_cosines(store, question, name))


def cached(vectors: dict[int, list[float]]) -> CachedVectors:
    cache = CachedVectors(VectorState(origin="o", model="m", size=4, revision=0))
    cache.add({key: encode(vector) for key, vector in vectors.items()})
    return cache


def test_snapshots_never_change() -> None:
    cache = cached({1: [1, 0], 2: [0, 1], 3: [1, 1]})
    before = cache.snapshot
    cache.keep_only(np.array([1, 3]))
    middle = cache.snapshot
    for key in range(4, 100):
        cache.add({key: encode([1, key])})
    cache.keep_only(np.array([3]))
    question = np.array([1, 0], np.float32)
    assert [key for key, _ in before.nearest(question, 9)] == [1, 3, 2]
    assert [key for key, _ in middle.nearest(question, 9)] == [1, 3]
    assert [key for key, _ in cache.snapshot.nearest(question, 9)] == [3]
    assert cache.keys.tolist() == [3]


def test_of_equal_cosines_the_latest_statement_comes_first() -> None:
    cache = cached({5: [0, 1], 1: [0, 1], 9: [0, 1]})
    cache.add({3: encode([0, 1]), 7: encode([1, 0])})
    question = np.array([0, 1], np.float32)
    assert cache.snapshot.nearest(question, 3) == [(9, 1.0), (5, 1.0), (3, 1.0)]
    assert Matrix(np.empty(0, np.int64), np.empty((0, 2), np.float32)).nearest(question, 3) == []


def test_several_threads_search_while_another_writes(store: GraphStore) -> None:
    """No search sees an index that has caught up in part."""
    index, question = VectorIndex(), random_unit_vector()
    write_vectors(store, 0, 10)
    failures: list[object] = []

    def ask() -> None:
        for _ in range(40):
            with store.reader("n", Horizon()) as reader:
                state = reader.state.vectors
                assert state is not None
                view = index.catch_up("n", state, reader)
            found = [key for key, _ in view.nearest(question, 10_000)]
            if len(found) != len(set(found)):
                failures.append(found)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(20):
        write_vectors(store, 10 + 10 * n, 10)
        store.forget("n", Selection(kind="id", value=str(7 * n)))
    for thread in threads:
        thread.join()
    assert not failures
    check_nearest(nearest_keys(index, store, question, 10_000), exact_cosines(store, question))
