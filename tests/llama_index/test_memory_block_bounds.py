"""What the memory block asks with a long message, and what stands around the recalled text."""

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
from llama_index.core.prompts import PromptTemplate, RichPromptTemplate
from llama_index.core.utils import get_tokenizer
from llama_index_instrumentation import get_dispatcher
from pydantic import PrivateAttr, ValidationError

from llama_index_recallm import RecallMMemoryBlock
from recallm import RecallM
from recallm.adapting import CLOSING, OPENING
from tests.llama_index.memories import NewMemory, core, new_memory, system_of, turn, user

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
        block = RecallMMemoryBlock(memory=memory, eager=False, raise_errors=True)
        asked.clear()
        message = user(f"Who keeps bees? {DOCUMENT} Who plays the harp?")
        recalled = await block.aget([message], session_id="s")
    assert "Ann keeps bees." in recalled
    assert "Bo plays the harp." in recalled
    assert asked
    assert max(map(len, asked)) <= 4001


# -- what stands around the recalled text ------------------------------------------------------

BEES = ["Ann keeps bees.", "Ann has loved bees since her childhood."]
TEMPLATES: list[Any] = [
    "Known: {text} (end)",
    "Known: {{ text }} (end)",
    PromptTemplate("Known: {text} {closing}").partial_format(closing="(end)"),
    RichPromptTemplate("Known: {{ text }} (end)"),
]


async def test_the_template_stands_around_the_recalled_text(
    core: RecallM, new_memory: NewMemory
) -> None:
    core.update_many(BEES)
    asked = user("Who keeps bees?")
    plain = await RecallMMemoryBlock(memory=core).aget([asked])
    for template in TEMPLATES:
        block = RecallMMemoryBlock(memory=core, format_template=template)
        assert await block.aget([asked]) == f"Known: {plain} (end)"
        assert await block.aget([]) == ""
        assert await block.aget([user("Zebra?")]) == ""
    sent = await turn(new_memory("tuesday", block), "Who keeps bees?", "Ann.")
    assert f"Known: {OPENING}" in system_of(sent)


async def test_what_is_truncated_keeps_the_template(core: RecallM) -> None:
    core.update_many(BEES)
    block = RecallMMemoryBlock(memory=core, format_template=PromptTemplate("Known: {text} (end)"))
    content = await block.aget([user("Who keeps bees?")])
    count = get_tokenizer()
    shorter = await block.atruncate(content, 4)
    assert shorter is not None
    assert len(count(content)) - len(count(shorter)) >= 4
    assert shorter.startswith(f"Known: {OPENING}")
    assert shorter.endswith(f"{CLOSING} (end)")
    assert BEES[0] not in shorter
    assert await block.atruncate(content, 500) is None
    assert await block.atruncate("Known: nothing (end)", 5) is None
    assert await block.atruncate(content.removeprefix("Known: "), 5) is None


def test_a_template_that_cannot_be_used(core: RecallM) -> None:
    unusable: list[Any] = ["nothing", "{text} and {text}", "{text} of {who}", 5, None]
    unusable += ["{{ text }} of {{ who }}", "{{ text | upper }}", "{{ text | nonsense }}"]
    for template in unusable:
        with pytest.raises(ValidationError, match="format_template"):
            RecallMMemoryBlock(memory=core, format_template=template)


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
