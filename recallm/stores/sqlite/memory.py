"""A database in memory, shared by readers and a writer."""

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
    Held,
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
    """One connection; what it holds is gone when it closes. A forked child has a copy."""

    erasure_pending = False

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._lock = threading.RLock()
        self._writing = False
        self.closed = False
        self._unusable: str | None = None
        self._copies: list[Held] = []
        self._before: Held | None = None
        self._connection = connect(":memory:", timeout)
        transact(self._connection, create_schema)
        self._current = Held(self._connection, self._lock)
        forking.watch(self)

    @contextmanager
    def read(self) -> Generator[Snapshot, None, None]:
        """See ``Connections.read``."""
        snapshot = Snapshot(_NAME, self)
        try:
            with self._lock:
                self._check()
                held = self._before if self._before is not None else self._current
                held.views.add(snapshot)
                snapshot.held = held
            yield snapshot
        finally:
            snapshot.open = False
            with self._lock:
                if snapshot.held is not None:
                    snapshot.held.views.discard(snapshot)
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
        """See ``Connections.write``."""
        del erase, bulk
        started = time.monotonic()
        try:
            limit = self._timeout if waits else 0.0
            if not self._lock.acquire(timeout=limit):
                raise busy(_NAME, time.monotonic() - started, limit)
            self._check()
            if self._writing:
                raise StoreBusyError(WRITING_ALREADY)
            if keep_view or self._current.views:
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
        """See ``Connections.close``."""
        with self._lock:
            self.closed = True
            self._connection.close()

    def fork_locks(self, level: int) -> Sequence[threading.RLock]:
        """See ``ForkAware``: the copies have locks of their own."""
        if level == 0:
            return [self._lock]
        return [held.lock for held in self._copies] if level == 1 else ()

    def before_fork(self) -> None:
        """See ``ForkAware``: the child's copy shares nothing with the parent's."""

    def after_fork_in_child(self, *, prepared: bool) -> None:
        """See ``ForkAware``."""
        self._lock = self._current.lock = threading.RLock()
        for held in self._copies:
            held.lock = threading.RLock()
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
        current = Held(self._connection, self._lock)
        self._copies.append(old)
        # No calls between these: no reader may see a part of them.
        old.connection = copy
        old.lock = lock
        self._current = current
        if keep_view:
            self._before = old

    def _close_unused_copies(self) -> None:
        for held in [it for it in self._copies if not it.views and it is not self._before]:
            self._copies.remove(held)
            held.connection.close()
