"""What the tests of agents share: a tool, what goes in and what the model was sent."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware.types import InputAgentState
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

__all__ = ["human", "system", "thread", "weather"]


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is sunny in {city}."


def thread(id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": id}}


def human(content: Any, **more: Any) -> InputAgentState:
    return {"messages": [HumanMessage(content, **more)]}


def system(messages: list[BaseMessage]) -> str:
    """The text of the system message that a model was sent; '' where there was none."""
    first = messages[0]
    return str(first.text) if isinstance(first, SystemMessage) else ""
