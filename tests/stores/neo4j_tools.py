"""What tests of Neo4j share: an update, what a server holds."""

from __future__ import annotations

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
