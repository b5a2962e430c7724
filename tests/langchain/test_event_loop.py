"""No async face of any adapter does its work on the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langgraph.store.base import GetOp, PutOp, SearchOp

from langchain_recallm import (
    RecallMChatMessageHistory,
    RecallMMemory,
    RecallMMiddleware,
    RecallMRetriever,
    RecallMStore,
    answer_chain,
    create_recallm_tools,
)
from recallm import RecallM
from recallm.testing import DictStore

pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `BaseMemory`:langchain_core._api.deprecation.LangChainDeprecationWarning"
)

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
def store() -> SlowStore:
    return SlowStore()


@pytest.fixture
def memory(store: SlowStore) -> Iterator[RecallM]:
    with RecallM() as warm:
        warm.update("The pipeline is loaded now.")
    with RecallM(store) as memory:
        yield memory


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


async def classic(memory: RecallM) -> None:
    chain_memory = RecallMMemory(memory=memory)
    await chain_memory.asave_context({"input": "I live in Oslo."}, {"output": "Noted."})
    found = await chain_memory.aload_memory_variables({"input": "Where do I live?"})
    assert "Oslo" in found["history"]
    await chain_memory.aclear()


async def retriever(memory: RecallM) -> None:
    assert await RecallMRetriever(memory=memory).ainvoke("Where does Ann live?")


async def agent(memory: RecallM) -> None:
    middleware = RecallMMiddleware(memory=memory)
    model = FakeListChatModel(responses=["In Oslo."])
    runnable = create_agent(model, middleware=[middleware])
    state = await runnable.ainvoke({"messages": [HumanMessage("Where does Ann live?")]})
    assert state["messages"][-1].content == "In Oslo."


async def key_value(memory: RecallM) -> None:
    store = RecallMStore(memory=memory)
    await store.abatch([PutOp(("a",), "k", {"text": "Ann has a cat."}, ttl=5)])
    found = await store.abatch([GetOp(("a",), "k"), SearchOp(("a",), query="Who has a cat?")])
    assert len(found) == 2
    assert await store.alist_namespaces() == [("a",)]


async def tools(memory: RecallM) -> None:
    recall, save, forget = create_recallm_tools(memory)
    await save.ainvoke({"text": "Bo has a dog."})
    assert "dog" in await recall.ainvoke({"query": "What does Bo have?"})
    await forget.ainvoke({"about": "Bo"})


async def chain(memory: RecallM) -> None:
    model = FakeListChatModel(responses=["In Oslo."])
    async for _ in answer_chain(memory, model).astream("Where does Ann live?"):
        pass


async def history(memory: RecallM) -> None:
    messages = RecallMChatMessageHistory(memory=memory, session="s")
    await messages.aadd_messages([HumanMessage("Hello.")])
    assert await messages.aget_messages()
    await messages.aclear()


@pytest.mark.parametrize(
    "work",
    [classic, retriever, agent, key_value, tools, chain, history],
    ids=lambda it: it.__name__,
)
async def test_the_loop_goes_on(
    memory: RecallM, store: SlowStore, work: Callable[[RecallM], Awaitable[None]]
) -> None:
    await asyncio.to_thread(memory.update, "Ann lives in Oslo.")
    store.threads.clear()
    async with heartbeat() as gaps:
        await work(memory)
    assert store.threads
    assert threading.get_ident() not in store.threads
    # One call of the store on the loop would hold it for SLOW at least.
    assert max(gaps) < SLOW
