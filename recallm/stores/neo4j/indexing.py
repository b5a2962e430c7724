"""Puts the vectors of a namespace into Neo4j's vector indexes that were written without."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, LiteralString

from recallm.stores.cypher.changes import with_floats
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.rows import LockedRows
from recallm.stores.neo4j.transaction import Row, Tx
from recallm.stores.neo4j.values import json_in, key_of
from recallm.stores.neo4j.vector_index import VectorIndexes, float_row, floats_name

__all__ = ["index_vectors"]

_AT_ONCE: Final = 500
"""Vectors that get their floats in one transaction."""

BEGIN_INDEXING: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.indexed = coalesce(n.indexed, false)
RETURN n.vector_bytes AS vector_bytes
"""
"""Writers write floats too from now on; the floats of earlier vectors are still missing."""

END_INDEXING: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.indexed = true
"""

STATEMENT_VECTORS_LEFT: Final[LiteralString] = """
MATCH (v:RecallMVector)
WHERE v.namespace = $namespace AND v.key > $after AND v.model = $model
    AND v[$floats_name] IS NULL
RETURN v.key AS place, v.blob AS blob ORDER BY v.namespace, v.key LIMIT $limit
"""

ENTITY_VECTORS_LEFT: Final[LiteralString] = """
MATCH (v:RecallMEntityVector)
WHERE v.namespace = $namespace AND v.model_key = $model_key AND v.entity > $after
    AND v[$floats_name] IS NULL
RETURN v.entity AS place, v.blob AS blob
ORDER BY v.namespace, v.model_key, v.entity LIMIT $limit
"""

ADD_STATEMENT_FLOATS: Final[LiteralString] = with_floats("""
UNWIND $vectors AS row
MATCH (v:RecallMVector {namespace: $namespace, key: row.place, model: $model})
WITH v, row""")

ADD_ENTITY_FLOATS: Final[LiteralString] = with_floats("""
UNWIND $vectors AS row
MATCH (v:RecallMEntityVector {
    namespace: $namespace, model_key: $model_key, entity: row.place
})
WITH v, row""")

_PASSES: Final[tuple[tuple[LiteralString, LiteralString, Any], ...]] = (
    (STATEMENT_VECTORS_LEFT, ADD_STATEMENT_FLOATS, -1),
    (ENTITY_VECTORS_LEFT, ADD_ENTITY_FLOATS, ""),
)
"""Of statements and of entities: what finds vectors without floats, what adds floats, and what
comes before all keys."""


def index_vectors(connection: Connection, indexes: VectorIndexes, namespace: str) -> int:
    """Give floats to each vector of a namespace that has none; return how many vectors got them.
    Each transaction writes some: after an interruption, another call goes on where this one
    stopped."""
    indexes.forget_made()
    total = 0
    for model, size in connection.write(partial(_begin, namespace=namespace)).items():
        name = floats_name(model, size)
        if name is None:
            continue
        indexes.make([("statement", model, size), ("entity", model, size)])
        given = {"model": model, "model_key": key_of(model), "floats_name": name, "limit": _AT_ONCE}
        for left, add, first in _PASSES:
            after = first
            while found := connection.write(
                partial(_add, namespace=namespace, left=left, add=add, given=given, after=after)
            ):
                total += len(found)
                after = found[-1]["place"]
    connection.write(partial(_end, namespace=namespace))
    return total


def _begin(tx: Tx, namespace: str) -> dict[str, int]:
    """The bytes of the namespace's vectors under each model."""
    found = tx.rows(BEGIN_INDEXING, {"namespace": _locked(tx, namespace)})
    sizes: dict[str, int] = json_in(found[0]["vector_bytes"] or "{}")
    return sizes


def _add(
    tx: Tx,
    namespace: str,
    left: LiteralString,
    add: LiteralString,
    given: Mapping[str, Any],
    after: Any,
) -> list[Row]:
    """Give floats to the next vectors; the lock keeps an entity's from becoming another one."""
    rows = _locked(tx, namespace)
    found = tx.rows(left, {"namespace": rows, "after": after, **given})
    vectors = [{"place": it["place"], **float_row(given["model"], it["blob"])} for it in found]
    tx.rows(add, {"namespace": rows, "vectors": vectors, **given})
    return found


def _end(tx: Tx, namespace: str) -> None:
    tx.rows(END_INDEXING, {"namespace": _locked(tx, namespace)})


def _locked(tx: Tx, namespace: str) -> int:
    """Lock the namespace; the number of its rows."""
    locked = LockedRows(tx, namespace)
    locked.open()
    return locked.rows
