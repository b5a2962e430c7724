"""A LlamaIndex model that says what a test wrote for it, and keeps what it was sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from pydantic import PrivateAttr

__all__ = ["ScriptedLLM", "call"]

Line = str | ChatMessage | Exception
"""What is said: a text, a message (with tool calls), or a failure."""


def call(name: str, says: str = "", /, **arguments: Any) -> ChatMessage:
    """The model calls a tool."""
    blocks = [
        *([TextBlock(text=says)] if says else []),
        ToolCallBlock(tool_call_id=f"call-{name}", tool_name=name, tool_kwargs=arguments),
    ]
    return ChatMessage(role="assistant", blocks=blocks)


class ScriptedLLM(MockFunctionCallingLLM):
    """Says one line after the other, or what ``reply`` makes of the messages."""

    _sent: list[list[ChatMessage]] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(
        self,
        *lines: Line,
        reply: Callable[[Sequence[ChatMessage]], Line] | None = None,
        **more: Any,
    ) -> None:
        def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
            with self._lock:
                number = len(self._sent)
                self._sent.append([message.model_copy(deep=True) for message in messages])
            line = lines[number] if reply is None else reply(messages)
            if isinstance(line, Exception):
                raise line
            return ChatMessage(role="assistant", content=line) if isinstance(line, str) else line

        super().__init__(response_generator=answer, is_chat_model=True, **more)

    @property
    def sent(self) -> list[list[ChatMessage]]:
        """The messages of each call."""
        return self._sent

    def prompt(self, number: int = -1) -> str:
        """All that a call was given."""
        return "\n".join(str(message.content) for message in self._sent[number])
