"""What the tests of agents share: a tool, a memory, what goes in and what the model was sent."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents.middleware.types import InputAgentState
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from recallm import RecallM
from tests.neo4j.fixtures import RunningServer

__all__ = ["human", "memory", "recalls", "stored", "system", "thread", "weather"]


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is sunny in {city}."


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        yield memory


@pytest.fixture(params=["sqlite", "neo4j"])
def stored(request: pytest.FixtureRequest) -> Iterator[RecallM]:
    """A memory in each store, with something in it."""
    if request.param == "sqlite":
        memory = RecallM()
    else:
        server: RunningServer = request.getfixturevalue("neo4j_server")
        memory = RecallM(server.uri, auth=server.auth, namespace=f"test-{uuid.uuid4()}")
    with memory:
        memory.update_many(["Ann lives in Oslo.", "Bob lives in Lima."], batch_size=2)
        yield memory
        memory.forget(everything=True)


@pytest.fixture
def recalls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that the memory is asked, as they come."""
    asked: list[str] = []
    recall = RecallM.recall

    def counted(self: RecallM, question: str, **how: Any) -> Any:
        asked.append(question)
        return recall(self, question, **how)

    monkeypatch.setattr(RecallM, "recall", counted)
    return asked


def thread(id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": id}}


def human(content: Any, **more: Any) -> InputAgentState:
    return {"messages": [HumanMessage(content, **more)]}


def system(messages: list[BaseMessage]) -> str:
    """The text of the system message that a model was sent; '' where there was none."""
    first = messages[0]
    return str(first.text) if isinstance(first, SystemMessage) else ""
