"""The generations of a namespace's rows: any amount is restored or deleted at once.

What a namespace holds carries the number that its node has in ``rows``. To forget everything, or to
fill a namespace from an archive, ``rows`` is pointed at other rows in one small transaction:
however much is deleted or written, it happens at once, and no transaction grows with it. Rows that
nothing points at stand under a namespace node without a name, which has ``purge_after``: from that
moment (milliseconds since 1970) they are to be deleted. The process that forgets
rows deletes them. If it is killed, the next store that is opened deletes the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, LiteralString

from recallm.errors import InvalidInputError, StoreError
from recallm.model import PreparedUpdate, Summary
from recallm.stores.cypher import schema
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.rows import LockedRows, Neo4jRows
from recallm.stores.neo4j.transaction import Tx
from recallm.stores.neo4j.values import fresh_key, fresh_rows
from recallm.stores.semantics.applying import restore_records

_AT_ONCE = 5000
"""Rows that one transaction deletes."""

_PATIENCE = 86_400_000
"""Milliseconds after which a restore that never ended is taken for dead: a day."""

STAGE: Final[LiteralString] = """
CREATE (n:RecallMNamespace {key: $stage, rows: $rows, purge_after: timestamp() + $patience})
SET n += $totals
"""

PUBLISH: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
MATCH (staged:RecallMNamespace {key: $stage})
WITH n, staged, staged { .*, key: n.key, writes: n.writes, purge_after: null } AS own
DELETE staged
SET n += own
RETURN n.t AS row
"""

DISCARD: Final[LiteralString] = """
MATCH (staged:RecallMNamespace {key: $stage})
SET staged.purge_after = 0
"""

GARBAGE: Final[LiteralString] = """
MATCH (n:RecallMNamespace)
WHERE n.purge_after <= timestamp()
RETURN n.key AS row
"""

_PURGED: Final[tuple[LiteralString, ...]] = (
    "(a:RecallMConcept)-[x:RELATED]->() WHERE a.namespace = namespace AND a.key IS NOT NULL",
    *[
        "(x:"
        + label
        + ") WHERE x.namespace = namespace"
        + "".join([" AND x." + name + " IS NOT NULL" for name in key.split(", ")[1:]])
        for _, label, key in schema.UNIQUE
        if key.startswith("namespace, ")
    ],
)

PURGE: Final[tuple[LiteralString, ...]] = tuple(
    "MATCH (n:RecallMNamespace {key: $key}) SET n.locked = true WITH n.rows AS namespace MATCH "
    + pattern
    + " WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS row"
    for pattern in _PURGED
)
"""Each deletes some rows, which it finds by the index of a constraint (a condition names each of
its properties); relationships first, so that no node has many left."""

FORGET_GARBAGE: Final[LiteralString] = "MATCH (n:RecallMNamespace {key: $key}) DELETE n"


def restore(
    connection: Connection,
    namespace: str,
    t_index: int,
    records: Iterable[PreparedUpdate | Summary],
) -> int:
    """``GraphStore.restore``: everything is written beside the namespace, which then points at
    it."""
    staged = _StagedRows(connection, namespace)
    try:
        written = restore_records(staged, namespace, t_index, records)
        staged.publish()
    except BaseException:
        staged.discard()
        raise
    return written


def purge(connection: Connection) -> None:
    """Delete the rows that no namespace points at. What fails is left for the next time: nobody
    sees these rows."""
    with suppress(StoreError):
        for key in connection.rows(GARBAGE, {}):
            given = {"key": key, "limit": _AT_ONCE}
            for query in PURGE:
                some = partial(Tx.rows, query=query, parameters=given)
                while connection.write(some, locks=False)[0]:
                    pass
            last = partial(Tx.rows, query=FORGET_GARBAGE, parameters=given)
            connection.write(last, locks=False)


class _StagedRows(Neo4jRows):
    """The rows of an archive that is being restored, each query in a transaction of its own. Nobody
    sees these rows, and nobody else writes them, until they are published."""

    def __init__(self, connection: Connection, namespace: str) -> None:
        super().__init__(namespace, fresh_rows())
        self._connection = connection
        self._stage = fresh_key()

    def opened(self, **parameters: Any) -> Mapping[str, Any]:
        def stage(tx: Tx) -> Mapping[str, Any]:
            found = LockedRows(tx, self.namespace).opened(**parameters)
            own = {"stage": self._stage, "rows": self.rows, "patience": _PATIENCE}
            tx.rows(STAGE, {**own, "totals": schema.NO_TOTALS})
            return {**found, "rows": self.rows}

        return self._connection.write(stage)

    def publish(self) -> None:
        """Let the namespace, if it is still empty, stand on the staged rows."""

        def publish(tx: Tx) -> None:
            namespace = LockedRows(tx, self.namespace)
            if namespace.open().totals.t > 0:
                raise InvalidInputError(
                    f"namespace {self.namespace!r} was written meanwhile; restore into a new one",
                    argument="namespace",
                )
            if not tx.rows(PUBLISH, {"namespace": namespace.rows, "stage": self._stage}):
                raise StoreError(
                    "what was written of the archive was deleted meanwhile, for it took longer "
                    "than a day; restore it again"
                )

        self._connection.write(publish)

    def discard(self) -> None:
        """Delete the staged rows."""
        with suppress(StoreError):
            self._connection.write(lambda tx: tx.rows(DISCARD, {"stage": self._stage}))
        purge(self._connection)

    def rows_of(self, query: LiteralString, **parameters: Any) -> list[Any]:
        def run(tx: Tx) -> list[Any]:
            staged = LockedRows(tx, None, key=self._stage, rows=self.rows)
            staged.open()
            return staged.rows_of(query, **parameters)

        return self._connection.write(run)
