"""The shared suite on Neo4j."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

from recallm.stores.base import GraphStore
from recallm.stores.neo4j import Neo4jStore
from recallm.testing.store_suite import StoreSuite
from tests.neo4j.fixtures import RunningServer


@pytest.fixture(scope="module")
def driver(neo4j_server: RunningServer) -> Iterator[Driver]:
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver


class TestNeo4jStore(StoreSuite):
    """A store for each test, over one driver."""

    @pytest.fixture
    def store(self, driver: Driver) -> Iterator[GraphStore]:
        store = Neo4jStore(driver)
        yield store
        store.close()

    def reopen(self, store: GraphStore) -> GraphStore:
        assert isinstance(store, Neo4jStore)
        return Neo4jStore(store.driver)

    @pytest.mark.xfail(strict=True, reason="never: Neo4j reads what is committed by then")
    def test_a_reader_keeps_what_is_forgotten(self, store: GraphStore, namespace: str) -> None:
        super().test_a_reader_keeps_what_is_forgotten(store, namespace)
