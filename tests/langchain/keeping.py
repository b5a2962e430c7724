"""A chat model that says what it was told to, streams it by the letter, and keeps what it got."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import Field

__all__ = ["KeepingModel"]


class KeepingModel(FakeListChatModel):
    """``given`` holds the messages of each call."""

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
