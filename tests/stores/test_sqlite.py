"""The shared suite on the embedded store, in memory and in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from recallm.stores.base import GraphStore
from recallm.stores.sqlite import SQLiteStore
from recallm.testing.stateful import StoreMachine
from recallm.testing.store_suite import StoreSuite


class TestInMemory(StoreSuite):
    """Without a file."""

    @pytest.fixture
    def store(self) -> Iterator[GraphStore]:
        store = SQLiteStore()
        yield store
        store.close()


class TestInAFile(StoreSuite):
    """With a file of its own for each test."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[GraphStore]:
        store = SQLiteStore(tmp_path / "memory.db")
        yield store
        store.close()


class SQLiteMachine(StoreMachine):
    """SQLite and the oracle are told the same."""

    def open_store(self) -> GraphStore:
        return SQLiteStore()


TestAgainstTheOracle = SQLiteMachine.TestCase
TestAgainstTheOracle.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
