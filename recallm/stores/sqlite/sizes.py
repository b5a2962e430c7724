"""The one size that all vectors of a namespace have under a model."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from recallm.errors import DimensionError
from recallm.model import PreparedUpdate

__all__ = ["VectorSizes"]


class VectorSizes:
    """Holds the vectors of updates to the sizes of those before them.

    Nothing is read before the first vector comes, so that a text without any costs nothing.
    """

    def __init__(self, connection: sqlite3.Connection, ns: int) -> None:
        self._connection = connection
        self._ns = ns
        self._known: dict[str, int] | None = None
        self._new: dict[str, int] = {}

    def check(self, update: PreparedUpdate) -> None:
        """Take note of new sizes.

        Raises:
            DimensionError: a vector has another size than those under its model.
        """
        for model, blob in _told(update):
            if self._known is None:
                self._known = dict(
                    self._connection.execute(
                        "SELECT model, size FROM vector_size WHERE ns = ?", (self._ns,)
                    )
                )
            size = self._known.setdefault(model, len(blob))
            if len(blob) != size:
                raise DimensionError(model, expected=size // 2, found=len(blob) // 2)
            self._new[model] = size

    def write(self, ns: int) -> None:
        """Write the sizes that were new, to the namespace's id, which may be new too."""
        if self._new:
            self._connection.executemany(
                "INSERT OR IGNORE INTO vector_size VALUES (?, ?, ?)",
                [(ns, model, size) for model, size in self._new.items()],
            )


def _told(update: PreparedUpdate) -> Iterator[tuple[str, bytes]]:
    for vector in update.vectors:
        yield vector.model, vector.blob
    for entity in update.entities:
        yield from entity.vectors.items()
