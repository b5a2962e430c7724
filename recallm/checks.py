"""What users hand in, checked before anything is written: each function gives back a good value
or raises ``InvalidInputError`` with what to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from typing import Any, TypeVar

from recallm.errors import InvalidInputError
from recallm.model import Filter, SelectionKind

__all__ = [
    "MAX_NAME",
    "count",
    "flag",
    "item_path",
    "moment",
    "name",
    "optional_callable",
    "optional_name",
    "optional_string",
    "passage_text",
    "probability",
    "properties",
    "seconds",
    "selection",
    "statement_filter",
    "string",
    "timestamp",
    "token_counter",
]

_ENDLESS = 1 << 62

F = TypeVar("F", bound=Callable[..., object])

MAX_NAME = 1024
"""Characters in a namespace, an id, a source, a session, a speaker: a key must fit an index."""


def string(value: object, argument: str) -> str:
    """A str without lone surrogates (they exist in no encoding of Unicode)."""
    if not isinstance(value, str):
        raise InvalidInputError(
            f"{argument} must be a str, not {type(value).__name__}", argument=argument
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{argument} holds a lone surrogate at character {error.start}, which cannot be "
            "stored; clean it first, for example with "
            "text.encode('utf-8', 'replace').decode('utf-8')",
            argument=argument,
        ) from None
    return value


def passage_text(value: object, argument: str = "text") -> str:
    """A text with at least one character that is not white space."""
    text = string(value, argument)
    if not text.strip():
        raise InvalidInputError("text is empty; a knowledge update needs some", argument=argument)
    return text


def name(value: object, argument: str) -> str:
    """A string of 1 to ``MAX_NAME`` characters, any of them."""
    text = string(value, argument)
    if not 1 <= len(text) <= MAX_NAME:
        raise InvalidInputError(
            f"{argument} must have 1 to {MAX_NAME} characters, not {len(text)}"
            + (f"; it begins with {text[:40]!r}" if text else ""),
            argument=argument,
        )
    return text


def item_path(value: object, argument: str) -> tuple[str, ...]:
    """A list or tuple of strings without lone surrogates; a single str is none."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InvalidInputError(
            f"{argument} must be a tuple of str, not {type(value).__name__}", argument=argument
        )
    return tuple(string(part, argument) for part in value)


def optional_name(value: object, argument: str) -> str | None:
    """``name``, or None."""
    return None if value is None else name(value, argument)


def timestamp(value: object, argument: str = "timestamp") -> datetime | None:
    """An aware datetime that has a place in UTC, or None."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidInputError(
            f"{argument} must be a datetime, not {type(value).__name__}", argument=argument
        )
    if value.utcoffset() is None:
        raise InvalidInputError(
            f"{argument} has no time zone; give an aware datetime, for example "
            "datetime.now(timezone.utc) or value.replace(tzinfo=timezone.utc)",
            argument=argument,
        )
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise InvalidInputError(
            f"{argument} lies outside of the years 1 to 9999 in UTC", argument=argument
        ) from None
    return value


def moment(value: object, argument: str) -> int | datetime | None:
    """A t_index (0 or more), an aware datetime, or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise InvalidInputError(
                f"{argument} must be a t_index of at least 0, not {value}", argument=argument
            )
        return value
    if value is None or isinstance(value, datetime):
        return timestamp(value, argument)
    raise InvalidInputError(
        f"{argument} must be a t_index (int) or an aware datetime, not {type(value).__name__}",
        argument=argument,
    )


def count(value: object, argument: str) -> int | None:
    """A whole number of at least 1, or None; beyond what a store can count, as good as endless."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError(
            f"{argument} must be an int, not {type(value).__name__}", argument=argument
        )
    if value < 1:
        raise InvalidInputError(f"{argument} must be at least 1, not {value}", argument=argument)
    return min(value, _ENDLESS)


def probability(value: object, argument: str) -> float | None:
    """A number from 0 to 1, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError(
            f"{argument} must be a number from 0 to 1, not {value!r}", argument=argument
        )
    return float(value)


def properties(value: object, argument: str) -> dict[str, Any]:
    """A mapping that comes back from JSON as it went in (a copy of it)."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInputError(
            f"{argument} must be a mapping, not {type(value).__name__}", argument=argument
        )
    given = dict(value)
    try:
        text = json.dumps(given, ensure_ascii=False, allow_nan=False)
        text.encode()
        copy: dict[str, Any] = json.loads(text)
        same = copy == given
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{argument} must hold JSON values only (str, int, finite float, bool, None, lists, "
            f"dicts with str keys): {error}",
            argument=argument,
        ) from None
    if not same:
        raise InvalidInputError(
            f"{argument} would not come back as it is: use str keys, and lists in place of tuples",
            argument=argument,
        )
    return copy


def statement_filter(
    *,
    since: object,
    until: object,
    speaker: object,
    session: object,
    metadata: object,
    path: object = None,
) -> Filter:
    """The filter arguments of ``recall``."""
    return Filter(
        since=moment(since, "since"),
        until=moment(until, "until"),
        speaker=optional_name(speaker, "speaker"),
        session=optional_name(session, "session"),
        metadata=properties(metadata, "metadata"),
        path=None if path is None else item_path(path, "path"),
    )


def selection(
    *,
    id: object,
    statement: object,
    source: object,
    session: object,
    concept: object,
    before: object,
    expired: object,
    everything: object,
) -> tuple[SelectionKind, str | int | datetime]:
    """The arguments of ``forget``: exactly one is given. A concept is still a label, and what has
    expired by when is still to be said."""
    given: dict[SelectionKind, str | int | datetime | None] = {
        "id": optional_name(id, "id"),
        "statement": optional_string(statement, "statement"),
        "source": optional_name(source, "source"),
        "session": optional_name(session, "session"),
        "concept": optional_string(concept, "concept"),
        "before": moment(before, "before"),
        "expired": True if flag(expired, "expired") else None,
        "everything": True if flag(everything, "everything") else None,
    }
    chosen: list[tuple[SelectionKind, str | int | datetime]] = [
        (kind, value) for kind, value in given.items() if value is not None
    ]
    if len(chosen) != 1:
        raise InvalidInputError(
            f"forget takes exactly one of {', '.join(list(given)[:-2])}, "
            f"expired=True, everything=True; {len(chosen)} were given",
            argument="forget",
        )
    return chosen[0]


def optional_string(value: object, argument: str) -> str | None:
    """``string``, or None."""
    return None if value is None else string(value, argument)


def seconds(value: object, argument: str) -> float | None:
    """A number of seconds, 0 or more, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        raise InvalidInputError(
            f"{argument} must be a number of seconds, not {value!r}", argument=argument
        )
    return float(value)


def token_counter(count_tokens: Callable[[str], object]) -> Callable[[str], int]:
    """``count_tokens``, held to give a whole number of at least 0."""

    def counted(text: str) -> int:
        try:
            tokens = count_tokens(text)
        except Exception as error:
            raise InvalidInputError(
                f"count_tokens failed: {type(error).__name__}: {error}", argument="count_tokens"
            ) from error
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            raise InvalidInputError(
                f"count_tokens must give a whole number of at least 0, not {tokens!r}",
                argument="count_tokens",
            )
        return tokens

    return counted


def flag(value: object, argument: str) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise InvalidInputError(
            f"{argument} must be True or False, not {type(value).__name__}", argument=argument
        )
    return value


def optional_callable(value: F | None, argument: str) -> F | None:
    """A callable, or None."""
    if value is not None and not callable(value):
        raise InvalidInputError(
            f"{argument} must be callable, not {type(value).__name__}", argument=argument
        )
    return value
