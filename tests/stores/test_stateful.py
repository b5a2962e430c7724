"""SQLite and Neo4j against the oracle, by a state machine."""

from __future__ import annotations

from recallm.stores.base import GraphStore
from recallm.testing import DictStore
from recallm.testing.stateful import StoreMachine

from hypothesis import settings

class DictStoreMachine(StoreMachine):
    """The oracle against itself: the machine's own invariants."""

    def open_store(self) -> GraphStore:
        """A second oracle."""
        return DictStore()


TestDictStore = DictStoreMachine.TestCase
TestDictStore.settings = settings(max_examples=50, stateful_step_count=20)
