"""A database in a file, shared by threads and processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from recallm.errors import (
    ClosedError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreReadOnlyError,
)
from recallm.stores.sqlite.connections import (
    WRITING_ALREADY,
    Held,
    Snapshot,
    connect,
    transaction,
)
from recallm.stores.sqlite.failures import busy, is_busy, translated
from recallm.stores.sqlite.schema import (
    check_schema,
    create_schema,
    is_empty_file,
    is_older,
    upgrade_schema,
)

__all__ = ["FileConnections"]

_HEADER_BYTES = 512

_IDLE_READERS = 4
"""Connections kept open for the next reader."""

_WRITER_CACHE_KIB = 32_768
"""A batch of 1,000 statements changes some 20 MB of pages where there are a million relations."""

_CHECKPOINT_PAGES = 4_000
"""The write-ahead log is copied into the file when it is about 8 MB: some 70 updates."""

_BULK_CHECKPOINT_PAGES = 32_000
"""A batch of 1,000 statements writes 10 to 40 MB; a page that several batches touch is copied
once."""

_LOG_BYTES = 16_777_216
"""What the log keeps of its length once it is copied."""

_CHECKPOINT_WAIT_MS = 100


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
        snapshot = Snapshot(Held(connection, threading.RLock()), self._name, self)
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
        self, *, purge: bool = False, keep_view: bool = False, bulk: bool = False
    ) -> Generator[sqlite3.Connection, None, None]:
        """See ``Connections.write``."""
        del keep_view
        pages = _BULK_CHECKPOINT_PAGES if bulk else _CHECKPOINT_PAGES
        self._check()
        if self._refusal is not None:
            raise StoreReadOnlyError(self._refusal)
        started = time.monotonic()
        if self._writer_thread == threading.get_ident():
            raise StoreBusyError(WRITING_ALREADY)
        if not self._lock.acquire(timeout=self._timeout):
            raise busy(self._name, time.monotonic() - started, self._timeout)
        try:
            self._check()
            self._writer_thread = threading.get_ident()
            if self._writer is None:
                self._writer = self._connect(write=True)
            left = max(0.0, self._timeout - (time.monotonic() - started))
            self._writer.execute(f"PRAGMA busy_timeout = {int(left * 1000)}")
            self._writer.execute(f"PRAGMA wal_autocheckpoint = {pages}")
            with transaction(self._writer, self._name, self._timeout, started=started):
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
            try:
                connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            except BaseException:
                connection.close()
                raise
        except sqlite3.OperationalError:
            if self._path.with_name(self._path.name + "-wal").exists():
                raise
            self._immutable = True
            connection = self._connect(write=False)
        try:
            check_schema(connection, self._name)
            if is_older(connection):
                raise StoreReadOnlyError(
                    f"{self._name} was written by an earlier recallm; open it once where it can be "
                    "written, which brings it up to date"
                )
        except BaseException:
            connection.close()
            raise
        self._return(connection, self._process)

    def _connect(self, *, write: bool) -> sqlite3.Connection:
        mode = "rwc" if write else "ro" if self._refusal is not None else "rw"
        address = f"file:{quote(str(self._path.absolute()))}?mode={mode}"
        if self._immutable:
            address += "&immutable=1"
        connection = connect(address, self._timeout)
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
                # Heeded where the file is empty. A batch changes a few rows in each of many pages:
                # with small ones it writes a third less.
                connection.execute("PRAGMA page_size = 2048")
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                # FULL: a commit is on the disk when it returns. NORMAL would be quicker, and lose
                # the latest updates with the power.
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON").fetchone()
                connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}").fetchone()
                connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    if is_empty_file(connection):
                        create_schema(connection)
                    else:
                        upgrade_schema(connection)
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
        """Copy the log into the file and empty it. Put off while a reader still needs it, or the
        disk fails: what was forgotten is committed either way."""
        try:
            connection.execute(f"PRAGMA busy_timeout = {_CHECKPOINT_WAIT_MS}")
            (blocked, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            blocked = 1
        self._purge_due = bool(blocked)

    def _translated(self, error: sqlite3.Error) -> Exception:
        if self.closed:
            return ClosedError()
        return translated(error, self._name, waited=self._timeout, limit=self._timeout)
