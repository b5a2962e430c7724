"""The memory on which facts are tested; ``StoreSuite`` holds what a store does with facts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recallm import RecallM
from recallm.facts import FactMemory


@pytest.fixture
def memory() -> Iterator[RecallM]:
    """A memory that nothing else uses."""
    with RecallM() as memory:
        yield memory


@pytest.fixture
def facts(memory: RecallM) -> FactMemory:
    """The facts of ``memory``."""
    return FactMemory(memory)
