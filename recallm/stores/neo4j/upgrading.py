"""Bringing the rows of an earlier version of the schema up to this one's."""

from __future__ import annotations

from functools import partial

from recallm.stores.cypher import schema as cypher
from recallm.stores.neo4j.connection import Connection, chunks, rows
from recallm.stores.neo4j.values import item_key, path_keys

__all__ = ["mark_items"]

_AT_ONCE = 500


def mark_items(connection: Connection) -> None:
    """Let the items that version 1 wrote (only restored archives could bring any) be found by
    their path and key. In transactions of bounded size: whoever is cut short, or does it at the
    same time, changes nothing that the next one would not do."""
    found = connection.read(lambda tx: rows(tx, cypher.UNMARKED_ITEMS, {}))
    marks = [
        {
            "namespace": row["namespace"],
            "t": row["t"],
            "item_key": item_key(row["path"], row["key"]),
            "paths": path_keys(row["path"]),
        }
        for row in found
    ]
    for chunk in chunks(marks, _AT_ONCE):
        connection.write(partial(rows, query=cypher.MARK_ITEMS, parameters={"rows": chunk}))
