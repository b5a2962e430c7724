"""What the memory block does before the model is called, where a message is long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from llama_index_recallm import RecallMMemoryBlock
from recallm import KnowledgeUpdate, RecallM
from recallm.adapting import Conversation, Message
from tests.llama_index.memories import NewMemory, ai, core, new_memory, user
from tests.written_messages import speakers_and_texts

__all__ = ["core", "new_memory"]  # fixtures

DOCUMENT = " ".join(f"Person{place} bought a lamp in shop {place % 77}." for place in range(2000))


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


def postponed(core: RecallM) -> list[str]:
    return [item.text for item in core.items.below()]


@pytest.fixture
def extracted(core: RecallM, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were extracted, in order."""
    texts: list[str] = []
    remember = Conversation.remember

    def seen(self: Conversation, spoken: Iterable[Message], **how: Any) -> list[KnowledgeUpdate]:
        said = list(spoken)
        texts.extend(it.text for it in said)
        return remember(self, said, **how)

    monkeypatch.setattr(Conversation, "remember", seen)
    return texts


async def test_a_long_message_is_extracted_after_the_answer(
    core: RecallM, extracted: list[str]
) -> None:
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    queue = [user(DOCUMENT)]
    await block.aget(queue, session_id="s")
    queue.append(user("Who bought most?"))
    await block.aget(queue, session_id="s")
    await block.aget(queue, session_id="s")  # shown again, as after a tool's call
    await block.aget([*queue, queue[-1]], session_id="s")
    assert extracted == []
    assert postponed(core) == ["Who bought most?", DOCUMENT]
    queue.append(ai("Person7 did."))
    await block.aget(queue, session_id="s")
    assert extracted == [DOCUMENT, "Who bought most?", "Person7 did."]
    assert speakers_and_texts(core, "s") == list(
        zip(("Human", "Human", "AI"), extracted, strict=True)
    )
    assert postponed(core) == []
    await block.aget(queue, session_id="s")
    assert len(speakers_and_texts(core, "s")) == 3


async def test_the_next_turn_extracts_what_no_answer_was_shown_for(
    core: RecallM, extracted: list[str]
) -> None:
    """Chat engines do not ask once more after the answer."""
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    queue = [user(DOCUMENT)]
    await block.aget(queue, session_id="s")
    queue += [ai("I see."), user("Who bought most?")]
    await block.aget(queue, session_id="s")
    assert extracted == [DOCUMENT, "I see.", "Who bought most?"]
    assert [text for _, text in speakers_and_texts(core, "s")] == extracted


async def test_another_process_recalls_what_was_postponed(tmp_path: Path) -> None:
    """As where the first one went down before the model answered."""
    path = tmp_path / "memory.db"
    with RecallM(path) as memory:
        before = RecallMMemoryBlock(memory=memory, raise_errors=True)
        await before.aget([user(f"Ann keeps bees. {DOCUMENT}")], session_id="monday")
        assert len(postponed(memory)) == 1
    with RecallM(path) as memory:
        block = RecallMMemoryBlock(memory=memory, raise_errors=True)
        recalled = await block.aget([user("Who keeps bees?")], session_id="tuesday")
        assert "Ann keeps bees." in recalled
        assert postponed(memory) == []


async def test_another_process_writes_a_long_message_once(core: RecallM) -> None:
    queue = [user(DOCUMENT)]
    for _ in range(2):
        await RecallMMemoryBlock(memory=core, raise_errors=True).aget(queue, session_id="s")
        assert postponed(core) == [DOCUMENT]
    queue.append(ai("I see."))
    for _ in range(2):
        await RecallMMemoryBlock(memory=core, raise_errors=True).aget(queue, session_id="s")
        assert speakers_and_texts(core, "s") == [("Human", DOCUMENT), ("AI", "I see.")]


async def test_flush_extracts_what_was_postponed(core: RecallM, new_memory: NewMemory) -> None:
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    memory = new_memory("s", block)
    await memory.aput(user(DOCUMENT))
    await memory.aget()
    assert postponed(core) == [DOCUMENT]
    await memory.aput(ai("I see."))
    assert await block.aflush(memory) == 1
    assert speakers_and_texts(core, "s") == [("Human", DOCUMENT), ("AI", "I see.")]
    assert postponed(core) == []


async def test_a_postponed_message_is_redacted(core: RecallM) -> None:
    block = RecallMMemoryBlock(
        memory=core, redact=lambda text: text.replace("lamp", "[THING]"), raise_errors=True
    )
    queue = [user(DOCUMENT)]
    await block.aget(queue, session_id="s")
    assert postponed(core) == [DOCUMENT.replace("lamp", "[THING]")]
    await block.aget([*queue, ai("Noted.")], session_id="s")
    assert "lamp" not in speakers_and_texts(core, "s")[0][1]
    assert postponed(core) == []


async def test_what_was_forgotten_while_it_was_postponed_stays_so(core: RecallM) -> None:
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    queue = [user(DOCUMENT)]
    await block.aget(queue, session_id="s")
    core.forget(session="s")
    await block.aget([*queue, ai("I see.")], session_id="s")
    assert speakers_and_texts(core, "s") == [("AI", "I see.")]
