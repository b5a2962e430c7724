"""LangGraph's filters: which values of a store pass."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from langchain_recallm._item_text import is_number
from recallm import InvalidInputError
from recallm.adapting import checks

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
    """Refuse a filter that cannot be used, whatever is compared with the filter.

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
