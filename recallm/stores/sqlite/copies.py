"""Back-ups of a whole file: made while others write, and put back."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from recallm.errors import StoreCorruptError, StoreError
from recallm.stores.sqlite.failures import DRIVER_ERRORS, translated
from recallm.stores.sqlite.file import FileConnections
from recallm.stores.sqlite.open_files import BESIDE_A_DATABASE, begin
from recallm.stores.sqlite.schema import register

_TIMEOUT = 30.0


def back_up(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copy the memory in the file ``path``, with all its namespaces, to a new file. Others may
    write meanwhile: the copy has one state. A back-up is put back the same way: the copy takes no
    file's place.

    Raises:
        StoreError: there is no memory at ``path``, it is damaged, or ``target`` or its log is there
            already or cannot be written. Nothing is left at ``target``.
    """
    source, to = Path(path), Path(target)
    if not source.exists():
        raise StoreError(f"there is no memory at {source}")
    for ending in ("", *BESIDE_A_DATABASE):
        if os.path.lexists(f"{to}{ending}"):
            raise StoreError(
                f"{to}{ending} is there already: name another file; or end the programs that use "
                f"{to}, and move it away with its log ({to}-wal), or delete both"
            )
    try:
        number, name = tempfile.mkstemp(".draft", f".{to.name}.", to.parent)
        os.close(number)
        draft = Path(name)
        try:
            _copy(source, draft)
            _put(draft, to)
        finally:
            draft.unlink(missing_ok=True)
    except DRIVER_ERRORS as error:
        raise translated(error, str(to)) from error
    except OSError as error:
        raise StoreError(f"{to} cannot be written ({error})") from error


def _put(draft: Path, to: Path) -> None:
    """Give the draft its name. A file that another process has put there meanwhile stays."""
    try:
        os.link(draft, to)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        draft.replace(to)


def _copy(source: Path, draft: Path) -> None:
    with (
        closing(FileConnections(source, _TIMEOUT)) as connections,
        connections.read() as snapshot,
        closing(sqlite3.connect(draft, isolation_level=None)) as copy,
    ):
        if snapshot.connection is not None:
            snapshot.connection.backup(copy)
        register(copy)
        begin(copy)
        problems = copy.execute("PRAGMA integrity_check").fetchall()
        if problems != [("ok",)]:
            raise StoreCorruptError(f"{source} is damaged ({problems[0][0]}): use another back-up")
