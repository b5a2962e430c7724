"""Database files that are open in this process, which nothing else may open and close.

POSIX takes all locks of a process on a file away when the process closes any descriptor of that
file: SQLite would go on without the locks that it believes to have, and another process would
delete the log under it.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Protocol

__all__ = ["BESIDE_A_DATABASE", "is_open_database", "note_open"]

BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")
"""What SQLite adds to the name of a database for the files that it keeps beside it."""


class Holder(Protocol):
    """What has a database open until it is ``closed``."""

    closed: bool


_open: dict[tuple[int, int], weakref.WeakSet[Holder]] = {}


def note_open(path: Path, holder: Holder) -> None:
    """The database at ``path`` is open until ``holder`` is closed, or no more."""
    found = path.stat()
    _open.setdefault((found.st_dev, found.st_ino), weakref.WeakSet()).add(holder)


def is_open_database(path: Path) -> bool:
    """Whether ``path`` is a database that is open in this process, under whatever name, or a file
    that SQLite keeps beside one."""
    names = [str(path), *(str(path).removesuffix(end) for end in BESIDE_A_DATABASE)]
    return any(map(_is_open, names))


def _is_open(name: str) -> bool:
    try:
        found = os.stat(name)  # noqa: PTH116 - a name that may be of any length
    except (OSError, ValueError):
        return False
    holders = _open.get((found.st_dev, found.st_ino), ())
    return any(not holder.closed for holder in holders)
