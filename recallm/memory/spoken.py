"""Whose words a text is: roles, the names of speakers, and the messages of chat APIs.

Whoever sends a message can choose the name of its speaker. A name that claims another role is
therefore not taken (``speaker_name``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.ground.untrusted_text import claimed_roles, folded, name_words, storable

Role = Literal["human", "ai", "tool"]
"""Whose words can be remembered. System messages are the developer's own and never are."""

SPEAKER_NAMES: Mapping[Role, str] = MappingProxyType({"human": "Human", "ai": "AI", "tool": "Tool"})
"""The speaker of a message that has no name of its own, by role."""

_MAX_NAME = 200

_ROLES: Mapping[str, Role | None] = {
    "user": "human",
    "human": "human",
    "assistant": "ai",
    "ai": "ai",
    "system": None,
    "developer": None,
    "tool": None,
    "function": None,
}
"""By the role of a chat API: whose words its messages are; None: nobody's."""

_TEXT_PARTS = ("text", "input_text", "output_text")
"""The types of the parts of a content whose text was said."""

_KEPT = ("id", "session", "source", "metadata", "expires_at", "replace", "speaker")
"""The arguments of ``RecallM.update`` that a message may have."""


def is_message(item: Mapping[Any, Any]) -> bool:
    """Whether an item of ``update_many`` is a message of a chat API: it has a role and no text."""
    return "role" in item and "text" not in item


def message_update(message: Mapping[Any, Any]) -> dict[str, Any] | None:
    """The arguments of ``RecallM.update`` for a message of a chat API; None where it is nobody's
    words: a message of the system, the developer or a tool, or one without text.

    >>> message = {"role": "user", "content": [{"type": "text", "text": "Hi."}], "name": "Ann"}
    >>> message_update(message)
    {'text': 'Hi.', 'speaker': 'Ann', 'timestamp': None, 'metadata': {'role': 'human'}}

    Raises:
        InvalidInputError: its role is unknown, or its content or its moment cannot be used.

    """
    given = message["role"]
    if not isinstance(given, str) or given not in _ROLES:
        raise InvalidInputError(
            f"role must be one of {', '.join(map(repr, _ROLES))}, not {checks.shown(given)}",
            argument="role",
        )
    role = _ROLES[given]
    text = _text_of(message.get("content"))
    if role is None or not text.strip():
        return None
    when = message.get("timestamp", message.get("created_at"))
    return {
        "text": text,
        "speaker": speaker_name(message.get("name"), role, SPEAKER_NAMES),
        "timestamp": _moment_of(when),
        **{name: message[name] for name in _KEPT if message.get(name) is not None},
        "metadata": {"role": role, **checks.properties(message.get("metadata"), "metadata")},
    }


def _text_of(content: object) -> str:
    """The text of a content: of a str, of None, or of the parts of a list that are texts."""
    if content is None or isinstance(content, str):
        return joined_text([content or ""])
    texts: list[str] = []
    for part in checks.listed(content, "content"):
        text = part
        if isinstance(part, Mapping):
            text = part.get("text", "") if part.get("type", "text") in _TEXT_PARTS else ""
        if isinstance(text, Mapping):
            text = text.get("value")
        if not isinstance(text, str):
            raise InvalidInputError(
                "content must be a str, or a list of parts such as {'type': 'text', 'text': …}; "
                f"this is a part of it: {checks.shown(part)}",
                argument="content",
            )
        texts.append(text)
    return joined_text(texts)


def _moment_of(value: object) -> datetime | None:
    """A moment as chat APIs write it: seconds since 1970, or ISO 8601."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise InvalidInputError(
                f"created_at must be in seconds since 1970, not {checks.shown(value)}",
                argument="created_at",
            ) from error
    if isinstance(value, str):
        return checks.iso_moment(value, "created_at")
    return checks.timestamp(value, "created_at")


def joined_text(parts: Iterable[str]) -> str:
    """The text parts of a message, a line each, as it can be stored; '' where all are blank."""
    return storable("\n".join(part for part in parts if part.strip()))


def speaker_name(given: object, role: Role, names: Mapping[Role, str]) -> str:
    """The name that a message gives its speaker; ``names[role]`` where it gives none, or where the
    name claims another role or contains the name of another role, in any spelling ("A.I.",
    "Aria (assistant)")."""
    name = storable(given).strip()[:_MAX_NAME] if isinstance(given, str) else ""
    is_blank = not folded(name).strip()
    if is_blank or claimed_roles(name) - {role}:
        return names[role]
    if any(_contains_name(name, names[other]) for other in names if other != role):
        return names[role]
    return name


def _contains_name(name: str, other: str) -> bool:
    """Whether a name is the other one, or contains its words. The words of a mere role ("user") may
    be part of a name."""
    own_words, other_words = name_words(name), name_words(other)
    if not other_words:
        return folded(other) in folded(name)
    if "".join(own_words) == "".join(other_words):
        return True
    return not claimed_roles(other) and f" {' '.join(other_words)} " in f" {' '.join(own_words)} "
