"""LangGraph's filters of a store's search: which values pass."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from langchain_recallm._item_text import is_number
from recallm import InvalidInputError

__all__ = ["passes_filter"]

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def passes_filter(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Whether a value passes a filter: each field that the filter names equals the filter's value
    (objects: in the fields that are named), or passes its operators. A missing field is like null.

    Raises:
        InvalidInputError: an operator is unknown, or the filter is nested too deeply.

    """
    try:
        return _fields_match(value, filter or {})
    except RecursionError:
        raise InvalidInputError("filter is nested too deeply", argument="filter") from None


def _fields_match(value: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    return all(_matches(value.get(name), wanted) for name, wanted in filter.items())


def _matches(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(isinstance(name, str) and name.startswith("$") for name in wanted):
            return all(_passes_operator(found, name, operand) for name, operand in wanted.items())
        return isinstance(found, Mapping) and _fields_match(found, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(map(_matches, found, wanted))
        )
    return _equal(found, wanted)


def _passes_operator(found: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return _equal(found, operand)
    if name == "$ne":
        return not _equal(found, operand)
    if name not in _COMPARISONS:
        raise InvalidInputError(
            f"{name!r} is no operator of a filter; there are $eq, $ne, {', '.join(_COMPARISONS)}",
            argument="filter",
        )
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
