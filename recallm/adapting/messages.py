"""The messages of a conversation: which of them a memory may write, in which words, and which of
them ask. Whose words they are says ``recallm.memory.spoken``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import iscoroutinefunction
from typing import Any

from recallm.errors import InvalidInputError
from recallm.ground.untrusted_text import storable
from recallm.memory.spoken import SPEAKER_NAMES, Role, joined_text, speaker_name

__all__ = [
    "DEFAULT_ROLES",
    "SPEAKER_NAMES",
    "Accept",
    "Message",
    "MessageFilter",
    "Redact",
    "Role",
    "digest",
    "joined_text",
    "latest_question",
    "speaker_name",
    "speaker_names",
]

DEFAULT_ROLES: frozenset[Role] = frozenset({"human", "ai"})
"""What the user says and what the model answers. Tools return what others wrote, at any length:
their messages are remembered only where the user asks for it."""

Redact = Callable[[str], str]
"""A text, or the name of a speaker → what is written in its place. The same text must always
give the same result, or a message that is handed in again is a new message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What is remembered of a message: its text (as it can be stored), its speaker, the speaker's
    role, and the message's id, if it has one. ``thread``: its place in a thread that is followed
    (``Conversation``)."""

    text: str
    speaker: str
    role: str
    id: str | None = None
    thread: Mapping[str, Any] | None = field(default=None, compare=False)


Accept = Callable[[Message], bool]
"""A message, already redacted → whether to write it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Which messages may be written, and in which words: the arguments ``redact`` and ``accept`` of
    an adapter. None: every text as it is, every message. What one of them raises comes through.

    ``redact`` sees every text, its id and the name of its speaker first; ``accept`` then decides
    about the redacted message. Where one of them fails, nothing is written.

    >>> filter = MessageFilter(
    ...     redact=lambda text: text.replace("4711", "[PIN]"),
    ...     accept=lambda message: message.role == "human",
    ... )
    >>> messages = [
    ...     Message(text="My PIN is 4711.", speaker="Ann", role="human"),
    ...     Message(text="Noted.", speaker="AI", role="ai"),
    ... ]
    >>> [message.text for message in filter.accepted(messages)]
    ['My PIN is [PIN].']
    """

    redact: Redact | None = None
    accept: Accept | None = None

    def __post_init__(self) -> None:
        given: dict[str, object] = {"redact": self.redact, "accept": self.accept}
        for argument, function in given.items():
            if function is None or (callable(function) and not iscoroutinefunction(function)):
                continue
            raise InvalidInputError(
                f"{argument} must be a plain function, or None, not {function!r}", argument=argument
            )

    def redacted(self, text: str) -> str:
        """The text that may be written in place of ``text``."""
        if self.redact is None or not text:
            return text
        result: object = self.redact(text)
        if not isinstance(result, str):
            raise InvalidInputError(
                f"redact must return a str, not {type(result).__name__}", argument="redact"
            )
        return storable(result)

    def redacted_name(self, name: str, argument: str) -> str:
        """The redacted name of a session, source or item, under which it is written and looked
        up."""
        if self.redact is None:
            return name
        redacted = self.redacted(name)
        if not redacted.strip():
            raise InvalidInputError(
                f"redact leaves nothing of the {argument}; it must leave a placeholder",
                argument="redact",
            )
        return redacted

    def accepted(self, messages: Iterable[Message]) -> list[Message]:
        """The messages that may be written, with redacted texts, ids and names."""
        if self.redact is not None:
            messages = map(self._redacted_message, messages)
        return [message for message in messages if self._accepts(message)]

    def _redacted_message(self, message: Message) -> Message:
        return replace(
            message,
            text=self.redacted(message.text),
            speaker=self._redacted_speaker(message),
            id=None if message.id is None else self.redacted(message.id),
        )

    def _redacted_speaker(self, message: Message) -> str:
        """The redacted name of the speaker; the role's name where the redaction leaves nothing."""
        default = next(
            (name for role, name in SPEAKER_NAMES.items() if role == message.role), message.role
        )
        if message.speaker == default:
            return default
        return self.redacted(message.speaker).strip() or default

    def _accepts(self, message: Message) -> bool:
        if self.accept is None:
            return True
        result: object = self.accept(message)
        if not isinstance(result, bool):
            raise InvalidInputError(
                f"accept must return True or False, not {type(result).__name__}", argument="accept"
            )
        return result


def latest_question(roles: Sequence[str | None]) -> tuple[list[int], bool]:
    """By the roles of a conversation's messages: the places of what the user said last, since the
    model spoke before it, and whether the model has answered it."""
    places: list[int] = []
    answered = False
    for place in range(len(roles) - 1, -1, -1):
        if roles[place] == "ai":
            if places:
                break
            answered = True
        elif roles[place] == "human":
            places.append(place)
    return places[::-1], answered


def speaker_names(human_prefix: object, ai_prefix: object) -> Mapping[Role, str]:
    """The speakers of messages without a name, by role; ``human_prefix`` None: "Human"."""
    names = dict(SPEAKER_NAMES)
    human = names["human"] if human_prefix is None else human_prefix
    given: dict[Role, object] = {"human": human, "ai": ai_prefix}
    for role, name in given.items():
        argument = f"{role}_prefix"
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"{argument} must be a name, not {name!r}", argument=argument)
        names[role] = name
    return names


def digest(*parts: str) -> str:
    """A hexadecimal SHA-256 digest that depends on all parts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
