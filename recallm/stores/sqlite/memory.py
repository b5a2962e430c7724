"""A database in memory, whose contents are lost when it is closed."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from recallm.errors import StoreUnavailableError
from recallm.stores.sqlite.checksums import register
from recallm.stores.sqlite.connections import Connections, ReadConnection, connect, transact
from recallm.stores.sqlite.schema import create_schema

_T = TypeVar("_T")


class MemoryConnections(Connections):
    """One connection, which readers and the writer share. A write that meets open readers leaves
    it to them, and changes a copy of the database instead. A forked child has a copy too."""

    def __init__(self, timeout: float) -> None:
        self._is_usable = True
        self._current = ReadConnection(connect(":memory:", timeout))
        transact(self._current.connection, create_schema)
        super().__init__("the store in memory", timeout)

    def close(self) -> None:
        """Close the connection; those of earlier states close with their readers."""
        with self._lock, self._guard, self._current.lock:
            self.closed = True
            self._current.connection.close()

    def _begin(self) -> ReadConnection:
        return self._current

    def _end_source(self, source: ReadConnection) -> None:
        if source is not self._current and not self._has_readers(source):
            source.connection.close()

    def _has_readers(self, source: ReadConnection) -> bool:
        return any(snapshot.source is source for snapshot in self._snapshots)

    def _transact(
        self,
        work: Callable[[sqlite3.Connection], _T],
        wait: float,
        *,
        erase: bool,
        keep_view: bool,
        bulk: bool,
    ) -> _T:
        del wait, erase, bulk
        before = self._current
        with self._guard:
            if not keep_view and not self._has_readers(before):
                return transact(before.connection, work)
        copy = connect(":memory:", 0.0)
        try:
            with before.lock:
                before.connection.backup(copy)
            register(copy)
            result = transact(copy, work)
            self._current = ReadConnection(copy)
        finally:
            if self._current is before:
                copy.close()
            else:
                with self._guard:
                    self._end_source(before)
        return result

    def _check(self) -> None:
        super()._check()
        if not self._is_usable:
            raise StoreUnavailableError(
                "the process was forked in the middle of a write to the store in memory: this copy "
                "of it may be incomplete; open a store in the forked process"
            )

    def before_fork(self) -> None:
        """Nothing: the child's copy shares nothing with the parent's database."""

    def _after_fork(self, sources: Sequence[ReadConnection], *, is_quiet: bool) -> None:
        self._is_usable = is_quiet
        self._current.lock = threading.RLock()
        for source in sources:
            if is_quiet and source is not self._current:
                source.connection.close()
