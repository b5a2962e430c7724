"""Queries by named parameters, with lists of any length, and rows with their checksums."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection
from typing import Any, LiteralString

from recallm.stores.sqlite.checksums import verified
from recallm.stores.sqlite.schema import CHECKSUMMED_COLUMNS

__all__ = ["PAIRS", "Fetch", "Queries", "columns", "fetch_from"]

Fetch = Callable[[LiteralString, Any], list[tuple[Any, ...]]]
"""Runs a query with its parameters and returns all its rows."""

_LIST: LiteralString = "(SELECT value FROM json_each(:listed))"
_LIST_WITH_NUL: LiteralString = (
    "(SELECT replace(replace(value, char(30) || '0', char(0)), char(30) || '1', char(30))"
    " FROM json_each(:listed))"
)
"""``json_each`` ends a string at a NUL, so that a list with one is escaped."""

PAIRS: LiteralString = "(SELECT value >> 32 AS a, value & 4294967295 AS b FROM json_each(:listed))"
"""A table of pairs of row numbers from a list of ``a << 32 | b``."""


def fetch_from(connection: sqlite3.Connection) -> Fetch:
    """``Fetch`` over a connection."""

    def fetch(sql: LiteralString, values: Any) -> list[tuple[Any, ...]]:
        return connection.execute(sql, values).fetchall()

    return fetch


def columns(table: str) -> LiteralString:
    """The columns of a table that its checksum covers, and the checksum."""
    names: list[LiteralString] = [*CHECKSUMMED_COLUMNS[table], "crc"]
    return ", ".join(names)


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
