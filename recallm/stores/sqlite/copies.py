"""Reading a file that lies where this process can write nothing, not even SQLite's log beside it.

SQLite would read it without any lock (``immutable``), and call it damaged where somebody else
writes meanwhile. A copy in memory is one whole state: it is taken again until the file did not
change under it, and whenever the file has changed since.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from recallm.errors import StoreBusyError
from recallm.stores.sqlite.connections import Held, Snapshot, connect, file_address
from recallm.stores.sqlite.identity import log_path

__all__ = ["FileCopies"]

_TRIES = 100
_PAUSE = 0.05


class FileCopies:
    """Copies of one file, each for as long as a reader needs it or the file stays as it is."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._latest: tuple[object, Held] | None = None

    def read_by(self, snapshot: Snapshot) -> None:
        """Give ``snapshot`` a copy of the file as it is now.

        Raises:
            sqlite3.Error: the file cannot be read, or is damaged.
            StoreBusyError: somebody else does not stop writing to it.
        """
        for _ in range(_TRIES):
            stamp = self._stamp()
            if self._latest is None or self._latest[0] != stamp:
                self.close()
                copy = self._copied(stamp)
                if copy is None:
                    time.sleep(_PAUSE)
                    continue
                self._latest = stamp, Held(copy, threading.RLock())
            held = self._latest[1]
            held.views.add(snapshot)
            snapshot.held = held
            return
        raise StoreBusyError(
            f"{self._path} is being written by somebody else, and cannot be shared: its folder is "
            "read-only for this process; try again, or give it the right to write there"
        )

    def release(self, snapshot: Snapshot, held: Held) -> None:
        """The reader of ``snapshot`` has ended."""
        held.views.discard(snapshot)
        if not held.views and (self._latest is None or self._latest[1] is not held):
            held.connection.close()

    def close(self) -> None:
        """Let the latest copy go, at once or with its last reader."""
        latest, self._latest = self._latest, None
        if latest is not None and not latest[1].views:
            latest[1].connection.close()

    def _copied(self, stamp: object) -> sqlite3.Connection | None:
        """A copy of the file; None where it is not as ``stamp`` says any more."""
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
        """What changes whenever somebody writes."""
        found = self._path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns, log_path(self._path).exists()
