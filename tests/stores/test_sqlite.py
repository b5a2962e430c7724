"""The shared suite on the embedded store in a file, and what a store in memory does otherwise."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings

from recallm.model import POSITION_BITS
from recallm.stores import sqlite
from recallm.stores.base import GraphStore
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite import StoreMachine, StoreSuite
from tests.store_suite.marked_text import prepared
from tests.store_suite.topics.archiving import ArchivingTests
from tests.store_suite.topics.base import apply_each, at, forget
from tests.store_suite.topics.isolation import IsolationTests
from tests.store_suite.topics.reading import ReadingTests
from tests.stores.sqlite_rows import check_rows


class TestInMemory(ReadingTests, IsolationTests, ArchivingTests):
    """Without a file: what depends on connections and snapshots."""

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
        with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
            check_rows(connection)

    @pytest.fixture
    def reopened(self, store: GraphStore, tmp_path: Path) -> Iterator[GraphStore]:
        reopened = SQLiteStore(tmp_path / "memory.db")
        yield reopened
        reopened.close()


class SQLiteMachine(StoreMachine):
    """SQLite and the oracle are told the same, and the rows fit each other afterwards."""

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


TestAgainstTheOracle = SQLiteMachine.TestCase
TestAgainstTheOracle.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


def test_the_time_of_a_forgotten_update_is_stored_nowhere(tmp_path: Path) -> None:
    """The session that the next update may continue is that of a stored passage, or none."""
    with closing(SQLiteStore(tmp_path / "memory.db")) as store:
        apply_each(store, "ns", prepared("1", "[Ann]", timestamp=at(0)))
        apply_each(store, "ns", prepared("2", "[Bo]", timestamp=at(1)))
        assert _open_t(tmp_path) == 2
        forget(store, "ns", "id", "1")
        assert _open_t(tmp_path) == 2
        forget(store, "ns", "id", "2")
    assert _open_t(tmp_path) == 0
    assert at(1).isoformat().encode() not in (tmp_path / "memory.db").read_bytes()


def _open_t(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "memory.db")) as connection:
        (row,) = connection.execute("SELECT open_t FROM namespace").fetchone()
    return int(row)


def test_sql_shifts_statement_keys_by_position_bits() -> None:
    """The SQL writes the bits of a position as a literal, which must equal the model's constant."""
    shifts = {
        int(bits)
        for path in Path(sqlite.__file__).parent.glob("*.py")
        for bits in re.findall(r"\bat\)? >> (\d+)", path.read_text("utf-8"))
    }
    assert shifts == {POSITION_BITS}
