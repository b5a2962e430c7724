"""No work of the memory runs on the thread of the event loop: neither SQLite nor extraction.

``langgraph dev`` refuses runs that block the loop. Here every call on the loop's thread is looked
at. Tools, chains and agents are made off the loop: that reads what they need.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph

import recallm
from langchain_recallm import (
    RecallMChatMessageHistory,
    RecallMMemory,
    RecallMMiddleware,
    RecallMRetriever,
    RecallMStore,
    answer_chain,
    create_fact_tools,
    create_recallm_tools,
    fact_chat,
    hybrid_chain,
)
from recallm import RecallM
from tests.langchain.agents import human, thread
from tests.langchain.chat_models import ScriptedModel, call

pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `BaseMemory`:langchain_core._api.deprecation.LangChainDeprecationWarning"
)

_CORE = Path(recallm.__file__).parent
_BUSY = tuple(
    str(_CORE / part)
    for part in ("stores", "english", "recall/retrieval", "recall/ranking", "vectors")
)
"""The parts of the core that read, write and compute."""


@contextmanager
def blocking_calls() -> Iterator[set[str]]:
    """The calls of this thread that block: of SQLite, of the core's busy parts, and ``sleep``."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            owner = getattr(called, "__self__", None)
            if isinstance(owner, sqlite3.Connection | sqlite3.Cursor) or called is time.sleep:
                found.add(f"{called.__name__} in {frame.f_code.co_qualname}")
        elif event == "call" and frame.f_code.co_filename.startswith(_BUSY):
            found.add(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[RecallM]:
    with RecallM(tmp_path / "memory.db") as memory:
        memory.update("Ann lives in Oslo.", id="a")
        yield memory


def test_blocking_calls_are_seen(memory: RecallM) -> None:
    with blocking_calls() as found:
        memory.recall("Where does Ann live?")
    assert any(call.startswith("execute in ") for call in found)
    assert "Extractor.question" in found


async def middleware(memory: RecallM) -> None:
    for write in ("durable", "background"):
        ours = RecallMMiddleware(memory=memory, namespace="u-{user}", write=write)
        agent: Any = create_agent(
            ScriptedModel(
                lines=[
                    call("save_memory", "1", text="Ann has a cat."),
                    call("recall_memory", "2", query="What does Ann have?"),
                    "Noted.",
                    "Noted.",
                ]
            ),
            create_recallm_tools(memory, namespace="u-{user}"),
            middleware=[ours],
            checkpointer=InMemorySaver(),
        )
        config = {"configurable": {"user": "ann", "thread_id": write}}
        await agent.ainvoke(human("I live in Oslo."), config)
        async for _ in agent.astream(human("x" * 30_000), config):
            pass
        await ours.aflush()


def slow_name(run: Any) -> str:
    time.sleep(0.001)
    return str(run["configurable"]["user"])


async def tools(memory: RecallM) -> None:
    recall, save, forget = await asyncio.to_thread(create_recallm_tools, memory)
    await save.ainvoke({"text": "Bo has a dog."})
    await forget.ainvoke({"about": "Bo"})
    assert "Oslo" in await recall.ainvoke({"query": "Where does Ann live?"})


async def facts(memory: RecallM) -> None:
    tools = {tool.name: tool for tool in await asyncio.to_thread(create_fact_tools, memory)}
    await tools["write_fact"].ainvoke({"subject": "Ann", "relation": "is a", "object": "nurse"})
    await tools["read_facts"].ainvoke({"relation": "is a"})
    model = FakeListChatModel(responses=["[MEM_WRITE{Ann>>has>>cat}] Noted."])
    chat = await asyncio.to_thread(fact_chat, memory, model)
    await chat.ainvoke("Ann has a cat.")


async def chains(memory: RecallM) -> None:
    model = FakeListChatModel(responses=["In Oslo."])
    await answer_chain(memory, model).ainvoke("Where does Ann live?")
    hybrid = await asyncio.to_thread(hybrid_chain, memory, model, vectors=lambda _: "")
    await hybrid.ainvoke("Where does Ann live?")
    async for _ in answer_chain(memory, model).astream("Where does Ann live?"):
        pass
    retriever = RecallMRetriever(memory=memory, namespace=slow_name)
    config: Any = {"configurable": {"user": "ann"}}
    await retriever.ainvoke("Where does Ann live?", config, k=1)


async def conversations(memory: RecallM) -> None:
    history = RecallMChatMessageHistory(memory=memory, session="s")
    await history.aadd_messages([HumanMessage("Hello.")])
    await history.aget_messages()
    await history.aclear()
    for write in ("durable", "background"):
        chain_memory = RecallMMemory(memory=memory, write=write)
        await chain_memory.asave_context({"input": "I live in Oslo."}, {"output": "Noted."})
        await chain_memory.aload_memory_variables({"input": "Where do I live?"})
        await chain_memory.aflush()
    await chain_memory.aclear()


async def graph_with_a_store(memory: RecallM) -> None:
    async def node(state: MessagesState) -> dict[str, Any]:
        store = get_store()
        await store.aput(("a",), "k", {"text": "Ann has a cat.", "n": 1}, ttl=5)
        assert await store.aget(("a",), "k")
        assert await store.asearch(("a",), query="Who has a cat?", filter={"n": 1})
        assert await store.alist_namespaces() == [("a",)]
        await store.adelete(("a",), "k")
        return {"messages": []}

    graph = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node")
    given: MessagesState = {"messages": [HumanMessage("Hello.")]}
    await graph.compile(store=RecallMStore(memory=memory)).ainvoke(given, thread("1"))


async def own_store(memory: RecallM) -> None:
    async with RecallMStore.from_conn_string(":memory:") as store:
        await store.aput(("a",), "k", {"text": "Ann has a cat."})


@pytest.mark.parametrize(
    "work",
    [middleware, tools, facts, chains, conversations, graph_with_a_store, own_store],
    ids=lambda tested: tested.__name__,
)
async def test_nothing_blocks_the_loop(
    memory: RecallM, work: Callable[[RecallM], Awaitable[None]]
) -> None:
    with blocking_calls() as found:
        await work(memory)
    assert found == set()
