"""The memory block in agents and chat engines: as each of them asks its ``Memory``."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.memory import InsertMethod, Memory
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.workflow import Context
from sqlalchemy.ext.asyncio import create_async_engine

from llama_index_recallm import RecallMMemoryBlock
from recallm import RecallM
from tests.llama_index.memories import NewMemory, ai, core, new_memory, user
from tests.llama_index.scripted_model import ScriptedLLM, call
from tests.store_suite import DictStore
from tests.written_messages import speakers_and_texts

__all__ = ["core", "new_memory"]  # fixtures

pytestmark = pytest.mark.filterwarnings(
    # LlamaIndex's workflows look at every attribute of an agent.
    "ignore:The `__fields:pydantic.warnings.PydanticDeprecatedSince20",
    "ignore:Accessing the 'model_:pydantic.warnings.PydanticDeprecatedSince211",
    "ignore:is_running called from within a step:DeprecationWarning",  # ReActAgent does
)


def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is sunny in {city}."


def block_of(core: RecallM, **how: Any) -> RecallMMemoryBlock:
    return RecallMMemoryBlock(memory=core, raise_errors=True, **how)


async def run(agent: FunctionAgent | ReActAgent | AgentWorkflow, text: str, memory: Memory) -> str:
    return str(await agent.run(user_msg=text, memory=memory))


# -- agents ------------------------------------------------------------------------------------


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_function_agent_remembers_across_sessions(
    core: RecallM, new_memory: NewMemory, streaming: bool
) -> None:
    llm = ScriptedLLM("Noted.", call("weather", city="Porto"), "It is sunny.", "In Porto.")
    agent = FunctionAgent(llm=llm, tools=[weather], system_prompt="Be kind.", streaming=streaming)
    block = block_of(core)
    monday = new_memory("monday", block)
    await run(agent, "I moved to Porto.", monday)
    await run(agent, "What is the weather there?", monday)
    await run(agent, "Where did I move to?", new_memory("tuesday", block))
    assert "Human: I moved to Porto." not in llm.prompt(0)
    # Before the tool and after it the model is given the same.
    assert llm.prompt(2).startswith(llm.prompt(1))
    assert "Human: I moved to Porto." in llm.prompt(3)
    # The answer is written too: agents ask once more after it.
    assert speakers_and_texts(core) == [
        ("Human", "I moved to Porto."),
        ("AI", "Noted."),
        ("Human", "What is the weather there?"),
        ("AI", "It is sunny."),
        ("Human", "Where did I move to?"),
        ("AI", "In Porto."),
    ]
    assert await block.aflush(monday) == 0


@pytest.mark.parametrize("method", list(InsertMethod))
async def test_a_react_agent(core: RecallM, new_memory: NewMemory, method: InsertMethod) -> None:
    """Of its reasoning the answer alone is remembered. It leaves out the first system message:
    ``Memory``'s, where it has none of its own."""
    llm = ScriptedLLM(
        "Thought: I can answer without using any more tools.\nAnswer: Noted.",
        'Thought: I need a tool.\nAction: weather\nAction Input: {"city": "Porto"}',
        "Thought: I can answer.\nAnswer: It is sunny.",
        "Thought: I can answer.\nAnswer: In Porto.",
    )
    prompt = "Be kind." if method is InsertMethod.SYSTEM else None
    agent = ReActAgent(llm=llm, tools=[weather], streaming=False, system_prompt=prompt)
    block = block_of(core)
    monday = new_memory("monday", block, insert_method=method)
    assert await run(agent, "I moved to Porto.", monday) == "Noted."
    await run(agent, "What is the weather there?", monday)
    tuesday = new_memory("tuesday", block, insert_method=method)
    await run(agent, "Where did I move to?", tuesday)
    assert "Human: I moved to Porto." in llm.prompt(3)
    assert speakers_and_texts(core) == [
        ("Human", "I moved to Porto."),
        ("AI", "Noted."),
        ("Human", "What is the weather there?"),
        ("AI", "It is sunny."),
        ("Human", "Where did I move to?"),
        ("AI", "In Porto."),
    ]


