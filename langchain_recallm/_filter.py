"""LangGraph's filters: which values of a store, or which documents' metadata, pass."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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


def check_filter(filter: object) -> None:
    """Refuse a filter that cannot be used, whatever it is compared with."""
    fields = checks.optional(checks.mapping, filter, "filter") or {}
    for name in fields:
        if not isinstance(name, str):
            raise InvalidInputError(
                f"filter has the field {name!r}, whose name must be a str", argument="filter"
            )
        if name.startswith("$"):
            raise _unusable_operator(name, "is no field")
    with _no_deep_nesting():
        _check_wanted(fields)


def equal_texts(filter: Mapping[str, Any] | None) -> dict[str, str | bool]:
    """The fields that must equal a text or a truth value, which equality of JSON decides too. Of
    numbers it does not: 1 passes as 1.0."""
    return {it: value for it, value in _demanded(filter).items() if isinstance(value, str | bool)}


def likely_values(
    filter: Mapping[str, Any] | None, key: str
) -> dict[tuple[str, ...], str | int | bool | None]:
    """The values that ``filter`` demands of a value which stands under ``key`` in an item's
    metadata, for ``MemoryItems``."""
    return {
        (key, name): value
        for name, value in _demanded(filter).items()
        if value is None or isinstance(value, str | int)
    }


def _demanded(filter: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values that fields must equal; other operators as they are."""
    return {
        name: value["$eq"] if isinstance(value, Mapping) and "$eq" in value else value
        for name, value in (filter or {}).items()
    }


def passes_filter(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Whether a value passes a filter: each field that the filter names equals the filter's value
    (objects: in the fields that are named), or passes its operators. A missing field is like null.

    ``check_filter`` has let the filter pass."""
    with _no_deep_nesting():
        return _fields_match(value, filter or {})


@contextmanager
def _no_deep_nesting() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise InvalidInputError("filter is nested too deeply", argument="filter") from None


def _has_operators(wanted: Mapping[Any, Any]) -> bool:
    return any(isinstance(name, str) and name.startswith("$") for name in wanted)


def _check_wanted(wanted: object) -> None:
    if isinstance(wanted, list | tuple):
        for each in wanted:
            _check_wanted(each)
    if not isinstance(wanted, Mapping):
        return
    if not _has_operators(wanted):
        for each in wanted.values():
            _check_wanted(each)
        return
    for name, operand in wanted.items():
        if name not in _OPERATORS:
            raise _unusable_operator(name, "is no operator")
        if name in _COMPARISONS and not (is_number(operand) or isinstance(operand, str)):
            raise InvalidInputError(
                f"filter compares by {name} with {operand!r}: give a number or a text",
                argument="filter",
            )


def _unusable_operator(name: object, fault: str) -> InvalidInputError:
    return InvalidInputError(
        f"{name!r} {fault} of a filter; a field is compared with a value, or by "
        f"{', '.join(_OPERATORS)}, as in {{'stars': {{'$gte': 3}}}}",
        argument="filter",
    )


def _fields_match(value: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    return all(_matches(value.get(name), wanted) for name, wanted in filter.items())


def _matches(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _has_operators(wanted):
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
