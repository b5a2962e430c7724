"""Which file and which log belong together: checked before SQLite opens the two, and while they are
open.

SQLite replays whatever log it finds beside a database. Where a back-up took the place of a file
whose program was killed, that log would destroy the back-up. So the header of each file holds the
*number of its state*, which every commit raises by one: the upper 23 bits of ``user_version``,
above the schema version. A commit writes the header into the log, too. A log belongs to a file that
is in the state before the log's first commit, or (by a checkpoint) in a later state of the log.

The first number of a file and of a back-up is random. Before its first write a process raises the
number in the file itself: a copy of the closed file has an earlier number than any log to come.

SQLite uses the database by a descriptor and its log by a name. If a file is deleted, moved or
replaced while it is open, SQLite continues to write to a file that nobody will open again, and its
log stands beside the file that took the name (``FileIdentity``).
"""

from __future__ import annotations

import secrets
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from recallm.errors import StoreCorruptError, StoreUnavailableError
from recallm.stores.base import SCHEMA_VERSION
from recallm.stores.open_files import OpenFile, node_of

APPLICATION_ID = 0x52634C4D  # "RcLM"

_NUMBERS = 1 << 23

_HEADER_BYTES = 100
_HEADER = struct.Struct(">18x B 9x I 8x I 16x I 4x I 28x")
"""Of a file's first page: the version of its format, its pages, the schema cookie,
``user_version``, the application id."""

_WAL_FORMAT = 2
_LOG_HEADER = struct.Struct(">8I")
_FRAME_HEADER = struct.Struct(">6I")
_LOG_MAGIC = 0x377F0682
"""The last bit says that checksums are over big-endian numbers."""

_TRIES = 100


class _Header(NamedTuple):
    """What the header of a database's first page says."""

    format: int
    pages: int
    cookie: int
    version: int
    application: int

    @property
    def number(self) -> int:
        return self.version >> 8

    def precedes(self, later: _Header) -> bool:
        """Whether this is the state before a commit with the header ``later``, or its own: other
        programs do not raise the number. VACUUM raises the cookie; SQLite's back-ups have
        another."""
        steps = (later.number - self.number) % _NUMBERS
        return steps in (0, 1) and later.cookie - self.cookie in (0, 1)


def begin(connection: sqlite3.Connection) -> None:
    """Give a new database, or a copy of one, a number of its own."""
    # SQLite's own back-ups have small cookies: this one is met by none of them.
    connection.execute(f"PRAGMA schema_version = {(1 << 30) + secrets.randbelow(1 << 30)}")
    _set_number(connection, secrets.randbelow(_NUMBERS))