async def test_agents_that_hand_off(core: RecallM, new_memory: NewMemory) -> None:
    core.update("I live in Oslo.", speaker="Human")
    llm = ScriptedLLM(
        call("handoff", "One moment.", to_agent="second", reason="it knows"),
        call("weather", city="Oslo"),
        "Sunny.",
    )
    first = FunctionAgent(
        name="first", description="asks", llm=llm, can_handoff_to=["second"], system_prompt="A"
    )
    second = FunctionAgent(
        name="second", description="knows", llm=llm, tools=[weather], system_prompt="B"
    )
    workflow = AgentWorkflow(agents=[first, second], root_agent="first")
    await run(workflow, "What is the weather where I live?", new_memory("s", block_of(core)))
    assert all("I live in Oslo." in llm.prompt(number) for number in range(3))
    assert speakers_and_texts(core, "s") == [
        ("Human", "What is the weather where I live?"),
        ("AI", "One moment."),
        ("AI", "Sunny."),
    ]


async def test_an_agent_with_a_state(core: RecallM, new_memory: NewMemory) -> None:
    """The state that LlamaIndex writes into the user's message is not remembered."""
    agent = FunctionAgent(llm=ScriptedLLM("Noted."), initial_state={"mood": "good"})
    memory = new_memory("s", block_of(core))
    ctx = Context(agent)
    await agent.run(user_msg="I moved to Porto.", memory=memory, ctx=ctx)
    assert speakers_and_texts(core) == [("Human", "I moved to Porto."), ("AI", "Noted.")]


@pytest.mark.parametrize("method", list(InsertMethod))
async def test_a_long_conversation(
    core: RecallM, new_memory: NewMemory, method: InsertMethod
) -> None:
    """The queue overflows, and what was said first is recalled."""
    llm = ScriptedLLM(reply=lambda _: "Noted.")
    agent = FunctionAgent(llm=llm)
    sizes = {"token_limit": 1000, "token_flush_size": 100, "chat_history_token_ratio": 0.1}
    memory = new_memory("s", block_of(core), insert_method=method, **sizes)
    await run(agent, "My cat is called Mila.", memory)
    for number in range(20):
        await run(agent, f"On day {number} I saw a bird.", memory)
    await run(agent, "What is my cat called?", memory)
    assert len(llm.sent[-1]) < 20
    assert "My cat is called Mila." in llm.prompt()
    facts = [f"On day {number} I saw a bird." for number in range(20)]
    human = ["My cat is called Mila.", *facts, "What is my cat called?"]
    assert speakers_and_texts(core) == [
        line for it in human for line in (("Human", it), ("AI", "Noted."))
    ]


# -- chat engines ------------------------------------------------------------------------------


