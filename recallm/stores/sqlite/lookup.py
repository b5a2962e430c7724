"""Names to row ids, many at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, LiteralString

__all__ = ["Fetch", "fetch_by", "in_chunks", "inserted"]

Fetch = Callable[[LiteralString, Sequence[object]], list[tuple[Any, ...]]]
"""Run a query and give all its rows."""

_CHUNK = 512


def in_chunks(values: Iterable[object]) -> Iterator[tuple[LiteralString, list[object]]]:
    """Placeholders for ``IN (…)`` and their values, at most 512 at a time.

    The last value is repeated up to a power of two, so that few query texts are compiled.
    """
    listed = list(values)
    for first in range(0, len(listed), _CHUNK):
        chunk = listed[first : first + _CHUNK]
        size = 1 << (len(chunk) - 1).bit_length()
        chunk += chunk[-1:] * (size - len(chunk))
        yield _PLACEHOLDERS[size], chunk


def _placeholders(size: int) -> LiteralString:
    marks: list[LiteralString] = ["?"] * size
    return ",".join(marks)


_PLACEHOLDERS: dict[int, LiteralString] = {1 << power: _placeholders(1 << power) for power in range(10)}


def inserted(connection: sqlite3.Connection, sql: LiteralString, values: Sequence[object]) -> int:
    """Insert one row; its id."""
    cursor: Any = connection.execute(sql, values)
    id: int = cursor.lastrowid
    return id


def fetch_by(
    fetch: Fetch,
    before: LiteralString,
    values: Collection[object],
    after: LiteralString = "",
    *,
    lead: Sequence[object] = (),
    tail: Sequence[object] = (),
) -> list[tuple[Any, ...]]:
    """The rows of ``before (?, …) after`` over all chunks of ``values``; ``lead`` and ``tail`` are
    the values of the placeholders before and after the list."""
    rows: list[tuple[Any, ...]] = []
    for marks, chunk in in_chunks(values):
        rows += fetch(before + " (" + marks + ") " + after, [*lead, *chunk, *tail])
    return rows
