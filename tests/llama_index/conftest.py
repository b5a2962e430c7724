"""What the tests of the LlamaIndex adapter share: memories, and that no default model is asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from llama_index.core import Settings

from llama_index_recallm import RecallMPropertyGraphStore
from recallm import RecallM
from tests.llama_index.property_graphs import NewStore


@pytest.fixture
def memory() -> Iterator[RecallM]:
    """A memory in memory; test_on_neo4j.py has another one."""
    with RecallM() as memory:
        yield memory


@pytest.fixture
def store(memory: RecallM) -> RecallMPropertyGraphStore:
    """A property graph store, empty."""
    return RecallMPropertyGraphStore(memory=memory)


@pytest.fixture
def new_store(memory: RecallM) -> NewStore:
    """Makes stores that have nothing in common: each has its own namespace of one memory."""
    numbers = itertools.count()

    def make() -> RecallMPropertyGraphStore:
        own = memory.in_namespace(f"{memory.namespace}-{next(numbers)}")
        return RecallMPropertyGraphStore(memory=own)

    return make


@pytest.fixture(autouse=True)
def _no_default_model() -> Iterator[None]:
    """Nothing here may ask LlamaIndex for its default models."""
    yield
    assert Settings._llm is None
    assert Settings._embed_model is None
