"""Which file and which log belong together: checked before SQLite opens the two for writing.

SQLite replays whatever log it finds beside a database. Where a back-up took the place of a file
whose program was killed, that log would destroy the back-up. So each database has a *number*, its
``schema_version``, and each log has the number of its file, or the next one (``mark``). A new file
and a back-up begin with a number by chance. Before its first write a process raises the number in
the file itself: a copy of the closed file has an earlier number than any log to come.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from recallm.errors import StoreCorruptError
from recallm.stores.base import SCHEMA_VERSION
from recallm.stores.open_files import OpenFile

_NUMBER = slice(40, 44)
"""Where a file has its ``schema_version``; 0 as long as its first tables are in the log alone."""

_FIRST_NUMBER = 1 << 29
"""SQLite's own back-ups have small numbers: none of them meets one of these."""

_TRIES = 100


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
    log, journal = log_path(path), Path(f"{path}-journal")
    number = _number_in(file)
    if number >= _FIRST_NUMBER and has_content(journal):  # a file with a log has no use for it
        raise _foreign(path, journal)
    for _ in range(_TRIES):
        number = _number_in(file)
        if not number or not has_content(log):
            return
        with closing(connect()) as connection:
            steps = _number_of(connection) - number
        if steps in (0, 1):
            return
        if number == _number_in(file):  # no other process raised it meanwhile
            raise _foreign(path, log)


def _number_of(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("PRAGMA schema_version").fetchone()
    return int(number)


def _number_in(file: OpenFile) -> int:
    return int.from_bytes(file.head(_NUMBER.stop)[_NUMBER], "big")


def _foreign(path: Path, log: Path) -> StoreCorruptError:
    return StoreCorruptError(
        f"{log.name} is not the log of {path}, but of another file or of another state of it, and "
        "would destroy it: a program that was killed has left it. Nothing was changed. If "
        f"{path.name} is a back-up that was put there, delete {log.name}, or give the back-up to "
        f"'recallm restore BACKUP --db {path}'; if not, bring back the file that belongs to the log"
    )
