"""The adapter on Neo4j: tests on SQLite that ask the store for something else each, once more."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from llama_index.core.ingestion.pipeline import get_transformation_hash
from neo4j import Driver, GraphDatabase

from llama_index_recallm import RecallMExtractor, RecallMGraphStore
from recallm import RecallM
from recallm.facts import FactMemory
from tests.llama_index import (
    test_facts_of_the_graph,
    test_graph_lookups,
    test_graph_persisting,
    test_graph_sources,
    test_graph_store,
    test_property_graph_store,
)
from tests.neo4j.fixtures import RunningServer

TESTS = [
    test_facts_of_the_graph.test_a_later_document_supersedes_and_its_deletion_brings_back,
    test_graph_lookups.test_every_given_node_has_its_share,
    test_property_graph_store.test_forgetting_in_the_memory_shows_in_the_graph,
    test_property_graph_store.test_the_event_loop_goes_on,
    test_graph_persisting.test_chunks_upserted_concurrently,
    test_graph_persisting.test_upserted_while_another_chunk_is_deleted,
    test_graph_sources.test_one_bad_chunk_refuses_the_whole_call,
    test_graph_sources.test_links_between_chunks,
]
globals().update({test.__name__: test for test in TESTS})


@pytest.fixture(scope="module")
def driver(neo4j_server: RunningServer) -> Iterator[Driver]:
    """One driver for all tests: a memory leaves open what it was given."""
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver


@pytest.fixture
def memory(driver: Driver) -> Iterator[RecallM]:
    """A namespace of its own on the shared server."""
    with RecallM(driver, namespace=f"test-{uuid.uuid4()}") as memory:
        yield memory


@pytest.fixture
def facts(memory: RecallM) -> FactMemory:
    return FactMemory(memory)


def test_cache_keys_differ_by_server_address(neo4j_server: RunningServer) -> None:
    """Opened again, a server is the same; its password is no part of what the store says."""
    seen = []
    for _ in range(2):
        with RecallM(neo4j_server.uri, auth=neo4j_server.auth) as memory:
            key = get_transformation_hash([], RecallMExtractor(memory=memory))
            seen.append((repr(memory), key))
    assert seen[0] == seen[1]
    assert neo4j_server.uri in seen[0][0]
    assert neo4j_server.auth[1] not in seen[0][0]


class TestLegacyStore:
    """The graph store of a ``KnowledgeGraphIndex``."""

    @pytest.fixture
    def store(self, memory: RecallM) -> RecallMGraphStore:
        return RecallMGraphStore(memory=memory)

    test_delete = staticmethod(test_graph_store.test_a_relation_is_deleted_with_its_ends)
