"""What the memory block asks with a long message, and what handlers of events see of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index_instrumentation import get_dispatcher
from pydantic import PrivateAttr

from llama_index_recallm import RecallMMemoryBlock
from recallm import RecallM
from tests.llama_index.memories import core, new_memory, user

__all__ = ["core", "new_memory"]  # fixtures

DOCUMENT = " ".join(f"Person{place} bought a lamp in shop {place % 77}." for place in range(700))


async def test_recall_asks_with_the_ends_of_a_long_message() -> None:
    """What is asked about a document stands before it or after it."""
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0, 0.0] for _ in texts]

    with RecallM(embeddings=embed) as memory:
        memory.update("Ann keeps bees.")
        memory.update("Bo plays the harp.")
        block = RecallMMemoryBlock(memory=memory, raise_errors=True)
        asked.clear()
        message = user(f"Who keeps bees? {DOCUMENT} Who plays the harp?")
        recalled = await block.aget([message], session_id="s")
    assert "Ann keeps bees." in recalled
    assert "Bo plays the harp." in recalled
    assert asked
    assert max(map(len, asked)) <= 4001


# -- what handlers of events see ---------------------------------------------------------------

BEES = ["Ann keeps bees.", "Ann has loved bees since her childhood."]


class Seen(BaseEventHandler):
    _events: list[BaseEvent] = PrivateAttr(default_factory=list)

    def handle(self, event: BaseEvent, **_: Any) -> None:
        if isinstance(event, RetrievalStartEvent | RetrievalEndEvent):
            self._events.append(event)


@pytest.fixture
def events() -> Iterator[list[BaseEvent]]:
    root, seen = get_dispatcher(), Seen()
    root.add_event_handler(seen)
    yield seen._events
    root.event_handlers.remove(seen)


async def test_each_recall_is_two_events(core: RecallM, events: list[BaseEvent]) -> None:
    block = RecallMMemoryBlock(memory=core, redact=lambda text: text.replace("secret", "…"))
    await block.aget([user("")])
    assert events == []
    await block.aget([user("Who keeps secret bees?")])
    core.update_many(BEES)
    await block.aget([user("Who keeps secret bees?")])
    for start, end in (events[:2], events[2:]):
        assert isinstance(start, RetrievalStartEvent)
        assert isinstance(end, RetrievalEndEvent)
        assert start.str_or_query_bundle == end.str_or_query_bundle == "Who keeps … bees?"
    assert [[found.text for found in getattr(event, "nodes", [])] for event in events[1::2]] == [
        [],
        BEES,
    ]
