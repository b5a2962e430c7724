"""What tests of Neo4j share: an update, what a server holds, bookmarks."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from neo4j import Driver

from recallm.model import PreparedUpdate
from tests.store_suite.marked_text import entity, prepared, triplet


def rich(id: str) -> PreparedUpdate:
    """An update with a bit of everything."""
    return prepared(
        id,
        "[Ann] met [Bo]",
        "{They>ann} sang",
        session="s",
        entities=(entity("e", "Ann"), entity("f", "Bo")),
        triplets=(triplet("e", "met", "f"),),
    )


def letters(texts: Sequence[str]) -> list[list[float]]:
    """Vectors that are near where texts have the same letters."""
    return [
        [1.0, *(float(text.lower().count(letter)) for letter in "abcdefghilmnoprst")]
        for text in texts
    ]


def rows_of(driver: Driver, namespace: str) -> int:
    """The number of a namespace's rows."""
    found, _, _ = driver.execute_query(
        "MATCH (n:RecallMNamespace {key: $namespace}) RETURN n.rows AS rows", namespace=namespace
    )
    rows: int = found[0]["rows"]
    return rows


def nodes_of(driver: Driver, rows: int) -> int:
    """How many nodes a generation of a namespace has."""
    counted, _, _ = driver.execute_query(
        "MATCH (n {namespace: $rows}) RETURN count(n) AS count", rows=rows
    )
    found: int = counted[0]["count"]
    return found


def parts_of(bookmark: str | None) -> tuple[bytes, int]:
    """The database's id and the transaction's number in one bookmark of the server: a list of a
    byte string of 16 and an integer, in PackStream."""
    assert bookmark is not None
    assert " " not in bookmark
    packed = base64.b64decode(bookmark.removeprefix("FB:"))
    number = packed[19:]
    sizes = {0xC8: 1, 0xC9: 2, 0xCA: 4, 0xCB: 8}
    if number[0] in sizes:
        return packed[3:19], int.from_bytes(number[1 : 1 + sizes[number[0]]], signed=True)
    return packed[3:19], int.from_bytes(number[:1], signed=True)


def bookmark_of(database: bytes, number: int) -> str:
    """The bookmark of a transaction of a database."""
    packed = b"\x91\xcc\x10" + database + b"\xca" + number.to_bytes(4) + b"\x90"
    return "FB:" + base64.b64encode(packed).decode()
