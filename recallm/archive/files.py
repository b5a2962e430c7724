"""The files that archives are read from and written to.

An export makes a new file, replaces an archive, or goes through a pipe. It never overwrites another
kind of file, least of all a database.
"""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from recallm import checks
from recallm.archive.strict_json import LONGEST_HEADER, is_header
from recallm.errors import ArchiveError, InvalidInputError
from recallm.stores.open_files import BESIDE_A_DATABASE, is_open_database

__all__ = ["open_for_reading", "open_for_writing"]


@contextmanager
def open_for_writing(target: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """``target`` as a text stream. A file is written as a draft beside ``target`` and moved there
    once it is on the disk; until then an older archive stays as it was.

    Raises:
        ArchiveError: the file cannot be written, or a file is there that is no archive.
        InvalidInputError: ``target`` is neither a path nor a text stream.

    """
    if not isinstance(target, str | os.PathLike):
        if not callable(getattr(target, "write", None)):
            raise InvalidInputError(
                "target must be the path of a file or a text stream that can be written, not "
                f"{type(target).__name__}",
                argument="target",
            )
        yield target
        return
    given = checks.file_path(target, "target")
    try:
        path = Path(os.path.realpath(given))
        if _is_pipe(path):
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                yield stream
            return
        _check_replaceable(path)
        draft = path.with_name(f".{uuid.uuid4().hex}.recallm")
        try:
            with draft.open("x", encoding="utf-8", newline="\n") as stream:
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


@contextmanager
def open_for_reading(source: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """``source`` as a text stream.

    Raises:
        ArchiveError: the file cannot be read.
        InvalidInputError: ``source`` is neither a path nor a text stream.

    """
    if not isinstance(source, str | os.PathLike):
        if not callable(getattr(source, "readline", None)):
            raise InvalidInputError(
                "source must be the path of a file or a text stream that can be read, not "
                f"{type(source).__name__}",
                argument="source",
            )
        yield source
        return
    path = checks.file_path(source, "source")
    _check_not_open(path)
    try:
        stream = path.open(encoding="utf-8", newline="\n")
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror or error}") from error
    with stream:
        yield stream


def _is_pipe(path: Path) -> bool:
    """Whether it is a pipe or the standard output, which hold nothing to overwrite.

    Raises:
        ArchiveError: it is a folder, a socket or another device.

    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    if stat.S_ISREG(found.st_mode):
        return False
    if stat.S_ISFIFO(found.st_mode):
        return True
    with suppress(OSError):
        if stat.S_ISCHR(found.st_mode) and os.path.samestat(found, os.fstat(1)):
            return True
    raise ArchiveError(
        f"{path} is no file: an archive is written to a file, a pipe or the standard output"
    )


def _check_not_open(path: Path) -> None:
    """Refuse a database that is open in this process, before anything opens its file.

    Raises:
        ArchiveError: it is open.

    """
    if is_open_database(path):
        raise ArchiveError(f"{path} belongs to a database that is open; name another file")


def _check_replaceable(path: Path) -> None:
    """Refuse to overwrite a file that is no archive.

    Raises:
        ArchiveError: another file is there.

    """
    _check_not_open(path)
    for ending in BESIDE_A_DATABASE:
        database = Path(str(path).removesuffix(ending))
        if database != path and database.is_file():
            raise ArchiveError(f"{path} belongs to the database {database}; name another file")
    try:
        with path.open("rb") as stream:
            first = stream.readline(LONGEST_HEADER)
    except FileNotFoundError:
        return
    if not is_header(first):
        raise ArchiveError(
            f"{path} is there already and is no recallm archive: it is not written over; name "
            "another file, or delete this one first"
        )
