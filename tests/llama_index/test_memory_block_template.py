"""What stands around the recalled text, and the events that LlamaIndex's handlers see."""

from __future__ import annotations

from collections.abc import Iterator
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
from recallm import RecallM, StoreError
from recallm.adapting import CLOSING, OPENING
from tests.llama_index.memories import NewMemory, core, new_memory, system_of, turn, user

__all__ = ["core", "new_memory"]

BEES = ["Ann keeps bees.", "Ann has loved bees since her childhood."]
TEMPLATES: list[Any] = [
    "Known: {text} (end)",
    "Known: {{ text }} (end)",
    PromptTemplate("Known: {text} {closing}").partial_format(closing="(end)"),
    RichPromptTemplate("Known: {{ text }} (end)"),
]


@pytest.mark.parametrize("template", TEMPLATES)
async def test_the_template_stands_around_the_recalled_text(core: RecallM, template: Any) -> None:
    core.update_many(BEES)
    block = RecallMMemoryBlock(memory=core, format_template=template)
    plain = await RecallMMemoryBlock(memory=core).aget([user("Who keeps bees?")])
    assert await block.aget([user("Who keeps bees?")]) == f"Known: {plain} (end)"
    assert await block.aget([]) == ""
    assert await block.aget([user("Zebra?")]) == ""


async def test_what_is_truncated_keeps_the_template(core: RecallM) -> None:
    core.update_many(BEES)
    block = RecallMMemoryBlock(memory=core, format_template=PromptTemplate("Known: {text} (end)"))
    content = await block.aget([user("Who keeps bees?")])
    count = get_tokenizer()
    shorter = await block.atruncate(content, 5)
    assert shorter is not None
    assert len(count(content)) - len(count(shorter)) >= 5
    assert shorter.startswith(f"Known: {OPENING}")
    assert shorter.endswith(f"{CLOSING} (end)")
    assert "since her childhood" not in shorter
    assert await block.atruncate(content, 500) is None
    assert await block.atruncate("Known: nothing (end)", 5) is None
    assert await block.atruncate(content.removeprefix("Known: "), 5) is None


async def test_in_a_memory(core: RecallM, new_memory: NewMemory) -> None:
    block = RecallMMemoryBlock(
        memory=core, format_template=RichPromptTemplate("Of the user: {{ text }}")
    )
    await turn(new_memory("monday", block), "I keep bees.", "Nice.")
    sent = await turn(new_memory("tuesday", block), "What do I keep?", "Bees.")
    assert f"Of the user: {OPENING}" in system_of(sent)


@pytest.mark.parametrize(
    "template",
    ["nothing", "{text} and {text}", "{text} of {who}", "{{ text }} of {{ who }}",
     "{{ text | upper }}", "{{ text | nonsense }}", 5, None],
)  # fmt: skip
def test_a_template_that_cannot_be_used(core: RecallM, template: Any) -> None:
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
    core.update_many(BEES)
    block = RecallMMemoryBlock(memory=core, redact=lambda text: text.replace("secret", "…"))
    await block.aget([user("Who keeps secret bees?")])
    start, end = events
    assert isinstance(start, RetrievalStartEvent)
    assert isinstance(end, RetrievalEndEvent)
    assert start.str_or_query_bundle == end.str_or_query_bundle == "Who keeps … bees?"
    assert [found.text for found in end.nodes] == BEES
    assert all(found.score is not None for found in end.nodes)


async def test_nothing_found_is_an_event_and_nothing_asked_is_none(
    core: RecallM, events: list[BaseEvent]
) -> None:
    block = RecallMMemoryBlock(memory=core)
    await block.aget([user("")])
    assert events == []
    await block.aget([user("Who keeps bees?")])
    assert [getattr(it, "nodes", None) for it in events] == [None, []]


async def test_a_recall_that_fails_begins_and_does_not_end(
    core: RecallM, events: list[BaseEvent], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(RecallM, "recall", fail)
    assert await RecallMMemoryBlock(memory=core).aget([user("Who keeps bees?")]) == ""
    assert [type(it) for it in events] == [RetrievalStartEvent]
