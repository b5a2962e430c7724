"""How a store's item stands in a memory: its text, value, times and source; which items are
written, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, SearchOp

from langchain_recallm._item_text import is_number
from recallm import InvalidInputError, NewItem, Passage
from recallm.adapting import Message, MessageFilter, digest

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
    places = sorted(range(len(items)), key=lambda place: (place // BLOCK, is_unread(items[place])))
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


# -- redact and accept -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _ItemMessage(Message):
    """An item as ``accept`` sees it: the text that recall reads, the key as ``id``, the path."""

    path: tuple[str, ...]


def redacted_names(op: Op, filter: MessageFilter) -> Op:
    """An operation with its key and the parts of its paths redacted: what is read is named as what
    is written."""

    def redacted(path: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            part if part == "*" else filter.redacted_name(part, "label of a path") for part in path
        )

    if filter.redact is None:
        return op
    if isinstance(op, SearchOp):
        op = op._replace(namespace_prefix=redacted(op.namespace_prefix))
    elif isinstance(op, ListNamespacesOp):
        conditions = op.match_conditions or ()
        op = op._replace(
            match_conditions=tuple(
                condition._replace(path=redacted(condition.path)) for condition in conditions
            )
        )
    elif isinstance(op, GetOp | PutOp):
        key = filter.redacted_name(op.key, "key")
        op = op._replace(namespace=redacted(op.namespace), key=key)
    return op


def redacted_value(value: Any, filter: MessageFilter) -> Any:
    """A value with all its texts redacted, the names of its fields too."""
    if isinstance(value, str):
        return filter.redacted(value)
    if isinstance(value, dict):
        redacted = {
            filter.redacted(name): redacted_value(inner, filter) for name, inner in value.items()
        }
        if len(redacted) < len(value):
            raise InvalidInputError(
                "redact gives two fields of a value one name; nothing was written",
                argument="redact",
            )
        return redacted
    if isinstance(value, list):
        return [redacted_value(inner, filter) for inner in value]
    return value


def accepted_items(items: Sequence[NewItem], filter: MessageFilter) -> list[NewItem]:
    """The items, redacted already, that ``accept`` does not refuse."""
    messages = [
        _ItemMessage(text=item.text, speaker="", role="item", id=item.key, path=tuple(item.path))
        for item in items
    ]
    # The texts are redacted already.
    accepted = set(map(id, MessageFilter(accept=filter.accept).accepted(messages)))
    return [item for item, message in zip(items, messages, strict=True) if id(message) in accepted]
