"""Fixtures of the tests of stores."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import urlsplit

import pytest
from neo4j import Driver, GraphDatabase

from recallm.stores.neo4j import Neo4jStore
from recallm.stores.neo4j.connection import Tx
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4()}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a memory may be."""
    return tmp_path / "memory.db"


@pytest.fixture(scope="module")
def driver(neo4j_server: RunningServer) -> Iterator[Driver]:
    """One driver for a file: a store leaves open what it was given."""
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver


@pytest.fixture
def proxy(neo4j_server: RunningServer) -> Iterator[Proxy]:
    address = urlsplit(neo4j_server.uri)
    with Proxy((address.hostname or "localhost", address.port or 7687)) as proxy:
        yield proxy


@pytest.fixture
def store(driver: Driver) -> Iterator[Neo4jStore]:
    with closing(Neo4jStore(driver)) as store:
        yield store


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that are run from now on."""
    run: list[str] = []
    rows = Tx.rows

    def noted(tx: Tx, query: LiteralString, parameters: Mapping[str, object]) -> list[Any]:
        run.append(query)
        return rows(tx, query, parameters)

    monkeypatch.setattr(Tx, "rows", noted)
    return run
