"""Rows that lack something, because a node was deleted while it was read.

Neo4j reads what is committed at the moment of reading. A node that a query matched may be gone by
the time its properties are read: they are null then, and the node comes without any."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from recallm.stores.neo4j.transaction import Row

__all__ = ["complete_rows"]

_READS = 3
_MAY_BE_NULL: Final = frozenset({"brought", "next", "previous", "summary", "told"})
_ALWAYS_THERE: Final[Mapping[str, tuple[str, ...]]] = {
    "concept": ("name", "label", "kind", "t_index", "updates", "statements"),
    "entity": ("id", "type", "label", "kind", "concept", "properties"),
    "origin": ("id", "metadata", "path"),
    "passage": ("id", "t", "text", "metadata", "path"),
    "statement": ("key", "text", "start", "end", "terms", "names", "labels", "kinds", "traits"),
    "summary": ("name", "t_index", "text", "terms", "traits"),
    "update": ("t",),
}
"""The properties of the nodes that stand in columns of these names."""


def complete_rows(read: Callable[[], list[Row]]) -> list[Row]:
    """What ``read`` gives, all of it whole: where a row lacks something it is read again, since
    what else was computed from the node that is gone may have another value now. What still
    lacks something then is left out."""
    for _ in range(_READS - 1):
        found = read()
        if all(map(_is_whole, found)):
            return found
    return [row for row in read() if _is_whole(row)]


def _is_whole(row: Row) -> bool:
    for column, value in row.items():
        if value is None:
            if column not in _MAY_BE_NULL:
                return False
        elif isinstance(value, dict) and not all(
            value.get(name) is not None for name in _ALWAYS_THERE[column]
        ):
            return False
    return True
