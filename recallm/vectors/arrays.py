"""Unit vectors: how stores keep them, and matrices of them that can be searched.

Stores keep a vector as a unit vector in half precision, little-endian, two bytes a dimension, so
that a dot product is a cosine. Half precision moves a cosine by less than 0.001. A vector of zeros
stays as it is: its cosine with any other is 0.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from recallm.errors import InvalidInputError
from recallm.model import POSITION_BITS

Vector: TypeAlias = npt.NDArray[np.float32]
"""A unit vector, of shape (dimension,)."""

Rows: TypeAlias = npt.NDArray[np.float32]
"""Unit vectors, of shape (n, dimension)."""

Keys: TypeAlias = npt.NDArray[np.int64]
"""Keys of statements, of shape (n,)."""

Matches: TypeAlias = list[tuple[int, float]]
"""Keys of statements with their cosines: greatest cosine first, of equal ones the latest
statement."""

Key = TypeVar("Key", bound=Hashable)

_HALF = np.dtype("<f2")


def encode(embedding: Sequence[float] | npt.NDArray[Any]) -> bytes:
    """``embedding`` as stores keep it: two bytes a dimension.

    Raises:
        InvalidInputError: it is not a row of at least one finite number.

    """
    return _unit_vector(embedding).astype(_HALF).tobytes()


def decode(blob: bytes) -> Vector:
    """The unit vector that ``encode`` made ``blob`` of, of shape (dimension,)."""
    return np.frombuffer(blob, _HALF).astype(np.float32)


def nearest(
    embedding: Sequence[float] | npt.NDArray[Any], vectors: Mapping[Key, bytes], limit: int
) -> list[tuple[Key, float]]:
    """The ``limit`` keys whose stored vectors, of the dimension of ``embedding``, have the greatest
    cosine with it, greatest first; of equal ones those that come first in ``vectors``. Compares
    every vector."""
    query = _unit_vector(embedding)
    keys = list(vectors)[::-1]  # of equal ones a matrix has the last first
    matrix = Matrix.of({place: vectors[key] for place, key in enumerate(keys)}, query.size)
    return [(keys[place], cosine) for place, cosine in matrix.nearest(query, limit)]


def unit_rows(embeddings: npt.NDArray[Any]) -> Rows:
    """Rows of finite numbers as unit vectors, of the same shape (n, dimension); rows of zeros stay
    as they are."""
    rows = np.asarray(embeddings, dtype=np.float64)
    # Divided by the greatest number first, so that no square overflows or vanishes.
    greatest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(greatest == 0, 1, greatest)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths == 0, 1, lengths), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Keys, of shape (n,), and their unit vectors, of shape (n, dimension), in any order. It never
    changes."""

    keys: Keys
    rows: Rows

    @classmethod
    def of(cls, blobs: Mapping[int, bytes], dimension: int) -> Matrix:
        """The matrix of stored vectors. In half precision the length of a vector is not exactly 1:
        here it is, as in every index, so that all of them give a statement the same cosine."""
        rows = _half_rows(blobs.values(), dimension).astype(np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float32)
        return cls(np.array(list(blobs), np.int64), rows)

    def nearest(
        self, vector: Vector, limit: int, *, updates: Collection[int] | None = None
    ) -> Matches:
        """The ``limit`` nearest statements; with ``updates``, only those of the knowledge updates
        with these t."""
        if updates is None:
            return _best_matches(self.keys, _products(self.rows, vector), limit)
        ts = np.fromiter(updates, np.int64, len(updates))
        places = np.flatnonzero(np.isin(self.keys >> POSITION_BITS, ts))
        if 4 * len(places) < len(self.keys):
            return _best_matches(self.keys[places], _products(self.rows[places], vector), limit)
        return _best_matches(self.keys[places], _products(self.rows, vector)[places], limit)


def _best_matches(keys: Keys, cosines: npt.NDArray[np.float32], limit: int) -> Matches:
    """The ``limit`` keys with the greatest cosines."""
    if limit <= 0 or not len(keys):
        return []
    if limit < len(keys):
        # Ties are broken by key: all that equal the last cosine that counts take part.
        least = np.partition(cosines, len(keys) - limit)[len(keys) - limit]
        places = np.flatnonzero(cosines >= least)
        keys, cosines = keys[places], cosines[places]
    order = np.lexsort((-keys, -cosines))[:limit]
    clipped = np.clip(cosines[order], -1, 1)
    return list(zip(keys[order].tolist(), clipped.tolist(), strict=True))


def _products(rows: Rows, vector: Vector) -> npt.NDArray[np.float32]:
    # As fast as BLAS, since both wait for memory; and BLAS would take every core for it.
    return np.asarray(np.einsum("ij,j->i", rows, vector))


def _half_rows(blobs: Collection[bytes], dimension: int) -> npt.NDArray[Any]:
    return np.frombuffer(b"".join(blobs), _HALF).reshape(len(blobs), dimension)


def _unit_vector(embedding: Sequence[float] | npt.NDArray[Any]) -> Vector:
    try:
        vector = np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"an embedding must be a list of numbers: {error}", argument="embedding"
        ) from None
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInputError(
            f"an embedding must be one row of numbers, not of shape {vector.shape}",
            argument="embedding",
        )
    if not np.isfinite(vector).all():
        raise InvalidInputError("an embedding must hold finite numbers only", argument="embedding")
    return np.asarray(unit_rows(vector[None, :])[0])
