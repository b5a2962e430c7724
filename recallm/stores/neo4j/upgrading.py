"""Bringing the rows of an earlier version of the schema up to this one's.

In transactions of bounded size: whoever is cut short, or does it at the same time as another,
changes nothing that the next one would not do."""

from __future__ import annotations

import uuid
from functools import partial
from typing import LiteralString

from recallm.stores.cypher import schema as cypher
from recallm.stores.cypher.writing import PIN_MODEL, VECTOR_SIZES
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.transaction import Tx, chunks, rows
from recallm.stores.neo4j.values import item_key, key_of, path_keys

__all__ = ["upgrade"]

_AT_ONCE = 500


def upgrade(connection: Connection, version: int) -> None:
    """Bring the rows of all namespaces up from ``version``."""
    if version < 2:
        _mark_items(connection)
    if version < 3:
        for row in connection.read(lambda tx: rows(tx, cypher.ALL_ROWS, {})):
            connection.write(partial(_pin_sizes, namespace=row["namespace"]))
            for query in (cypher.NAME_CONCEPTS, cypher.TELL_ENTITIES, cypher.TELL_TRIPLETS):
                last: str | None = ""
                while last is not None:
                    last = connection.write(
                        partial(_mend_some, query=query, namespace=row["namespace"], after=last)
                    )

    if version < 4:
        for row in connection.read(lambda tx: rows(tx, cypher.ALL_ROWS, {})):
            connection.write(partial(_pin_model, namespace=row["namespace"]))
            done: int | None = 0
            while done is not None:
                done = connection.write(
                    partial(_drop_others, namespace=row["namespace"], after=done)
                )


def _mark_items(connection: Connection) -> None:
    """Let the items that version 1 wrote (only restored archives could bring any) be found by
    their path and key."""
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
        connection.write(
            partial(rows, query=cypher.MARK_ITEMS, parameters={"rows": chunk}), locks=False
        )


def _pin_sizes(tx: Tx, namespace: str) -> None:
    """Take the first vector under each model, in order of t, for the size of those to come."""
    if rows(tx, cypher.LOCK_ROWS, {"namespace": namespace}):
        found = rows(tx, cypher.FIRST_VECTORS, {"namespace": namespace})
        sizes = [[key_of(row["model"]), len(row["blob"])] for row in found]
        rows(tx, VECTOR_SIZES, {"namespace": namespace, "sizes": sizes})


def _pin_model(tx: Tx, namespace: str) -> None:
    """Take the model of the first statement vector for that of those to come."""
    if rows(tx, cypher.LOCK_ROWS, {"namespace": namespace}):
        for row in rows(tx, cypher.FIRST_VECTOR, {"namespace": namespace}):
            pin = {"model": row["model"], "size": len(row["blob"]), "origin": uuid.uuid4().hex}
            rows(tx, PIN_MODEL, {"namespace": namespace, **pin})


def _drop_others(tx: Tx, namespace: str, after: int) -> int | None:
    """Let go of the next statement vectors of another model or size, from this key on; the key of
    the last of them."""
    if not rows(tx, cypher.LOCK_ROWS, {"namespace": namespace}):
        return None
    parameters = {"namespace": namespace, "after": after, "limit": _AT_ONCE}
    last: int | None = rows(tx, cypher.DROP_OTHERS, parameters)[0]["last"]
    return last


def _mend_some(tx: Tx, query: LiteralString, namespace: str, after: str) -> str | None:
    """Let the next entities from the one with this key on say on which concept they stand, or
    them or triplets what they were told with; the key of the last of them (or its subject's)."""
    if not rows(tx, cypher.LOCK_ROWS, {"namespace": namespace}):
        return None
    parameters = {"namespace": namespace, "after": after, "limit": _AT_ONCE}
    last: str | None = rows(tx, query, parameters)[0]["last"]
    return last
