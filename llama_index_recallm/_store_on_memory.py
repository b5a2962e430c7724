"""What both graph stores have of the memory under them: the memory itself, and an archive of it."""

from __future__ import annotations

from pathlib import Path

from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from recallm import ArchiveError, InvalidInputError, RecallM
from recallm.adapting import checked_memory


class StoreOnMemory:
    """A graph store whose constructor takes ``memory`` and further settings."""

    def __init__(self, memory: RecallM) -> None:
        self._memory = checked_memory(memory)

    @property
    def memory(self) -> RecallM:
        """The memory whose graph this is."""
        return self._memory

    client = memory

    def persist(self, persist_path: str, fs: AbstractFileSystem | None = None) -> None:
        """Write the memory's namespace to an archive, a local file, which ``RecallM.load`` reads
        into a new namespace. A memory in a file or on a server does not need this.

        A missing folder is created. An archive is replaced once the new one is complete.

        Raises:
            ArchiveError: the file cannot be written, or one that is no archive is there.
            InvalidInputError: ``fs`` is not the local file system.

        """
        if not isinstance(fs, LocalFileSystem | None):
            raise InvalidInputError(
                "the archive of a memory is a local file; copy it from there", argument="fs"
            )
        try:
            Path(persist_path).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArchiveError(f"{persist_path} cannot be written: {error}") from error
        self._memory.export(persist_path)
