"""A database in a file that threads and processes share, and its back-ups.

Each open reader has a connection of its own, because SQLite's read transaction is the reader's
snapshot; one connection writes. The file uses a write-ahead log (WAL).

SQLite uses the database by a descriptor and its log by a name. If a file is deleted, moved or
replaced while it is open, SQLite continues to write to a file that nobody will open again, and its
log stands beside the file that took the name: every read and write checks the names.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from recallm.errors import (
    ClosedError,
    StoreCorruptError,
    StoreError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from recallm.stores.sqlite.connections import Connections, Snapshot, connect, transact
from recallm.stores.sqlite.erasing import erase_deleted
from recallm.stores.sqlite.failures import DRIVER_ERRORS, is_busy, translated
from recallm.stores.sqlite.open_files import (
    BESIDE_A_DATABASE,
    Node,
    OpenFile,
    begin,
    check_belongs,
    has_content,
    log_path,
    mark,
    node_of,
)
from recallm.stores.sqlite.schema import create_schema, is_new, register

_HEADER_BYTES = 512

_IDLE_READERS = 4
"""Connections kept open for the next reader."""

_WRITER_CACHE_KIB = 32_768
"""A batch of 1,000 statements changes about 20 MB of pages at a million relations."""

_CHECKPOINT_PAGES = 4_000
"""SQLite copies the write-ahead log into the file when it has about 8 MB: some 70 updates."""

_LOG_BYTES = 16_777_216
"""The length to which SQLite cuts the log after it is copied."""

_ERASURE_WAIT = 0.1
"""Seconds that a ``forget`` waits for the readers of other processes."""

_PATIENCE = 30.0
"""Seconds that a back-up waits for another process to open the file."""

_T = TypeVar("_T")


class FileConnections(Connections):
    """Connections to one file.

    Raises:
        StoreCorruptError: the file is not a recallm database, or damaged.
        SchemaVersionError: another version of recallm wrote it.
        StoreReadOnlyError: the file or its folder cannot be written.
        StoreError: it cannot be opened.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._log = log_path(path)
        self._log_node: Node | None = None
        self._file: OpenFile | None = None
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._is_parted = False
        """Whether the log belongs to no earlier copy of the file."""
        super().__init__(str(path), timeout)
        with self._lock:
            self._open()

    def close(self) -> None:
        """Close every connection, after a last attempt to erase."""
        with self._guard:
            if self.closed:
                return
            self.closed = True
            self._close_idle()
        with self._lock:
            if self._writer is not None and self.erasure_pending:
                self._erase(self._writer, 0.0)
            self._close_writer()
            self._file = None

    # -- reading -----------------------------------------------------------------------------

    def _begin(self, snapshot: Snapshot) -> None:
        while self._idle:
            with suppress(sqlite3.OperationalError):
                snapshot.connection = _begun(self._idle.pop())
                return
        snapshot.connection = _begun(self._connect())

    def _end(self, connection: sqlite3.Connection) -> None:
        with suppress(sqlite3.Error):
            connection.rollback()
        if not self.closed and len(self._idle) < _IDLE_READERS:
            self._idle.append(connection)
        else:
            connection.close()

    # -- writing -----------------------------------------------------------------------------

    def _transact(self, work: Callable[[sqlite3.Connection], _T], wait: float) -> _T:
        if self._writer is not None and self._writer.in_transaction:
            self._close_writer()  # the rollback failed: the disk
        writer = self._writer or self._open_writer()
        writer.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
        self._part_from_copies(writer, wait)
        was_pending = self.erasure_pending

        def checked(connection: sqlite3.Connection) -> _T:
            before = connection.total_changes
            result = work(connection)
            file = self._checked_file()
            if connection.total_changes != before:
                mark(connection, file)
            self.erasure_pending = _is_erasure_due(connection)
            return result

        result = transact(writer, checked)
        if self.erasure_pending:
            self._erase(writer, 0.0 if was_pending else _ERASURE_WAIT)
        return result

    def _part_from_copies(self, writer: sqlite3.Connection, wait: float) -> None:
        """Before the first write, raise the number in the file itself, so that the log to come
        belongs to no copy of the file that was made before. A reader can put that off."""
        if self._is_parted:
            return
        if not has_content(self._log):
            transact(writer, lambda connection: mark(connection, self._checked_file()))
        writer.execute("PRAGMA busy_timeout = 0")
        (blocked, *_) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        writer.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
        self._is_parted = not blocked

    def _erase(self, writer: sqlite3.Connection, wait: float) -> None:
        """Erase what was deleted, or leave it to the next write or opening. The deletion is
        committed either way."""
        with suppress(sqlite3.Error, OSError):
            done = erase_deleted(writer, self._checked_file(), self._log, wait)
            self.erasure_pending = not done

    # -- opening and closing -----------------------------------------------------------------

    def _open(self) -> None:
        try:
            # Looked at first: another process may be creating the file, and writes to it before the
            # log.
            has_log = has_content(self._log) and self._path.exists()
            self._file = OpenFile.of(self._path)
            size = self._file.size()
            if size < _HEADER_BYTES and (size or has_log):
                # SQLite takes a file this short for a new one, and would overwrite it and its log.
                raise StoreCorruptError(
                    f"{self.name} is not a recallm database, or the file was cut; name another "
                    f"file, or restore a backup of it and move {self._log.name} away"
                )
            check_belongs(self._path, self._file, lambda: self._connect("ro"))
            self._open_writer()
            self._is_parted = has_content(self._log)
        except DRIVER_ERRORS as error:
            raise translated(error, self.name, self._timeout) from error
        except (OSError, ValueError) as error:
            kind = StoreReadOnlyError if isinstance(error, PermissionError) else StoreError
            raise kind(
                f"{self.name!r} cannot be opened ({error}); create its folder first, check that "
                "the file may be read and written, or name another file"
            ) from error

    def _open_writer(self) -> sqlite3.Connection:
        """Open the connection that writes; first erase what a crashed process left."""
        writer = self._connect(writes=True)
        self._log_node = node_of(self._log)
        self._writer = writer
        self.erasure_pending = _is_erasure_due(writer)
        if self.erasure_pending:
            self._erase(writer, 0.0)
        return writer

    def _connect(self, mode: str = "rw", *, writes: bool = False) -> sqlite3.Connection:
        # The name of the file may have any bytes.
        name = quote(os.fsencode(self._path.absolute()))
        connection = connect(f"file:{name}?mode={mode}", self._timeout)
        try:
            if writes:
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
                is_new(connection, self.name)
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
                connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}").fetchone()
                transact(connection, lambda each: create_schema(each, self.name))
                break
            except sqlite3.OperationalError as error:
                # Switching to WAL does not wait for the lock.
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _close_writer(self) -> None:
        """Close the connection that writes, which may be the last one. No log stays under a name
        that now belongs to another database, and none that others use is deleted."""
        writer, self._writer = self._writer, None
        if writer is None or self._file is None:
            return
        log = node_of(self._log)
        if node_of(self._path) != self._file.node:
            with suppress(sqlite3.Error):  # SQLite itself keeps the log of a file that was moved
                (blocked, *_) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not blocked and log == self._log_node:
                    self._log.unlink(missing_ok=True)
        elif log not in (None, self._log_node):  # SQLite would delete the new one
            self._file.forbid(writer)
            return
        writer.close()

    def _check(self) -> None:
        super()._check()
        self._checked_file()

    def _checked_file(self) -> OpenFile:
        """The open file, for as long as what SQLite writes to is under the names of file and log.

        Raises:
            StoreUnavailableError: another file or log is under its name, or none, the file was cut
                to nothing (SQLite would take it for a new one), or this process may not use it any
                more.
        """
        file = self._file
        if file is None:
            raise ClosedError
        is_own_log = self._writer is None or node_of(self._log) == self._log_node
        if node_of(self._path) != file.node or not is_own_log or not file.size():
            raise StoreUnavailableError(
                f"{self._path} or {self._log.name} was deleted, moved, replaced or cut to 0 bytes "
                "while it was open; nothing is written to it any more: put it back, or close this "
                "memory, which saves what can be saved, and open the file, or a back-up, again"
            )
        file.check_usable()
        return file

    # -- forks -------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Close the connections. A child inherits what SQLite knows of its process's locks, but not
        the locks; a closed connection leaves nothing to inherit."""
        if self._writer_thread is None:
            self._close_idle()
            self._close_writer()

    def _after_fork(self, inherited: Sequence[sqlite3.Connection], *, is_quiet: bool) -> None:
        # A connection that writes must not be touched: closing it would undo what the parent is
        # writing.
        if is_quiet:
            for connection in inherited:
                connection.close()
        elif self._file is not None:
            self._file.forbid((self._idle, self._writer, inherited))


def _begun(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A connection in a transaction that shows the present state."""
    try:
        connection.execute("BEGIN")
        # A deferred transaction takes its snapshot at its first read.
        connection.execute("SELECT 1 FROM namespace LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _is_erasure_due(connection: sqlite3.Connection) -> bool:
    """Whether some deleted bytes are not erased yet."""
    (due,) = connection.execute("SELECT EXISTS (SELECT 1 FROM erasure)").fetchone()
    return bool(due)


def back_up(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copy the memory in the file ``path``, with all its namespaces, to a new file. Others may
    write meanwhile: the copy has one state. A back-up is put back the same way: the copy takes no
    file's place.

    Raises:
        StoreError: there is no memory at ``path``, it is damaged, or ``target`` or its log is there
            already or cannot be written. Nothing is left at ``target``.
    """
    source, to = Path(path), Path(target)
    if not source.exists():
        raise StoreError(f"there is no memory at {source}")
    for ending in ("", *BESIDE_A_DATABASE):
        if os.path.lexists(f"{to}{ending}"):
            raise StoreError(
                f"{to}{ending} is there already: name another file; or end the programs that use "
                f"{to}, and move it away with its log ({to}-wal), or delete both"
            )
    try:
        number, name = tempfile.mkstemp(".draft", f".{to.name}.", to.parent)
        os.close(number)
        draft = Path(name)
        try:
            _copy(source, draft)
            _put(draft, to)
        finally:
            draft.unlink(missing_ok=True)
    except DRIVER_ERRORS as error:
        raise translated(error, str(to)) from error
    except OSError as error:
        raise StoreError(f"{to} cannot be written ({error})") from error


def _put(draft: Path, to: Path) -> None:
    """Give the draft its name. A file that another process has put there meanwhile stays."""
    try:
        os.link(draft, to)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        draft.replace(to)


def _copy(source: Path, draft: Path) -> None:
    with (
        closing(FileConnections(source, _PATIENCE)) as connections,
        connections.read() as snapshot,
        closing(sqlite3.connect(draft, isolation_level=None)) as copy,
    ):
        if snapshot.connection is not None:
            snapshot.connection.backup(copy)
        register(copy)
        begin(copy)
        problems = copy.execute("PRAGMA integrity_check").fetchall()
        if problems != [("ok",)]:
            raise StoreCorruptError(f"{source} is damaged ({problems[0][0]}): use another back-up")
