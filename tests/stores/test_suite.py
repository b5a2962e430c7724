"""The shared suite on the oracle and on Neo4j; `test_sqlite` has it on SQLite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

from recallm.stores.base import GraphStore
from recallm.stores.neo4j import Neo4jStore
from tests.neo4j.fixtures import RunningServer
from tests.store_suite import DictStore, StoreSuite


@pytest.fixture(scope="module")
def driver(neo4j_server: RunningServer) -> Iterator[Driver]:
    """One driver for all tests: a store leaves open what it was given."""
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver


class TestDictStore(StoreSuite):
    """The oracle itself."""

    @pytest.fixture
    def store(self) -> Iterator[GraphStore]:
        """A store that nothing else uses."""
        store = DictStore()
        yield store
        store.close()


class TestNeo4j(StoreSuite):
    """A server that all tests share: each has namespaces of its own."""

    @pytest.fixture
    def store(self, driver: Driver) -> Iterator[GraphStore]:
        """A store on the shared server."""
        store = Neo4jStore(driver)
        yield store
        store.close()

    @pytest.fixture
    def reopened(self, neo4j_server: RunningServer) -> Iterator[GraphStore]:
        """A second store, with a driver of its own."""
        store = Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth)
        yield store
        store.close()

    @pytest.mark.xfail(
        strict=True, raises=AssertionError, reason="never: Neo4j reads what is committed by then"
    )
    def test_a_reader_keeps_what_is_forgotten(self, store: GraphStore, namespace: str) -> None:
        """On Neo4j what is forgotten is gone at once, for readers that are open too."""
        super().test_a_reader_keeps_what_is_forgotten(store, namespace)
