"""Who holds which connection, and for how long.

A file: a connection for each open reader (SQLite's snapshot is the reader's view), one connection
for writing behind a lock, WAL between them. In memory: one connection; a write that meets open
readers first leaves them a copy of the database, so that they too keep their view.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, LiteralString, Protocol
from urllib.parse import quote

from recallm.errors import (
    ClosedError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreReadOnlyError,
)
from recallm.stores.sqlite.failures import busy, is_busy, translated
from recallm.stores.sqlite.schema import check_schema, create_schema, is_empty_file

__all__ = ["Connections", "FileConnections", "MemoryConnections", "Snapshot"]

Row = tuple[Any, ...]

_IDLE_READERS = 4
"""Connections kept open for the next reader."""

_READER_CACHE_KIB = 16_384
_WRITER_CACHE_KIB = 32_768
"""A batch of 1,000 statements changes some 20 MB of pages where there are a million relations."""

_HEADER_BYTES = 512
_CHECKPOINT_PAGES = 8_000
"""The write-ahead log is copied into the file when it is about 32 MB: a batch of 1,000 statements
writes some 10 MB, and a page that several batches touch is copied once."""

_CHECKPOINT_WAIT_MS = 250

_WRITING_ALREADY = (
    "this thread is writing to the store already; finish that write first (read the records of a "
    "restore from elsewhere than a write)"
)


class Snapshot:
    """One state of the database, for as long as a reader is open."""

    def __init__(self, held: _Held, name: str, store: MemoryConnections | FileConnections) -> None:
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


class _Held:
    """A connection that readers read from, and the lock that they take turns by."""

    def __init__(self, connection: sqlite3.Connection, lock: AbstractContextManager[bool]) -> None:
        self.connection = connection
        self.lock = lock
        self.readers = 0


class Connections(Protocol):
    """Where snapshots and write transactions come from."""

    def read(self) -> AbstractContextManager[Snapshot]:
        """A view of the database as it is now."""
        ...

    def write(
        self, *, purge: bool = False, keep_view: bool = False
    ) -> AbstractContextManager[sqlite3.Connection]:
        """A write transaction: committed at the end of the block, rolled back by an error.
        ``purge``: what is deleted leaves the file and the log too. ``keep_view``: readers that
        open inside the block see the state before it."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class MemoryConnections:
    """One connection; what it holds is gone when it closes."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._lock = threading.RLock()
        self._writing = False
        self.closed = False
        self._connection = _connect(":memory:", timeout)
        self._connection.execute("BEGIN")
        create_schema(self._connection)
        self._connection.execute("COMMIT")
        self._current = _Held(self._connection, self._lock)
        self._before: _Held | None = None

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
        self, *, purge: bool = False, keep_view: bool = False
    ) -> Generator[sqlite3.Connection, None, None]:
        """See ``Connections.write``."""
        del purge
        started = time.monotonic()
        if not self._lock.acquire(timeout=self._timeout):
            raise busy("the store in memory", time.monotonic() - started, self._timeout)
        try:
            if self.closed:
                raise ClosedError
            if self._writing:
                raise StoreBusyError(_WRITING_ALREADY)
            if keep_view or self._current.readers:
                self._leave_copy(keep_view)
            self._writing = True
            with _transaction(self._connection, "the store in memory", self._timeout):
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
        copy = _connect(":memory:", self._timeout)
        self._connection.backup(copy)
        old = self._current
        self._current = _Held(self._connection, self._lock)
        old.connection = copy
        old.lock = threading.RLock()
        if keep_view:
            self._before = old

    def _release(self, held: _Held) -> None:
        if held.readers == 0 and held is not self._current and held is not self._before:
            held.connection.close()


class FileConnections:
    """Connections to one file.

    Raises:
        StoreCorruptError: the file is not recallm's, or damaged.
        SchemaVersionError: a newer recallm wrote it.
        StoreReadOnlyError: there is no file and none can be made.
        StoreError: it cannot be opened.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._name = str(path)
        self._timeout = timeout
        self._lock = threading.Lock()
        self._writer_thread: int | None = None
        self._guard = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self.closed = False
        self._purge_due = False
        self._process = os.getpid()
        self._left_behind: list[object] = []
        self._writer: sqlite3.Connection | None = None
        self._refusal: str | None = None
        self._immutable = False
        self._open()

    @contextmanager
    def read(self) -> Generator[Snapshot, None, None]:
        """See ``Connections.read``."""
        self._check()
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        process = self._process
        try:
            if connection is None:
                connection = self._connect(write=False)
            connection.execute("BEGIN")
            # A deferred transaction takes its snapshot at its first read.
            connection.execute("SELECT 1 FROM namespace LIMIT 1").fetchone()
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise self._translated(error) from error
        snapshot = Snapshot(_Held(connection, threading.RLock()), self._name, self)
        try:
            yield snapshot
        finally:
            with snapshot._held.lock:
                snapshot.open = False
                self._return(connection, process)
            if self._purge_due:
                self._purge_if_free()

    @contextmanager
    def write(
        self, *, purge: bool = False, keep_view: bool = False
    ) -> Generator[sqlite3.Connection, None, None]:
        """See ``Connections.write``."""
        del keep_view
        self._check()
        if self._refusal is not None:
            raise StoreReadOnlyError(self._refusal)
        started = time.monotonic()
        if self._writer_thread == threading.get_ident():
            raise StoreBusyError(_WRITING_ALREADY)
        if not self._lock.acquire(timeout=self._timeout):
            raise busy(self._name, time.monotonic() - started, self._timeout)
        try:
            self._check()
            self._writer_thread = threading.get_ident()
            if self._writer is None:
                self._writer = self._connect(write=True)
            left = max(0.0, self._timeout - (time.monotonic() - started))
            self._writer.execute(f"PRAGMA busy_timeout = {int(left * 1000)}")
            with _transaction(self._writer, self._name, self._timeout, started=started):
                yield self._writer
            if purge or self._purge_due:
                self._purge(self._writer)
        except sqlite3.Error as error:
            raise self._translated(error) from error
        finally:
            self._writer_thread = None
            self._lock.release()

    def close(self) -> None:
        """See ``Connections.close``."""
        with self._guard:
            if self.closed:
                return
            self.closed = True
            idle, self._idle = self._idle, []
        if self._process != os.getpid():
            self._left_behind.append((idle, self._writer))
            return
        for connection in idle:
            connection.close()
        with self._lock:
            if self._writer is not None:
                if self._purge_due:
                    self._purge(self._writer)
                self._writer.close()
                self._writer = None

    def _open(self) -> None:
        folder = self._path.parent
        if not folder.is_dir():
            raise StoreError(f"{self._name}: the folder {folder} does not exist; create it first")
        if self._path.is_dir():
            raise StoreError(f"{self._name} is a folder; name a file in it")
        exists = self._path.exists()
        if exists and 0 < self._path.stat().st_size < _HEADER_BYTES:
            # SQLite takes so short a file for an empty one, and writes over it.
            raise StoreCorruptError(f"{self._name} is not a recallm database; name another file")
        writable = os.access(self._path if exists else folder, os.W_OK)
        if not exists and not writable:
            raise StoreReadOnlyError(
                f"{self._name} cannot be made: the folder {folder} is not writable"
            )
        if not (writable and os.access(folder, os.W_OK)):
            self._refusal = (
                f"{self._name} cannot be written; check the permissions of the file and of its "
                "folder"
            )
        try:
            if self._refusal is None:
                self._writer = self._connect(write=True)
            else:
                self._open_read_only()
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def _open_read_only(self) -> None:
        """Read what cannot be written. Without a log beside it, and without the right to make one,
        the file is read as it lies."""
        try:
            connection = self._connect(write=False)
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            if self._path.with_name(self._path.name + "-wal").exists():
                raise
            self._immutable = True
            connection = self._connect(write=False)
        check_schema(connection, self._name)
        self._return(connection, self._process)

    def _connect(self, *, write: bool) -> sqlite3.Connection:
        mode = "rwc" if write else "ro" if self._refusal is not None else "rw"
        address = f"file:{quote(str(self._path.absolute()))}?mode={mode}"
        if self._immutable:
            address += "&immutable=1"
        connection = _connect(address, self._timeout)
        try:
            if write:
                self._prepare(connection)
            else:
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make an empty file recallm's; refuse what is not."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                if not is_empty_file(connection):
                    check_schema(connection, self._name)
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                # FULL: a commit is on the disk when it returns. NORMAL would be quicker, and lose
                # the latest updates with the power.
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON").fetchone()
                connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
                connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}").fetchone()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    if is_empty_file(connection):
                        create_schema(connection)
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
                check_schema(connection, self._name)
                return
            except sqlite3.OperationalError as error:
                # Going over to WAL does not wait for the lock by itself.
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _check(self) -> None:
        if self.closed:
            raise ClosedError
        if self._process != os.getpid():
            self._after_fork()

    def _after_fork(self) -> None:
        """A child must neither use nor close its parent's connections: it leaves them alone."""
        self._left_behind.append((self._idle, self._writer))
        self._idle, self._writer = [], None
        self._lock, self._guard = threading.Lock(), threading.Lock()
        self._writer_thread = None
        self._process = os.getpid()

    def _return(self, connection: sqlite3.Connection, process: int) -> None:
        if process != os.getpid():
            self._left_behind.append(connection)
            return
        with suppress(sqlite3.Error):
            connection.rollback()
        with self._guard:
            if not (self.closed or self._immutable) and len(self._idle) < _IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    def _purge_if_free(self) -> None:
        """Take up the emptying of the log that an open reader put off."""
        if not self.closed and self._lock.acquire(blocking=False):
            try:
                if self._writer is not None:
                    self._purge(self._writer)
            finally:
                self._lock.release()

    def _purge(self, connection: sqlite3.Connection) -> None:
        """Copy the log into the file and empty it; put off while a reader still needs it."""
        connection.execute(f"PRAGMA busy_timeout = {_CHECKPOINT_WAIT_MS}")
        try:
            (blocked, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            blocked = 1
        self._purge_due = bool(blocked)

    def _translated(self, error: sqlite3.Error) -> Exception:
        if self.closed:
            return ClosedError()
        return translated(error, self._name, waited=self._timeout, limit=self._timeout)


@contextmanager
def _transaction(
    connection: sqlite3.Connection, name: str, limit: float, *, started: float | None = None
) -> Generator[None, None, None]:
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


def _connect(address: str, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        uri=address.startswith("file:"),
    )
    connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
    return connection
