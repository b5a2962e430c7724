"""Databases in memory: stores without a file, and copies of a file that cannot be locked.

SQLite cannot lock a file in a folder where this process cannot write. It can read such a file
without locks (``immutable``), but reports damage if another process writes to it meanwhile. So
recallm reads a copy in memory. It copies again until the file does not change during the copy, and
again whenever the file has changed since.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from recallm import forking
from recallm.errors import ClosedError, StoreBusyError, StoreUnavailableError
from recallm.stores.sqlite.connections import (
    WRITING_ALREADY,
    ReadConnection,
    Snapshot,
    connect,
    file_address,
    transact,
)
from recallm.stores.sqlite.failures import busy, translated
from recallm.stores.sqlite.identity import log_path
from recallm.stores.sqlite.schema import create_schema

__all__ = ["FileCopies", "MemoryConnections"]

_NAME = "the store in memory"

_TRIES = 100
_PAUSE = 0.05
"""Tries to copy a file while another process writes to it, and the seconds between two tries."""

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
            except RuntimeError:  # this thread did not get the lock
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
                "this copy of it may be incomplete; open a store in the forked process"
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


class FileCopies:
    """Copies of one file. A copy stays while a reader uses it or the file is unchanged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._latest: tuple[object, ReadConnection] | None = None

    def read_by(self, snapshot: Snapshot) -> None:
        """Let ``snapshot`` read a copy of the file as it is now.

        Raises:
            sqlite3.Error: the file cannot be read, or is damaged.
            StoreBusyError: another process keeps writing to it.
        """
        for _ in range(_TRIES):
            stamp = self._stamp()
            if self._latest is None or self._latest[0] != stamp:
                self.close()
                copy = self._copied(stamp)
                if copy is None:
                    time.sleep(_PAUSE)
                    continue
                self._latest = stamp, ReadConnection(copy, threading.RLock())
            source = self._latest[1]
            source.snapshots.add(snapshot)
            snapshot.source = source
            return
        raise StoreBusyError(
            f"{self._path} is being written by another process, and cannot be shared: its folder "
            "is read-only for this process; try again, or allow it to write there"
        )

    def release(self, snapshot: Snapshot, source: ReadConnection) -> None:
        """End the reader of ``snapshot``."""
        source.snapshots.discard(snapshot)
        if not source.snapshots and (self._latest is None or self._latest[1] is not source):
            source.connection.close()

    def close(self) -> None:
        """Close the latest copy, now or with its last reader."""
        latest, self._latest = self._latest, None
        if latest is not None and not latest[1].snapshots:
            latest[1].connection.close()

    def _copied(self, stamp: object) -> sqlite3.Connection | None:
        """A copy of the file; None if it has changed since ``stamp``."""
        copy = connect(":memory:", 0.0)
        try:
            source = connect(file_address(self._path, "ro&immutable=1"), 0.0)
            try:
                source.backup(copy)
            finally:
                source.close()
        except sqlite3.DatabaseError:
            copy.close()
            if self._stamp() == stamp:
                raise
            return None
        if self._stamp() != stamp:
            copy.close()
            return None
        copy.execute("PRAGMA query_only = ON")
        return copy

    def _stamp(self) -> object:
        """A value that differs after every write to the file."""
        found = self._path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns, log_path(self._path).exists()
