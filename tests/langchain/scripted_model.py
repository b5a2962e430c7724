"""A chat model that says what a test wrote for it, and keeps what it was sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

__all__ = ["ScriptedModel", "call"]

Line = str | AIMessage | Exception
"""What is said: a text, a message (with tool calls), or a failure."""


def call(name: str, id: str = "call-1", /, *, says: str = "", **arguments: Any) -> AIMessage:
    """The model calls a tool."""
    return AIMessage(
        says, tool_calls=[{"name": name, "args": arguments, "id": id, "type": "tool_call"}]
    )


class ScriptedModel(BaseChatModel):
    """Says one line after the other, or what ``reply`` makes of the messages."""

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
