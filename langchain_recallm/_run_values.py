"""Messages and texts in what a graph or a chain is given, and in what it gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph.types import Command
from pydantic import BaseModel

from langchain_recallm._conversation import role_of, text_of

__all__ = ["answers_in", "is_same", "messages_in", "texts_in", "with_ids"]

_NO_WORDS = frozenset({"type", "action", "name", "id", "edited_action"})
"""Keys of an answer to an interrupt that hold a choice or a tool call, and no text of a person."""

_MOST_VALUES = 10_000
"""How many values of what a run is given are looked through for texts."""


def _fields_of(value: object) -> Mapping[str, object]:
    """The state in what a graph or a chain is given, or gives."""
    if isinstance(value, Command):
        value = value.update
    if isinstance(value, BaseMessage) or (isinstance(value, Mapping) and "content" in value):
        return {"messages": [value]}
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return vars(value)
    if isinstance(value, list | tuple) and any(isinstance(it, Command) for it in value):
        found = [message for it in value for message in messages_in(it)]
        return {"messages": found}
    return {"messages" if isinstance(value, list) else "": value}


def messages_in(value: object) -> list[BaseMessage]:
    """The messages in a graph's state, in what is made one, or in the result of a chain."""
    found: list[BaseMessage] = []
    for name, given in _fields_of(value).items():
        items: Sequence[Any] = given if isinstance(given, list | tuple) else [given]
        if name == "messages" and given is not None:
            try:
                found += convert_to_messages(items)
            except (ValueError, NotImplementedError, TypeError, KeyError, AttributeError):
                continue
        else:
            found += [it for it in items if isinstance(it, BaseMessage)]
    return found


def texts_in(value: object) -> list[str]:
    """The texts in what a graph or a chain is given, or gives, however deep they stand in it."""
    found: list[str] = []
    waiting: list[object] = [value]
    for _ in range(_MOST_VALUES):
        if not waiting:
            break
        it = waiting.pop()
        if isinstance(it, str):
            found.append(it.strip())
        elif isinstance(it, BaseMessage):
            found.append(text_of(it).strip())
        elif isinstance(it, Command):
            waiting.append(it.update)
        elif isinstance(it, list | tuple):
            waiting += it
        elif isinstance(it, Mapping):
            waiting += it.values()
        elif isinstance(it, BaseModel) or (is_dataclass(it) and not isinstance(it, type)):
            waiting += vars(it).values()
    return found


def answers_in(value: object) -> list[str]:
    """The texts in an answer to an interrupt: a text, or texts in lists and mappings, without
    choices and tool calls."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, Mapping):
        if isinstance(value.get("args"), Mapping):
            return []
        value = [it for key, it in value.items() if key not in _NO_WORDS]
    if isinstance(value, list | tuple):
        return [text for it in value for text in answers_in(it)]
    return []


def is_same(message: BaseMessage, other: BaseMessage) -> bool:
    return role_of(message) == role_of(other) and message.content == other.content


def with_ids(messages: Sequence[BaseMessage], ids: Iterable[str | None]) -> list[BaseMessage]:
    """The messages with these ids, looked for from the end."""
    wanted = {id for id in ids if id}
    found: list[BaseMessage] = []
    for message in reversed(messages):
        if len(found) == len(wanted):
            break
        if message.id in wanted:
            found.append(message)
    return found[::-1]
