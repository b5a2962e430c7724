"""Which process has a folder to itself, told by a lock on a file in it."""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path

__all__ = ["FolderLock"]


class FolderLock:
    """Held by one holder at a time, until it is released or dropped, or its process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._release: weakref.finalize[[int], FolderLock] | None = None

    def acquire(self) -> bool:
        """Whether it could be had; waits for nobody.

        Raises:
            OSError: the file cannot be made.

        """
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(file)
        except OSError:
            os.close(file)
            return False
        self._release = weakref.finalize(self, os.close, file)
        return True

    def release(self) -> None:
        """Let another have it; a second call does nothing."""
        if self._release is not None:
            self._release()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
