"""Unit vectors by key, in one matrix that is searched as a whole."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from recallm.model import POSITION_BITS
from recallm.vectors.index import Found, Vector

__all__ = ["GrowingMatrix", "Keys", "Matrix", "of_moments", "ranked"]

_SPARSE = 1.25
"""Where there are so many times more rows than vectors, the rows are written together anew."""


Keys: TypeAlias = npt.NDArray[np.int64]

_Scalar = TypeVar("_Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Keys, of shape (n,), and their rows, of shape (n, dimension), in any order: a view that does
    not change any more. Where the key is negative, a row is of a statement that is gone."""

    keys: Keys
    rows: npt.NDArray[np.float32]

    def nearest(
        self, vector: Vector, limit: int, *, moments: Collection[int] | None = None
    ) -> Found:
        """See ``VectorView.nearest``."""
        if moments is None:
            return ranked(self.keys, _products(self.rows, vector), limit)
        places = np.flatnonzero(of_moments(self.keys, moments))
        if 4 * len(places) < len(self.keys):
            return ranked(self.keys[places], _products(self.rows[places], vector), limit)
        return ranked(self.keys[places], _products(self.rows, vector)[places], limit)


class GrowingMatrix:
    """Vectors that come and go. Views of it stay as they were: rows are only added behind theirs,
    and what goes makes new arrays."""

    def __init__(self, dimension: int) -> None:
        self._count = 0
        self._keys: Keys = np.empty(0, np.int64)
        self._rows = np.empty((0, dimension), np.float32)

    @property
    def taken(self) -> int:
        """Bytes of memory."""
        return self._rows.nbytes + self._keys.nbytes

    @property
    def keys(self) -> Keys:
        """The keys, in the order in which they came."""
        keys = self._keys[: self._count]
        return keys[keys >= 0]

    @property
    def view(self) -> Matrix:
        """What there is now."""
        return Matrix(self._keys[: self._count], self._rows[: self._count])

    def add(self, found: list[tuple[int, bytes]]) -> None:
        """Take in new keys with their half-precision blobs."""
        if not found:
            return
        end = self._count + len(found)
        if end > len(self._keys):
            room = max(end, min(2 * end, end + (1 << 16)))
            self._keys = _moved(self._keys, self._count, (room,))
            self._rows = _moved(self._rows, self._count, (room, self._rows.shape[1]))
        self._keys[self._count : end] = [key for key, _ in found]
        halves = np.frombuffer(b"".join(blob for _, blob in found), "<f2")
        rows = halves.reshape(len(found), -1).astype(np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)  # halves are not of length 1 exactly
        self._rows[self._count : end] = rows / np.where(lengths == 0, 1, lengths)
        self._count = end

    def keep(self, there: Keys) -> None:
        """Let go of all but these keys."""
        held = self._keys[: self._count]
        stay = np.isin(held, there) & (held >= 0)
        if _SPARSE * stay.sum() < self._count:
            self._keys, self._rows = held[stay], self._rows[: self._count][stay]
            self._count = len(self._keys)
        elif not stay.all():
            self._keys = self._keys.copy()
            self._keys[: self._count][~stay] = -1

    def first(self, limit: int) -> Matrix:
        """A copy of the ``limit`` vectors of the least keys, ascending."""
        held = self._keys[: self._count]
        places = np.flatnonzero(held >= 0)
        places = places[np.argsort(held[places])][:limit]
        return Matrix(held[places], self._rows[places])


def of_moments(keys: Keys, moments: Collection[int]) -> npt.NDArray[np.bool_]:
    """Which keys are of statements of these knowledge updates; none that is negative."""
    wanted = np.fromiter(moments, np.int64, len(moments))
    return np.isin(keys >> POSITION_BITS, wanted) & (keys >= 0)


def ranked(keys: Keys, cosines: npt.NDArray[np.float32], limit: int) -> Found:
    """The ``limit`` keys of greatest cosine, of equal ones the latest; negative keys are none."""
    if len(keys) and keys.min() < 0:
        there = keys >= 0
        keys, cosines = keys[there], cosines[there]
    if limit <= 0 or not len(keys):
        return []
    if limit < len(keys):
        # All that are as near as the last one that is taken: ties are broken by key.
        least = np.partition(cosines, len(keys) - limit)[len(keys) - limit]
        places = np.flatnonzero(cosines >= least)
        keys, cosines = keys[places], cosines[places]
    order = np.lexsort((-keys, -cosines))[:limit]
    near = np.clip(cosines[order], -1, 1)
    return list(zip(keys[order].tolist(), near.tolist(), strict=True))


def _products(rows: npt.NDArray[np.float32], vector: Vector) -> npt.NDArray[np.float32]:
    # As quick as BLAS, which waits for memory too, and takes one core for it instead of all.
    return np.asarray(np.einsum("ij,j->i", rows, vector))


def _moved(array: npt.NDArray[_Scalar], count: int, shape: tuple[int, ...]) -> npt.NDArray[_Scalar]:
    larger = np.empty(shape, array.dtype)
    larger[:count] = array[:count]
    return larger
