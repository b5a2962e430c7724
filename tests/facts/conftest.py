"""The memory on which facts are tested; the suite for stores holds what a store does with facts."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from recallm import RecallM
from recallm.facts import FactMemory


@pytest.fixture(scope="session")
def shared_facts() -> Iterator[FactMemory]:
    """One memory for all tests: a namespace of it is as good as a memory, and made at once."""
    with RecallM() as memory:
        yield FactMemory(memory)


@pytest.fixture
def facts(shared_facts: FactMemory) -> FactMemory:
    """Facts that nothing else uses."""
    return shared_facts.in_namespace(uuid4().hex)


@pytest.fixture
def memory(facts: FactMemory) -> RecallM:
    """The memory of ``facts``."""
    return facts.memory
