"""Snapshots of a database and write transactions, for a file or for memory.

A file (``file``) has one connection for each open reader, because SQLite's read transaction is the
reader's snapshot, and one connection for writing, behind a lock; it uses WAL. Memory (``memory``)
has one connection; a write that meets open readers first leaves them a copy of the database.

**Interrupts.** A signal handler may raise (Ctrl-C, a time-out) between any two calls of the main
thread. So every step that must be undone has a ``try … finally``, and each step of the ``finally``
is one call into C: CPython runs signal handlers after a call, not before it. A lock that is waited
for with a time limit is an ``RLock``, which knows its owner: its release fails, without harm, where
an interrupt ended the wait.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, LiteralString, Protocol, TypeVar
from urllib.parse import quote

from recallm.errors import ClosedError
from recallm.stores.sqlite.failures import DRIVER_ERRORS, translated

__all__ = [
    "WRITING_ALREADY",
    "Connections",
    "ReadConnection",
    "Snapshot",
    "connect",
    "file_address",
    "transact",
]

WRITING_ALREADY = (
    "this thread is writing to the store already; finish that write first (read the records of a "
    "restore from elsewhere than a write)"
)
"""The message for a write inside of a write."""

_CACHE_KIB = 16_384

Row = tuple[Any, ...]
_T = TypeVar("_T")


class Snapshot:
    """One state of the database, for as long as a reader is open."""

    def __init__(self, name: str, store: Connections) -> None:
        self.source: ReadConnection | None = None
        self.name = name
        self._store = store
        self.open = True

    def rows(self, sql: LiteralString, values: Sequence[object] = ()) -> list[Row]:
        """All rows of a query.

        Raises:
            StoreError: the query failed; ClosedError: the reader or the store was closed.
        """
        source = self.source
        if source is None:
            raise ClosedError
        while True:
            lock = source.lock
            with lock:
                if lock is not source.lock:
                    continue
                if not self.open or self._store.closed:
                    raise ClosedError
                try:
                    return source.connection.execute(sql, values).fetchall()
                except DRIVER_ERRORS as error:
                    raise translated(error, self.name, waited=0.0, limit=0.0) from error


class ReadConnection:
    """A connection that readers use, and the lock by which they take turns.

    ``snapshots`` holds the open snapshots of readers that share the connection, as weak references:
    a reader that an interrupt kept from ending disappears with its snapshot. It stays empty for a
    connection that belongs to one reader alone.
    """

    def __init__(self, connection: sqlite3.Connection, lock: threading.RLock) -> None:
        self.connection = connection
        self.lock = lock
        self.snapshots: weakref.WeakSet[Snapshot] = weakref.WeakSet()


class Connections(Protocol):
    """The source of snapshots and write transactions."""

    closed: bool

    @property
    def erasure_pending(self) -> bool:
        """Whether deleted text may remain in the file or in its log."""
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """A snapshot of the database as it is now."""
        ...

    def write(
        self,
        work: Callable[[sqlite3.Connection], _T],
        *,
        erase: bool = False,
        waits: bool = True,
        keep_view: bool = False,
        bulk: bool = False,
    ) -> _T:
        """Call ``work`` in a write transaction and return its result: commit when it returns, roll
        back when it raises.

        ``erase``: if ``work`` returns a true value, overwrite what it deleted in the file and in
        the log. Without ``waits``, another writer causes a StoreBusyError at once. ``keep_view``:
        readers that open during ``work`` see the state before it. ``bulk``: expect a large write.
        """
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


def transact(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], _T]) -> _T:
    """Call ``work`` in a write transaction and return its result: commit when it returns, roll
    back when it raises."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        result = work(connection)
        connection.execute("COMMIT")
        return result
    finally:
        if connection.in_transaction:
            connection.rollback()


def file_address(path: Path, mode: str) -> str:
    """The URI of a database file; its name may have any bytes."""
    return f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"


def connect(address: str, timeout: float) -> sqlite3.Connection:
    """A connection without implicit transactions, for any thread, one at a time."""
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
