"""The request of a model: how recalled text joins it."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import BaseMessage, SystemMessage

from langchain_recallm._conversation import role_of

__all__ = ["SEPARATOR", "Position", "with_recalled_text"]

Position = Literal["system", "user"]
"""Where the recalled text stands: at the end of the system message, or of the user's message."""

SEPARATOR = "\n\n"
"""What stands between a message's own text and the recalled text."""

_M = TypeVar("_M", bound=BaseMessage)


def with_recalled_text(
    request: ModelRequest[Any], recalled_text: str, position: Position
) -> ModelRequest[Any]:
    """The request with the recalled text at the end of its system message or of the user's last
    message; the request itself where the text is empty."""
    if not recalled_text:
        return request
    if position == "user":
        messages = list(request.messages)
        for place in range(len(messages) - 1, -1, -1):
            if role_of(messages[place]) == "human":
                messages[place] = _with_text(messages[place], recalled_text)
                return request.override(messages=messages)
    # Also where the user's messages were trimmed away.
    system = request.system_message
    return request.override(
        system_message=(
            SystemMessage(recalled_text) if system is None else _with_text(system, recalled_text)
        )
    )


def _with_text(message: _M, text: str) -> _M:
    """The message with one more text at its end."""
    content = message.content
    if isinstance(content, str):
        new_content: str | list[str | dict[Any, Any]] = (
            f"{content}{SEPARATOR}{text}" if content else text
        )
    else:
        new_content = [*content, {"type": "text", "text": text}]
    return message.model_copy(update={"content": new_content})
