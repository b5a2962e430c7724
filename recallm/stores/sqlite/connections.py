"""Views of a database, and write transactions, wherever the database is.

A file (``file``): a connection for each open reader, since SQLite's snapshot is the reader's view,
and one for writing behind a lock, WAL between them. In memory (``memory``): one connection; a write
that meets open readers first leaves them a copy of the database, so that they too keep their view.

**Interrupts.** A signal handler may raise (Ctrl-C, a time-out) between any two calls of the main
thread. What must be undone therefore stands in ``try … finally``, and each step of the ``finally``
is one call into C: CPython runs signal handlers after a call, not before it. A lock that is waited
for with a time limit is an ``RLock``, which knows its owner: its release fails, harmlessly, where
the wait was cut short.
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
    "Held",
    "Snapshot",
    "connect",
    "file_address",
    "transact",
]

WRITING_ALREADY = (
    "this thread is writing to the store already; finish that write first (read the records of a "
    "restore from elsewhere than a write)"
)
"""The message of a write inside of a write."""

_CACHE_KIB = 16_384

Row = tuple[Any, ...]
_T = TypeVar("_T")


class Snapshot:
    """One state of the database, for as long as a reader is open."""

    def __init__(self, name: str, store: Connections) -> None:
        self.held: Held | None = None
        self.name = name
        self._store = store
        self.open = True

    def rows(self, sql: LiteralString, values: Sequence[object] = ()) -> list[Row]:
        """All rows of a query.

        Raises:
            StoreError: the query failed; ClosedError: the reader or the store was closed.
        """
        held = self.held
        if held is None:
            raise ClosedError
        while True:
            lock = held.lock
            with lock:
                if lock is not held.lock:
                    continue
                if not self.open or self._store.closed:
                    raise ClosedError
                try:
                    return held.connection.execute(sql, values).fetchall()
                except DRIVER_ERRORS as error:
                    raise translated(error, self.name, waited=0.0, limit=0.0) from error


class Held:
    """A connection that readers read from, and the lock that they take turns by. ``views`` are the
    views of the readers that share the connection, by weak references: a reader that an interrupt
    kept from ending is gone with its view. A connection that one reader has for itself has none."""

    def __init__(self, connection: sqlite3.Connection, lock: threading.RLock) -> None:
        self.connection = connection
        self.lock = lock
        self.views: weakref.WeakSet[Snapshot] = weakref.WeakSet()


class Connections(Protocol):
    """Where snapshots and write transactions come from."""

    closed: bool

    @property
    def erasure_pending(self) -> bool:
        """Whether deleted text may still lie in the file or in its log."""
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """A view of the database as it is now."""
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
        """What ``work`` returns, called in a write transaction: committed when it returns, rolled
        back when it raises. ``erase``: where ``work`` returns something true, what it deleted is
        overwritten in the file and the log. Unless it ``waits``, another writer is a StoreBusyError
        at once. ``keep_view``: readers that open during ``work`` see the state before it. ``bulk``:
        much is written."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


def transact(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], _T]) -> _T:
    """What ``work`` returns, called in a write transaction: committed when it returns, rolled back
    when it raises."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        result = work(connection)
        connection.execute("COMMIT")
        return result
    finally:
        if connection.in_transaction:
            connection.rollback()


def file_address(path: Path, mode: str) -> str:
    """The URI of a database file, whatever bytes its name has."""
    return f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"


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
