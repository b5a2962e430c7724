"""The memory block: which messages of the queue it writes, each once and in order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    ChatMessage,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.memory import InsertMethod, StaticMemoryBlock
from sqlalchemy.ext.asyncio import create_async_engine

from llama_index_recallm import RecallMMemoryBlock
from llama_index_recallm._chat_messages import messages_of, text_of
from llama_index_recallm._session_queue import aligned
from recallm import ClosedError, InvalidInputError, RecallM
from recallm.adapting import CLOSING, SPEAKER_NAMES, as_data
from recallm.recall.results import PREFIX
from tests.llama_index.memories import (
    SMALL,
    NewMemory,
    ai,
    core,
    new_memory,
    texts,
    tool,
    turn,
    user,
)
from tests.store_suite import DictStore
from tests.written_messages import archived_passages, speakers_and_texts

__all__ = ["core", "new_memory"]  # fixtures

LONG = "Bird number {} sat on the old wooden fence behind our house all day."

# -- what is written ---------------------------------------------------------------------------


async def test_each_message_once_in_order(core: RecallM, new_memory: NewMemory) -> None:
    block = RecallMMemoryBlock(memory=core, human_prefix="Anna", raise_errors=True)
    memory = new_memory("monday", block)
    for number in range(3):
        await turn(memory, f"Fact {number} is true.", f"Noted {number}.")
    assert texts(core)[-1] == "Fact 2 is true."  # the last answer was not shown yet
    assert [await block.aflush(memory), await block.aflush(memory)] == [1, 0]
    assert speakers_and_texts(core, "monday") == [
        line
        for number in range(3)
        for line in (("Anna", f"Fact {number} is true."), ("AI", f"Noted {number}."))
    ]
    assert [passage["metadata"]["role"] for passage in archived_passages(core)] == [
        "human",
        "ai",
    ] * 3
    assert len(await memory.aget_all()) == 6


async def test_messages_that_leave_the_queue_are_written_once(
    core: RecallM, new_memory: NewMemory
) -> None:
    for place, flushing in enumerate((True, False)):
        block = RecallMMemoryBlock(memory=core, namespace=f"n{place}", raise_errors=True)
        own = core.in_namespace(f"n{place}")
        memory = new_memory("s", block, **SMALL)
        expected = []
        for number in range(14):
            asked, answered = ("yes", "ok") if number % 3 == 0 else (LONG.format(number), "ok")
            expected += [asked, answered]
            await turn(memory, asked, answered)
            if flushing and number % 5 == 0:
                await block.aflush(memory)
        held = await memory.aget_all(status=None)
        active = await memory.sql_store.get_messages("s")
        assert 0 < len(active) < len(held) == 28  # it did overflow
        await block.aflush(memory)
        assert texts(own) == expected
        assert {passage["session"] for passage in archived_passages(own)} == {"s"}


async def test_another_process_continues_a_session(core: RecallM, new_memory: NewMemory) -> None:
    """The queue is in a database, and the block of each turn is new."""
    how: dict[str, Any] = {"memory": core, "namespace": "own"}
    engine = create_async_engine("sqlite+aiosqlite://")
    expected = []
    for number in range(14):
        memory = new_memory("s", RecallMMemoryBlock(**how), engine=engine, **SMALL)
        asked, answered = ("yes", "ok") if number % 4 == 0 else (LONG.format(number), "Noted.")
        expected += [asked, answered]
        await turn(memory, asked, answered)
        await RecallMMemoryBlock(**how).aflush(memory)
    assert texts(core.in_namespace("own")) == expected
    assert len(await memory.sql_store.get_messages("s")) < len(expected)  # it did overflow


async def test_an_edited_history(core: RecallM, new_memory: NewMemory) -> None:
    """A turn is taken back and said otherwise: that is new, all else is known."""
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    memory = new_memory("s", block)
    for asked in ("One.", "Two."):
        await turn(memory, asked, "ok")
    history = await memory.aget_all()
    await memory.aset([*history[:2], user("Three.")])
    await memory.aget()
    assert texts(core) == ["One.", "ok", "Two.", "Three."]
    for _ in range(2):  # also for a block that has not seen it
        await turn(memory, "Four.", "ok")
        memory.memory_blocks = [RecallMMemoryBlock(memory=core, raise_errors=True)]
        await memory.aget()
    assert texts(core)[4:] == ["Four.", "ok", "Four.", "ok"]


async def test_forgotten_messages_stay_forgotten(core: RecallM, new_memory: NewMemory) -> None:
    """Though it is in the queue still, and for blocks that have not seen it."""
    engine = create_async_engine("sqlite+aiosqlite://")
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    memory = new_memory("s", block, engine=engine)
    await turn(memory, "My password is fish. I live in Oslo.", "ok")
    await turn(memory, "My sister is called Liv.", "ok")
    core.forget(concept="password")
    core.forget(concept="sister")
    await turn(memory, "I have a dog.", "ok")
    other = RecallMMemoryBlock(memory=core, raise_errors=True)
    await turn(new_memory("s", other, engine=engine), "And a cat.", "ok")
    assert texts(core) == ["I live in Oslo.", "ok", "ok", "I have a dog.", "ok", "And a cat."]


async def test_a_question_that_is_tried_again(core: RecallM, new_memory: NewMemory) -> None:
    """A chat engine asks before it puts the question into the queue; the model fails."""
    memory = new_memory("s", RecallMMemoryBlock(memory=core, raise_errors=True))
    await turn(memory, "One.", "ok")
    for _ in range(2):
        await memory.aget(input="Two?")
        await memory.aget()
    await memory.aput_messages([user("Two?"), ai("ok")])
    await memory.aget(input="Three?")
    assert texts(core) == ["One.", "ok", "Two?", "ok", "Three?"]


async def test_put_by_hand(core: RecallM) -> None:
    """What is put in is new. What is shown of no session could not be told from what was shown
    before: it is not written."""
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    await block.aget([user("Zero.")])
    for session in (None, "s"):
        for _ in range(2):
            await block.aput([user("yes"), ai("ok")], session_id=session)
    assert [passage.get("session") for passage in archived_passages(core)] == [None] * 4 + ["s"] * 4
    assert texts(core) == ["yes", "ok"] * 4
    await block.aput([user("One."), user("Two.")], from_short_term_memory=True, session_id="t")
    assert texts(core, "t") == ["One.", "Two."]
    several = [user("A.", session_id="u"), user("B.", session_id="v"), user("C.", session_id="u")]
    await block.aput(several)
    assert (texts(core, "u"), texts(core, "v")) == (["A.", "C."], ["B."])
    refusing = RecallMMemoryBlock(memory=core, accept_short_term_memory=False)
    await refusing.aput([user("Three.")], from_short_term_memory=True, session_id="s")
    assert "Three." not in texts(core)


async def test_beside_a_block_that_takes_the_session_out(core: RecallM) -> None:
    messages = [user("One.")]
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    putting = asyncio.create_task(block.aput(messages, session_id="s"))
    await asyncio.sleep(0)
    messages[0].additional_kwargs.pop("session_id")
    await putting
    assert texts(core, "s") == ["One."]


async def test_parts_roles_and_names(core: RecallM) -> None:
    block = RecallMMemoryBlock(memory=core, raise_errors=True)
    queue = [
        ChatMessage(role="system", content="Be kind."),
        user(
            [
                TextBlock(text="This is my dog."),
                ImageBlock(url="https://example.org/dog.png"),
                TextBlock(text="He is called Rex."),
            ],
            name="Anna",
        ),
        ai([ThinkingBlock(content="a dog"), ToolCallBlock(tool_name="look", tool_kwargs={})]),
        tool("It is brown.", name="look"),
        ai([ThinkingBlock(content="Rex"), TextBlock(text="Hello Rex!")]),
        ChatMessage(role="model", content="And hello Anna! \ud83d"),
    ]
    await block.aget(queue, session_id="s")
    expected = [
        ("Anna", "This is my dog.\nHe is called Rex."),
        ("AI", "Hello Rex!"),
        ("AI", "And hello Anna! ?"),
    ]
    assert speakers_and_texts(core, "s") == expected
    every = RecallMMemoryBlock(memory=core, roles=["human", "tool", "ai"], namespace="all")
    await every.aget(queue, session_id="s")
    assert speakers_and_texts(core.in_namespace("all")) == [
        expected[0],
        ("look", "It is brown."),
        *expected[1:],
    ]
    human = RecallMMemoryBlock(memory=core, roles=["human"], namespace="human")
    await human.aget(queue, session_id="s")
    assert speakers_and_texts(core.in_namespace("human")) == expected[:1]
    assert speakers_and_texts(core) == expected


async def test_recalled_text_is_never_remembered(core: RecallM, new_memory: NewMemory) -> None:
    """Also where what a model was sent comes back as the history."""
    static = StaticMemoryBlock(name="rules", static_content=[TextBlock(text="Be kind to Oslo.")])
    for method in InsertMethod:
        own = core.in_namespace(method.value)
        own.update("I live in Oslo.", speaker="Human")
        block = RecallMMemoryBlock(memory=own, raise_errors=True)
        memory = new_memory("s", static, block, insert_method=method)
        await memory.aput(user("Where do I live?"))
        sent = await memory.aget()
        assert "I live in Oslo." in str(sent[0].content)
        await memory.aset(sent)
        await memory.aput(ai("In Oslo."))
        await turn(memory, "And what is the weather there?", "Sunny.")
        joined = user(
            "\n".join(
                str(message.content) for message in sent if message.role in ("user", "system")
            )
        )
        await memory.aset([joined, ai("In Oslo."), user("Thanks.")])
        await memory.aget()
        said = {"I live in Oslo.", "Where do I live?", "In Oslo.", "And what is the weather there?"}
        assert set(texts(own)) == {*said, "Thanks."}


# -- flush -------------------------------------------------------------------------------------


async def test_flush_raises(new_memory: NewMemory) -> None:
    core = RecallM()
    block = RecallMMemoryBlock(memory=core)
    memory = new_memory("s", block)
    await memory.aput(user("One."))
    wrong: Any = block
    with pytest.raises(InvalidInputError, match="takes the Memory") as caught:
        await block.aflush(wrong)
    assert caught.value.argument == "memory"
    core.close()
    with pytest.raises(ClosedError):
        await block.aflush(memory)


# -- the queue ---------------------------------------------------------------------------------


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["turn", "asked first"]), st.sampled_from(["yes", "One.", "ok"])),
        st.tuples(st.sampled_from(["overflow", "flush", "show"]), st.just("")),
    ),
    max_size=25,
)


@settings(max_examples=10)
@given(steps=STEPS)
def test_every_message_is_written_once_in_order(steps: list[tuple[str, str]]) -> None:
    """Few words, again and again: turns, overflows, flushes and agents' looks at the queue."""

    async def talk() -> tuple[list[str], list[str]]:
        everything: list[ChatMessage] = []
        left = 0

        async def show(*more: ChatMessage) -> None:
            await block.aget([*everything[left:], *more], session_id="s")

        async def flush() -> None:
            block._remember(messages_of(everything[left:], SPEAKER_NAMES), "s")

        for step, text in steps:
            if step == "turn":
                everything.append(user(text))
                await show()
                await show(user(text))  # as agents do once a tool was called
                everything.append(ai("ok"))
            elif step == "asked first":  # as chat engines do that retrieve
                await show(user(text))
                everything += [user(text), ai("ok")]
            elif step == "overflow":
                leaving = everything[left : left + 2]
                await block.aput(leaving, from_short_term_memory=True, session_id="s")
                left += len(leaving)
            elif step == "flush":
                await flush()
            else:
                await show()
        await flush()
        return texts(core), [str(message.content) for message in everything]

    with RecallM(DictStore()) as core:
        block = RecallMMemoryBlock(memory=core, raise_errors=True)
        written, spoken = asyncio.run(talk())
        assert written == spoken


