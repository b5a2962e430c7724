"""What the tests of LangChain's adapters share: a memory, and a store by its own faces."""

from __future__ import annotations

import asyncio
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


class ByAsyncFaces:
    """A store whose methods are asked for by their async twins."""

    def __init__(self, store: RecallMStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Any]:
        face = getattr(self._store, f"a{name}", None)
        if face is None:
            return getattr(self._store, name)  # type: ignore[no-any-return]
        return lambda *given, **named: asyncio.run(face(*given, **named))


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


@pytest.fixture(params=["sync", "async"])
def opening(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Callable[..., Any]]:
    """Opens a store with the arguments that the test gives."""
    with ExitStack() as stack:

        def opened(**how: Any) -> Any:
            memory = stack.enter_context(RecallM(clock=clock))
            store = RecallMStore(memory=memory, **how)
            return store if request.param == "sync" else ByAsyncFaces(store)

        yield opened


@pytest.fixture
def store(opening: Callable[..., Any]) -> Any:
    return opening()
