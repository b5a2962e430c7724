"""Fixtures of the tests of single stores; the shared suite has its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from neo4j import Driver, GraphDatabase

from recallm.stores.neo4j import Neo4jStore
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4()}"


@pytest.fixture
def driver(neo4j_server: RunningServer) -> Iterator[Driver]:
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
