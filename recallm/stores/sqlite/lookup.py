"""Queries over many keys at once, and rows that are compared with their checksums."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, LiteralString, TypeVar

from recallm.stores.sqlite.checksums import verified
from recallm.stores.sqlite.schema import CHECKSUMMED_COLUMNS

__all__ = [
    "Fetch",
    "columns",
    "fetch_by",
    "fetch_from",
    "in_chunks",
    "in_pairs",
    "read",
    "read_by",
]

Fetch = Callable[[LiteralString, Any], list[tuple[Any, ...]]]
"""Runs a query with its parameters and returns all its rows."""


def fetch_from(connection: sqlite3.Connection) -> Fetch:
    """``Fetch`` over a connection."""

    def fetch(sql: LiteralString, values: Any) -> list[tuple[Any, ...]]:
        return connection.execute(sql, values).fetchall()

    return fetch


_CHUNK = 512

_T = TypeVar("_T")


def in_chunks(values: Iterable[object]) -> Iterator[tuple[LiteralString, list[object]]]:
    """Placeholders for ``IN (…)`` and their values, at most 512 at a time.

    The last value is repeated up to a power of two: few distinct queries are compiled.
    """
    for chunk in _padded(list(values)):
        yield _MARKS[len(chunk)], chunk


def in_pairs(
    values: Sequence[tuple[object, object]],
) -> Iterator[tuple[LiteralString, list[object]]]:
    """`in_chunks` for pairs: rows for ``VALUES …``, and their values, flat."""
    for chunk in _padded(list(values)):
        yield _PAIRS[len(chunk)], [value for pair in chunk for value in pair]


def _padded(listed: list[_T]) -> Iterator[list[_T]]:
    for first in range(0, len(listed), _CHUNK):
        chunk = listed[first : first + _CHUNK]
        size = 1 << (len(chunk) - 1).bit_length()
        yield chunk + chunk[-1:] * (size - len(chunk))


def _repeated(mark: LiteralString) -> dict[int, LiteralString]:
    texts: dict[int, LiteralString] = {}
    for power in range(_CHUNK.bit_length()):
        marks: list[LiteralString] = [mark] * (1 << power)
        texts[1 << power] = ",".join(marks)
    return texts


_MARKS = _repeated("?")
_PAIRS = _repeated("(?,?)")


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


def read(
    fetch: Fetch, table: str, sql: LiteralString, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    """The rows of a query, each compared with its checksum; ``{}`` in the query stands for
    ``columns(table)``.

    Raises:
        ValueError: a row is damaged.
    """
    return verified(fetch(sql.replace("{}", _COLUMNS[table]), values), table)


def read_by(
    fetch: Fetch,
    table: str,
    before: LiteralString,
    values: Collection[object],
    after: LiteralString = "",
    *,
    lead: Sequence[object] = (),
    tail: Sequence[object] = (),
) -> list[tuple[Any, ...]]:
    """`fetch_by` for a query as in `read`.

    Raises:
        ValueError: a row is damaged.
    """
    sql: LiteralString = before.replace("{}", _COLUMNS[table])
    return verified(fetch_by(fetch, sql, values, after, lead=lead, tail=tail), table)


def columns(table: str) -> LiteralString:
    """The columns of a table that its checksum covers, and the checksum."""
    return _COLUMNS[table]


def _columns(names: Sequence[LiteralString]) -> LiteralString:
    return ", ".join(names) + ", crc"


_COLUMNS: dict[str, LiteralString] = {
    table: _columns(names) for table, names in CHECKSUMMED_COLUMNS.items()
}


_LIST: LiteralString = "(SELECT value FROM json_each(:listed))"
_LIST_WITH_NUL: LiteralString = (
    "(SELECT replace(replace(value, char(30) || '0', char(0)), char(30) || '1', char(30))"
    " FROM json_each(:listed))"
)
"""``json_each`` ends a string at a NUL, so that a list with one is escaped."""


class Queries:
    """Queries with the parameters ``bound``, and those that a call adds.

    ``listed`` are the values of a list, which a query names ``{list}``, or ``:listed`` as JSON.
    """

    def __init__(self, fetch: Fetch, **bound: Any) -> None:
        self._fetch = fetch
        self.bound = bound

    def rows(
        self, sql: LiteralString, listed: Collection[object] | None = None, **values: Any
    ) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        if "?" in sql:
            return self._fetch(sql, listed or ())
        if listed is not None:
            if not listed:
                return []
            text = json.dumps(list(listed))
            in_list = _LIST
            if "\\u0000" in text:
                in_list = _LIST_WITH_NUL
                text = json.dumps([_escaped(value) for value in listed])
            sql = sql.replace("{list}", in_list)
            values["listed"] = text
        return self._fetch(sql, {**self.bound, **values})

    def read(
        self,
        table: str,
        sql: LiteralString,
        listed: Collection[object] | None = None,
        **values: Any,
    ) -> list[tuple[Any, ...]]:
        """All rows of a query, each compared with its checksum: ``{}`` stands for the columns of
        ``table`` that it covers.

        Raises:
            ValueError: a row is damaged.
        """
        return verified(self.rows(sql.replace("{}", columns(table)), listed, **values), table)


def _escaped(value: object) -> str:
    return str(value).replace("\x1e", "\x1e1").replace("\0", "\x1e0")
