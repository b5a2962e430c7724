"""How a store's item stands in a memory: its text, value, times and source."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from langchain_recallm._item_text import is_number
from recallm import InvalidInputError, Passage
from recallm.adapting import digest

__all__ = [
    "BLOCK",
    "NO_TEXT",
    "expiry",
    "is_unread",
    "item_arguments",
    "source_of",
    "unread_last",
    "value_of",
]

NO_TEXT = "(nothing to recall)"
"""The text of an item of whose value recall reads nothing."""
BLOCK = 500
"""Within each block of so many items, the latest first, unread items come last."""
_MAX_SOURCE = 1024


def expiry(now: datetime, minutes: float | None) -> datetime | None:
    """The moment that is ``minutes`` after ``now``; None: never."""
    if minutes is None:
        return None
    if is_number(minutes):
        with suppress(OverflowError, ValueError):
            return now + timedelta(minutes=minutes)
    raise InvalidInputError(f"ttl must be a number of minutes, not {minutes!r}", argument="ttl")


def source_of(path: Sequence[str], key: str) -> str:
    """The source of an item: its path and key, which no other item has."""
    parts = (part.replace("%", "%25").replace("/", "%2F") for part in (*path, key))
    source = "store/" + "/".join(parts)
    if len(source) <= _MAX_SOURCE:
        return source
    return "store/" + digest(source)


def unread_last(items: Sequence[Passage]) -> tuple[Passage, ...]:
    """Items, the latest first, but within each block the unread ones last."""
    places = sorted(range(len(items)), key=lambda it: (it // BLOCK, is_unread(items[it])))
    return tuple(items[place] for place in places)


def is_unread(item: Passage) -> bool:
    """Whether recall reads nothing of an item."""
    return item.text == NO_TEXT


def value_of(item: Passage) -> dict[str, Any]:
    """The value of an item; the text and metadata of one that no store wrote."""
    value = item.metadata.get("value")
    return dict(value) if isinstance(value, dict) else {"text": item.text, **item.metadata}


def item_arguments(item: Passage) -> dict[str, Any]:
    """The arguments of LangGraph's ``Item``."""
    updated = item.timestamp or datetime.fromtimestamp(0, UTC)
    created = updated
    with suppress(TypeError, ValueError):
        created = datetime.fromisoformat(item.metadata.get("created_at", ""))
    return {
        "value": value_of(item),
        "key": item.key,
        "namespace": item.path,
        "created_at": created,
        "updated_at": updated,
    }
