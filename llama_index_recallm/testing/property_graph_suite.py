"""``PropertyGraphStoreSuite``: what every property graph store of LlamaIndex's should pass.

A store's author subclasses it in a test module and gives the fixture ``store``::

    class TestMyStore(PropertyGraphStoreSuite):
        @pytest.fixture
        def store(self) -> PropertyGraphStore:
            return MyStore()

The store is empty. What a store says of itself decides what else is asked of it:
``supports_vector_queries``; ``supports_structured_queries``, for which a fixture ``entity_query``
gives a query in the store's own language; ``from_persist_path``, where it has one. ``other`` is a
second empty store, with nothing in common. Tests are skipped where there is no ``other``, and those
of vectors and of persisting where the store has neither.
"""

from __future__ import annotations

from llama_index_recallm.testing.suite.asking import AskingTests
from llama_index_recallm.testing.suite.asynchronous import AsyncTests
from llama_index_recallm.testing.suite.chunks import ChunkTests
from llama_index_recallm.testing.suite.deleting import DeletingTests
from llama_index_recallm.testing.suite.getting import GettingTests
from llama_index_recallm.testing.suite.index import IndexTests
from llama_index_recallm.testing.suite.keeping import KeepingTests
from llama_index_recallm.testing.suite.nodes import NodeTests
from llama_index_recallm.testing.suite.paths import PathTests
from llama_index_recallm.testing.suite.provenance import ProvenanceTests
from llama_index_recallm.testing.suite.relations import RelationTests
from llama_index_recallm.testing.suite.retrieving import RetrievingTests
from llama_index_recallm.testing.suite.scenario import ScenarioTests
from llama_index_recallm.testing.suite.values import ValueTests
from llama_index_recallm.testing.suite.vectors import VectorTests

__all__ = ["PropertyGraphStoreSuite"]


class PropertyGraphStoreSuite(
    ScenarioTests,
    NodeTests,
    ValueTests,
    RelationTests,
    GettingTests,
    PathTests,
    ChunkTests,
    DeletingTests,
    ProvenanceTests,
    IndexTests,
    RetrievingTests,
    VectorTests,
    AskingTests,
    AsyncTests,
    KeepingTests,
):
    """All topics together."""
