"""What of a LangChain message is remembered: its text, and whose it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeGuard, get_args

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage

from recallm import InvalidInputError
from recallm.adapting import storable

__all__ = [
    "BOTH",
    "Role",
    "checked_roles",
    "role_of",
    "speaker_of",
    "text_of",
]

Role = Literal["human", "ai", "tool"]
"""Whose words can be remembered; what a system message says is the developer's own."""

BOTH: frozenset[Role] = frozenset({"human", "ai"})
"""The default: what the user says and what the model answers. Tools give back what others wrote,
at any length: remembered only where asked for."""


_LONGEST_NAME = 200


def text_of(message: BaseMessage) -> str:
    """The text parts of a message, a line each; '' where it has none (an image, a tool call).

    Lone surrogates, which cannot be stored, become question marks.
    """
    parts = [message.content] if isinstance(message.content, str) else message.content
    lines = [
        part if isinstance(part, str) else str(part.get("text") or "")
        for part in parts
        if isinstance(part, str) or part.get("type") == "text"
    ]
    text = "\n".join(line for line in lines if line.strip())
    return storable(text)


def role_of(message: BaseMessage) -> Role | None:
    """Whose words a message holds; None for what is never remembered."""
    if isinstance(message, HumanMessage):
        return "human"
    if isinstance(message, AIMessage):
        return "ai"
    if isinstance(message, ToolMessage):
        return "tool"
    if isinstance(message, ChatMessage):
        return {"user": "human", "human": "human", "assistant": "ai", "ai": "ai"}.get(
            message.role.lower()
        )  # type: ignore[return-value]
    return None


def speaker_of(message: BaseMessage, role: Role, names: Mapping[Role, str]) -> str:
    """The name of who said it: the message's own, else that of the role."""
    name = storable(message.name or "").strip()
    return name[:_LONGEST_NAME] or names[role]


def checked_roles(roles: Collection[str]) -> frozenset[Role]:
    """The roles, refused where one is unknown.

    Raises:
        InvalidInputError: a role is none of "human", "ai", "tool".

    """
    known = get_args(Role)
    several: object = roles
    given = {roles} if isinstance(roles, str) else set(roles if several else ())
    if not given or not _are_roles(given):
        raise InvalidInputError(
            f"roles must be one or more of {', '.join(map(repr, known))}, not {sorted(given)!r}",
            argument="roles",
        )
    return frozenset(given)


def _are_roles(given: set[str]) -> TypeGuard[set[Role]]:
    return given <= set(get_args(Role))
