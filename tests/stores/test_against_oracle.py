"""SQLite and Neo4j against the oracle: a state machine, and batches of items that replace others.

The runs at night try many more examples.
"""

from __future__ import annotations

import sqlite3
import tempfile
import uuid
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from neo4j import Driver

from recallm.errors import RecallMError
from recallm.model import Horizon, PreparedUpdate, Selection
from recallm.stores.base import Applied, GraphStore
from recallm.stores.neo4j import Neo4jStore
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite import DictStore, StoreMachine, strategies
from tests.store_suite.snapshots import Vocabulary, snapshot
from tests.stores.sqlite_rows import check_rows


class SQLiteMachine(StoreMachine):
    """The rows of the file fit each other at the end."""

    def open_store(self) -> GraphStore:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "memory.db"
        return SQLiteStore(self.path)

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            with closing(sqlite3.connect(self.path)) as connection:
                check_rows(connection)
            self.folder.cleanup()


MANY = pytest.param(20, marks=pytest.mark.nightly, id="many")
"""So many times the examples of a run in the day."""


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, MANY])
def test_sqlite(times: int) -> None:
    tries = settings(max_examples=12 * times, stateful_step_count=15)
    run_state_machine_as_test(SQLiteMachine, settings=tries)


@pytest.mark.parametrize("times", [1, MANY])
def test_neo4j(driver: Driver, times: int) -> None:
    class Machine(StoreMachine):
        def open_store(self) -> GraphStore:
            return Neo4jStore(driver)

    tries = settings(max_examples=3 * times, stateful_step_count=8)
    run_state_machine_as_test(Machine, settings=tries)


# Few places, so that items meet; ids that mostly do not.
_PLACES: tuple[tuple[tuple[str, ...], str | None], ...] = (
    ((), None),
    ((), "k"),
    (("p",), "k"),
    ((), "l"),
)
_IDS = st.sampled_from("ab") | st.integers(0, 10**9).map(str) | st.integers(0, 10**9).map(str)


@st.composite
def _updates(draw: st.DrawFn) -> PreparedUpdate:
    update = draw(strategies.prepared_updates())
    path, key = draw(st.sampled_from(_PLACES))
    if update.text is None:
        return update
    if draw(st.booleans()):
        update = replace(update, entities=(), triplets=())
    if draw(st.booleans()):
        # No session by name: the session follows from time.
        update = replace(update, source=None, session=None)
    return replace(update, id=draw(_IDS), path=path, key=key)


_BATCHES = st.lists(st.lists(_updates(), min_size=1, max_size=6), min_size=1, max_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, MANY])
def test_batches_of_items_on_sqlite(times: int) -> None:
    """A store may forget and write a batch in another order than its updates have: nobody may see
    that."""

    @settings(max_examples=25 * times)
    @given(batches=_BATCHES)
    def agree(batches: list[list[PreparedUpdate]]) -> None:
        with closing(SQLiteStore()) as store:
            _agree(store, "items", batches)

    agree()


@pytest.mark.parametrize("times", [1, MANY])
def test_batches_of_items_on_neo4j(store: Neo4jStore, times: int) -> None:
    @settings(max_examples=4 * times, suppress_health_check=[HealthCheck.too_slow])
    @given(batches=_BATCHES)
    def agree(batches: list[list[PreparedUpdate]]) -> None:
        namespace = f"items-{uuid.uuid4()}"
        _agree(store, namespace, batches)
        store.forget(namespace, Selection(kind="everything", value=True))

    agree()


def _agree(store: GraphStore, namespace: str, batches: Sequence[Sequence[PreparedUpdate]]) -> None:
    oracle = DictStore()
    for batch in batches:
        assert _applied(store, namespace, batch) == _applied(oracle, namespace, batch)
        for horizon in (Horizon(), Horizon(as_of=2)):
            with oracle.reader(namespace, horizon) as reader:
                known = Vocabulary().add(reader.dump())
                wanted = snapshot(reader, known)
            with store.reader(namespace, horizon) as reader:
                found = snapshot(reader, known)
            for kind, value in wanted.items():
                assert found[kind] == value, kind


def _applied(
    store: GraphStore, namespace: str, batch: Sequence[PreparedUpdate]
) -> list[Applied] | tuple[type, str]:
    """What became of a batch, or why it failed."""
    try:
        return store.apply(namespace, batch)
    except RecallMError as error:
        return type(error), str(error)
