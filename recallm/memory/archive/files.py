"""The files that archives are read from and written to.

An export makes a new file, replaces an older archive, or goes through a pipe. It never overwrites
another kind of file, least of all a database.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from recallm.errors import ArchiveError, InvalidInputError
from recallm.ground import checks
from recallm.memory.archive.strict_json import LONGEST_HEADER, is_header
from recallm.stores.open_files import BESIDE_A_DATABASE, is_open_database, lock_whole, private


@contextmanager
def open_for_writing(target: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """``target`` as a text stream. A file is written as a draft beside ``target`` and moved there
    once it is on the disk; until then an older archive stays as it was. The draft of an export that
    was killed is removed by the next one into its folder.

    Raises:
        ArchiveError: the file cannot be written, or a file that is no archive is there.
        InvalidInputError: ``target`` is neither a path nor a text stream.

    """
    if not isinstance(target, str | os.PathLike):
        yield _stream(target, "target", "write")
        return
    given = checks.file_path(target, "target")
    try:
        path = Path(os.path.realpath(given))
        if path.is_fifo():
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                yield stream
            return
        _check_replaceable(path)
        _remove_drafts(path.parent)
        draft = path.with_name(f".{uuid.uuid4().hex}.recallm")
        try:
            with open(draft, "x", encoding="utf-8", newline="\n", opener=private) as stream:
                lock_whole(stream.fileno(), waits=True)
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            _check_replaceable(path)
            with suppress(FileNotFoundError):
                shutil.copymode(path, draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ArchiveError(f"{given} cannot be written: {error.strerror or error}") from error


def _remove_drafts(folder: Path) -> None:
    """Remove what exports into this folder left that were killed. An empty draft may be one that is
    not locked yet; a folder may know no locks."""
    for draft in folder.glob(f".{'[0-9a-f]' * 32}.recallm"):
        with suppress(OSError), draft.open("rb") as stream:
            if lock_whole(stream.fileno()) and draft.stat().st_size:
                draft.unlink()  # Windows refuses this for a file that is open


@contextmanager
def open_for_reading(source: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """``source`` as a text stream.

    Raises:
        ArchiveError: the file cannot be read.
        InvalidInputError: ``source`` is neither a path nor a text stream.

    """
    if not isinstance(source, str | os.PathLike):
        yield _stream(source, "source", "readline")
        return
    path = checks.file_path(source, "source")
    _check_no_database(path)
    try:
        stream = path.open(encoding="utf-8", newline="\n")
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror or error}") from error
    with stream:
        yield stream


def _stream(given: IO[str], argument: str, method: str) -> IO[str]:
    if not callable(getattr(given, method, None)):
        raise InvalidInputError(
            f"{argument} must be the path of a file or a text stream with {method}(), not "
            f"{type(given).__name__}",
            argument=argument,
        )
    return given


def _check_no_database(path: Path) -> None:
    """Refuse a database that is open in this process, before anything opens its file, and the files
    that SQLite writes beside a database."""
    if path.name.endswith(BESIDE_A_DATABASE) or is_open_database(path):
        raise ArchiveError(f"{path} belongs to a database; name another file")


def _check_replaceable(path: Path) -> None:
    """Refuse to overwrite what is no archive: another file, a folder or a device."""
    _check_no_database(path)
    if path.exists() and not path.is_file():
        raise ArchiveError(f"{path} is no file: an export is written to a file or to a pipe")
    with suppress(FileNotFoundError), path.open("rb") as stream:
        if not is_header(stream.readline(LONGEST_HEADER)):
            raise ArchiveError(
                f"{path} is there already and is no recallm archive: it is not written over; name "
                "another file, or delete this one first"
            )
