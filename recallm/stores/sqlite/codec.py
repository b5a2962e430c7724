"""How values of ``recallm.model`` are encoded in columns, and the checksum of each row.

A list of strings is one text, with a separator behind each: splitting it costs a tenth of reading
JSON, and recall reads hundreds of statements for a question.

**Checksums.** A damaged row raises an error instead of giving a wrong answer: in each row that
recall reads, the column ``crc`` is the CRC-32 of other columns. SQLite computes it whenever it
writes the row (a stored generated column), with a function that ``register`` adds to a connection.
``verified`` computes it again from the values that were read. Not all damage is found. Tables of
numbers alone (``posting``, ``mention``, ``reference``, ``evidence``, ``neighbour``,
``metadata_entry``) and indexes have no checksums: a damaged number there can drop a statement from
the candidates, or change a strength or a count. A page that SQLite itself finds malformed is an
error in any table.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, LiteralString, TypeVar, cast

from recallm.model import ConceptKind, ConceptMention, Reference, canonical_json

_SEPARATOR = "\x1f"
_MARK = "\x1e"
"""Begins what stands for itself or for a separator within a string."""

_WITHIN_MENTION = "\x1d"

_Key = TypeVar("_Key")


def pack(parts: Iterable[str], separator: str = _SEPARATOR) -> str:
    """Encode strings as one text, in which the separator stands behind each: the lists that begin
    with these strings are those whose texts begin with the text."""
    parts = tuple(parts)
    text = separator.join((*parts, ""))
    if text.count(separator) == len(parts) and _MARK not in text:
        return text
    return "".join(
        part.replace(_MARK, _MARK + "0").replace(separator, _MARK + "1") + separator
        for part in parts
    )


def unpack(text: str, separator: str = _SEPARATOR) -> tuple[str, ...]:
    """Decode strings."""
    parts = text[:-1].split(separator) if text else ()
    if _MARK in text:
        parts = [p.replace(_MARK + "1", separator).replace(_MARK + "0", _MARK) for p in parts]
    return tuple(parts)


def below(path: Iterable[str]) -> tuple[str, str]:
    """The range [first, end) of the texts of all paths at and below ``path``, which is not
    empty."""
    text = pack(path)
    return text, text[:-1] + chr(ord(_SEPARATOR) + 1)


def pack_mentions(mentions: Iterable[ConceptMention]) -> str:
    """Encode the concepts of a statement as one text: name, label and kind of each; of a reference
    also its span and, where it has one, its antecedent."""
    return pack(pack(_parts_of(mention), _WITHIN_MENTION) for mention in mentions)


def _parts_of(mention: ConceptMention) -> Iterator[str]:
    yield from (mention.name, mention.label, mention.kind)
    yield from (str(part) for part in mention.reference or () if part is not None)


def unpack_mentions(text: str) -> tuple[ConceptMention, ...]:
    """Decode the concepts of a statement."""
    return tuple(map(_mention, unpack(text)))


@lru_cache(maxsize=1 << 14)
def _mention(text: str) -> ConceptMention:
    """A mention; a recall decodes a thousand, most of them known."""
    name, label, kind, *span = unpack(text, _WITHIN_MENTION)
    reference = Reference(int(span[0]), int(span[1]), *span[2:]) if span else None
    return ConceptMention(name=name, label=label, kind=cast(ConceptKind, kind), reference=reference)


def json_text(value: Mapping[str, Any]) -> str:
    """The JSON text of a mapping, in its own order."""
    return json.dumps(dict(value)) if value else "{}"


def hash_of(*values: object) -> int:
    """A 64-bit hash of JSON values; equal JSON has the same one."""
    digest = hashlib.blake2b(canonical_json(list(values)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def register(connection: sqlite3.Connection) -> None:
    """Prepare a connection to write tables with checksums."""
    # Some builds of SQLite refuse functions in a table's definition by default.
    connection.execute("PRAGMA trusted_schema = ON")
    # zlib.crc32 is a C function: no Python signal handler runs inside it, whose error SQLite would
    # drop.
    connection.create_function("crc32", 1, zlib.crc32, deterministic=True)


def checksum_column(
    columns: tuple[LiteralString, ...], name: LiteralString = "crc"
) -> LiteralString:
    """The definition of a column that holds the checksum of these columns of its table.

    The checksum of a vector has the number added of what the vector belongs to: it holds only in
    its own row, so that a damaged index cannot give a vector to another owner.
    """
    if columns[-1] == "blob":
        return ", " + name + " INTEGER NOT NULL AS (crc32(blob) + " + columns[1] + ") STORED"
    values: list[LiteralString] = ["ifnull(" + column + ", 'None')" for column in columns]
    text: LiteralString = " || char(31) || ".join(values)
    return ", " + name + " INTEGER NOT NULL AS (crc32(CAST(" + text + " AS BLOB))) STORED"


def verified(rows: Iterable[tuple[Any, ...]], table: str) -> list[tuple[Any, ...]]:
    """The rows without their last column, which is the checksum of the others.

    Raises:
        ValueError: a row is damaged.
    """
    checked: list[tuple[Any, ...]] = []
    joined = ""
    for row in rows:
        values = row[:-1]
        joined = joined or _SEPARATOR.join(["%s"] * len(values))  # half the time of joining values
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
