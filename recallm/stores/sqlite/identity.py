"""Checks that the open file is still the file under its name.

SQLite uses the database by a descriptor and its log by a name. If a file is deleted, moved or
replaced while it is open, SQLite continues to write to a file that nobody will open again, and its
log stands beside the file that took the name.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from recallm.errors import StoreUnavailableError
from recallm.stores.open_files import OpenFile, node_of


def log_path(path: Path) -> Path:
    """The path of the write-ahead log of the database at ``path``."""
    return Path(f"{path}-wal")


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
