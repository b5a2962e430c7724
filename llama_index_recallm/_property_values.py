"""Property values as JSON values, and back: each comes back equal and of the same type.

JSON's own values stay as they are. Other values become an object with two members, ``$type`` and
``value``; so does a user's own dict that has a key ``$type``:

| type | ``$type`` | ``value`` |
|---|---|---|
| datetime, date, time | the type's name | ISO 8601 text |
| bytes | "bytes" | base64 |
| tuple, set, frozenset | the type's name | a list; of a set in a fixed order |
| Decimal, UUID, a path of this system | "decimal", "uuid", "path" | text |

NumPy's booleans, integers and floats become Python's, and stay so. An instance of a subclass comes
back as one of the class here, such as a tuple for a namedtuple.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Any
from uuid import UUID

import numpy as np

from recallm import InvalidInputError

_TYPE = "$type"
_MAX_DEPTH = 100

_TIME_TYPES: Mapping[type, str] = {datetime: "datetime", date: "date", time: "time"}
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "bytes": base64.b64decode,
    "tuple": lambda value: tuple(_members(value)),
    "set": lambda value: set(_members(value)),
    "frozenset": lambda value: frozenset(_members(value)),
    "decimal": Decimal,
    "uuid": UUID,
    "path": Path,
    "dict": lambda value: {key: _decoded(member) for key, member in value.items()},
}


def encoded(properties: Mapping[str, Any], *, of: str) -> dict[str, Any]:
    """``properties`` as JSON values; ``of`` names their owner in an error."""
    try:
        values = {
            _key(key): _encoded(value, f"{key!r} of {of!r}") for key, value in properties.items()
        }
        if _depth(values) <= _MAX_DEPTH:
            return values
        raise RecursionError
    except RecursionError:
        raise InvalidInputError(
            f"a property of {of!r} holds itself, or is nested too deeply", argument="properties"
        ) from None


def decoded(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that ``encoded`` was given; other JSON values as they are."""
    return {key: _decoded(value) for key, value in properties.items()}


def _encoded(value: Any, where: str) -> Any:
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int():
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case np.bool_():
            return bool(value)
        case np.integer() if value.dtype.kind in "iu":  # a timedelta64 is one too
            return int(value)
        case np.floating():
            return _encoded(float(value), where)
        case bytes() if type(value) is bytes:
            return _typed("bytes", base64.b64encode(value).decode())
        # A subclass may hold more than would come back.
        case date() | time() if type(value) in _TIME_TYPES and not getattr(value, "fold", 0):
            return _typed(_TIME_TYPES[type(value)], value.isoformat())
        case list():
            return [_encoded(member, where) for member in value]
        case tuple():
            return _typed("tuple", [_encoded(member, where) for member in value])
        case set() | frozenset():
            members = sorted((_encoded(member, where) for member in value), key=_json)
            return _typed("set" if isinstance(value, set) else "frozenset", members)
        case Decimal() if value.is_finite():
            return _typed("decimal", str(value))
        case UUID():
            return _typed("uuid", str(value))
        case PurePath() if isinstance(value, type(PurePath())):
            return _typed("path", str(value))
        case dict():
            named = {_key(key): _encoded(member, where) for key, member in value.items()}
            return _typed("dict", named) if _TYPE in named else named
    raise InvalidInputError(
        f"property {where} holds {value!r} ({type(value).__name__}), which would not come back "
        "as it is; use str, int, finite float or Decimal, bool, None, datetime, date, time, bytes, "
        "UUID, Path, NumPy scalars, lists, tuples, sets, or dicts with str keys",
        argument="properties",
    )


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _typed(kind: str, value: Any) -> dict[str, Any]:
    return {_TYPE: kind, "value": value}


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(member) for member in value]
    if isinstance(value, dict):
        if value.keys() == {_TYPE, "value"} and value[_TYPE] in list(_DECODERS):
            try:
                return _DECODERS[value[_TYPE]](value["value"])
            except (ArithmeticError, AttributeError, TypeError, ValueError):
                return value  # a user's value that only looks like an encoded one
        return {key: _decoded(member) for key, member in value.items()}
    return value


def _members(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return [_decoded(member) for member in value]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _key(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    raise InvalidInputError(f"a property's name must be a str, not {key!r}", argument="properties")
