"""Chat models that answer as a test says, and record the messages of each call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field, PrivateAttr

Line = str | AIMessage | Exception
"""An answer: a text, a message (with tool calls), or a failure."""


def call(name: str, id: str = "call-1", /, *, says: str = "", **arguments: Any) -> AIMessage:
    """An answer that calls a tool."""
    return AIMessage(
        says, tool_calls=[{"name": name, "args": arguments, "id": id, "type": "tool_call"}]
    )


class ScriptedModel(BaseChatModel):
    """Answers with one of ``lines`` after the other, or with what ``reply`` returns."""

    lines: Sequence[Any] = ()
    reply: Callable[[list[BaseMessage]], Line] | None = None
    _sent: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[Any] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def sent(self) -> list[list[BaseMessage]]:
        """The messages of each call, the system message first."""
        return self._sent

    @property
    def tools(self) -> list[Any]:
        """The tools that were bound last."""
        return self._tools

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        self._tools = list(tools)
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._lock:
            number = len(self._sent)
            self._sent.append(messages)
        line: Line = self.lines[number] if self.reply is None else self.reply(messages)
        if isinstance(line, Exception):
            raise line
        message = AIMessage(line) if isinstance(line, str) else line
        return ChatResult(generations=[ChatGeneration(message=message)])


class RecordingModel(FakeListChatModel):
    """Answers from ``responses``, letter by letter; ``given`` holds the calls' messages."""

    responses: list[str] = Field(default=["Understood."])
    given: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.given.append(messages)
        return super()._generate(messages, *args, **kwargs)

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        self.given.append(messages)
        yield from super()._stream(messages, *args, **kwargs)

    def prompt(self) -> str:
        """All that the last call was given."""
        return "\n".join(str(message.content) for message in self.given[-1])
