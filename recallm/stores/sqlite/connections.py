"""Snapshots of a database and write transactions: what a file and a store in memory share, and the
store in memory, whose contents are lost when it is closed.

**Interrupts.** A signal handler may raise (Ctrl-C, a time-out) between any two calls of the main
thread. So every step that must be undone has a ``try … finally``, and each step of the ``finally``
is one call into C: CPython runs signal handlers after a call, not before it. A lock that is waited
for with a time limit is an ``RLock``, which knows its owner: its release fails, without harm, where
an interrupt ended the wait. Readers are held by weak references: one that an interrupt kept from
ending disappears with its snapshot.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString, TypeVar

from recallm.errors import ClosedError, StoreBusyError
from recallm.ground import forking
from recallm.stores.sqlite.failures import DRIVER_ERRORS, busy, translated
from recallm.stores.sqlite.schema import create_schema, register

_CACHE_KIB = 16_384

Row = tuple[Any, ...]
_T = TypeVar("_T")


class Snapshot:
    """One state of the database, for as long as a reader is open."""

    def __init__(self, store: Connections) -> None:
        self.name = store.name
        self.connection: sqlite3.Connection | None = None
        """None before the reader begins, and after it ends."""
        self.lock = threading.RLock()
        """Held while the connection is used."""
        self._store = store

    def rows(
        self, sql: LiteralString, values: Sequence[object] | Mapping[str, object] = ()
    ) -> list[Row]:
        """All rows of a query.

        Raises:
            StoreError: the query failed; ClosedError: the reader or the store was closed.
        """
        with self.lock:
            if self.connection is None or self._store.closed:
                raise ClosedError
            try:
                return self.connection.execute(sql, values).fetchall()
            except DRIVER_ERRORS as error:
                raise translated(error, self.name) from error


class Connections(ABC):
    """The source of snapshots and write transactions of one database.

    Locks are taken in the order of their levels: the write lock, the guard of the readers, the
    locks of their connections.
    """

    def __init__(self, name: str, timeout: float) -> None:
        self.name = name
        self.closed = False
        self.erasure_pending = False
        """Whether deleted text may remain in the file or in its log."""
        self._timeout = timeout
        self._lock = threading.RLock()
        """Held by the thread that writes."""
        self._guard = threading.RLock()
        """Held while a reader is opened or ended."""
        self._writer_thread: int | None = None
        self._snapshots: weakref.WeakSet[Snapshot] = weakref.WeakSet()
        """Those of open readers; changed under the guard."""
        forking.watch(self)

    @contextmanager
    def read(self) -> Generator[Snapshot, None, None]:
        """A snapshot of the database as it is now."""
        snapshot = Snapshot(self)
        try:
            with self._guard:
                self._check()
                try:
                    self._begin(snapshot)
                except DRIVER_ERRORS as error:
                    raise translated(error, self.name, self._timeout) from error
                self._snapshots.add(snapshot)
            yield snapshot
        finally:
            with self._guard, snapshot.lock:
                connection, snapshot.connection = snapshot.connection, None
                self._snapshots.discard(snapshot)
                if connection is not None:
                    self._end(connection)

    def write(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Call ``work`` in a write transaction and return its result: commit when it returns, roll
        back when it raises."""
        started = time.monotonic()
        thread = threading.get_ident()
        if self._writer_thread == thread:
            raise StoreBusyError(
                "this thread is writing to the store already; finish that write first (read the "
                "records of a restore from elsewhere than a write)"
            )
        try:
            if not self._lock.acquire(timeout=self._timeout):
                raise busy(self.name, self._timeout)
            self._writer_thread = thread
            self._check()
            return self._transact(work, max(0.0, self._timeout - (time.monotonic() - started)))
        except DRIVER_ERRORS as error:
            raise translated(error, self.name, self._timeout) from error
        finally:
            if self._writer_thread == thread:
                self._writer_thread = None
            try:  # noqa: SIM105 - an interrupt may keep `suppress` from being entered
                self._lock.release()
            except RuntimeError:  # the lock was not had
                pass

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""

    @abstractmethod
    def _begin(self, snapshot: Snapshot) -> None:
        """Give a snapshot a connection that shows the present state."""

    @abstractmethod
    def _end(self, connection: sqlite3.Connection) -> None:
        """Close a connection that a snapshot has used, or keep it for the next one."""

    @abstractmethod
    def _transact(self, work: Callable[[sqlite3.Connection], _T], wait: float) -> _T:
        """``write``, by the thread that holds the write lock; ``wait`` seconds are left."""

    def _check(self) -> None:
        if self.closed:
            raise ClosedError

    # -- forks -------------------------------------------------------------------------------

    def fork_locks(self, level: int) -> Sequence[threading.RLock]:
        """The locks of one level."""
        if level < 2:
            return [(self._lock, self._guard)[level]]
        return [snapshot.lock for snapshot in self._snapshots]

    @abstractmethod
    def before_fork(self) -> None:
        """Close what parent and child must not share."""

    def after_fork_in_child(self, *, prepared: bool) -> None:
        """Make new locks and end the open readers: they belong to the parent."""
        self._lock, self._guard = threading.RLock(), threading.RLock()
        inherited = [snapshot.connection for snapshot in self._snapshots if snapshot.connection]
        for snapshot in self._snapshots:
            snapshot.connection, snapshot.lock = None, threading.RLock()
        self._snapshots.clear()
        is_quiet = prepared and self._writer_thread is None
        self._writer_thread = None
        self._after_fork(inherited, is_quiet=is_quiet)

    @abstractmethod
    def _after_fork(self, inherited: Sequence[sqlite3.Connection], *, is_quiet: bool) -> None:
        """Go on in the child without the connections of the readers. If it was not quiet, another
        thread was inside SQLite, or this one was writing."""


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
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    register(connection)
    return connection


