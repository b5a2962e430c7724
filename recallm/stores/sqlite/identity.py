"""Checks that the open file is still the file under its name.

SQLite uses the database by a descriptor and its log by a name. If a file is deleted, moved or
replaced while it is open, SQLite continues to write to a file that nobody will open again, and its
log stands beside the file that took the name.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from recallm.errors import StoreUnavailableError
from recallm.forking import keep_for_good

__all__ = ["FileIdentity", "check_usable", "forbid_in_this_process", "log_path"]

_Node = tuple[int, int]
"""Device and number of an inode."""

_forbidden: set[_Node] = set()


def log_path(path: Path) -> Path:
    """The path of the write-ahead log of the database at ``path``."""
    return path.with_name(path.name + "-wal")


def check_usable(found: os.stat_result) -> None:
    """Refuse a file that this process may not use any more.

    Raises:
        StoreUnavailableError: see ``forbid_in_this_process``.
    """
    if (found.st_dev, found.st_ino) in _forbidden:
        raise StoreUnavailableError(
            "this process cannot use the database any more: the process was forked in the middle "
            "of a write, or the database's log was replaced while it was open; use another "
            "process (fork before the write or after it, or start processes by spawn)"
        )


class FileIdentity:
    """The inodes of an open database and its log."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = log_path(path)
        found = path.stat()
        self.file = found.st_dev, found.st_ino
        self._log_node = _node(self._log)

    def check(self) -> None:
        """Refuse to continue if the file under the name is another file, or none.

        Raises:
            StoreUnavailableError: it was deleted, moved, replaced or cut to nothing.
        """
        found = _stat(self._path)
        if found is None or (found.st_dev, found.st_ino) != self.file:
            what = "deleted or moved away" if found is None else "replaced by another file"
            raise StoreUnavailableError(
                f"{self._path} was {what} while it was open; nothing is written to it any more: "
                "put the file back, or close this memory and open it again"
            )
        if not found.st_size:
            raise StoreUnavailableError(
                f"{self._path} was cut to 0 bytes while it was open; restore a backup"
            )
        check_usable(found)

    def check_log(self) -> None:
        """Refuse to continue if the log under its name is not the log that SQLite writes.

        Raises:
            StoreUnavailableError: it was deleted, moved or replaced.
        """
        if _node(self._log) != self._log_node:
            raise StoreUnavailableError(
                f"{self._log} was deleted, moved or replaced while {self._path} was open; close "
                "this memory, which copies into the file what can be saved, and open it again"
            )

    def renew_log(self) -> None:
        """Note the log's inode again: it may be a new file after every connection was closed."""
        self._log_node = _node(self._log)

    def close_last(self, connection: sqlite3.Connection) -> None:
        """Close a connection that may be the last one, and leave no log under a name that now
        belongs to another database.

        SQLite keeps the log of a file that was moved. This copies the log into the file, wherever
        that is, and deletes it, before another database under the old name is opened with it. If
        the log alone was replaced, SQLite would delete the new one, which others may use: then the
        connection stays open for good, and this process may not use the file any more, because
        SQLite would share the index of the old log with new connections.
        """
        has_moved = _node(self._path) != self.file
        is_own_log = _node(self._log) in (None, self._log_node)
        if not has_moved and not is_own_log:
            keep_for_good(connection)
            _forbidden.add(self.file)
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


def forbid_in_this_process(path: Path, inherited: object) -> None:
    """Refuse the file from now on: what SQLite knows of its locks belongs to another process. The
    ``inherited`` connections must never be closed."""
    keep_for_good(inherited)
    node = _node(path)
    if node is not None:
        _forbidden.add(node)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _node(path: Path) -> _Node | None:
    found = _stat(path)
    return None if found is None else (found.st_dev, found.st_ino)
