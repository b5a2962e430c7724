"""The stores that LangGraph's contract is run on, as fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.langchain.stores import Clock, Opened, opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opening(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Opened:
    """Opens the store that the test names, with the arguments that the test gives."""
    return opened(request, tmp_path, clock)


@pytest.fixture
def store(opening: Opened) -> Iterator[Any]:
    with opening() as store:
        yield store
