"""The Chroma index follows the store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recallm.model import AddVectors, Horizon, Selection, statement_key
from recallm.stores.base import GraphStore
from recallm.vectors import encode
from recallm.vectors.chroma import ChromaCollection, ChromaIndex
from tests.store_suite.marked_text import prepared
from tests.vectors.random_vectors import (
    RANDOM,
    check_nearest,
    check_searches,
    collection_sizes,
    exact_cosines,
    nearest_keys,
    random_unit_vector,
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


def test_a_collection_is_filled_in_parts(
    store: GraphStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each search moves some vectors into Chroma; the search is exact until all are there."""
    monkeypatch.setattr(ChromaCollection, "room", 20)
    write_vectors(store, 0, 50)
    with closing(ChromaIndex(store, folder)) as index:
        sizes = []
        for _ in range(4):
            wanted = random_unit_vector()
            check_nearest(nearest_keys(index, store, wanted, 99), exact_cosines(store, wanted))
            sizes += collection_sizes(index)
        assert sizes == [20, 40, 50, 50]
        assert not index._caches
        store.apply("n", [prepared(f"bare{n}", "[Bo]") for n in range(30)])
        later = {statement_key(t, 0): encode(RANDOM.normal(size=8)) for t in range(51, 81)}
        store.amend("n", AddVectors(model="m", vectors=later))
        write_vectors(store, 100, 5)
        check_searches(index, store)
        assert collection_sizes(index) == [85]


def test_a_filter_that_many_statements_meet(
    store: GraphStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their stored vectors are compared, a page at a time."""
    monkeypatch.setattr("recallm.vectors.chroma.PAGE", 400)
    write_vectors(store, 0, 600)
    with closing(ChromaIndex(store, folder)) as index:
        wanted = random_unit_vector()
        nearest_keys(index, store, wanted, 1)
        cosines = exact_cosines(store, wanted)
        for some in (
            {key: cosines[key] for key in cosines if (key >> 20) % 10},
            {key: cosines[key] for key in list(cosines)[-300:]},
        ):
            found = nearest_keys(index, store, wanted, 10, [key >> 20 for key in some])
            check_nearest(found, some, 10)


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
            ChromaCollection, "add", lambda *_: pytest.fail("the collection was filled again")
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
        assert collection_sizes(index) == [4]
        check_searches(index, store)
        assert collection_sizes(index) == [4]


def test_a_vector_is_forgotten_while_it_is_moved(store: GraphStore, client: Any) -> None:
    """A reader that was opened before catches up: the next one deletes the vector."""
    write_vectors(store, 0, 5)
    with closing(ChromaIndex(store, client)) as index:
        with store.reader("n", Horizon()) as older:
            store.forget("n", Selection(kind="id", value="2"))
            state = older.state.vectors
            assert state is not None
            index.catch_up("n", state, older)
        assert 5 in collection_sizes(index)
        check_searches(index, store)
        index.drop("n", None)


def test_namespaces_of_any_name_are_apart(store: GraphStore, folder: Path) -> None:
    names = ["n", "it's \x00\"", "ä" * 3_000]
    with closing(ChromaIndex(store, folder)) as index:
        for count in (2, 1):
            for place, name in enumerate(names):
                write_vectors(store, 10 * count, place + count, name)
                check_searches(index, store, name)
        assert sorted(collection_sizes(index)) == [3, 5, 7]
