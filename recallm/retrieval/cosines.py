"""Nearness of statements to a question by their embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.model import StoredStatement
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats
from recallm.vectors import decode

__all__ = ["cosines"]


def cosines(candidates: Candidates) -> tuple[dict[str, Floats], NDArray[Any] | None]:
    """The signals ``similar`` and ``similar window``, one value for each candidate, and the
    statements' unit vectors, a row each (zeros where there is none); None without embeddings.

    Cosines with the question's vector, of the statement's vector and of the mean of it and the one
    before it. Where a statement has no vector it counts as the mean of those that have one: words
    alone decide. Zeros where there are no embeddings.
    """
    statements = candidates.statements
    nothing = np.zeros(len(statements))
    if candidates.asked is None:
        return {"similar": nothing, "similar window": nothing}, None
    asked = candidates.asked.vector
    vectors = {key: decode(blob) for key, blob in candidates.vectors.items()}
    none = np.zeros(len(asked), dtype=np.float32)

    def of(rows: list[StoredStatement | None]) -> NDArray[np.float32]:
        found = [none if row is None else vectors.get(row.key, none) for row in rows]
        return np.array(found, dtype=np.float32).reshape(len(rows), len(asked))

    own = of(list(statements))
    together = own + of([candidates.before(one) for one in statements])
    there = np.array([one.key in vectors for one in statements], dtype=bool)
    return {
        "similar": _filled(_with(asked, own), there),
        "similar window": _filled(_with(asked, together), there),
    }, own


def _with(asked: Floats, rows: NDArray[np.float32]) -> Floats:
    lengths = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    found: Floats = (rows @ asked) / lengths
    return found


def _filled(values: Floats, there: NDArray[np.bool_]) -> Floats:
    return np.where(there, values, values[there].mean() if there.any() else 0.0)
