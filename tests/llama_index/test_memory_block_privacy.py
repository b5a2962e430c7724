"""What the memory block writes with ``redact`` and ``accept``: nothing that they take out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage

from llama_index_recallm import RecallMMemoryBlock
from recallm import InvalidInputError, RecallM
from recallm.adapting import Message
from tests.llama_index.memories import NewMemory, ai, core, new_memory, system_of, user
from tests.written_messages import speakers_and_texts

__all__ = ["core", "new_memory"]  # fixtures

QUEUE = [user("My PIN is 4711."), ai("4711, noted."), user("I moved to Porto.")]
WRITTEN = [("Human", "My PIN is [PIN]."), ("AI", "[PIN], noted."), ("Human", "I moved to Porto.")]


def redacted(text: str) -> str:
    return text.replace("4711", "[PIN]")


def block_of(core: RecallM, **how: Any) -> RecallMMemoryBlock:
    return RecallMMemoryBlock(**{"memory": core, "redact": redacted, "raise_errors": True, **how})


async def shown(block: RecallMMemoryBlock, queue: Sequence[ChatMessage], session: str) -> str:
    return str(await block.aget(list(queue), session_id=session))


# -- redact ------------------------------------------------------------------------------------


async def test_no_byte_of_what_is_redacted_is_written(tmp_path: Path) -> None:
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        seen.extend(texts)
        return [[1.0, float(len(text))] for text in texts]

    with RecallM(tmp_path / "memory.db", embeddings=embed) as memory:
        block = block_of(memory)
        assert await shown(block, QUEUE, "call of 4711") == ""
        recalled = await shown(block, [user("What is my PIN, 4711?")], "tuesday")
        assert "My PIN is [PIN]." in recalled
        assert speakers_and_texts(memory, "call of [PIN]") == WRITTEN
    assert not any("4711" in text for text in (*seen, recalled))
    for path in tmp_path.iterdir():
        assert b"4711" not in path.read_bytes()


async def test_every_way_of_writing_redacts(core: RecallM, new_memory: NewMemory) -> None:
    """Once, also where another block goes on with the session."""
    block = block_of(core)
    await block.aput([message.model_copy(deep=True) for message in QUEUE])
    assert speakers_and_texts(core) == WRITTEN
    core.forget(everything=True)
    memory = new_memory("s", block)
    for message in QUEUE:
        await memory.aput(message)
    assert await block.aflush(memory) == 3
    assert await block_of(core).aflush(memory) == 0
    await block.aput([user("4711 again.", session_id="other")])
    assert speakers_and_texts(core, "s") == WRITTEN
    assert speakers_and_texts(core, "other") == [("Human", "[PIN] again.")]
    core.forget(everything=True)
    block = block_of(core)
    for length in (1, 2, 2, 3, 3):
        await shown(block, QUEUE[:length], "t")
    await shown(block_of(core), [*QUEUE, ai("4711?")], "t")
    assert speakers_and_texts(core, "t") == [*WRITTEN, ("AI", "[PIN]?")]


async def test_the_queue_stays_as_it_is(core: RecallM, new_memory: NewMemory) -> None:
    memory = new_memory("s", block_of(core))
    await memory.aput(QUEUE[0])
    assert [message.content for message in await memory.aget()] == ["My PIN is 4711."]


# -- accept ------------------------------------------------------------------------------------


async def test_what_is_not_accepted_is_not_written(core: RecallM) -> None:
    asked: list[Message] = []

    def accept(message: Message) -> bool:
        asked.append(message)
        return "[PIN]" not in message.text

    block = block_of(core, accept=accept)
    for length in (1, 3, 3):
        await shown(block, QUEUE[:length], "s")
    assert speakers_and_texts(core, "s") == WRITTEN[2:]
    assert asked[0] == Message(text="My PIN is [PIN].", speaker="Human", role="human")
    assert not any("4711" in message.text for message in asked)
    assert "Porto" in await shown(block, [user("Where did I move to?")], "t")


async def test_a_question_that_is_not_accepted_is_answered(core: RecallM) -> None:
    """Messages in roles that are not remembered are not asked about."""
    core.update("Ann's door opens at nine.", session="old")
    roles: set[str] = set()

    def accept(message: Message) -> bool:
        roles.add(message.role)
        return "?" not in message.text

    block = block_of(core, accept=accept, roles=["human"])
    recalled = await shown(block, [ai("Hello."), user("When does Ann's door open?")], "s")
    assert "at nine" in recalled
    assert speakers_and_texts(core, "s") == []
    assert roles == {"human"}


# -- failures ----------------------------------------------------------------------------------


def _fails(_: object) -> Any:
    raise RuntimeError("the detector is down")


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ({"redact": _fails}, RuntimeError),
        ({"accept": _fails}, RuntimeError),
        ({"redact": lambda text: None}, InvalidInputError),
        ({"accept": lambda message: "yes"}, InvalidInputError),
    ],
    ids=["redact", "accept", "no text", "no answer"],
)
async def test_where_one_fails_nothing_is_written(
    core: RecallM,
    new_memory: NewMemory,
    caplog: pytest.LogCaptureFixture,
    how: dict[str, Any],
    kind: type[Exception],
) -> None:
    core.update("My PIN was 0815.", session="old")
    memory = new_memory("s", block_of(core, **how, raise_errors=False))
    await memory.aput(user("What is my PIN?"))
    with caplog.at_level(logging.WARNING, "llama_index_recallm"):
        sent = await memory.aget()
    assert "were not remembered" in caplog.text
    assert ("0815" in system_of(sent)) == ("accept" in how)
    assert speakers_and_texts(core, "s") == []
    block = block_of(core, **how)
    with pytest.raises(kind):
        await shown(block, QUEUE, "s")
    with pytest.raises(kind):
        await block.aflush(memory)
    with pytest.raises(kind):
        await block.aput(QUEUE)
    assert core.stats().passages == 1
