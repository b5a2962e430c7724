"""What the tests of agents share: a tool, what goes in and what the model was sent."""

from __future__ import annotations

import inspect
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware.types import InputAgentState
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from langchain_recallm import RecallMMiddleware
from recallm import RecallM


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is sunny in {city}."


_OF_AGENTS = frozenset(inspect.signature(create_agent).parameters)


def remembering(memory: RecallM, model: BaseChatModel, tools: Any = (), **how: Any) -> Any:
    """An agent with the middleware; ``how`` are arguments of both."""
    of_agent = {name: how.pop(name) for name in [*how] if name in _OF_AGENTS}
    middleware = [RecallMMiddleware(memory=memory, **how)]
    return create_agent(model, list(tools), middleware=middleware, **of_agent)


def thread(id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": id}}


def human(content: Any, **more: Any) -> InputAgentState:
    return {"messages": [HumanMessage(content, **more)]}


def system(messages: list[BaseMessage]) -> str:
    """The text of the system message that a model was sent; '' where there was none."""
    first = messages[0]
    return str(first.text) if isinstance(first, SystemMessage) else ""
