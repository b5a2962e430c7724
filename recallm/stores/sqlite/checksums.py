"""A checksum in each row that recall reads: a damaged row raises an error instead of giving a
wrong answer.

The column ``crc`` is the CRC-32 of other columns of its row. SQLite computes it whenever it writes
the row (a stored generated column), with a function that ``register`` adds to a connection.
``verified`` computes it again from the values that were read.

Not all damage is found. Tables of numbers alone (``posting``, ``mention``, ``reference``,
``evidence``, ``neighbour``, ``metadata_entry``) and indexes have no checksums: a damaged number
there can drop a statement from the candidates, or change a strength or a count. A page that SQLite
itself finds malformed is an error in any table.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from typing import Any, LiteralString, TypeVar

_BETWEEN = "\x1f"

_Key = TypeVar("_Key")


def register(connection: sqlite3.Connection) -> None:
    """Prepare a connection to write tables with checksums."""
    # Some builds of SQLite refuse functions in a table's definition by default.
    connection.execute("PRAGMA trusted_schema = ON")
    # zlib.crc32 is a C function: no Python signal handler runs inside it, whose error SQLite would
    # drop.
    connection.create_function("crc32", 1, zlib.crc32, deterministic=True)


def column(*columns: LiteralString, name: LiteralString = "crc") -> LiteralString:
    """The definition of a column that holds the checksum of these columns of its table."""
    values: list[LiteralString] = ["ifnull(" + column_name + ", 'None')" for column_name in columns]
    text: LiteralString = " || char(31) || ".join(values)
    if len(columns) == 1:
        text = columns[0]
    return ", " + name + " INTEGER NOT NULL AS (crc32(CAST(" + text + " AS BLOB))) STORED"


def vector_column(key: LiteralString) -> LiteralString:
    """The definition of a column that holds the checksum of a vector, plus the number ``key`` of
    what the vector belongs to: ``crc - key`` is the vector's checksum only in its own row, so that
    a damaged index cannot give a vector to another owner."""
    return ", crc INTEGER NOT NULL AS (crc32(blob) + " + key + ") STORED"


def verified(rows: Iterable[tuple[Any, ...]], table: str) -> list[tuple[Any, ...]]:
    """The rows without their last column, which is the checksum of the others.

    Raises:
        ValueError: a row is damaged.
    """
    checked: list[tuple[Any, ...]] = []
    joined = ""
    for row in rows:
        values = row[:-1]
        joined = joined or _BETWEEN.join(["%s"] * len(values))  # half the time of joining values
        if zlib.crc32((joined % values).encode()) != row[-1]:
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
    """Refuse rows of an index that are out of order: paging through them might never end.

    Raises:
        ValueError: a key is not greater than the one before it, the first one than ``after``.
    """
    for key in keys:
        if not key > after:
            raise ValueError("the rows of an index are out of order")
        after = key
