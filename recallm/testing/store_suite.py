"""``StoreSuite``: what every graph store must pass.

A store's author subclasses it in a test module, gives the fixture ``store`` and, where data
outlive a store, ``reopened`` (a second store on the same data)::

    class TestMyStore(StoreSuite):
        @pytest.fixture
        def store(self) -> Iterator[GraphStore]:
            store = MyStore()
            yield store
            store.close()

The store need not be empty: each test uses namespaces of its own.
"""

from __future__ import annotations

from recallm.testing.suite.archiving import ArchivingTests
from recallm.testing.suite.embedding import EmbeddingTests
from recallm.testing.suite.entities import EntityTests
from recallm.testing.suite.facts import FactTests
from recallm.testing.suite.filtering import FilteringTests
from recallm.testing.suite.forgetting import ForgettingTests
from recallm.testing.suite.graph import GraphTests
from recallm.testing.suite.horizons import HorizonTests
from recallm.testing.suite.isolation import IsolationTests
from recallm.testing.suite.items import ItemTests
from recallm.testing.suite.joining import JoiningTests
from recallm.testing.suite.properties import PropertyTests
from recallm.testing.suite.reading import ReadingTests
from recallm.testing.suite.references import ReferenceTests
from recallm.testing.suite.replacing import ReplacingTests
from recallm.testing.suite.revising import RevisingTests
from recallm.testing.suite.sessions import SessionTests
from recallm.testing.suite.vectors import VectorTests
from recallm.testing.suite.writing import WritingTests

__all__ = ["StoreSuite"]


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
