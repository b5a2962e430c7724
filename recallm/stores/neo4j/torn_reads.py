"""Rows that are incomplete because a node was deleted while the query read it.

Neo4j reads what is committed at the moment of reading. A node that a query matched may be deleted
before the query reads its properties: single properties are null then, and a returned node has
none."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from recallm.stores.neo4j.transaction import Row

__all__ = ["complete_rows"]

_READS = 6
_PAUSE = 0.001
"""Seconds before the second read, twice as long before each later one: a commit ends meanwhile."""
_MAY_BE_NULL: Final = frozenset({"latest_source", "next", "previous", "summary"})
_ALWAYS_THERE: Final[Mapping[str, tuple[str, ...]]] = {
    "concept": ("name", "label", "kind", "t_index", "updates", "statements"),
    "entity": ("id", "type", "label", "kind", "concept", "properties"),
    "object": ("id", "label", "concept", "type"),
    "passage": ("id", "t", "text", "metadata"),
    "shown": ("key",),
    "subject": ("id", "label", "concept"),
    "summary": ("name", "t_index", "text", "terms", "traits"),
    "update": ("t", "namespace"),
}
"""Column → the properties that a complete node in it always has."""
_FIRST_ALWAYS_THERE: Final[Mapping[str, int]] = {"statement": 6, "origin": 2}
"""Column with a list of properties → how many of the first ones a complete node always has."""


def complete_rows(read: Callable[[], Sequence[list[Row]]]) -> list[list[Row]]:
    """The rows of each query that ``read`` runs, without incomplete ones.

    If a row is incomplete, all rows are read again, at most ``_READS`` times: other rows may have
    values that were computed from the deleted node. The rows that are still incomplete after the
    last read are left out.
    """
    for turn in range(_READS - 1):
        found = read()
        if all(_is_complete(row) for rows in found for row in rows):
            return list(found)
        time.sleep(_PAUSE * 2**turn)
    return [[row for row in rows if _is_complete(row)] for rows in read()]


def _is_complete(row: Row) -> bool:
    for column, value in row.items():
        if value is None:
            if column not in _MAY_BE_NULL:
                return False
        elif (
            isinstance(value, dict)
            and not all(value.get(name) is not None for name in _ALWAYS_THERE[column])
        ) or (column in _FIRST_ALWAYS_THERE and None in value[: _FIRST_ALWAYS_THERE[column]]):
            return False
    return True
