"""Filling a namespace from an archive, and deleting rows that no namespace points at any more
(``recallm.stores.cypher.generations``): any amount, in transactions of bounded size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, LiteralString

from recallm.errors import InvalidInputError, StoreError
from recallm.model import PreparedUpdate, Summary
from recallm.stores.cypher import generations as cypher
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.rows import LockedRows, Neo4jRows, lock
from recallm.stores.neo4j.transaction import Row, Tx, rows
from recallm.stores.neo4j.values import fresh_rows
from recallm.stores.semantics.archiving import restore_records
from recallm.stores.semantics.rows import Opened

__all__ = ["purge", "restore"]

_AT_ONCE = 500
"""Rows that one transaction deletes of each kind."""

_PATIENCE = 86_400_000
"""Milliseconds after which a restore that never ended is taken for dead: a day."""


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
        for garbage in connection.read(lambda tx: rows(tx, cypher.GARBAGE, {})):
            some = partial(_purge_some, key=garbage["key"], namespace=garbage["rows"])
            while connection.write(some):
                pass


def _purge_some(tx: Tx, key: str, namespace: str) -> bool:
    """Delete some rows; whether there is more to do."""
    if not rows(tx, cypher.LOCK_GARBAGE, {"key": key}):
        return False
    for query in cypher.PURGE:
        found = rows(tx, query, {"namespace": namespace, "limit": _AT_ONCE})
        if found[0]["deleted"]:
            return True
    rows(tx, cypher.DISCARD, {"key": key})
    return False


class _StagedRows(Neo4jRows):
    """The rows of an archive that is being restored, each query in a transaction of its own. Nobody
    sees these rows, and nobody else writes them, until they are published."""

    def __init__(self, connection: Connection, namespace: str) -> None:
        super().__init__(fresh_rows())
        self._connection = connection
        self._namespace = namespace
        self._is_staged = False

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        models: Collection[str] = (),
    ) -> Opened:
        del ids, items, models

        def begin(tx: Tx) -> Opened:
            opened = self._open_empty(tx)[1]
            rows(tx, cypher.STAGE, {"stage": self.key, "patience": _PATIENCE})
            return opened

        opened = self._connection.write(begin)
        self._is_staged = True
        return opened

    def publish(self) -> None:
        """Let the namespace stand on the staged rows."""

        def publish(tx: Tx) -> None:
            key, _ = self._open_empty(tx)
            if not rows(tx, cypher.PUBLISH, {"namespace": key, "stage": self.key}):
                raise StoreError(
                    "what was written of the archive was deleted meanwhile, for it took longer "
                    "than a day; restore it again"
                )

        self._connection.write(publish)

    def discard(self) -> None:
        """Delete the staged rows."""
        if self._is_staged:
            with suppress(StoreError):
                self._connection.write(lambda tx: rows(tx, cypher.CLEAR, {"stage": self.key}))
            purge(self._connection)

    def _rows(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        def run(tx: Tx) -> Sequence[Row]:
            lock(tx, self.key, None)
            return rows(tx, query, {"namespace": self.key, **parameters})

        return self._connection.write(run)

    def _open_empty(self, tx: Tx) -> tuple[str, Opened]:
        """The rows of the namespace, which must be empty, and what its node says."""
        namespace = LockedRows(tx, self._namespace)
        opened = namespace.open()
        if opened.totals.t > 0:
            raise InvalidInputError(
                f"namespace {self._namespace!r} was written before; restore into a new one",
                argument="namespace",
            )
        return namespace.key, opened
