"""What both graph stores have of the memory under them: the memory itself, and a file of it.

The file is an archive, as ``RecallM.export`` writes and ``RecallM.load`` reads.
"""

from __future__ import annotations

import io
import os
from pathlib import PurePosixPath
from typing import IO, Any, ClassVar, Self, cast

from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem
from llama_index.core.graph_stores.types import DEFAULT_PERSIST_DIR

from recallm import ArchiveError, RecallM
from recallm.adapting import checked_memory


class StoreOnMemory:
    """A graph store whose constructor takes ``memory`` and further settings."""

    _file_name: ClassVar[str]
    """What a ``StorageContext`` calls the file of this store."""

    def __init__(self, memory: RecallM) -> None:
        self._memory = checked_memory(memory)

    @property
    def memory(self) -> RecallM:
        """The memory whose graph this is."""
        return self._memory

    client = memory

    def persist(self, persist_path: str, fs: AbstractFileSystem | None = None) -> None:
        """Write the memory's namespace to an archive. A memory in a file or on a server does not
        need this.

        A missing folder is created. A local file is replaced once the new one is complete.

        Raises:
            ArchiveError: the file cannot be written, or a local file that is no archive is there.

        """
        fs = fs or LocalFileSystem()
        folder = os.path.dirname(persist_path)  # noqa: PTH120 (a path of any file system)
        try:
            if folder and not fs.exists(folder):
                fs.makedirs(folder, exist_ok=True)
            if isinstance(fs, LocalFileSystem):
                self._memory.export(persist_path)
            else:
                archive = io.StringIO()
                self._memory.export(archive)
                fs.pipe_file(persist_path, archive.getvalue().encode())
        except OSError as error:
            raise ArchiveError(f"{persist_path} cannot be written: {error}") from error

    @classmethod
    def from_persist_path(
        cls,
        persist_path: str,
        fs: AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        **settings: Any,
    ) -> Self:
        """A store with what ``persist`` wrote, in ``memory``, whose namespace must be empty (None:
        in a new memory, embedded and without a file). ``settings`` are the constructor's.

        Raises:
            ArchiveError: the file cannot be read, or is no archive.
            InvalidInputError: the namespace is not empty.

        """
        store = cls(RecallM() if memory is None else memory, **settings)
        if fs is None or isinstance(fs, LocalFileSystem):
            store.memory.load(persist_path)
            return store
        try:
            with cast("IO[str]", fs.open(persist_path, "r", encoding="utf-8")) as stream:
                store.memory.load(stream)
        except OSError as error:
            raise ArchiveError(f"{persist_path} cannot be read: {error}") from error
        return store

    @classmethod
    def from_persist_dir(
        cls,
        persist_dir: str = DEFAULT_PERSIST_DIR,
        fs: AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        **settings: Any,
    ) -> Self:
        """``from_persist_path`` for the file that a ``StorageContext`` writes into a directory. A
        ``StorageContext.from_defaults(persist_dir=…)`` that is given this store then reads the rest
        of the directory."""
        path = str(PurePosixPath(persist_dir) / cls._file_name)
        return cls.from_persist_path(path, fs, memory=memory, **settings)
