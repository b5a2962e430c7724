"""The suite on LlamaIndex's in-memory store: run by test_property_graph_suite, never by itself."""

from __future__ import annotations

import pytest
from llama_index.core.graph_stores import SimplePropertyGraphStore

from tests.llama_index.store_suite import PropertyGraphStoreSuite


class TestSimplePropertyGraphStore(PropertyGraphStoreSuite):
    @pytest.fixture
    def store(self) -> SimplePropertyGraphStore:
        return SimplePropertyGraphStore()

    @pytest.fixture
    def other(self) -> SimplePropertyGraphStore:
        return SimplePropertyGraphStore()
