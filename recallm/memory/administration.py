"""The part of a memory for those who administer it: checks, archives, copies, all namespaces."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO

from recallm.errors import (
    ArchiveError,
    DimensionError,
    EmbeddingModelError,
    StoreCorruptError,
    UnknownEntityError,
)
from recallm.memory.archive import open_for_reading, open_for_writing, read_archive, write_archive
from recallm.memory.open_memory import OpenMemory, Part
from recallm.model import PreparedUpdate, Summary
from recallm.recall.results import Receipt
from recallm.stores.base import CheckedStore, GraphReader


class Administration(Part):
    """Looks after one namespace."""

    def namespaces(self) -> tuple[str, ...]:
        """The names of all namespaces of the store that hold or ever held something, sorted; for
        those who administer a store, not for its users."""
        self._opened.check_open()
        return tuple(self._opened.store.namespaces())

    def problems(self, *, structure: bool = True) -> list[str]:
        """What is wrong with this namespace, a line each; nothing, where all is well. All that
        the namespace holds is read, its checksums are compared, and its totals are counted.

        ``structure``: also examine the structure of the whole file, where the store can.

        Raises:
            StoreError: the store failed, but for what damage explains.

        """
        self._opened.check_open()
        found: list[str] = []
        try:
            store = self._opened.store
            if structure and isinstance(store, CheckedStore):
                found += store.problems()
            with self._opened.reader() as reader:
                held = reader.stats()
                counted = _counted(reader.dump())
        except StoreCorruptError as error:
            return [*found, str(error)]
        return found + [
            f"{count} {name} are stored, {getattr(held, name)} are counted"
            for name, count in counted.items()
            if count != getattr(held, name)
        ]

    def export(self, target: str | os.PathLike[str] | IO[str]) -> int:
        """Write the namespace as JSON Lines to a file or a text stream; return its number of
        knowledge updates. Expired passages that no sweep forgot are included. An export replaces
        an older archive only when it is complete, and overwrites no other kind of file.

        Raises:
            ArchiveError: the file cannot be written, or exists and is no archive. It stays as it
                was.
            InvalidInputError: ``target`` is neither a path nor a text stream.

        """
        with self._opened.reader() as reader:
            return _write(self._opened, reader, target)

    def export_namespace(self, namespace: str, target: str | os.PathLike[str] | IO[str]) -> Receipt:
        """``export`` all that ``namespace`` holds, such as the data of one user who asks for them;
        return the receipt.

        Raises:
            ArchiveError, InvalidInputError: as in ``export``.

        """
        exported = self._opened.named(namespace)
        with exported.reader() as reader:
            held = reader.stats()
            _write(exported, reader, target)
        return Receipt.of(held, action="export", namespace=exported.name, at=exported.clock())

    def load(self, source: str | os.PathLike[str] | IO[str]) -> int:
        """Fill this namespace, which must be empty, with an archive; return its number of
        knowledge updates. The whole archive is loaded, or nothing: each line must be valid.

        Raises:
            ArchiveError: the archive is damaged, cut short, or of another version; ``line`` says
                where, if a line alone shows that.
            InvalidInputError: the namespace is not empty, or ``source`` is neither a path nor a
                text stream.

        """
        self._opened.check_open()
        with open_for_reading(source) as stream:
            t_index, records = read_archive(stream)
            try:
                return self._opened.store.restore(self._opened.name, t_index, records)
            except (DimensionError, EmbeddingModelError, UnknownEntityError) as error:
                raise ArchiveError(f"its records do not fit together: {error}") from error


def _write(
    namespace: OpenMemory, reader: GraphReader, target: str | os.PathLike[str] | IO[str]
) -> int:
    with open_for_writing(target) as stream:
        return write_archive(stream, namespace.name, reader.state.t_index, reader.dump())


def _counted(records: Iterable[PreparedUpdate | Summary]) -> dict[str, int]:
    """How much of everything is in ``records``, by the names of ``Stats``."""
    counts = dict.fromkeys(("passages", "statements", "vectors", "summaries"), 0)
    entities: set[str] = set()
    triplets: set[tuple[str, str, str]] = set()
    for record in records:
        if isinstance(record, Summary):
            counts["summaries"] += 1
            continue
        counts["passages"] += record.text is not None
        counts["statements"] += len(record.statements)
        counts["vectors"] += len(record.vectors)
        entities.update(entity.id for entity in record.entities)
        triplets.update((each.subject, each.predicate, each.object) for each in record.triplets)
    return {**counts, "entities": len(entities), "triplets": len(triplets)}
