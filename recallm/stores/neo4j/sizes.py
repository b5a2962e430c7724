"""The one size that all vectors of a namespace have under a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from recallm.errors import DimensionError
from recallm.model import PreparedUpdate
from recallm.stores.cypher.writing import VECTOR_SIZES
from recallm.stores.neo4j.connection import Row, Tx, rows
from recallm.stores.neo4j.values import key_of

__all__ = ["Sizes", "models_of"]


@dataclass(slots=True)
class Sizes:
    """The sizes that ``lock`` found, by model, and those that are new."""

    _known: dict[str, int]
    _fresh: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, state: Row) -> Sizes:
        """The sizes in what ``lock`` gave."""
        return cls(dict(state["sizes"]))

    def refusal(self, update: PreparedUpdate) -> DimensionError | None:
        """What is wrong with the vectors of an update; the first ones under a model are taken as
        the size of those after them."""
        for model, blob in _vectors_of(update):
            key = key_of(model)
            if key not in self._known:
                self._known[key] = self._fresh[key] = len(blob)
            if self._known[key] != len(blob):
                return DimensionError(model, expected=self._known[key] // 2, found=len(blob) // 2)
        return None

    def write(self, tx: Tx, namespace: str) -> None:
        """Write the sizes that are new; ``namespace`` is that of the rows."""
        if self._fresh:
            sizes = [[model, size] for model, size in self._fresh.items()]
            rows(tx, VECTOR_SIZES, {"namespace": namespace, "sizes": sizes})


def models_of(updates: Iterable[PreparedUpdate]) -> set[str]:
    """The models of all vectors in ``updates``."""
    return {model for update in updates for model, _ in _vectors_of(update)}


def _vectors_of(update: PreparedUpdate) -> list[tuple[str, bytes]]:
    of_entities = [vector for entity in update.entities for vector in entity.vectors.items()]
    return [(vector.model, vector.blob) for vector in update.vectors] + of_entities
