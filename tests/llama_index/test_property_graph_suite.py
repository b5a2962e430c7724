"""The suite for property graph stores, on ours and on LlamaIndex's own in-memory store."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.graph_stores.types import PropertyGraphStore
from neo4j import Driver, GraphDatabase

from llama_index_recallm import RecallMPropertyGraphStore
from recallm import RecallM
from tests.llama_index.store_suite import PropertyGraphStoreSuite
from tests.llama_index.store_suite.async_methods import AsyncTests
from tests.llama_index.store_suite.index import IndexTests
from tests.llama_index.store_suite.provenance import ProvenanceTests
from tests.llama_index.store_suite.scenario import ScenarioTests
from tests.llama_index.store_suite.structured_queries import StructuredQueryTests
from tests.llama_index.store_suite.values import ValueTests
from tests.neo4j.fixtures import RunningServer

Load = Callable[..., PropertyGraphStore]


@pytest.fixture(scope="module")
def driver(neo4j_server: RunningServer) -> Iterator[Driver]:
    """One driver for all tests: a store leaves open what it was given."""
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver


class OnAMemory:
    """A store on the fixture ``memory``; other stores are namespaces beside it."""

    @pytest.fixture
    def store(self, memory: RecallM) -> PropertyGraphStore:
        """The store under test."""
        return RecallMPropertyGraphStore(memory=memory)

    @pytest.fixture
    def other(self, memory: RecallM) -> PropertyGraphStore:
        """A store on another namespace."""
        return RecallMPropertyGraphStore(memory=memory.in_namespace(f"other-{uuid.uuid4()}"))

    @pytest.fixture
    def loaded(self, memory: RecallM) -> Load:
        """Loads into another namespace."""

        def load(path: str, **settings: Any) -> PropertyGraphStore:
            return RecallMPropertyGraphStore.from_persist_path(
                path, memory=memory.in_namespace(f"loaded-{uuid.uuid4()}"), **settings
            )

        return load


class TestSQLiteInMemory(OnAMemory, PropertyGraphStoreSuite):
    """The embedded memory without a file."""

    @pytest.fixture
    def memory(self) -> Iterator[RecallM]:
        """A memory that nothing else uses."""
        with RecallM() as memory:
            yield memory

    @pytest.fixture
    def loaded(self) -> Iterator[Load]:
        """Loads into memories of their own, which the store makes."""
        made: list[RecallMPropertyGraphStore] = []

        def load(path: str, **settings: Any) -> PropertyGraphStore:
            made.append(RecallMPropertyGraphStore.from_persist_path(path, **settings))
            return made[-1]

        yield load
        for store in made:
            store.memory.close()


class OnNeo4j(OnAMemory):
    """A server that all tests share: each has a namespace of its own."""

    @pytest.fixture
    def memory(self, driver: Driver) -> Iterator[RecallM]:
        """A memory on the shared server."""
        with RecallM(driver, namespace=f"graph-{uuid.uuid4()}") as memory:
            yield memory


class TestNeo4j(OnNeo4j, ScenarioTests, ProvenanceTests, ValueTests, IndexTests):
    """The memory on a server: the suite of graph stores holds what each operation means."""


class TestNeo4jWithCypher(OnNeo4j, StructuredQueryTests, AsyncTests):
    """With structured queries, which must be asked for."""

    @pytest.fixture
    def store(self, memory: RecallM) -> PropertyGraphStore:
        """The store under test."""
        return RecallMPropertyGraphStore(memory=memory, structured_queries=True)

    @pytest.fixture
    def entity_query(self) -> str:
        """The entities of this namespace."""
        return "MATCH (e:Entity {namespace: $namespace}) RETURN e.id AS name"
