"""A checksum in each row that recall reads, so that a damaged row is an error and no wrong answer.

The column ``crc`` is the CRC-32 of other columns of its row. SQLite computes the checksum whenever
it writes the row (a stored generated column), with a function that ``register`` gives to a
connection that writes; ``verified`` computes it again from what was read.

Not every damage shows: tables of numbers alone (``posting``, ``mention``, ``evidence``,
``neighbour``, ``metadata_entry``) have no checksums, nor have indexes. A damaged number there can
make a statement no candidate, or change a strength or a count. A page that SQLite itself finds
malformed is an error in any table.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from typing import Any, LiteralString, TypeVar

__all__ = ["check_ascending", "column", "register", "verified", "verified_vectors"]

_BETWEEN = "\x1f"

_Key = TypeVar("_Key")


def register(connection: sqlite3.Connection) -> None:
    """Let a connection write tables with checksums."""
    # Some builds of SQLite trust no function in a table's definition by themselves.
    connection.execute("PRAGMA trusted_schema = ON")
    # A function of C: no signal handler runs inside of a write, where SQLite would drop its error.
    connection.create_function("crc32", 1, zlib.crc32, deterministic=True)


def column(*columns: LiteralString, name: LiteralString = "crc") -> LiteralString:
    """The definition of a column that holds the checksum of these columns of its table."""
    values: list[LiteralString] = ["ifnull(" + it + ", 'None')" for it in columns]
    text: LiteralString = " || char(31) || ".join(values)
    if len(columns) == 1:
        text = columns[0]
    return ", " + name + " INTEGER NOT NULL AS (crc32(CAST(" + text + " AS BLOB))) STORED"


def verified(rows: Iterable[tuple[Any, ...]], table: str) -> list[tuple[Any, ...]]:
    """Rows whose last column is the checksum of the columns before it, without that column.

    Raises:
        ValueError: a row is damaged.
    """
    checked: list[tuple[Any, ...]] = []
    for row in rows:
        values = row[:-1]
        if zlib.crc32(_BETWEEN.join(map(str, values)).encode()) != row[-1]:
            raise ValueError(f"a row of the table {table} does not have its checksum")
        checked.append(values)
    return checked


def verified_vectors(rows: Iterable[tuple[_Key, bytes, int]]) -> list[tuple[_Key, bytes]]:
    """(key, vector) of rows (key, vector, checksum).

    Raises:
        ValueError: a vector is damaged.
    """
    checked: list[tuple[_Key, bytes]] = []
    for key, blob, crc in rows:
        if zlib.crc32(blob) != crc:
            raise ValueError(f"the vector of {key!r} does not have its checksum")
        checked.append((key, blob))
    return checked


def check_ascending(keys: Iterable[int], after: int) -> None:
    """Refuse rows of an index that do not stand in its order: whoever pages through the index by
    its order would never come to an end.

    Raises:
        ValueError: a key is not greater than the one before it, the first one than ``after``.
    """
    for key in keys:
        if not key > after:
            raise ValueError("the rows of an index are out of order")
        after = key
