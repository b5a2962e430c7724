"""Nearness of statements to a question by their embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats
from recallm.retrieval.products import applied
from recallm.vectors import decode

__all__ = ["cosines"]


def cosines(candidates: Candidates) -> tuple[dict[str, Floats], NDArray[Any] | None]:
    """The signals ``similar`` and ``similar window``, one value for each candidate, and the
    statements' unit vectors, a row each (zeros where there is none); None without embeddings.

    Cosines with the question's vector, of the statement's vector and of the mean of it and the one
    before it. Where a statement has no vector it counts as the mean of those that have one: words
    alone decide. Zeros where there are no embeddings.
    """
    number = len(candidates.statements)
    nothing = np.zeros(number)
    if candidates.asked is None:
        return {"similar": nothing, "similar window": nothing}, None
    asked = candidates.asked.vector.astype(np.float32)
    vectors, there = _read(candidates, len(asked))
    before = candidates.befores[:number]
    own = vectors[:number]
    together = own + np.where((before < 0)[:, None], np.float32(0), vectors[before])
    return {
        "similar": _filled(_with(asked, own), there[:number]),
        "similar window": _filled(_with(asked, together), there[:number]),
    }, own


def _read(candidates: Candidates, dimension: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The vectors of what was read, a row each, and which of them there are."""
    blobs = [candidates.vectors.get(one.key) for one in candidates.read]
    there = np.array([blob is not None for blob in blobs], dtype=bool)
    vectors = np.zeros((len(blobs), dimension), dtype=np.float32)
    vectors[there] = decode(b"".join(blob for blob in blobs if blob is not None)).reshape(
        -1, dimension
    )
    return vectors, there


def _with(asked: NDArray[np.float32], rows: NDArray[np.float32]) -> Floats:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    found: Floats = applied(rows, asked) / np.maximum(lengths, 1e-9)
    return found.astype(np.float64)


def _filled(values: Floats, there: NDArray[np.bool_]) -> Floats:
    return np.where(there, values, values[there].mean() if there.any() else 0.0)
