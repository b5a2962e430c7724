"""The Chroma index follows the store."""

from __future__ import annotations

import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recallm.model import AddVectors, Horizon, Selection, statement_key
from recallm.stores.base import GraphStore
from recallm.testing.marked_text import prepared
from recallm.vectors import encode
from recallm.vectors.chroma import ChromaIndex
from recallm.vectors.chroma_collection import ChromaCollection
from tests.vectors.random_vectors import (
    RANDOM,
    check_nearest,
    check_searches,
    collection_sizes,
    exact_cosines,
    nearest_keys,
    random_unit_vector,
    wait_until_flushed,
    write_vectors,
)


def test_the_index_follows_the_store(store: GraphStore, folder: Path) -> None:
    with closing(ChromaIndex(store, folder)) as index:
        write_vectors(store, 0, 600)
        check_searches(index, store)
        assert collection_sizes(index) == [600]
        write_vectors(store, 600, 30)
        store.apply("n", [prepared("bare", "[Bo]")])
        write_vectors(store, 700, 5)
        check_searches(index, store)
        assert collection_sizes(index) == [635]
        for id in ("0", "704", "300"):
            store.forget("n", Selection(kind="id", value=id))
        store.amend(
            "n",
            AddVectors(model="m", vectors={statement_key(631, 0): encode(RANDOM.normal(size=8))}),
        )
        check_searches(index, store)
        assert collection_sizes(index) == [633]
        store.forget("n", Selection(kind="before", value=500))
        check_searches(index, store)


def test_a_filter_that_many_statements_meet(store: GraphStore, folder: Path) -> None:
    """Chroma's nearest are filtered; few statements are compared one by one."""
    for first in range(0, 5_000, 1_000):
        write_vectors(store, first, 1_000)
    with closing(ChromaIndex(store, folder)) as index:
        wanted = random_unit_vector()
        nearest_keys(index, store, wanted, 1)
        wait_until_flushed(index)
        cosines = exact_cosines(store, wanted)
        most = [key for key in cosines if (key >> 20) % 10]
        found = nearest_keys(index, store, wanted, 10, [key >> 20 for key in most])
        assert len(set(found) & set(most[:10])) >= 9  # Chroma's search is approximate
        assert set(found) <= set(most)
        farthest = {key: cosines[key] for key in list(cosines)[-300:]}
        found = nearest_keys(index, store, wanted, 5, [key >> 20 for key in farthest])
        check_nearest(found, farthest, 5)


def test_the_index_catches_up_when_it_is_opened_again(
    store: GraphStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vectors(store, 0, 50)
    with closing(ChromaIndex(store, folder)) as index:
        check_searches(index, store)
    write_vectors(store, 50, 20)
    store.forget("n", Selection(kind="id", value="7"))
    with closing(ChromaIndex(store, folder)) as index:
        check_searches(index, store)
        assert collection_sizes(index) == [69]
    with closing(ChromaIndex(store, folder)) as index:
        monkeypatch.setattr(
            ChromaCollection, "flush", lambda _: pytest.fail("the collection was filled again")
        )
        check_searches(index, store)
        assert collection_sizes(index) == [69]


def test_an_older_reader_restores_nothing(store: GraphStore, folder: Path) -> None:
    write_vectors(store, 0, 5)
    with closing(ChromaIndex(store, folder)) as index:
        check_searches(index, store)
        write_vectors(store, 5, 1)
        with store.reader("n", Horizon()) as older:
            state = older.state.vectors
            assert state is not None
            for id in ("5", "2"):
                store.forget("n", Selection(kind="id", value=id))
            check_searches(index, store)
            view = index.catch_up("n", state, older)
        wanted = random_unit_vector()
        found = [key for key, _ in view.nearest(wanted, 99)]
        check_nearest(found, exact_cosines(store, wanted))
        wait_until_flushed(index)
        assert collection_sizes(index) == [4]
        check_searches(index, store)
        assert collection_sizes(index) == [4]


def test_a_vector_is_forgotten_while_it_is_moved(store: GraphStore, client: Any) -> None:
    """It is written to Chroma after it was forgotten, and deleted again."""
    write_vectors(store, 0, 5)

    class Slow:
        def __init__(self, collection: Any) -> None:
            self.collection = collection

        def __getattr__(self, name: str) -> Any:
            return getattr(self.collection, name)

        def upsert(self, **arguments: Any) -> None:
            store.forget("n", Selection(kind="id", value="2"))
            with store.reader("n", Horizon()) as reader:
                state = reader.state.vectors
                assert state is not None
                moved.catch_up(state, reader)
            self.collection.upsert(**arguments)

    collection = client.create_collection(f"slow-{uuid.uuid4()}", embedding_function=None)
    with store.reader("n", Horizon()) as reader:
        state = reader.state.vectors
        assert state is not None
        moved = ChromaCollection(Slow(collection), np.empty(0, np.int64), state)
        moved.catch_up(state, reader)
    moved.flush()
    assert not moved.in_memory
    left = {str(statement_key(t, 0)) for t in (1, 2, 4, 5)}
    assert set(collection.get(include=[])["ids"]) == left
    client.delete_collection(collection.name)


def test_few_collections_stay_open(
    store: GraphStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those used last, and those with vectors to be moved into Chroma."""
    monkeypatch.setattr("recallm.vectors.chroma._MAX_OPEN_COLLECTIONS", 2)
    names = [f"n{place}" for place in range(5)]
    with closing(ChromaIndex(store, folder)) as index:
        for place, name in enumerate(names):
            write_vectors(store, 0, 2 + place, name)
            check_searches(index, store, name)
        assert list(index._open) == names[-2:]
        for name in names:
            write_vectors(store, 10, 1, name)
            check_searches(index, store, name)
        assert list(index._open) == names[-2:]
        assert sorted(collection_sizes(index)) == [3, 4, 5, 6, 7]
        with monkeypatch.context() as patched:
            patched.setattr(index, "_write_later", lambda *_: None)
            for name in names:
                write_vectors(store, 20, 1, name)
                wanted = random_unit_vector()
                found = nearest_keys(index, store, wanted, 99, namespace=name)
                check_nearest(found, exact_cosines(store, wanted, name))
            assert list(index._open) == names


def test_namespaces_are_apart(store: GraphStore, folder: Path) -> None:
    with closing(ChromaIndex(store, folder)) as index:
        for place, name in enumerate(("n", "it's \x00\"", "ä" * 3_000)):
            write_vectors(store, 0, 5 + place, name)
            check_searches(index, store, name)
        assert sorted(collection_sizes(index)) == [5, 6, 7]
