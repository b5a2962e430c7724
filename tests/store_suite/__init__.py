"""What a graph store must pass: ``StoreSuite``, and ``StoreMachine`` against the oracle.

A store's author copies this folder into their own ``tests``, subclasses the suite in a test
module, gives the fixture ``store`` and, where data outlive a store, ``reopened`` (a second store on
the same data)::

    class TestMyStore(StoreSuite):
        @pytest.fixture
        def store(self) -> Iterator[GraphStore]:
            store = MyStore()
            yield store
            store.close()

The store need not be empty: each test uses namespaces of its own. ``DictStore`` is the oracle: it
states the contract of ``recallm.stores.base`` a second time, in the plainest way.
"""

from __future__ import annotations

from tests.store_suite.dict_store import DictStore
from tests.store_suite.state_machine import StoreMachine
from tests.store_suite.topics.archiving import ArchivingTests
from tests.store_suite.topics.embedding import EmbeddingTests
from tests.store_suite.topics.entities import EntityTests
from tests.store_suite.topics.facts import FactTests
from tests.store_suite.topics.filtering import FilteringTests
from tests.store_suite.topics.forgetting import ForgettingTests
from tests.store_suite.topics.graph import GraphTests
from tests.store_suite.topics.horizons import HorizonTests
from tests.store_suite.topics.isolation import IsolationTests
from tests.store_suite.topics.items import ItemTests
from tests.store_suite.topics.joining import JoiningTests
from tests.store_suite.topics.properties import PropertyTests
from tests.store_suite.topics.reading import ReadingTests
from tests.store_suite.topics.references import ReferenceTests
from tests.store_suite.topics.replacing import ReplacingTests
from tests.store_suite.topics.revising import RevisingTests
from tests.store_suite.topics.sessions import SessionTests
from tests.store_suite.topics.vectors import VectorTests
from tests.store_suite.topics.writing import WritingTests

__all__ = ["DictStore", "StoreMachine", "StoreSuite"]


class StoreSuite(
    WritingTests,
    GraphTests,
    ReadingTests,
    FilteringTests,
    HorizonTests,
    ForgettingTests,
    ItemTests,
    EntityTests,
    FactTests,
    JoiningTests,
    PropertyTests,
    ReferenceTests,
    ReplacingTests,
    SessionTests,
    VectorTests,
    EmbeddingTests,
    RevisingTests,
    ArchivingTests,
    IsolationTests,
):
    """All topics together."""
