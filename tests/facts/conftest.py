"""The stores on which facts are tested."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from recallm import RecallM
from recallm.facts import FactMemory
from recallm.stores.base import GraphStore
from recallm.stores.neo4j import Neo4jStore
from recallm.stores.sqlite import SQLiteStore
from recallm.testing import DictStore
from tests.neo4j.fixtures import RunningServer


@pytest.fixture(params=["sqlite", "oracle", "neo4j"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphStore]:
    """Each store, without anything in it that a test uses."""
    if request.param == "sqlite":
        with closing(SQLiteStore(tmp_path / "memory.db")) as store:
            yield store
    elif request.param == "oracle":
        yield DictStore()
    else:
        server: RunningServer = request.getfixturevalue("neo4j_server")
        with (
            GraphDatabase.driver(server.uri, auth=server.auth) as driver,
            closing(Neo4jStore(driver)) as store,
        ):
            yield store


@pytest.fixture
def memory(store: GraphStore) -> Iterator[RecallM]:
    """A memory in a namespace that nothing else uses."""
    with RecallM(store, namespace=f"facts-{uuid.uuid4()}") as memory:
        yield memory


@pytest.fixture
def facts(memory: RecallM) -> FactMemory:
    """The facts of ``memory``."""
    return FactMemory(memory)
