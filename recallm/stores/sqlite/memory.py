"""A database in memory, shared by readers and a writer."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from recallm.errors import ClosedError, StoreBusyError
from recallm.stores.sqlite.connections import (
    WRITING_ALREADY,
    Held,
    Snapshot,
    connect,
    transaction,
)
from recallm.stores.sqlite.failures import busy
from recallm.stores.sqlite.schema import create_schema

__all__ = ["MemoryConnections"]


class MemoryConnections:
    """One connection; what it holds is gone when it closes."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._lock = threading.RLock()
        self._writing = False
        self.closed = False
        self._connection = connect(":memory:", timeout)
        self._connection.execute("BEGIN")
        create_schema(self._connection)
        self._connection.execute("COMMIT")
        self._current = Held(self._connection, self._lock)
        self._before: Held | None = None

    @contextmanager
    def read(self) -> Generator[Snapshot, None, None]:
        """See ``Connections.read``."""
        with self._lock:
            if self.closed:
                raise ClosedError
            held = self._before if self._before is not None else self._current
            held.readers += 1
        snapshot = Snapshot(held, "the store in memory", self)
        try:
            yield snapshot
        finally:
            snapshot.open = False
            with self._lock:
                held.readers -= 1
                self._release(held)

    @contextmanager
    def write(
        self, *, purge: bool = False, keep_view: bool = False, bulk: bool = False
    ) -> Generator[sqlite3.Connection, None, None]:
        """See ``Connections.write``."""
        del purge, bulk
        started = time.monotonic()
        if not self._lock.acquire(timeout=self._timeout):
            raise busy("the store in memory", time.monotonic() - started, self._timeout)
        try:
            if self.closed:
                raise ClosedError
            if self._writing:
                raise StoreBusyError(WRITING_ALREADY)
            if keep_view or self._current.readers:
                self._leave_copy(keep_view)
            self._writing = True
            with transaction(self._connection, "the store in memory", self._timeout):
                yield self._connection
        finally:
            self._writing = False
            before, self._before = self._before, None
            if before is not None:
                self._release(before)
            self._lock.release()

    def close(self) -> None:
        """See ``Connections.close``."""
        with self._lock:
            self.closed = True
            self._connection.close()

    def _leave_copy(self, keep_view: bool) -> None:
        copy = connect(":memory:", self._timeout)
        self._connection.backup(copy)
        old = self._current
        self._current = Held(self._connection, self._lock)
        old.connection = copy
        old.lock = threading.RLock()
        if keep_view:
            self._before = old

    def _release(self, held: Held) -> None:
        if held.readers == 0 and held is not self._current and held is not self._before:
            held.connection.close()
