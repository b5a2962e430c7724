"""Reading a file in a folder where this process cannot write, not even SQLite's log.

SQLite can read such a file without locks (``immutable``), but reports damage if another process
writes to it meanwhile. A copy in memory is one whole state: it is taken again until the file does
not change during the copy, and whenever the file has changed since.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from recallm.errors import StoreBusyError
from recallm.stores.sqlite.connections import ReadConnection, Snapshot, connect, file_address
from recallm.stores.sqlite.identity import log_path

__all__ = ["FileCopies"]

_TRIES = 100
_PAUSE = 0.05


class FileCopies:
    """Copies of one file. A copy stays while a reader uses it or the file is unchanged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._latest: tuple[object, ReadConnection] | None = None

    def read_by(self, snapshot: Snapshot) -> None:
        """Let ``snapshot`` read a copy of the file as it is now.

        Raises:
            sqlite3.Error: the file cannot be read, or is damaged.
            StoreBusyError: another process keeps writing to it.
        """
        for _ in range(_TRIES):
            stamp = self._stamp()
            if self._latest is None or self._latest[0] != stamp:
                self.close()
                copy = self._copied(stamp)
                if copy is None:
                    time.sleep(_PAUSE)
                    continue
                self._latest = stamp, ReadConnection(copy, threading.RLock())
            source = self._latest[1]
            source.snapshots.add(snapshot)
            snapshot.source = source
            return
        raise StoreBusyError(
            f"{self._path} is being written by another process, and cannot be shared: its folder "
            "is read-only for this process; try again, or allow it to write there"
        )

    def release(self, snapshot: Snapshot, source: ReadConnection) -> None:
        """End the reader of ``snapshot``."""
        source.snapshots.discard(snapshot)
        if not source.snapshots and (self._latest is None or self._latest[1] is not source):
            source.connection.close()

    def close(self) -> None:
        """Close the latest copy, now or with its last reader."""
        latest, self._latest = self._latest, None
        if latest is not None and not latest[1].snapshots:
            latest[1].connection.close()

    def _copied(self, stamp: object) -> sqlite3.Connection | None:
        """A copy of the file; None if it has changed since ``stamp``."""
        copy = connect(":memory:", 0.0)
        try:
            source = connect(file_address(self._path, "ro&immutable=1"), 0.0)
            try:
                source.backup(copy)
            finally:
                source.close()
        except sqlite3.DatabaseError:
            copy.close()
            if self._stamp() == stamp:
                raise
            return None
        if self._stamp() != stamp:
            copy.close()
            return None
        copy.execute("PRAGMA query_only = ON")
        return copy

    def _stamp(self) -> object:
        """A value that differs after every write to the file."""
        found = self._path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns, log_path(self._path).exists()
