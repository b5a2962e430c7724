"""The database files that are open in this process, and which logs are theirs. No other code may
open and close them.

On POSIX, a process that closes any descriptor of a file loses all its locks on that file. SQLite
would go on without its locks, and another process would delete the log that SQLite still uses. So
the process has one descriptor of each database beside SQLite's, and closes it after them.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import sys
import weakref
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from recallm.errors import StoreCorruptError, StoreUnavailableError
from recallm.ground.forking import keep_for_good, new_lock
from recallm.stores.base import SCHEMA_VERSION

BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")
"""The endings of the files that SQLite writes beside a database."""

Node = tuple[int, int]
"""Device and number of an inode."""

_opening = new_lock()


class OpenFile:
    """A database file, for as long as a store of this process has it open."""

    def __init__(self, path: Path) -> None:
        # Open while the object lives.
        self.stream = open(path, "r+b", buffering=0, opener=private)  # noqa: SIM115
        weakref.finalize(self, self.stream.close)
        self.node = node_of(self.stream.fileno())
        self._is_forbidden = False

    @classmethod
    def of(cls, path: Path) -> OpenFile:
        """The file at ``path``, which all stores of this process share. An empty file is created
        where there is none.

        Raises:
            OSError: it cannot be opened.
            StoreUnavailableError: see ``forbid``.
        """
        with _opening:
            file = _open_files.get(node_of(path))
            if file is None:
                file = cls(path)
                _open_files[file.node] = file
        file.check_usable()
        return file

    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self.stream.fileno()).st_size

    def head(self, size: int) -> bytes:
        """The first bytes of the file."""
        if sys.platform == "win32":
            self.stream.seek(0)
            return self.stream.read(size)
        return os.pread(self.stream.fileno(), size, 0)

    def forbid(self, inherited: object) -> None:
        """Refuse the file from now on, and never close the ``inherited`` connections: SQLite shares
        with every connection of the process what they know of locks and of the log."""
        keep_for_good((self, inherited))
        self._is_forbidden = True

    def check_usable(self) -> None:
        """Refuse a file that this process may not use any more.

        Raises:
            StoreUnavailableError: see ``forbid``.
        """
        if self._is_forbidden:
            raise StoreUnavailableError(
                "this process cannot use the database any more: the process was forked in the "
                "middle of a write, or the database's log was replaced while it was open; use "
                "another process (fork before the write or after it, or start processes by spawn)"
            )


_open_files: weakref.WeakValueDictionary[Node | None, OpenFile] = weakref.WeakValueDictionary()


def is_open_database(path: Path) -> bool:
    """Whether ``path`` is a database that is open in this process, under any name."""
    return node_of(path) in _open_files


def node_of(path: str | Path | int) -> Node | None:
    """Device and number of the inode of the file at ``path``, or of an open file's number; None if
    there is no file."""
    try:
        found = os.stat(path)  # noqa: PTH116 - Path would refuse some long names
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def private(path: str, flags: int) -> int:
    """An opener for ``open``: a file that is not there is created, for its owner alone."""
    return os.open(path, flags | os.O_CREAT, 0o600)


# Which file and which log belong together: checked before SQLite opens the two for writing.
#
# SQLite replays whatever log it finds beside a database. Where a back-up took the place of a file
# whose program was killed, that log would destroy the back-up. So each database has a *number*, its
# ``schema_version``, and each log has the number of its file, or the next one (``mark``). A new
# file and a back-up begin with a number by chance. Before its first write a process raises the
# number in the file itself: a copy of the closed file has an earlier number than any log to come.

_NUMBER = slice(40, 44)
"""Where a file has its ``schema_version``; 0 as long as its first tables are in the log alone."""

_FIRST_NUMBER = 1 << 29
"""SQLite's own back-ups have small numbers: none of them meets one of these."""


def begin(connection: sqlite3.Connection) -> None:
    """Give a new database, or a copy of one, a number of its own."""
    number = _FIRST_NUMBER + secrets.randbelow(_FIRST_NUMBER)
    connection.execute(f"PRAGMA schema_version = {number}")


def mark(connection: sqlite3.Connection, file: OpenFile) -> None:
    """Put the number into the log, inside a transaction that changes the database ``file``. Where
    the file itself has the number, the log gets the next one."""
    number = _number_of(connection)
    if number == _number_in(file):
        connection.execute(f"PRAGMA schema_version = {number + 1}")
    else:  # this writes the first page, which has both
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def log_path(path: Path) -> Path:
    """The path of the write-ahead log of the database at ``path``."""
    return Path(f"{path}-wal")


def has_content(path: Path) -> bool:
    """Whether there is a file that is not empty."""
    return path.exists() and path.stat().st_size > 0


def check_belongs(path: Path, file: OpenFile, connect: Callable[[], sqlite3.Connection]) -> None:
    """Refuse the database at ``path`` (open as ``file``) where the log beside it is another's.
    ``connect`` gives a connection that cannot write: it sees what the log would make of the file.

    Raises:
        StoreCorruptError: it is; neither file was touched.
        OSError, sqlite3.Error: a file cannot be read.
    """
    found, number = None, -1
    while number != _number_in(file):  # another process may raise it meanwhile
        number = _number_in(file)
        found = _foreign(path, number, connect)
    if found is not None:
        raise StoreCorruptError(
            f"{found.name} is not the log of {path}, but of another file or of another state of "
            "it, and would destroy it: a program that was killed has left it. Nothing was changed. "
            f"If {path.name} is a back-up that was put there, delete {found.name}; if not, bring "
            "back the file that belongs to the log"
        )


def _foreign(path: Path, number: int, connect: Callable[[], sqlite3.Connection]) -> Path | None:
    """The log or journal beside the database at ``path`` that does not belong to its ``number``."""
    log, journal = log_path(path), Path(f"{path}-journal")
    if number >= _FIRST_NUMBER and has_content(journal):  # a file with a log has no use for it
        return journal
    if number and has_content(log):
        with closing(connect()) as connection:
            if _number_of(connection) - number not in (0, 1):
                return log
    return None


def _number_of(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("PRAGMA schema_version").fetchone()
    return int(number)


def _number_in(file: OpenFile) -> int:
    return int.from_bytes(file.head(_NUMBER.stop)[_NUMBER], "big")
