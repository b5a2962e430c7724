"""How a store's item stands in a memory: its text, value, times and source; which items are
written, and in which words; which pass LangGraph's filters."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, SearchOp

from langchain_recallm._item_text import is_number
from recallm import InvalidInputError, NewItem, Passage
from recallm.adapting import Message, MessageFilter, checks, digest

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


# -- filters -------------------------------------------------------------------------------------

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_COMPARISONS)

_MOST_LEVELS = 100
"""How deep mappings and lists in a filter may be nested."""


def check_filter(filter: object) -> None:
    """Refuse a filter that cannot be used with any item.

    Raises:
        InvalidInputError: the filter is no mapping, names no field, has an unknown operator or an
            operand that has no order, or is nested too deeply.

    """
    fields = checks.optional(checks.mapping, filter, "filter") or {}
    for name in fields:
        if not isinstance(name, str) or name.startswith("$"):
            raise _unusable(f"{name!r} is no field of a filter")
    _check(fields, _MOST_LEVELS)


def likely_values(
    filter: Mapping[str, Any] | None, key: str
) -> dict[tuple[str, ...], str | int | bool | None]:
    """The values that ``filter`` demands of a value which stands under ``key`` in an item's
    metadata, for ``MemoryItems``."""
    demanded = {
        name: wanted["$eq"] if isinstance(wanted, Mapping) and "$eq" in wanted else wanted
        for name, wanted in (filter or {}).items()
    }
    return {
        (key, name): value
        for name, value in demanded.items()
        if value is None or isinstance(value, str | int)
    }


def passes_filter(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Whether a value passes a filter: each field that the filter names equals the filter's value
    (objects: in the fields that are named), or passes its operators. A missing field is like null.

    ``check_filter`` has let the filter pass."""
    return all(_matches(value.get(name), wanted) for name, wanted in (filter or {}).items())


def _check(wanted: object, levels: int) -> None:
    if isinstance(wanted, Mapping) and _has_operators(wanted):
        for name, operand in wanted.items():
            if name not in _OPERATORS:
                raise _unusable(f"{name!r} is no operator of a filter")
            if name in _COMPARISONS and not (is_number(operand) or isinstance(operand, str)):
                raise _unusable(f"filter compares by {name} with {operand!r}")
    elif isinstance(wanted, Mapping | list | tuple):
        if levels == 0:
            raise InvalidInputError("filter is nested too deeply", argument="filter")
        for each in wanted.values() if isinstance(wanted, Mapping) else wanted:
            _check(each, levels - 1)


def _has_operators(wanted: Mapping[Any, Any]) -> bool:
    return any(isinstance(name, str) and name.startswith("$") for name in wanted)


def _unusable(fault: str) -> InvalidInputError:
    return InvalidInputError(
        f"{fault}; a field is compared with a value, or with a number or a text by "
        f"{', '.join(_OPERATORS)}, as in {{'stars': {{'$gte': 3}}}}",
        argument="filter",
    )


def _matches(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _has_operators(wanted):
            return all(_passes_operator(found, name, operand) for name, operand in wanted.items())
        return isinstance(found, Mapping) and passes_filter(found, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(map(_matches, found, wanted))
        )
    return _equal(found, wanted)


def _passes_operator(found: Any, name: str, operand: Any) -> bool:
    if name in ("$eq", "$ne"):
        return _equal(found, operand) == (name == "$eq")
    if is_number(found) and is_number(operand):
        return _COMPARISONS[name](found, operand)
    if isinstance(found, str) and isinstance(operand, str):
        return _COMPARISONS[name](found, operand)
    return False


def _equal(found: Any, wanted: Any) -> bool:
    """Equal as JSON: true is not 1."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return bool(found == wanted)
