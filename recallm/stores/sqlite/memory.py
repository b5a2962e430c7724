"""A database in memory that readers and a writer share."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from recallm import forking
from recallm.errors import ClosedError, StoreBusyError, StoreUnavailableError
from recallm.stores.sqlite.connections import (
    WRITING_ALREADY,
    ReadConnection,
    Snapshot,
    connect,
    transact,
)
from recallm.stores.sqlite.failures import busy, translated
from recallm.stores.sqlite.schema import create_schema

__all__ = ["MemoryConnections"]

_NAME = "the store in memory"
_T = TypeVar("_T")


class MemoryConnections:
    """One connection; its contents are lost when it closes. A forked child has a copy."""

    erasure_pending = False

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._lock = threading.RLock()
        self._writing = False
        self.closed = False
        self._unusable: str | None = None
        self._copies: list[ReadConnection] = []
        self._before: ReadConnection | None = None
        self._connection = connect(":memory:", timeout)
        transact(self._connection, create_schema)
        self._current = ReadConnection(self._connection, self._lock)
        forking.watch(self)

    @contextmanager
    def read(self) -> Generator[Snapshot, None, None]:
        """A snapshot, on the one connection or on a copy of it."""
        snapshot = Snapshot(_NAME, self)
        try:
            with self._lock:
                self._check()
                source = self._before if self._before is not None else self._current
                source.snapshots.add(snapshot)
                snapshot.source = source
            yield snapshot
        finally:
            snapshot.open = False
            with self._lock:
                if snapshot.source is not None:
                    snapshot.source.snapshots.discard(snapshot)
                    self._close_unused_copies()

    def write(
        self,
        work: Callable[[sqlite3.Connection], _T],
        *,
        erase: bool = False,
        waits: bool = True,
        keep_view: bool = False,
        bulk: bool = False,
    ) -> _T:
        """A write transaction. Open readers get a copy of the database first."""
        del erase, bulk
        started = time.monotonic()
        try:
            limit = self._timeout if waits else 0.0
            if not self._lock.acquire(timeout=limit):
                raise busy(_NAME, time.monotonic() - started, limit)
            self._check()
            if self._writing:
                raise StoreBusyError(WRITING_ALREADY)
            if keep_view or self._current.snapshots:
                self._leave_copy(keep_view)
            return self._transact(work)
        except sqlite3.Error as error:
            raise translated(error, _NAME, waited=0.0, limit=self._timeout) from error
        finally:
            try:  # noqa: SIM105 - an interrupt may keep `suppress` from being entered
                self._lock.release()
            except RuntimeError:  # the lock was not had
                pass

    def close(self) -> None:
        """Close the connection; copies close with their readers."""
        with self._lock:
            self.closed = True
            self._connection.close()

    def fork_locks(self, level: int) -> Sequence[threading.RLock]:
        """The lock of the connection, then those of the copies."""
        if level == 0:
            return [self._lock]
        return [source.lock for source in self._copies] if level == 1 else ()

    def before_fork(self) -> None:
        """Nothing: the child's copy shares nothing with the parent's database."""

    def after_fork_in_child(self, *, prepared: bool) -> None:
        """Make new locks; refuse a copy that was taken in the middle of a write."""
        self._lock = self._current.lock = threading.RLock()
        for source in self._copies:
            source.lock = threading.RLock()
        if not prepared:
            self._unusable = (
                "another thread was writing to the store in memory when the process was forked: "
                "this copy of it is not whole; open a store in the forked process"
            )

    def _check(self) -> None:
        if self.closed:
            raise ClosedError
        if self._unusable is not None:
            raise StoreUnavailableError(self._unusable)

    def _transact(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            self._writing = True
            return transact(self._connection, work)
        finally:
            self._writing = False
            self._before = None
            self._close_unused_copies()

    def _leave_copy(self, keep_view: bool) -> None:
        copy = connect(":memory:", self._timeout)
        self._connection.backup(copy)
        old, lock = self._current, threading.RLock()
        current = ReadConnection(self._connection, self._lock)
        self._copies.append(old)
        # No calls between these assignments: no reader may see only some of them.
        old.connection = copy
        old.lock = lock
        self._current = current
        if keep_view:
            self._before = old

    def _close_unused_copies(self) -> None:
        for source in [it for it in self._copies if not it.snapshots and it is not self._before]:
            self._copies.remove(source)
            source.connection.close()
