"""Queries by named parameters, with lists of any length, and rows with their checksums."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping
from typing import Any, LiteralString

from recallm.stores.sqlite.checksums import verified
from recallm.stores.sqlite.schema import CHECKSUMMED_COLUMNS

Fetch = Callable[[LiteralString, Any], list[tuple[Any, ...]]]
"""Runs a query with its parameters and returns all its rows."""

_LIST: LiteralString = "(SELECT value FROM json_each(:listed))"
_LIST_WITH_NUL: LiteralString = (
    "(SELECT replace(replace(value, char(30) || '0', char(0)), char(30) || '1', char(30)) AS value"
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
    ``lists`` are further lists by the names that a query has for them in braces.
    """

    def __init__(self, fetch: Fetch, **bound: Any) -> None:
        self._fetch = fetch
        self.bound = bound

    def rows(
        self,
        sql: LiteralString,
        listed: Collection[object] | None = None,
        *,
        lists: Mapping[LiteralString, Collection[object]] | None = None,
        **values: Any,
    ) -> list[tuple[Any, ...]]:
        """All rows of a query; none where a list is empty."""
        if listed is not None:
            if not listed:
                return []
            in_list, values["listed"] = _list(listed)
            sql = sql.replace("{list}", in_list)
        for name, items in (lists or {}).items():
            if not items:
                return []
            in_list, values[name] = _list(items)
            sql = sql.replace("{" + name + "}", in_list.replace(":listed", ":" + name))
        return self._fetch(sql, {**self.bound, **values})

    def read(
        self,
        table: str,
        sql: LiteralString,
        listed: Collection[object] | None = None,
        *,
        lists: Mapping[LiteralString, Collection[object]] | None = None,
        **values: Any,
    ) -> list[tuple[Any, ...]]:
        """All rows of a query, each compared with its checksum: ``{}`` stands for the columns of
        ``table`` that it covers.

        Raises:
            ValueError: a row is damaged.
        """
        sql = sql.replace("{}", columns(table))
        return verified(self.rows(sql, listed, lists=lists, **values), table)


def _list(listed: Collection[object]) -> tuple[LiteralString, str]:
    """A list in SQL, and the JSON text of its parameter."""
    text = json.dumps(list(listed))
    if "\\u0000" not in text:
        return _LIST, text
    return _LIST_WITH_NUL, json.dumps([_escaped(value) for value in listed])


def _escaped(value: object) -> str:
    return str(value).replace("\x1e", "\x1e1").replace("\0", "\x1e0")