class Fixed(BaseRetriever):
    """Always the same document."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="Porto lies at the Douro."), score=1.0)]


def engine_of(kind: str, llm: ScriptedLLM, memory: Memory) -> Any:
    if kind == "simple":
        return SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    if kind == "context":
        return ContextChatEngine.from_defaults(Fixed(), llm=llm, memory=memory)
    return CondensePlusContextChatEngine.from_defaults(Fixed(), llm=llm, memory=memory)


KINDS = ["simple", "context", "condense"]


@pytest.mark.parametrize("kind", KINDS)
async def test_chat_engines(core: RecallM, new_memory: NewMemory, kind: str) -> None:
    llm = ScriptedLLM(reply=lambda _: "Noted.")
    block = block_of(core)
    for session, text in (("monday", "I moved to Porto."), ("tuesday", "Where did I move to?")):
        memory = new_memory(session, block)
        engine = engine_of(kind, llm, memory)
        await engine.achat(text)
        assert await block.aflush(memory) == 1  # the answer, which no engine shows to blocks
    assert "Human: I moved to Porto." in llm.prompt()
    await engine.achat("Thanks.")
    await block.aflush(memory)
    assert speakers_and_texts(core) == [
        ("Human", "I moved to Porto."),
        ("AI", "Noted."),
        ("Human", "Where did I move to?"),
        ("AI", "Noted."),
        ("Human", "Thanks."),
        ("AI", "Noted."),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_chat_engines_where_nothing_awaits(core: RecallM, kind: str) -> None:
    core.update("I moved to Porto.", speaker="Human")
    llm = ScriptedLLM(reply=lambda _: "To Porto.")
    queue = create_async_engine("sqlite+aiosqlite://")
    memory = Memory.from_defaults("s", memory_blocks=[block_of(core)], async_engine=queue)
    engine = engine_of(kind, llm, memory)
    assert str(engine.chat("Where did I move to?")) == "To Porto."
    assert "Human: I moved to Porto." in llm.prompt()
    block = memory.memory_blocks[0]
    assert isinstance(block, RecallMMemoryBlock)
    assert block.flush(memory) == 1
    assert speakers_and_texts(core, "s") == [("Human", "Where did I move to?"), ("AI", "To Porto.")]
    asyncio.run(queue.dispose())


# -- many at once ------------------------------------------------------------------------------

USERS = ("ann", "bob")
SESSIONS, TURNS = 3, 8


async def test_users_on_one_loop(core: RecallM, new_memory: NewMemory) -> None:
    """48 turns of two users on one event loop: nothing crosses, all is there, in order."""
    llm = ScriptedLLM(reply=lambda messages: f"You said: {messages[-1].content}")
    blocks = {name: block_of(core, namespace=f"user-{name}", limit=3) for name in USERS}

    async def talk(name: str, number: int) -> None:
        memory = new_memory(f"{name}-{number}", blocks[name])
        engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
        for day in range(TURNS):
            await engine.achat(f"{name} saw bird {number * TURNS + day}.")
        await blocks[name].aflush(memory)

    await asyncio.gather(*[talk(name, number) for name in USERS for number in range(SESSIONS)])
    assert speakers_and_texts(core) == []
    for name in USERS:
        own = core.in_namespace(f"user-{name}")
        assert own.stats().passages == SESSIONS * TURNS * 2
        for number in range(SESSIONS):
            birds = range(number * TURNS, (number + 1) * TURNS)
            assert speakers_and_texts(own, f"{name}-{number}") == [
                line
                for bird in birds
                for line in (
                    ("Human", f"{name} saw bird {bird}."),
                    ("AI", f"You said: {name} saw bird {bird}."),
                )
            ]
    assert len(llm.sent) == len(USERS) * SESSIONS * TURNS
    for messages in llm.sent:
        name, other = USERS if "ann" in str(messages[-1].content) else USERS[::-1]
        assert f"{other} saw" not in str(messages)
        assert f"{name} saw" in str(messages)


async def test_one_session_from_several_tasks(core: RecallM) -> None:
    """The same queue, shown many times at once, is written once."""
    block = block_of(core)
    queue = [it for day in range(5) for it in (user(f"Bird {day}."), ai("ok"))]
    shown = [block.aget(queue[:length], session_id="s") for length in range(1, 11) for _ in "abc"]
    await asyncio.gather(*shown)
    assert [text for _, text in speakers_and_texts(core)] == [str(it.content) for it in queue]


SLOW = 0.5
"""Seconds that each call of the store takes."""


class SlowStore(DictStore):
    """Every call takes long, and notes on which thread it was made."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in ("apply", "reader", "forget", "expire"):
            return found

        def slow(*args: Any, **kwargs: Any) -> Any:
            self.threads.add(threading.get_ident())
            time.sleep(SLOW)
            return found(*args, **kwargs)

        return slow


@pytest.fixture
def slow() -> SlowStore:
    with RecallM() as warm:
        warm.update("The pipeline is loaded now.")
    return SlowStore()


@asynccontextmanager
async def heartbeat() -> AsyncIterator[list[float]]:
    """The seconds between the beats of the loop, which are due each millisecond."""
    gaps: list[float] = []

    async def beat() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    task = asyncio.create_task(beat())
    try:
        await asyncio.sleep(0.01)
        yield gaps
    finally:
        task.cancel()


async def test_the_loop_goes_on(slow: SlowStore, new_memory: NewMemory) -> None:
    with RecallM(slow) as core:
        block = block_of(core)
        memory = new_memory("s", block)
        await memory.aput_messages([ChatMessage(role="user", content="Ann lives in Oslo.")])
        async with heartbeat() as gaps:
            await memory.aget()
            await memory.aput(ai("Noted."))
            await block.aflush(memory)
            await block.aput([user("Bo has a dog.")], session_id="t")
            text = await block.aget([user("Where does Ann live?")], session_id="t")
            assert await block.atruncate(text, 1) is not None
        assert slow.threads
        assert threading.get_ident() not in slow.threads
        # One call of the store on the loop would hold it for SLOW at least.
        assert max(gaps) < SLOW
