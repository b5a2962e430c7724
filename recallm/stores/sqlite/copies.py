"""Back-ups of a whole file: made while others write, and put back in its place."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from recallm.errors import StoreBusyError, StoreCorruptError, StoreError
from recallm.stores.sqlite.failures import DRIVER_ERRORS, translated
from recallm.stores.sqlite.file import FileConnections
from recallm.stores.sqlite.open_files import BESIDE_A_DATABASE, OpenFile, begin, is_open_database
from recallm.stores.sqlite.schema import register

_TIMEOUT = 30.0


def back_up(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copy the memory in the file ``path``, with all its namespaces, to a new file. Others may
    write meanwhile: the copy has one state.

    Raises:
        StoreError: there is no memory at ``path``, it is damaged, or ``target`` is there already
            or cannot be written. Nothing is left at ``target``.
    """
    to = Path(target)
    _check_free(to)
    with _draft(Path(path), to) as draft:
        draft.replace(to)


def restore_file(backup: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path | None:
    """Put a copy of ``backup`` in the place of the memory ``path``, as a whole or not at all.
    Return where the memory that was there is kept now, with its log: ``PATH.old``; None if there
    was none.

    Raises:
        StoreBusyError: a process has ``path`` open.
        StoreError: ``backup`` is no memory or is damaged, ``PATH.old`` is there already, or a file
            cannot be written. The memory at ``path`` is as it was.
    """
    place = Path(os.path.realpath(path))
    old = Path(f"{place}.old")
    with _draft(Path(backup), place) as draft:
        if not place.exists():
            draft.replace(place)
            return None
        file = _kept_from_others(place)
        for ending in ("", "-wal"):
            _check_free(Path(f"{old}{ending}"))
        for ending in ("-wal", ""):
            with suppress(FileNotFoundError):
                _link(f"{place}{ending}", f"{old}{ending}")
        shutil.copymode(place, draft)
        draft.replace(place)
        # Killed before this, the back-up has a log that is not its own: it is refused.
        for ending in BESIDE_A_DATABASE:
            Path(f"{place}{ending}").unlink(missing_ok=True)
        del file  # closes it, and with it the lock ends
    return old


def _check_free(path: Path) -> None:
    if os.path.lexists(path):
        raise StoreError(f"{path} is there already: name another file, move it away, or delete it")


def _link(source: str, target: str) -> None:
    """Give a file a second name. To copy the database would end the lock: whoever closes a file
    loses all locks on it."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without links
        shutil.copy2(source, target)


@contextmanager
def _draft(source: Path, target: Path) -> Generator[Path, None, None]:
    """A whole copy of ``source`` beside ``target``, deleted afterwards unless it was moved."""
    if not source.exists():
        raise StoreError(f"there is no memory at {source}")
    try:
        number, name = tempfile.mkstemp(".draft", f".{target.name}.", target.parent)
        os.close(number)
        draft = Path(name)
        try:
            _copy(source, draft)
            yield draft
        finally:
            draft.unlink(missing_ok=True)
    except DRIVER_ERRORS as error:
        raise translated(error, str(target)) from error
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error})") from error


def _copy(source: Path, draft: Path) -> None:
    with (
        closing(FileConnections(source, _TIMEOUT)) as connections,
        connections.read() as snapshot,
        closing(sqlite3.connect(draft, isolation_level=None)) as copy,
    ):
        if snapshot.source is not None:
            snapshot.source.connection.backup(copy)
        register(copy)
        begin(copy)
        problems = copy.execute("PRAGMA integrity_check").fetchall()
        if problems != [("ok",)]:
            raise StoreCorruptError(f"{source} is damaged ({problems[0][0]}): use another back-up")


def _kept_from_others(path: Path) -> OpenFile:
    """The file ``path``; as long as this object lives, no other process can open it."""
    if is_open_database(path):
        raise StoreBusyError(f"{path} is open in this process: close the memory first")
    file = OpenFile.of(path)
    if file.is_used_elsewhere():
        raise StoreBusyError(
            f"{path} is open in another process: end the programs that use this memory first"
        )
    return file
