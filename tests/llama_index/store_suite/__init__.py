"""``PropertyGraphStoreSuite``: what every property graph store of LlamaIndex should pass.

A test module subclasses it and gives the fixture ``store``::

    class TestMyStore(PropertyGraphStoreSuite):
        @pytest.fixture
        def store(self) -> PropertyGraphStore:
            return MyStore()

The store is empty. The store's own attributes decide which further tests it gets:
``supports_vector_queries``; ``supports_structured_queries``, for which a fixture ``entity_query``
gives a query in the store's language; ``from_persist_path``, where the store has that method. The
fixture ``other`` is a second empty store that shares nothing with the first; tests that need it are
skipped where it is not given.
"""

from __future__ import annotations

from tests.llama_index.store_suite.async_methods import AsyncTests
from tests.llama_index.store_suite.chunks import ChunkTests
from tests.llama_index.store_suite.deleting import DeletingTests
from tests.llama_index.store_suite.index import IndexTests
from tests.llama_index.store_suite.lookups import LookupTests
from tests.llama_index.store_suite.nodes import NodeTests
from tests.llama_index.store_suite.persisting import PersistingTests
from tests.llama_index.store_suite.provenance import ProvenanceTests
from tests.llama_index.store_suite.relation_maps import RelationMapTests
from tests.llama_index.store_suite.relations import RelationTests
from tests.llama_index.store_suite.retrievers import RetrieverTests
from tests.llama_index.store_suite.scenario import ScenarioTests
from tests.llama_index.store_suite.structured_queries import StructuredQueryTests
from tests.llama_index.store_suite.values import ValueTests
from tests.llama_index.store_suite.vectors import VectorTests

__all__ = ["PropertyGraphStoreSuite"]


class PropertyGraphStoreSuite(
    ScenarioTests,
    NodeTests,
    ValueTests,
    RelationTests,
    LookupTests,
    RelationMapTests,
    ChunkTests,
    DeletingTests,
    ProvenanceTests,
    IndexTests,
    RetrieverTests,
    VectorTests,
    StructuredQueryTests,
    AsyncTests,
    PersistingTests,
):
    """All topics together."""