class MemoryConnections(Connections):
    """One connection, which readers and the writer share. A write that meets open readers leaves
    it to them, and changes a copy of the database instead. A forked child has a copy too; it is
    closed there if the process was forked in the middle of a write."""

    def __init__(self, timeout: float) -> None:
        self._current = connect(":memory:", timeout)
        self._reading = threading.RLock()
        """The lock of all snapshots."""
        create_schema(self._current, ":memory:")
        super().__init__("the store in memory", timeout)

    def close(self) -> None:
        """Close the connection; those of earlier states close with their readers."""
        with self._lock, self._guard, self._reading:
            self.closed = True
            self._current.close()

    def _begin(self, snapshot: Snapshot) -> None:
        snapshot.connection, snapshot.lock = self._current, self._reading

    def _end(self, connection: sqlite3.Connection) -> None:
        if connection is not self._current and not self._is_read(connection):
            connection.close()

    def _is_read(self, connection: sqlite3.Connection) -> bool:
        return any(snapshot.connection is connection for snapshot in self._snapshots)

    def _transact(self, work: Callable[[sqlite3.Connection], _T], wait: float) -> _T:
        del wait
        before = self._current
        with self._guard:
            if not self._is_read(before):
                return transact(before, work)
        copy = connect(":memory:", 0.0)
        try:
            with self._reading:
                before.backup(copy)
            result = transact(copy, work)
            self._current = copy
        finally:
            if self._current is before:
                copy.close()
            else:
                with self._guard:
                    self._end(before)
        return result

    def before_fork(self) -> None:
        """Nothing: the child's copy shares nothing with the parent's database."""

    def _after_fork(self, inherited: Sequence[sqlite3.Connection], *, is_quiet: bool) -> None:
        self.closed = self.closed or not is_quiet
        self._reading = threading.RLock()
        for connection in inherited:
            if is_quiet and connection is not self._current:
                connection.close()
