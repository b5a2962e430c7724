"""The folder of an embedded Chroma, and the failures of Chroma of every kind.

``folder/chroma`` belongs to recallm alone. It holds nothing that is not in the store: a folder that
Chroma cannot open is deleted and filled again.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

from recallm.errors import RecallMError

__all__ = ["ChromaError", "FolderInUseError", "call_chroma", "open_folder"]

_PANIC_MODULE = "pyo3_runtime"
"""The module of the exceptions by which Chroma's native code panics."""

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


def open_folder(folder: Path) -> tuple[Any, IO[bytes]]:
    """A client of an embedded Chroma in ``folder``, which is made if there is none, and the file
    whose lock keeps other indexes out until it is closed, or its process ends.

    Raises:
        FolderInUseError: another index has the folder open.
        ChromaError: Chroma cannot open it, nor make it anew.

    """
    folder.mkdir(0o700, parents=True, exist_ok=True)
    lock = (folder / "recallm.lock").open("ab")
    chroma = folder / "chroma"
    try:
        try:
            _lock(lock.fileno())
        except OSError as error:
            raise FolderInUseError(f"{folder} is in use elsewhere ({error})") from None
        try:
            return call_chroma(lambda: _client(str(chroma))), lock
        except ChromaError as error:
            _log.warning("%s cannot be opened (%s): it is made anew", chroma, error)
        shutil.rmtree(chroma)
        # Chroma remembers a failure under the path as it was spelled.
        return call_chroma(lambda: _client(f"{chroma}{os.sep}")), lock
    except BaseException:
        lock.close()
        raise


def _client(folder: str) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
