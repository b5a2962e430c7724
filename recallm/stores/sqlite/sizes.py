"""The one model of a namespace's statement vectors, and the one size of all that are of a model."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable, Iterator

from recallm.errors import DimensionError, EmbeddingModelError
from recallm.model import PreparedUpdate

__all__ = ["VectorSizes"]


class VectorSizes:
    """Holds the vectors of updates to the model and the sizes of those before them.

    Nothing is read before the first vector comes, so that a text without any costs nothing.
    """

    def __init__(self, connection: sqlite3.Connection, ns: int) -> None:
        self._connection = connection
        self._ns = ns
        self._known: dict[str, int] | None = None
        self._pinned: str | None = None
        self._pins: str | None = None
        self._new: dict[str, int] = {}

    def check(self, update: PreparedUpdate) -> None:
        """Take note of a first model and of new sizes.

        Raises:
            EmbeddingModelError: a statement's vector is of another model than those before it.
            DimensionError: a vector has another size than those under its model.
        """
        self.check_models(vector.model for vector in update.vectors)
        self.check_sizes(_told(update))

    def check_models(self, models: Iterable[str]) -> None:
        """``check`` for the models of statement vectors."""
        for model in models:
            self._read()
            if self._pinned is None:
                self._pinned = self._pins = model
            if model != self._pinned:
                raise EmbeddingModelError(stored=self._pinned, given=model)

    def check_sizes(self, vectors: Iterable[tuple[str, bytes]]) -> None:
        """``check`` for the sizes of any vectors."""
        for model, blob in vectors:
            size = self._read().setdefault(model, len(blob))
            if len(blob) != size:
                raise DimensionError(model, expected=size // 2, found=len(blob) // 2)
            self._new[model] = size

    def write(self, ns: int) -> None:
        """Write what was new, to the namespace's id, which may be new too."""
        if self._pins is not None:
            self._connection.execute(
                "UPDATE namespace SET model = ?, origin = coalesce(origin, ?)"
                " WHERE id = ? AND model IS NULL",
                (self._pins, uuid.uuid4().hex, ns),
            )
        if self._new:
            self._connection.executemany(
                "INSERT OR IGNORE INTO vector_size VALUES (?, ?, ?)",
                [(ns, model, size) for model, size in self._new.items()],
            )

    def _read(self) -> dict[str, int]:
        if self._known is None:
            execute = self._connection.execute
            self._known = dict(
                execute("SELECT model, size FROM vector_size WHERE ns = ?", (self._ns,))
            )
            row = execute("SELECT model FROM namespace WHERE id = ?", (self._ns,)).fetchone()
            self._pinned = row[0] if row else None
        return self._known


def _told(update: PreparedUpdate) -> Iterator[tuple[str, bytes]]:
    for vector in update.vectors:
        yield vector.model, vector.blob
    for entity in update.entities:
        yield from entity.vectors.items()
