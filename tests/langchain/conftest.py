"""What the tests of LangChain's adapters share: a memory, a store, a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from langchain_recallm import RecallMStore
from recallm import RecallM


class Clock:
    """The present, a millisecond later whenever it is looked at."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        yield memory


@pytest.fixture
def stored(memory: RecallM) -> RecallM:
    """A memory with something in it."""
    memory.update_many(["Ann lives in Oslo.", "Bob lives in Lima."], batch_size=2)
    return memory


@pytest.fixture
def recalls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that the memory is asked, as they come."""
    asked: list[str] = []
    recall = RecallM.recall

    def counted(self: RecallM, question: str, **how: Any) -> Any:
        asked.append(question)
        return recall(self, question, **how)

    monkeypatch.setattr(RecallM, "recall", counted)
    return asked


@pytest.fixture
def opening(clock: Clock) -> Iterator[Callable[..., RecallMStore]]:
    """Opens a store with the arguments that the test gives."""
    with ExitStack() as stack:
        yield lambda **how: RecallMStore(memory=stack.enter_context(RecallM(clock=clock)), **how)


@pytest.fixture
def store(opening: Callable[..., RecallMStore]) -> RecallMStore:
    return opening()
