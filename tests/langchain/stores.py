"""The stores that the contract of LangGraph's stores is run on, each by its own faces."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, IndexConfig, TTLConfig
from langgraph.store.memory import InMemoryStore

from langchain_recallm import RecallMStore
from recallm import RecallM

__all__ = ["OURS", "Clock", "Opened", "except_langgraphs", "opened", "over_ours", "over_stores"]

OURS = ("recallm-file", "recallm-async")
LANGGRAPHS = ("langgraph",)
_LETTERS = 256

Opened = Callable[..., AbstractContextManager[Any]]


class Clock:
    """The present, a millisecond later whenever it is looked at."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


class _ByAsyncFaces:
    """A store whose methods are asked for by their async twins."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Any]:
        face = getattr(self._store, f"a{name}", None)
        if face is None:
            return getattr(self._store, name)  # type: ignore[no-any-return]
        return lambda *given, **named: asyncio.run(face(*given, **named))


def over_stores() -> pytest.MarkDecorator:
    """Run a test on each store, LangGraph's own ``InMemoryStore`` among them."""
    return pytest.mark.parametrize("opening", [*OURS, *LANGGRAPHS], indirect=True)


def over_ours() -> pytest.MarkDecorator:
    """Run a test on ``RecallMStore`` alone: ``InMemoryStore`` has nothing of the kind."""
    return pytest.mark.parametrize("opening", OURS, indirect=True)


def except_langgraphs(reason: str) -> pytest.MarkDecorator:
    """The same where ``InMemoryStore`` fails, for a ``reason``."""
    failing = pytest.mark.xfail(reason=reason, strict=True)
    return pytest.mark.parametrize(
        "opening", [*OURS, *(pytest.param(name, marks=failing) for name in LANGGRAPHS)],
        indirect=True,
    )  # fmt: skip


def opened(request: pytest.FixtureRequest, folder: Path, clock: Clock) -> Opened:
    """How the store that the test names is opened; ``fields`` are those that a query looks at,
    ``ttl`` is for ``RecallMStore`` alone."""
    kind: str = request.param

    @contextmanager
    def open_store(
        *, fields: list[str] | None = None, ttl: TTLConfig | None = None
    ) -> Iterator[Any]:
        with ExitStack() as stack:
            store: BaseStore
            if kind in LANGGRAPHS:
                store = _langgraphs(fields)
            else:
                path = folder / "store.db" if kind == "recallm-file" else None
                memory = stack.enter_context(RecallM(path, clock=clock))
                store = RecallMStore(memory=memory, fields=fields, ttl=ttl)
            yield _ByAsyncFaces(store) if kind.endswith("async") else store

    return open_store


def _langgraphs(fields: list[str] | None) -> InMemoryStore:
    """LangGraph's store; where ``fields`` are given with vectors of how often letters stand."""
    if fields is None:
        return InMemoryStore()

    def embed(texts: Sequence[str]) -> list[list[float]]:
        counted = (Counter(ord(letter) % _LETTERS for letter in text) for text in texts)
        return [[float(found[place]) for place in range(_LETTERS)] for found in counted]

    index: IndexConfig = {"dims": _LETTERS, "embed": embed, "fields": fields}
    return InMemoryStore(index=index)