def advance(connection: sqlite3.Connection) -> None:
    """Raise the number of the state; inside the transaction that changes it."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    _set_number(connection, ((version >> 8) + 1) % _NUMBERS)


def _set_number(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(f"PRAGMA user_version = {number << 8 | SCHEMA_VERSION}")


def log_path(path: Path) -> Path:
    """The path of the write-ahead log of the database at ``path``."""
    return Path(f"{path}-wal")


def check_belongs(path: Path, file: OpenFile) -> None:
    """Refuse the database at ``path`` (open as ``file``) where the log beside it is another's.

    Raises:
        StoreCorruptError: it is; neither file was touched.
        OSError: a file cannot be read.
    """
    for _ in range(_TRIES):
        log, before = log_path(path), _log_header(path)
        page = file.head(_HEADER_BYTES)
        if before is None or len(page) < _HEADER_BYTES:
            break
        try:
            belongs = _belongs(page, log)
        except FileNotFoundError:
            continue
        if before == _log_header(path):  # no other process began the log anew meanwhile
            if not belongs:
                raise _foreign(path, log)
            break
    journal = Path(f"{path}-journal")
    page = file.head(_HEADER_BYTES)
    if len(page) == _HEADER_BYTES and journal.exists() and journal.stat().st_size:
        header = _Header(*_HEADER.unpack(page))
        # A file with a write-ahead log has no use for a journal.
        if header.application == APPLICATION_ID and header.format == _WAL_FORMAT:
            raise _foreign(path, journal)


def is_bare(path: Path, file: OpenFile) -> bool:
    """Whether nothing was ever committed to the database: it is empty, and so is its log."""
    page = file.head(_HEADER_BYTES)
    has_tables = len(page) == _HEADER_BYTES and _Header(*_HEADER.unpack(page)).application
    return not has_tables and (_log_header(path) is None or not any(_logged_pages(log_path(path))))


def _foreign(path: Path, log: Path) -> StoreCorruptError:
    return StoreCorruptError(
        f"{log.name} is not the log of {path}, but of another file or of another state of it, and "
        "would destroy it: a program that was killed has left it. Nothing was changed. If "
        f"{path.name} is a back-up that was put there, delete {log.name}, or give the back-up to "
        f"'recallm restore BACKUP --db {path}'; if not, bring back the file that belongs to the log"
    )


def _belongs(page: bytes, log: Path) -> bool:
    pages = list(_logged_pages(log))
    if not pages or page in pages:
        return True
    header, first = (_Header(*_HEADER.unpack(found)) for found in (page, pages[0]))
    if header.application != APPLICATION_ID:
        # The tables of a new file may be in the log alone.
        return first.application != APPLICATION_ID or (header.application, header.pages) == (0, 1)
    return header.precedes(first)


def _log_header(path: Path) -> bytes | None:
    """The header of the log of ``path``; None if there is no log that SQLite would replay."""
    try:
        with log_path(path).open("rb") as stream:
            header = stream.read(_LOG_HEADER.size)
    except FileNotFoundError:
        return None
    if len(header) < _LOG_HEADER.size:
        return None
    magic, *_, one, two = _LOG_HEADER.unpack(header)
    is_whole = magic & ~1 == _LOG_MAGIC and _checksum(header[:24], magic) == (one, two)
    return header if is_whole else None


def _logged_pages(log: Path) -> Iterator[bytes]:
    """The headers of the first page as the committed frames of a log have them, oldest first."""
    with log.open("rb") as stream:
        header = stream.read(_LOG_HEADER.size)
        if len(header) < _LOG_HEADER.size:
            return
        magic, _, page_size, _, *salts, one, two = _LOG_HEADER.unpack(header)
        checksum: tuple[int, int] | None = (one, two)
        pending: list[bytes] = []
        while len(start := stream.read(_FRAME_HEADER.size)) == _FRAME_HEADER.size:
            number, committed, *rest = _FRAME_HEADER.unpack(start)
            if rest[:2] != salts:
                return  # frames of an earlier log
            page = stream.read(page_size)
            if len(page) < page_size:
                return
            if checksum is not None:
                # Up to the first of these pages: a power failure can tear the first commit.
                checksum = _checksum(page, magic, _checksum(start[:8], magic, checksum))
                if checksum != tuple(rest[2:]):
                    return
            if number == 1:
                pending.append(page[:_HEADER_BYTES])
                checksum = None
            if committed:
                yield from pending
                pending.clear()


def _checksum(content: bytes, magic: int, start: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """The checksum of SQLite's log over ``content``, after that of what stands before."""
    one, two = start
    for first, second in struct.iter_unpack(">II" if magic & 1 else "<II", content):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


class FileIdentity:
    """The name of an open database, its file and its log."""

    def __init__(self, path: Path, file: OpenFile) -> None:
        self._path = path
        self._file = file
        self._log = log_path(path)
        self._log_node = node_of(self._log)

    def check(self) -> None:
        """Refuse to continue if the file under the name is another file, or none.

        Raises:
            StoreUnavailableError: it was deleted, moved, replaced or cut to nothing, or this
                process may not use it.
        """
        found = node_of(self._path)
        if found != self._file.node:
            what = "deleted or moved away" if found is None else "replaced by another file"
            raise StoreUnavailableError(
                f"{self._path} was {what} while it was open; nothing is written to it any more: "
                "put the file back, or close this memory and open it again"
            )
        if not self._file.size():
            raise StoreUnavailableError(
                f"{self._path} was cut to 0 bytes while it was open; restore a backup"
            )
        self._file.check_usable()

    def check_log(self) -> None:
        """Refuse to continue if the log under its name is not the log that SQLite writes.

        Raises:
            StoreUnavailableError: it was deleted, moved or replaced.
        """
        if node_of(self._log) != self._log_node:
            raise StoreUnavailableError(
                f"{self._log} was deleted, moved or replaced while {self._path} was open; close "
                "this memory, which copies into the file what can be saved, and open it again"
            )

    def renew_log(self) -> None:
        """Note the log's inode again: it may be a new file after every connection was closed."""
        self._log_node = node_of(self._log)

    def close_last(self, connection: sqlite3.Connection) -> None:
        """Close a connection that may be the last one, and leave no log under a name that now
        belongs to another database.

        SQLite keeps the log of a file that was moved. This copies the log into the file, wherever
        that is, and deletes it, before another database under the old name is opened with it. If
        the log alone was replaced, SQLite would delete the new one, which others may use: then the
        connection stays open for good, and this process may not use the file any more.
        """
        has_moved = node_of(self._path) != self._file.node
        is_own_log = node_of(self._log) in (None, self._log_node)
        if not has_moved and not is_own_log:
            self._file.forbid(connection)
            return
        is_copied = has_moved and _is_copied(connection)
        connection.close()
        if is_copied and is_own_log:
            self._log.unlink(missing_ok=True)


def _is_copied(connection: sqlite3.Connection) -> bool:
    """Copy the log into the file; whether that succeeded."""
    try:
        (blocked, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        return False
    return not blocked
