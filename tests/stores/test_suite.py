"""The shared suite on every store."""

from __future__ import annotations

import pytest

from recallm.stores.base import GraphStore
from recallm.testing import DictStore
from recallm.testing.store_suite import StoreSuite


class TestDictStore(StoreSuite):
    """The oracle itself."""

    @pytest.fixture
    def store(self) -> GraphStore:
        """A store that nothing else uses."""
        return DictStore()
