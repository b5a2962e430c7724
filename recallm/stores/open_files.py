"""The database files that are open in this process. No other code may open and close them.

On POSIX, a process that closes any descriptor of a file loses all its locks on that file. SQLite
would go on without its locks, and another process would delete the log that SQLite still uses.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Protocol

__all__ = ["BESIDE_A_DATABASE", "is_open_database", "note_open"]

BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")
"""The endings of the files that SQLite writes beside a database."""


class Holder(Protocol):
    """An object that has a database open until it is ``closed``."""

    closed: bool


_open: dict[tuple[int, int], weakref.WeakSet[Holder]] = {}


def note_open(path: Path, holder: Holder) -> None:
    """Note that ``holder`` has the database at ``path`` open, until it is closed or destroyed."""
    found = path.stat()
    _open.setdefault((found.st_dev, found.st_ino), weakref.WeakSet()).add(holder)


def is_open_database(path: Path) -> bool:
    """Whether ``path`` is a database that is open in this process, under any name, or a file that
    SQLite writes beside one."""
    names = [str(path), *(str(path).removesuffix(end) for end in BESIDE_A_DATABASE)]
    return any(map(_is_open, names))


def _is_open(name: str) -> bool:
    try:
        found = os.stat(name)  # noqa: PTH116 - Path would refuse some long names
    except (OSError, ValueError):
        return False
    holders = _open.get((found.st_dev, found.st_ino), ())
    return any(not holder.closed for holder in holders)
