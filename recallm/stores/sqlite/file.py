"""A database in a file that threads and processes share."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from recallm import forking
from recallm.errors import (
    ClosedError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreReadOnlyError,
)
from recallm.stores.open_files import note_open
from recallm.stores.sqlite.connections import (
    WRITING_ALREADY,
    ReadConnection,
    Snapshot,
    connect,
    file_address,
    transact,
)
from recallm.stores.sqlite.erasing import RawFile, erase_deleted, is_erasure_due, note_erasure_due
from recallm.stores.sqlite.failures import DRIVER_ERRORS, busy, is_busy, translated
from recallm.stores.sqlite.identity import (
    FileIdentity,
    check_usable,
    forbid_in_this_process,
    log_path,
)
from recallm.stores.sqlite.memory import FileCopies
from recallm.stores.sqlite.schema import (
    check_schema,
    create_schema_if_empty,
    is_empty_file,
)

__all__ = ["FileConnections"]

_HEADER_BYTES = 512

_IDLE_READERS = 4
"""Connections kept open for the next reader."""

_WRITER_CACHE_KIB = 32_768
"""A batch of 1,000 statements changes about 20 MB of pages at a million relations."""

_CHECKPOINT_PAGES = 4_000
"""SQLite copies the write-ahead log into the file when it has about 8 MB: some 70 updates."""

_BULK_CHECKPOINT_PAGES = 32_000
"""For large writes: a batch of 1,000 statements writes 10 to 40 MB, and a page that several batches
change is copied once."""

_LOG_BYTES = 16_777_216
"""The length to which SQLite cuts the log after it is copied."""

_ERASURE_WAIT = 0.1
"""Seconds that a ``forget`` waits for the readers of other processes."""

_T = TypeVar("_T")


class FileConnections:
    """Connections to one file.

    Raises:
        StoreCorruptError: the file is not a recallm database, or damaged.
        SchemaVersionError: another version of recallm wrote it.
        StoreReadOnlyError: there is no file, and none can be created.
        StoreError: it cannot be opened.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._name = str(path)
        self._timeout = timeout
        self._lock = threading.RLock()
        """Held by the thread that writes."""
        self._guard = threading.RLock()
        """Held while a reader is opened or ended."""
        self._writer: sqlite3.Connection | None = None
        self._writer_thread: int | None = None
        self._idle: list[sqlite3.Connection] = []
        self._snapshots: weakref.WeakSet[Snapshot] = weakref.WeakSet()
        self._copies = FileCopies(path)
        self.closed = False
        self.erasure_pending = False
        self._refusal: str | None = None
        self._identity: FileIdentity
        self._raw: RawFile | None = None
        self._is_new = True
        forking.watch(self)
        with self._lock:
            self._open()

    @contextmanager
    def read(self) -> Generator[Snapshot, None, None]:
        """A snapshot on a connection of its own."""
        snapshot = Snapshot(self._name, self)
        try:
            self._begin(snapshot)
            yield snapshot
        finally:
            self._end(snapshot)
            if self.erasure_pending and not self.closed:
                self._erase_if_free()

    def write(
        self,
        work: Callable[[sqlite3.Connection], _T],
        *,
        erase: bool = False,
        waits: bool = True,
        keep_view: bool = False,
        bulk: bool = False,
    ) -> _T:
        """A write transaction, on the disk when this returns."""
        del keep_view  # a reader of a file has its own snapshot in any case
        limit = self._timeout if waits else 0.0
        started = time.monotonic()
        thread = threading.get_ident()
        self._check()
        if self._refusal is not None:
            raise StoreReadOnlyError(self._refusal)
        if self._writer_thread == thread:
            raise StoreBusyError(WRITING_ALREADY)
        try:
            if not self._lock.acquire(timeout=limit):
                raise busy(self._name, time.monotonic() - started, limit)
            self._writer_thread = thread
            self._check()
            left = max(0.0, limit - (time.monotonic() - started))
            return self._written(work, left, erase=erase, bulk=bulk)
        except DRIVER_ERRORS as error:
            waited = time.monotonic() - started
            raise self._translated(error, waited) from error
        finally:
            if self._writer_thread == thread:
                self._writer_thread = None
            try:  # noqa: SIM105 - an interrupt may keep `suppress` from being entered
                self._lock.release()
            except RuntimeError:  # the lock was not had
                pass

    def close(self) -> None:
        """Close every connection, after a last attempt to erase."""
        with self._guard:
            if self.closed:
                return
            self.closed = True
            self._close_idle()
            self._copies.close()
        with self._lock:
            if self._writer is not None:
                if self.erasure_pending:
                    self._erase(self._writer, 0.0)
                self._close_writer()
            self._raw = None

    # -- reading -----------------------------------------------------------------------------

    def _begin(self, snapshot: Snapshot) -> None:
        with self._guard:
            self._check()
            try:
                if self._refusal is None:
                    self._read_by_connection(snapshot)
                else:
                    self._read_only(snapshot)
            except DRIVER_ERRORS as error:
                raise self._translated(error, self._timeout) from error
            self._snapshots.add(snapshot)

    def _read_by_connection(self, snapshot: Snapshot) -> None:
        """Let ``snapshot`` use a connection in a read transaction."""
        connection = self._idle.pop() if self._idle else self._connect(write=False)
        try:
            connection.execute("BEGIN")
            # A deferred transaction takes its snapshot at its first read.
            connection.execute("SELECT 1 FROM namespace LIMIT 1").fetchone()
            snapshot.source = ReadConnection(connection, threading.RLock())
        except BaseException:
            connection.close()
            raise

    def _read_only(self, snapshot: Snapshot) -> None:
        """Let ``snapshot`` use a connection in a read transaction, or a copy of the file where
        SQLite needs a log and can create none."""
        try:
            self._read_by_connection(snapshot)
        except sqlite3.OperationalError:
            if log_path(self._path).exists():
                raise
            self._copies.read_by(snapshot)

    def _end(self, snapshot: Snapshot) -> None:
        source = snapshot.source
        if source is None:
            return
        with self._guard, source.lock:
            if not snapshot.open:
                return
            snapshot.open = False
            self._snapshots.discard(snapshot)
            if source.snapshots:
                self._copies.release(snapshot, source)
                return
            connection = source.connection
            with suppress(sqlite3.Error):
                connection.rollback()
            if not self.closed and len(self._idle) < _IDLE_READERS:
                self._idle.append(connection)
            else:
                connection.close()

    # -- writing -----------------------------------------------------------------------------

    def _written(
        self, work: Callable[[sqlite3.Connection], _T], left: float, *, erase: bool, bulk: bool
    ) -> _T:
        if self._writer is not None and self._writer.in_transaction:
            self._close_writer()  # the rollback failed: the disk
        writer = self._writer or self._use_writer(self._connect(write=True))
        pages = _BULK_CHECKPOINT_PAGES if bulk else _CHECKPOINT_PAGES
        writer.execute(f"PRAGMA busy_timeout = {int(left * 1000)}")
        writer.execute(f"PRAGMA wal_autocheckpoint = {pages}")

        def checked(connection: sqlite3.Connection) -> _T:
            result = work(connection)
            if erase and result:
                note_erasure_due(connection)
            self.erasure_pending = is_erasure_due(connection)
            self._identity.check()
            self._identity.check_log()
            return result

        result = transact(writer, checked)
        if self.erasure_pending:
            self._erase(writer, _ERASURE_WAIT if erase else 0.0)
        return result

    def _erase_if_free(self) -> None:
        """Erase forgotten bytes that an open reader protected until now."""
        try:
            if self._lock.acquire(blocking=False) and self._writer is not None:
                self._erase(self._writer, 0.0)
        finally:
            try:  # noqa: SIM105 - an interrupt may keep `suppress` from being entered
                self._lock.release()
            except RuntimeError:  # the lock was not had
                pass

    def _erase(self, writer: sqlite3.Connection, wait: float) -> None:
        """Erase what was deleted, or leave it to the next write or opening. The deletion is
        committed either way."""
        if writer.in_transaction or self._raw is None:
            return  # a reader that ends inside of a write
        with suppress(sqlite3.Error, OSError):
            self._identity.check()
            self.erasure_pending = not erase_deleted(writer, self._raw, log_path(self._path), wait)

    # -- opening and closing -----------------------------------------------------------------

    def _open(self) -> None:
        folder = self._path.parent
        try:
            found = self._path.stat()
        except FileNotFoundError:
            found = None
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{self._name!r} cannot be opened ({error}); name another file"
            ) from error
        if not folder.is_dir():
            raise StoreError(f"{self._name}: the folder {folder} does not exist; create it first")
        if found is not None and stat.S_ISDIR(found.st_mode):
            raise StoreError(f"{self._name} is a folder; name a file in it")
        if found is not None and found.st_size < _HEADER_BYTES:
            log = log_path(self._path)
            if found.st_size:
                # SQLite takes a file this short for an empty one, and would overwrite it.
                raise StoreCorruptError(
                    f"{self._name} is not a recallm database; name another file"
                )
            if log.exists() and log.stat().st_size:
                raise StoreCorruptError(
                    f"{self._name} is empty, but its log {log.name} is not: the file was cut; "
                    "restore a backup of both, or move both away"
                )
        writable = os.access(self._path if found else folder, os.W_OK)
        if not found and not writable:
            raise StoreReadOnlyError(
                f"{self._name} cannot be made: the folder {folder} is not writable"
            )
        if not (writable and os.access(folder, os.W_OK)):
            self._refusal = (
                f"{self._name} cannot be written; check the permissions of the file and of its "
                "folder"
            )
        if found:
            check_usable(found)
        try:
            if self._refusal is None:
                writer = self._connect(write=True)
                self._is_new = False
                self._identity, self._raw = FileIdentity(self._path), RawFile.of(self._path)
                note_open(self._path, self)
                self._use_writer(writer)
            else:
                self._open_read_only()
        except DRIVER_ERRORS as error:
            raise self._translated(error, self._timeout) from error

    def _open_read_only(self) -> None:
        self._identity = FileIdentity(self._path)
        note_open(self._path, self)
        snapshot = Snapshot(self._name, self)
        try:
            self._read_only(snapshot)
            if snapshot.source is not None:
                check_schema(snapshot.source.connection, self._name)
        finally:
            self._end(snapshot)

    def _connect(self, *, write: bool) -> sqlite3.Connection:
        # Once the file was open, no new file is created in its place.
        creates = write and self._is_new
        mode = "rwc" if creates else "ro" if self._refusal is not None else "rw"
        connection = connect(file_address(self._path, mode), self._timeout)
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
        """Create the tables in an empty file; refuse another program's file."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                if not is_empty_file(connection):
                    check_schema(connection, self._name)
                # Takes effect in an empty file. A batch changes a few rows in each of many pages:
                # with small pages it writes a third less.
                connection.execute("PRAGMA page_size = 2048")
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                # FULL: a commit is on the disk when it returns. NORMAL is faster, but loses the
                # latest updates in a power failure.
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON").fetchone()
                connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}").fetchone()
                connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
                transact(connection, create_schema_if_empty)
                check_schema(connection, self._name)
                break
            except sqlite3.OperationalError as error:
                # Switching to WAL does not wait for the lock.
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _use_writer(self, writer: sqlite3.Connection) -> sqlite3.Connection:
        """Write by this connection from now on; first erase what a crashed process left."""
        self._identity.renew_log()
        self._writer = writer
        self.erasure_pending = is_erasure_due(writer)
        if self.erasure_pending:
            self._erase(writer, 0.0)
        return writer

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            self._identity.close_last(writer)

    def _check(self) -> None:
        if self.closed:
            raise ClosedError
        self._identity.check()

    def _translated(self, error: sqlite3.Error | UnicodeDecodeError, waited: float) -> Exception:
        if self.closed:
            return ClosedError()
        return translated(error, self._name, waited=waited, limit=self._timeout)

    # -- forks -------------------------------------------------------------------------------

    def fork_locks(self, level: int) -> Sequence[threading.RLock]:
        """The write lock, the lock of the readers, then the lock of each snapshot."""
        if level < 2:
            return [(self._lock, self._guard)[level]]
        return [view.source.lock for view in self._snapshots if view.source is not None]

    def before_fork(self) -> None:
        """Close the connections. A child inherits what SQLite knows of its process's locks, but not
        the locks; a closed connection leaves nothing to inherit."""
        if self._writer_thread is None:
            self._close_idle()
            self._close_writer()

    def after_fork_in_child(self, *, prepared: bool) -> None:
        """Close the open readers: they belong to the parent, and no thread is inside SQLite. A
        connection that writes must not be touched: closing it would undo what the parent is
        writing."""
        views = list(self._snapshots)
        self._snapshots.clear()
        self._lock, self._guard = threading.RLock(), threading.RLock()
        if not prepared or self._writer_thread is not None:
            forbid_in_this_process(self._path, (self._idle, self._writer, views))
        is_quiet = prepared and self._writer_thread is None
        for view in views:
            view.open = False
            if is_quiet and view.source is not None and not view.source.snapshots:
                view.source.connection.close()
        self._copies = FileCopies(self._path)
