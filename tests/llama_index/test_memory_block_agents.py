"""The memory block in agents and chat engines: as each of them asks its ``Memory``."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
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
from recallm import RecallConfig, RecallM
from tests.llama_index.memories import SMALL, NewMemory, ai, core, new_memory, user
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


def block_of(core: RecallM, **how: Any) -> RecallMMemoryBlock:
    return RecallMMemoryBlock(memory=core, raise_errors=True, **how)


async def run(agent: FunctionAgent | ReActAgent | AgentWorkflow, text: str, memory: Memory) -> str:
    return str(await agent.run(user_msg=text, memory=memory))


# -- agents ------------------------------------------------------------------------------------


def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is sunny in {city}."


CONVERSATION = [
    ("Human", "I moved to Porto."),
    ("AI", "Noted."),
    ("Human", "What is the weather there?"),
    ("AI", "It is sunny."),
    ("Human", "Where did I move to?"),
    ("AI", "In Porto."),
]


async def test_a_function_agent_remembers_across_sessions(
    core: RecallM, new_memory: NewMemory
) -> None:
    """The state that LlamaIndex writes into the user's message is not remembered."""
    for streaming in (True, False):
        llm = ScriptedLLM("Noted.", call("weather", city="Porto"), "It is sunny.", "In Porto.")
        agent = FunctionAgent(llm=llm, tools=[weather], streaming=streaming)
        moody = FunctionAgent(llm=llm, streaming=streaming, initial_state={"mood": "good"})
        block = block_of(core, namespace=f"streaming-{streaming}")
        monday = new_memory("monday", block)
        await moody.run(user_msg="I moved to Porto.", memory=monday, ctx=Context(moody))
        await run(agent, "What is the weather there?", monday)
        await run(agent, "Where did I move to?", new_memory("tuesday", block))
        assert "Human: I moved to Porto." not in llm.prompt(0)
        # Before the tool and after it the model is given the same.
        assert llm.prompt(2).startswith(llm.prompt(1))
        assert "Human: I moved to Porto." in llm.prompt(3)
        # The answer is written too: agents ask once more after it.
        own = core.in_namespace(f"streaming-{streaming}")
        assert speakers_and_texts(own) == CONVERSATION
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
    assert speakers_and_texts(core) == CONVERSATION


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


async def test_a_long_conversation(core: RecallM, new_memory: NewMemory) -> None:
    """The queue overflows, and what was said first is recalled."""
    facts = ["My cat is called Mila.", *(f"On day {number} I saw a bird." for number in range(8))]
    human = [*facts, "What is my cat called?"]
    for method in InsertMethod:
        llm = ScriptedLLM(reply=lambda _: "Noted.")
        agent = FunctionAgent(llm=llm)
        block = block_of(core, namespace=method.value)
        memory = new_memory("s", block, insert_method=method, **SMALL)
        for text in human:
            await run(agent, text, memory)
        assert len(llm.sent[-1]) < 18
        assert "My cat is called Mila." in llm.prompt()
        assert speakers_and_texts(core.in_namespace(method.value)) == [
            line for text in human for line in (("Human", text), ("AI", "Noted."))
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


async def test_chat_engines(core: RecallM, new_memory: NewMemory) -> None:
    for kind in ("simple", "context", "condense"):
        llm = ScriptedLLM(reply=lambda _: "Noted.")
        block = block_of(core, namespace=kind)
        for session, text in (("monday", "I moved to Porto."), ("tuesday", "Where did I move to?")):
            memory = new_memory(session, block)
            engine = engine_of(kind, llm, memory)
            await engine.achat(text)
            assert await block.aflush(memory) == 1  # the answer, which no engine shows to blocks
        assert "Human: I moved to Porto." in llm.prompt()
        await engine.achat("Thanks.")
        await block.aflush(memory)
        asked = ("I moved to Porto.", "Where did I move to?", "Thanks.")
        assert speakers_and_texts(core.in_namespace(kind)) == [
            line for text in asked for line in (("Human", text), ("AI", "Noted."))
        ]


def test_a_chat_engine_where_nothing_awaits(core: RecallM) -> None:
    core.update("I moved to Porto.", speaker="Human")
    llm = ScriptedLLM(reply=lambda _: "To Porto.")
    queue = create_async_engine("sqlite+aiosqlite://")
    block = block_of(core)
    memory = Memory.from_defaults("s", memory_blocks=[block], async_engine=queue)
    assert str(engine_of("simple", llm, memory).chat("Where did I move to?")) == "To Porto."
    assert "Human: I moved to Porto." in llm.prompt()
    assert block.flush(memory) == 1
    assert speakers_and_texts(core, "s") == [("Human", "Where did I move to?"), ("AI", "To Porto.")]
    asyncio.run(queue.dispose())


# -- many at once ------------------------------------------------------------------------------

USERS = ("ann", "bob")
SESSIONS, TURNS = 2, 4


async def test_users_on_one_loop(core: RecallM, new_memory: NewMemory) -> None:
    """Turns of two users on one event loop: nothing crosses, all is there, in order."""
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
    queue = [message for day in range(5) for message in (user(f"Bird {day}."), ai("ok"))]
    shown = [block.aget(queue[:length], session_id="s") for length in range(1, 11) for _ in "abc"]
    await asyncio.gather(*shown)
    assert [text for _, text in speakers_and_texts(core)] == [
        str(message.content) for message in queue
    ]


async def test_the_loop_goes_on(new_memory: NewMemory) -> None:
    """No call of the store is made on the thread of the event loop."""
    threads: set[int] = set()

    class Watched(DictStore):
        def __getattribute__(self, name: str) -> Any:
            if name in ("apply", "reader", "forget", "expire"):
                threads.add(threading.get_ident())
            return super().__getattribute__(name)

    with RecallM(Watched(), config=RecallConfig(fill=True)) as core:
        block = block_of(core)
        memory = new_memory("s", block)
        await memory.aput(user("Ann lives in Oslo."))
        threads.clear()
        await memory.aget()
        await memory.aput(ai("Noted."))
        await block.aflush(memory)
        await block.aput([user("Bo has a dog.")], session_id="t")
        assert await block.aget([user("Where does Ann live?")], session_id="t")
    assert threads
    assert threading.get_ident() not in threads
