"""Views of a database, and write transactions, wherever it is kept.

A file (``file``): a connection for each open reader, since SQLite's snapshot is the reader's view,
and one for writing behind a lock, WAL between them. In memory (``memory``): one connection; a write
that meets open readers first leaves them a copy of the database, so that they too keep their view.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, LiteralString, Protocol

from recallm.errors import ClosedError
from recallm.stores.sqlite.failures import translated

__all__ = ["WRITING_ALREADY", "Connections", "Held", "Snapshot", "connect", "transaction"]

WRITING_ALREADY = (
    "this thread is writing to the store already; finish that write first (read the records of a "
    "restore from elsewhere than a write)"
)
"""What a write inside of a write is told."""

_CACHE_KIB = 16_384

Row = tuple[Any, ...]


class Snapshot:
    """One state of the database, for as long as a reader is open."""

    def __init__(self, held: Held, name: str, store: Connections) -> None:
        self._held = held
        self._name = name
        self._store = store
        self.open = True

    def rows(self, sql: LiteralString, values: Sequence[object] = ()) -> list[Row]:
        """All rows of a query.

        Raises:
            StoreError: the query failed; ClosedError: the reader or the store was closed.
        """
        held = self._held
        while True:
            lock = held.lock
            with lock:
                if lock is not held.lock:
                    continue
                if not self.open or self._store.closed:
                    raise ClosedError
                try:
                    return held.connection.execute(sql, values).fetchall()
                except sqlite3.Error as error:
                    raise translated(error, self._name, waited=0.0, limit=0.0) from error


class Held:
    """A connection that readers read from, and the lock that they take turns by."""

    def __init__(self, connection: sqlite3.Connection, lock: AbstractContextManager[bool]) -> None:
        self.connection = connection
        self.lock = lock
        self.readers = 0


class Connections(Protocol):
    """Where snapshots and write transactions come from."""

    closed: bool

    def read(self) -> AbstractContextManager[Snapshot]:
        """A view of the database as it is now."""
        ...

    def write(
        self, *, purge: bool = False, keep_view: bool = False, bulk: bool = False
    ) -> AbstractContextManager[sqlite3.Connection]:
        """A write transaction: committed at the end of the block, rolled back by an error.
        ``purge``: what is deleted leaves the file and the log too. ``keep_view``: readers that
        open inside the block see the state before it. ``bulk``: much is written."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


@contextmanager
def transaction(
    connection: sqlite3.Connection, name: str, limit: float, *, started: float | None = None
) -> Generator[None, None, None]:
    """A write transaction: committed at the end of the block, rolled back by an error.

    Raises:
        StoreError: it failed; ``name`` is what of, ``limit`` how long it may wait.
    """
    began = time.monotonic() if started is None else started
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        waited = time.monotonic() - began
        raise translated(error, name, waited=waited, limit=limit) from error


def connect(address: str, timeout: float) -> sqlite3.Connection:
    """A connection that begins no transaction by itself, for any thread, one at a time."""
    connection = sqlite3.connect(
        address,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        uri=address.startswith("file:"),
    )
    try:
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection
