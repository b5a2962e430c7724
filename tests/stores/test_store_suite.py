"""The suite of stores on the oracle, on a SQLite file whose rows are checked, and on Neo4j."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from neo4j import Driver

from recallm.stores.base import GraphStore
from recallm.stores.neo4j import Neo4jStore
from recallm.stores.sqlite import SQLiteStore
from tests.neo4j.fixtures import RunningServer
from tests.store_suite import DictStore, StoreSuite
from tests.store_suite.topics.base import Space
from tests.stores.sqlite_rows import check_rows


class TestDictStore(StoreSuite):
    """The oracle itself."""

    @pytest.fixture
    def store(self) -> Iterator[GraphStore]:
        with closing(DictStore()) as store:
            yield store


class TestSQLite(StoreSuite):
    """A file of its own for each test."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[GraphStore]:
        with closing(SQLiteStore(tmp_path / "memory.db")) as store:
            yield store
        with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
            check_rows(connection)

    @pytest.fixture
    def reopened(self, store: GraphStore, tmp_path: Path) -> Iterator[GraphStore]:
        with closing(SQLiteStore(tmp_path / "memory.db")) as reopened:
            yield reopened


class TestNeo4j(StoreSuite):
    """A server that all tests share: each has namespaces of its own."""

    @pytest.fixture
    def store(self, driver: Driver) -> Iterator[GraphStore]:
        with closing(Neo4jStore(driver)) as store:
            yield store

    @pytest.fixture
    def reopened(self, neo4j_server: RunningServer) -> Iterator[GraphStore]:
        """A second store, with a driver of its own."""
        with closing(Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth)) as store:
            yield store

    @pytest.mark.xfail(
        strict=True, raises=AssertionError, reason="never: Neo4j reads what is committed by then"
    )
    def test_a_reader_keeps_what_is_forgotten(self, space: Space) -> None:
        """On Neo4j what is forgotten is gone at once, for readers that are open too."""
        super().test_a_reader_keeps_what_is_forgotten(space)
