"""A memory in a file of LlamaIndex's file system."""

from __future__ import annotations

from typing import IO, cast

import fsspec

from recallm import RecallM
from recallm.adapting import checked_memory

__all__ = ["persisted", "read_again"]


def persisted(memory: RecallM, path: str, fs: fsspec.AbstractFileSystem | None) -> None:
    """Write all that the memory's namespace holds to a file, as JSON Lines.

    Raises:
        ArchiveError: the file cannot be written.

    """
    if fs is None:
        memory.export(path)
    else:
        with fs.open(path, "w", encoding="utf-8") as stream:
            memory.export(cast("IO[str]", stream))


def read_again(memory: RecallM | None, path: str, fs: fsspec.AbstractFileSystem | None) -> RecallM:
    """``memory``, whose namespace must be empty (a new one, embedded and in memory, if None), with
    what ``persisted`` wrote.

    Raises:
        ArchiveError: the file cannot be read.
        InvalidInputError: the namespace is not empty.

    """
    memory = RecallM() if memory is None else checked_memory(memory)
    if fs is None:
        memory.load(path)
    else:
        with fs.open(path, "r", encoding="utf-8") as stream:
            memory.load(cast("IO[str]", stream))
    return memory
