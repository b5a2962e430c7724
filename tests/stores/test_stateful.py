"""SQLite and Neo4j against the oracle, by a state machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from neo4j import Driver, GraphDatabase

from recallm.stores.base import GraphStore
from recallm.stores.neo4j import Neo4jStore
from recallm.stores.sqlite import SQLiteStore
from tests.neo4j.fixtures import RunningServer
from tests.store_suite import StoreMachine


@pytest.fixture
def driver(neo4j_server: RunningServer) -> Iterator[Driver]:
    """A driver for all examples."""
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver


def test_sqlite_in_memory() -> None:
    """SQLite without a file says what the oracle says."""

    class Machine(StoreMachine):
        def open_store(self) -> GraphStore:
            return SQLiteStore()

    run_state_machine_as_test(Machine, settings=settings(max_examples=50, stateful_step_count=20))


def test_sqlite_file(tmp_path: Path) -> None:
    """SQLite in a file, which all examples share."""

    class Machine(StoreMachine):
        def open_store(self) -> GraphStore:
            return SQLiteStore(tmp_path / "memory.db")

    run_state_machine_as_test(Machine, settings=settings(max_examples=10, stateful_step_count=20))


def test_neo4j(driver: Driver) -> None:
    """Neo4j says what the oracle says."""

    class Machine(StoreMachine):
        def open_store(self) -> GraphStore:
            return Neo4jStore(driver)

    run_state_machine_as_test(Machine, settings=settings(max_examples=8, stateful_step_count=12))