ALIGNED: list[tuple[str, str, bool, bool, list[int | None]]] = [
    ("", "ab", False, False, [None, None]),
    ("ab", "abc", False, False, [0, 1, None]),
    ("abab", "ababab", False, False, [0, 1, 2, 3, None, None]),
    ("ab", "ab", False, True, [0, 1]),
    ("a", "ab", False, True, [0, None]),
    ("abcd", "abx", False, False, [0, 1, None]),  # edited
    ("abcd", "abxcd", False, False, [0, 1, None, 2, 3]),
    ("abcd", "cde", True, False, [2, 3, None]),
    ("abab", "aba", True, False, [2, 3, None]),
    ("abcd", "xy", True, False, [None, None]),
    ("abcd", "bc", True, True, [1, 2]),
    ("abab", "ab", True, True, [2, 3]),
    ("abcd", "cde", True, True, [2, 3, None]),
    ("a.cd", "abcde", True, False, [0, 1, 2, 3, None]),  # one was forgotten
    (".b", "xbc", True, False, [0, 1, None]),
    ("a.cd", "xabcd", True, False, [None, 0, 1, 2, 3]),  # one was forgotten, before it one edited
    ("abcdef", "abxef", True, False, [0, 1, None, 4, 5]),
]
"""Known and shown messages, whether the session is resumed, whether the messages are leaving, and
the place of each shown message among the known ones."""


def test_alignment() -> None:
    for known, shown, resumed, leaving, places in ALIGNED:
        keys = [None if key == "." else key for key in known]
        found = aligned(keys, list(shown), resumed=resumed, leaving=leaving)
        assert found == places, (known, shown)


def test_recalled_text_is_removed_from_hostile_messages() -> None:
    """Its delimiters may stand in a message thousands of times."""
    opening = as_data("\0").partition("\0")[0]
    hostile = "<memory>" + (opening + CLOSING) * 5000 + "x"
    assert text_of(user(hostile)) == "<memory>x"
    block = as_data(f"{PREFIX}\nAnn ran.")
    wrapped = f"<memory>\n<recallm>\n{block}\n</recallm>\n<facts>\nA fact.\n</facts>\n</memory>"
    assert text_of(user(f"{wrapped}\nHello.")) == "Hello."
    assert text_of(user(f"Before. {block} After.")) == "Before.  After."
    assert text_of(user(f"<memory> is a tag. {block}Well.")) == "<memory> is a tag. Well."
    assert text_of(user(f"{wrapped}One. {wrapped}Two.")) == "One. Two."
    assert opening.strip() in text_of(user(opening + "without an end"))
