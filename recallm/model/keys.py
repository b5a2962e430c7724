"""How statements, passages and JSON values are identified: each rule stands here once.

* A statement's **key** is ``t_index << POSITION_BITS | position``: the same in every store, and
  ascending in the order of arrival. The evidence of a relation has such a key too.
* A statement's **id** is ``<passage id>#<position>``: what users see.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

POSITION_BITS = 20
"""How many low bits of a key hold the position."""

NO_POSITION = (1 << POSITION_BITS) - 1
"""The position of evidence that no statement shows (an update of the graph alone)."""

MAX_POSITION = NO_POSITION - 1
"""The last position that a statement can have in its passage."""

LARGEST_NUMBER = 1 << 62
"""Greater than every key and t, and the largest count: stores hold signed integers of 64 bits."""


def statement_key(t_index: int, position: int) -> int:
    """The key of the statement at ``position`` of the knowledge update ``t_index``."""
    return t_index << POSITION_BITS | position


def t_index_of(key: int) -> int:
    """The temporal index in a key."""
    return key >> POSITION_BITS


def position_of(key: int) -> int:
    """The position in a key."""
    return key & NO_POSITION


def statement_id(passage_id: str, position: int) -> str:
    """The id of the statement at ``position`` of a passage."""
    return f"{passage_id}#{position}"


def parse_statement_id(id: str) -> tuple[str, int] | None:
    """The passage id and the position in a statement's id; None where ``id`` is not the id of a
    statement."""
    passage_id, _, digits = id.rpartition("#")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= len(str(MAX_POSITION))):
        return None
    position = int(digits)
    is_canonical = id == statement_id(passage_id, position) and position <= MAX_POSITION
    return (passage_id, position) if is_canonical else None


def canonical_json(value: Any) -> str:
    """``value`` as JSON with sorted keys. Two JSON values are equal where these texts are equal:
    1, 1.0, true and "1" are four values."""
    return json.dumps(value, sort_keys=True)


empty_mapping: Callable[[], Mapping[str, Any]] = partial(MappingProxyType, {})
"""A read-only empty mapping, for defaults."""
