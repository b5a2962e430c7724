"""The one model of a namespace's statement vectors, and the one size of all that are of a model."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recallm.errors import DimensionError, EmbeddingModelError
from recallm.model import PreparedUpdate
from recallm.stores.cypher import writing as cypher
from recallm.stores.neo4j.transaction import Row, Tx, chunks, rows
from recallm.stores.neo4j.writing import lock

__all__ = ["Sizes", "add_vectors"]


@dataclass(slots=True)
class Sizes:
    """The model and the sizes that ``lock`` found, and those that are new."""

    _known: dict[str, int]
    _pinned: str | None
    _pins: str | None = None
    _is_new: bool = False

    @classmethod
    def of(cls, state: Row) -> Sizes:
        """Those in what ``lock`` gave."""
        return cls(json.loads(state["vector_bytes"]), state["model"])

    def refusal(self, update: PreparedUpdate) -> EmbeddingModelError | DimensionError | None:
        """What is wrong with the vectors of an update; the first model of a statement's, and the
        first size under a model, are taken as those to come."""
        models = (vector.model for vector in update.vectors)
        return self.refusal_of_models(models) or self.refusal_of_sizes(_vectors_of(update))

    def refusal_of_models(self, models: Iterable[str]) -> EmbeddingModelError | None:
        """``refusal`` for the models of statement vectors."""
        for model in models:
            if self._pinned is None:
                self._pinned = self._pins = model
            if model != self._pinned:
                return EmbeddingModelError(stored=self._pinned, given=model)
        return None

    def refusal_of_sizes(self, vectors: Iterable[tuple[str, bytes]]) -> DimensionError | None:
        """``refusal`` for the sizes of any vectors."""
        for model, blob in vectors:
            if model not in self._known:
                self._known[model] = len(blob)
                self._is_new = True
            if self._known[model] != len(blob):
                return DimensionError(model, expected=self._known[model] // 2, found=len(blob) // 2)
        return None

    def write(self, tx: Tx, namespace: str) -> None:
        """Write what is new; ``namespace`` is that of the rows."""
        if self._is_new or self._pins is not None:
            pin = {
                "model": self._pins or "",
                "size": 0 if self._pins is None else self._known[self._pins],
                "origin": uuid.uuid4().hex,
                "vector_bytes": json.dumps(self._known),
            }
            rows(tx, cypher.PIN_VECTORS, {"namespace": namespace, **pin})


def add_vectors(tx: Tx, namespace: str, model: str, vectors: Mapping[int, bytes]) -> int:
    """``GraphStore.amend`` with ``AddVectors``."""
    state = lock(tx, namespace)
    key = {"namespace": state["rows"]}
    given = [
        row["key"]
        for chunk in chunks(sorted(vectors))
        for row in rows(tx, cypher.UNEMBEDDED, {**key, "keys": chunk})
    ]
    if not given:
        return 0
    sizes = Sizes.of(state)
    refusal = sizes.refusal_of_models([model]) or sizes.refusal_of_sizes(
        (model, vectors[at]) for at in given
    )
    if refusal is not None:
        raise refusal
    sizes.write(tx, state["rows"])
    for chunk in chunks(given):
        written = [{**key, "key": at, "model": model, "blob": vectors[at]} for at in chunk]
        rows(tx, cypher.VECTORS, {**key, "vectors": written})
    rows(tx, cypher.CHANGE_VECTORS, key)
    return len(given)


def _vectors_of(update: PreparedUpdate) -> list[tuple[str, bytes]]:
    of_entities = [vector for entity in update.entities for vector in entity.vectors.items()]
    return [(vector.model, vector.blob) for vector in update.vectors] + of_entities
