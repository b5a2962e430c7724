"""What the tests of agents and chains share: an agent that remembers, a tool, a tracer."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware.types import InputAgentState
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from langchain_recallm import RecallMMiddleware
from recallm import RecallM
from tests.langchain.chat_models import ScriptedModel
from tests.written_messages import speakers_and_texts


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


class Talk:
    """An agent with the middleware over ``memory``, whose model says one of ``lines`` after the
    other, or what ``reply`` returns. ``outer`` and ``inner`` are other middleware around it."""

    def __init__(
        self,
        memory: RecallM,
        *lines: Any,
        reply: Any = None,
        tools: Any = (),
        outer: Sequence[Any] = (),
        inner: Sequence[Any] = (),
        **how: Any,
    ) -> None:
        of_agent = {name: how.pop(name) for name in [*how] if name in _OF_AGENTS}
        self.memory = memory
        self.model = ScriptedModel(lines=lines, reply=reply)
        self.ours = RecallMMiddleware(memory=memory, **{"raise_errors": True, **how})
        middleware = [*outer, self.ours, *inner]
        self.agent: Any = create_agent(self.model, list(tools), middleware=middleware, **of_agent)

    def say(self, content: Any, id: str | None = None, /, **more: Any) -> Any:
        """The state after a person's message in the thread ``id``."""
        return self.agent.invoke(human(content, **more), thread(id) if id else None)

    async def asay(self, content: Any, id: str | None = None, /, **more: Any) -> Any:
        """``say``, on the event loop."""
        return await self.agent.ainvoke(human(content, **more), thread(id) if id else None)

    def told(self, call: int = -1) -> str:
        """The text of the system message in a call of the model; '' where there was none."""
        return system(self.model.sent[call])

    @property
    def written(self) -> list[tuple[str | None, str]]:
        """The speakers and texts that are remembered."""
        return speakers_and_texts(self.memory)


class Seen(BaseCallbackHandler):
    """What callbacks report of runs."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, str | None]] = []
        """The name of each run, and of the run around it; "model" for a chat model."""
        self.questions: list[str] = []
        self.documents: list[str] = []
        self.outputs: dict[str, Any] = {}
        self.errors: list[BaseException] = []
        self.retriever: dict[str, Any] = {}
        self._names: dict[Any, str] = {}

    def _start(self, name: str, more: dict[str, Any]) -> None:
        self._names[more["run_id"]] = name
        self.runs.append((name, self._names.get(more["parent_run_id"])))

    def on_chain_start(self, *_: Any, **more: Any) -> None:
        self._start(more["name"], more)

    def on_chain_end(self, outputs: Any, **more: Any) -> None:
        self.outputs[self._names[more["run_id"]]] = outputs

    def on_chat_model_start(self, *_: Any, **more: Any) -> None:
        self._start("model", more)

    def on_retriever_start(self, serialized: Any, query: str, **more: Any) -> None:
        self._start(more["name"], more)
        self.questions.append(query)
        self.retriever = more

    def on_retriever_end(self, documents: Any, **_: Any) -> None:
        self.documents += [document.page_content for document in documents]

    def on_chain_error(self, error: BaseException, **_: Any) -> None:
        self.errors.append(error)

    on_retriever_error = on_chain_error


def thread(id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": id}}


def human(content: Any, **more: Any) -> InputAgentState:
    return {"messages": [HumanMessage(content, **more)]}


def system(messages: list[BaseMessage]) -> str:
    """The text of the system message that a model was sent; '' where there was none."""
    first = messages[0]
    return str(first.text) if isinstance(first, SystemMessage) else ""
