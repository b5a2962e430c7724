"""Chroma's client and the folder of an embedded Chroma, opened by one process at a time.

This module and ``chroma_collection`` call chromadb. Whatever it raises becomes a ``ChromaError``.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import uuid
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from recallm.errors import RecallMError

__all__ = [
    "ChromaError",
    "FolderInUseError",
    "FolderLock",
    "call_chroma",
    "list_collections",
    "open_collection",
    "open_folder",
]

_LOCK_FILE = "recallm.lock"

_MARKER_FILE = "recallm.index"
"""In a folder with this file recallm made Chroma's files, and may delete them if damaged."""

_DATABASE = "chroma.sqlite3"

_DAMAGED = re.compile("file is not a database|database disk image is malformed")
"""SQLite's messages about a damaged file. After any other failure the folder may be whole."""

_PANIC_MODULE = "pyo3_runtime"
"""The module of the exceptions by which Chroma's native code panics."""

_PAGE = 1_000
"""Collections that are listed at once."""

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


class ChromaError(Exception):
    """Chroma failed, in whatever way."""


class FolderInUseError(ChromaError):
    """Another index, in this process or another, has the folder open."""


def call_chroma(call: Callable[[], _T]) -> _T:
    """The result of ``call``; whatever Chroma raises becomes a ``ChromaError``.

    Its native code panics with exceptions that are no ``Exception``. An interrupt is none either,
    and reaches the caller.
    """
    try:
        return call()
    except (RecallMError, ChromaError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__module__ != _PANIC_MODULE:
            raise
        raise ChromaError(f"{type(error).__name__}: {error}") from error


def open_folder(folder: Path) -> tuple[Any, FolderLock]:
    """A client of an embedded Chroma in ``folder``, which is made if there is none, and the lock
    to release when the client is closed. A damaged database of ours is deleted and made anew.

    Raises:
        FolderInUseError: another index has it open.
        ChromaError: Chroma cannot open it.

    """
    folder.mkdir(parents=True, exist_ok=True)
    is_new = not any(file.name != _LOCK_FILE for file in folder.iterdir())
    lock = FolderLock(folder / _LOCK_FILE)
    if not lock.acquire():
        raise FolderInUseError(f"{folder} is in use elsewhere")
    if is_new:
        (folder / _MARKER_FILE).touch()
    try:
        return call_chroma(lambda: _embedded_client(str(folder))), lock
    except ChromaError as error:
        if not (folder / _MARKER_FILE).exists() or not _DAMAGED.search(str(error)):
            lock.release()
            raise  # the files may be somebody else's, or whole
    _log.warning("%s is damaged: it is made anew", folder / _DATABASE)
    for file in folder.iterdir():
        if file.name.startswith(_DATABASE):
            file.unlink()
        elif _is_segment(file):
            shutil.rmtree(file)
    # Chroma remembers a failure under the path as it was spelled.
    return call_chroma(lambda: _embedded_client(f"{folder}{os.sep}")), lock


def list_collections(client: Any, prefix: str) -> list[str]:
    """The names of all collections that begin with ``prefix``."""
    names: list[str] = []
    while True:
        page = client.list_collections(limit=_PAGE, offset=len(names))
        names += [getattr(each, "name", each) for each in page]
        if len(page) < _PAGE:
            return [name for name in names if name.startswith(prefix)]


def open_collection(client: Any, name: str) -> Any:
    """The collection with this name, made if there is none."""
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=None)
    except (NotFoundError, ValueError):
        return client.get_or_create_collection(
            name,
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
            metadata={"watermark": -1, "revision": -1},
        )


def _embedded_client(folder: str) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))


def _is_segment(folder: Path) -> bool:
    """Whether this is a folder in which Chroma keeps vectors, and holds nothing else."""
    with suppress(ValueError):
        uuid.UUID(folder.name)
        return folder.is_dir() and all(
            file.suffix in (".bin", ".pickle") and file.is_file() for file in folder.iterdir()
        )
    return False


class FolderLock:
    """A lock on a file. One holder has it until it is released or dropped, or its process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._release: weakref.finalize[[int], FolderLock] | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free; whether it was. Never waits.

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
        """Release the lock; a second call does nothing."""
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
