"""How recalled text joins the request of a model."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import BaseMessage, SystemMessage

from langchain_recallm._messages import role_of

__all__ = ["JOINT", "Position", "joined"]

Position = Literal["system", "user"]
"""Where the recalled text stands: at the end of the system message, or of the user's message."""

JOINT = "\n\n"
"""What stands between a message's own text and the recalled one."""

_M = TypeVar("_M", bound=BaseMessage)


def joined(request: ModelRequest[Any], block: str, position: Position) -> ModelRequest[Any]:
    """The request with ``block`` in its system message, or beside the user's last message; the same
    request where there is none."""
    if not block:
        return request
    if position == "user":
        messages = list(request.messages)
        for index in range(len(messages) - 1, -1, -1):
            if role_of(messages[index]) == "human":
                messages[index] = _beside(messages[index], block)
                return request.override(messages=messages)
    # Also where what the user said was trimmed away.
    system = request.system_message
    return request.override(
        system_message=SystemMessage(block) if system is None else _beside(system, block)
    )


def _beside(message: _M, block: str) -> _M:
    """The message with one more text block at its end; all that it held stays."""
    content = message.content
    if isinstance(content, str):
        more: str | list[str | dict[Any, Any]] = f"{content}{JOINT}{block}" if content else block
    else:
        more = [*content, {"type": "text", "text": block}]
    return message.model_copy(update={"content": more})
