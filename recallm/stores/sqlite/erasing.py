"""Erasing: no byte of deleted text stays in the file or in its log.

``secure_delete`` overwrites a deleted row in its place. Two more places may hold its bytes:

* The log, until SQLite copies it into the file and cuts it. A reader of an earlier state, in any
  process, prevents that.
* The unused middle of a B-tree page: when SQLite splits a page, it leaves copies of rows between
  the list of cells and the cells. This module overwrites them in the file itself. Nothing else
  writes to the file meanwhile: the log is empty, and the write lock is held. Nobody reads these
  bytes.

The table ``erasure`` has a row from the deletion until both are done. So the next process that
writes to the file or opens it completes the work, also if the process that deleted has died.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

from recallm.stores.sqlite.open_files import OpenFile, mark

_HEADER = struct.Struct(">BHHH")
"""Of a B-tree page: its kind, its first free block, the number of cells, where the cells begin."""

_CELL_LIST_AT = {2: 12, 5: 12, 10: 8, 13: 8}
"""Kind of a B-tree page → bytes before its list of cells."""

_FIRST_PAGE_AT = 100
"""The header of the first page stands after that of the file."""

_MOST_PAGES = 1 << 25
"""Above this, the first byte of an overflow page, a page number, may look like a page kind."""

_PAGES_READ = 2_048


def erase_deleted(connection: sqlite3.Connection, file: OpenFile, log: Path, wait: float) -> bool:
    """Erase what was deleted, outside of a transaction; False if a reader of an earlier state or a
    writer did not end within ``wait`` seconds, or the file is too large (64 GB).

    Raises:
        sqlite3.Error, OSError: the disk failed.
    """
    connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    try:
        (blocked, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if blocked or file.size() >= _MOST_PAGES * page_size:
            return False
        connection.execute("BEGIN IMMEDIATE")
        if log.stat().st_size:
            return False  # another process has written since
        # Pages in this connection's cache hold the copies too.
        connection.execute("PRAGMA shrink_memory")
        _clear_unused(file, page_size)
        # This commit makes all other connections drop their caches.
        connection.execute("DELETE FROM erasure")
        mark(connection, file)
        connection.execute("COMMIT")
        return True
    finally:
        if connection.in_transaction:
            connection.rollback()


def _clear_unused(file: OpenFile, page_size: int) -> None:
    """Overwrite the unused middle of every B-tree page; on the disk when this returns."""
    portion = _PAGES_READ * page_size
    changed = False
    for start in range(0, file.size(), portion):
        file.stream.seek(start)
        pages = file.stream.read(portion)
        for first, last in _unused(pages, page_size, is_first=start == 0):
            file.stream.seek(start + first)
            file.stream.write(bytes(last - first))
            changed = True
    if changed:
        os.fsync(file.stream.fileno())


def _unused(pages: bytes, page_size: int, *, is_first: bool) -> Iterator[tuple[int, int]]:
    """The ranges [first, last) of ``pages`` where unused bytes are not zero."""
    zeros = bytes(page_size)
    for page in range(0, len(pages) - page_size + 1, page_size):
        at = page + _FIRST_PAGE_AT if is_first and page == 0 else page
        kind, _, cells, content = _HEADER.unpack_from(pages, at)
        if kind not in _CELL_LIST_AT:
            continue
        first = at + _CELL_LIST_AT[kind] + 2 * cells
        last = page + (content or 65_536)
        if first < last <= page + page_size and pages[first:last] != zeros[: last - first]:
            yield first, last
