"""The memory on which facts are tested; `StoreSuite` holds what a store does with facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recallm import RecallM
from recallm.facts import FactMemory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[RecallM]:
    """A memory in a file that nothing else uses."""
    with RecallM(tmp_path / "memory.db") as memory:
        yield memory


@pytest.fixture
def facts(memory: RecallM) -> FactMemory:
    """The facts of ``memory``."""
    return FactMemory(memory)
