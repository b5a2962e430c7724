"""Exact search: every vector is compared, in one matrix in memory for each namespace."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from recallm.model import NO_POSITION, VectorState
from recallm.stores.base import GraphReader
from recallm.vectors.index import Found, Vector

__all__ = ["ExactIndex", "Matrix", "ranked"]

_KEPT_BYTES = 1 << 30
"""Of matrices, the latest used first; the one in use is kept whatever it takes."""

_PORTION = 4_096
"""Vectors read at once."""

_SPARSE = 1.25
"""Where there are so many times more rows than vectors, the rows are written together anew."""

_POSITION_BITS = NO_POSITION.bit_length()

Keys = npt.NDArray[np.int64]

_Scalar = TypeVar("_Scalar", bound=np.generic)


class ExactIndex:
    """See ``VectorIndex``: four bytes a dimension in memory, nothing on disk."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def caught_up(self, namespace: str, state: VectorState, reader: GraphReader) -> Matrix:
        """See ``VectorIndex.caught_up``."""
        with self._lock:
            kept = self._kept.pop(namespace, None)
            if kept is None or not kept.is_of(state):
                kept = _Kept(state)
            self._kept[namespace] = kept
        with kept.lock:
            kept.catch_up(state, reader)
            view = kept.matrix
        self._let_go()
        return view

    def close(self) -> None:
        """See ``VectorIndex.close``."""
        with self._lock:
            self._kept.clear()

    def _let_go(self) -> None:
        """Of the matrices that were not used for longest, where all are too large."""
        with self._lock:
            total = sum(kept.taken for kept in self._kept.values())
            while total > _KEPT_BYTES and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                total -= oldest.taken


@dataclass(frozen=True, slots=True)
class Matrix:
    """Unit vectors by key, in any order: a view that does not change any more. Where the key is
    negative, a row is of a statement that is gone."""

    keys: Keys
    rows: npt.NDArray[np.float32]

    def nearest(
        self, vector: Vector, limit: int, *, moments: Collection[int] | None = None
    ) -> Found:
        """See ``VectorView.nearest``."""
        if moments is None:
            return ranked(self.keys, self.rows @ vector, limit)
        of = np.fromiter(moments, np.int64, len(moments))
        places = np.flatnonzero(np.isin(self.keys >> _POSITION_BITS, of) & (self.keys >= 0))
        if 4 * len(places) < len(self.keys):
            return ranked(self.keys[places], self.rows[places] @ vector, limit)
        return ranked(self.keys[places], (self.rows @ vector)[places], limit)


def ranked(keys: Keys, cosines: npt.NDArray[np.float32], limit: int) -> Found:
    """The ``limit`` keys of greatest cosine; negative ones are none."""
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


class _Kept:
    """The vectors of one namespace in memory; ``lock`` is held while they are caught up.

    Rows are only ever added behind those that views were given of; what goes makes new arrays.
    """

    def __init__(self, state: VectorState) -> None:
        self.lock = threading.Lock()
        self._of = (state.origin, state.model, state.size)
        self._revision = state.revision
        self._latest = -1
        self._count = 0
        self._keys: Keys = np.empty(0, np.int64)
        self._rows = np.empty((0, state.size // 2), np.float32)

    def is_of(self, state: VectorState) -> bool:
        """Whether these are the vectors that ``state`` tells of."""
        return self._of == (state.origin, state.model, state.size)

    @property
    def taken(self) -> int:
        """Bytes of memory."""
        return self._rows.nbytes + self._keys.nbytes

    @property
    def matrix(self) -> Matrix:
        return Matrix(self._keys[: self._count], self._rows[: self._count])

    def catch_up(self, state: VectorState, reader: GraphReader) -> None:
        # An older revision is that of a reader which was opened before another thread's.
        if state.revision > self._revision:
            self._compare(state, reader)
            self._revision = state.revision
        while found := reader.vectors_after(self._latest, limit=_PORTION):
            self._add(found)
            self._latest = found[-1][0]
            if len(found) < _PORTION:
                break

    def _compare(self, state: VectorState, reader: GraphReader) -> None:
        """Take away what is gone, and add what was given to earlier statements."""
        there = np.array(reader.vector_keys(), np.int64)
        held = self._keys[: self._count]
        stay = np.isin(held, there)
        if _SPARSE * stay.sum() < self._count:
            self._keys, self._rows = held[stay], self._rows[: self._count][stay]
            self._count = len(self._keys)
        elif not stay.all():
            self._keys = self._keys.copy()
            self._keys[: self._count][~stay] = -1
        known = there <= self._latest
        missing = there[known][~np.isin(there[known], held)]
        for start in range(0, len(missing), _PORTION):
            portion = missing[start : start + _PORTION].tolist()
            self._add(sorted(reader.vectors(portion, model=state.model).items()))

    def _add(self, found: list[tuple[int, bytes]]) -> None:
        if not found:
            return
        end = self._count + len(found)
        if end > len(self._keys):
            room = max(end, min(2 * end, end + (1 << 16)))
            self._keys = _moved(self._keys, self._count, (room,))
            self._rows = _moved(self._rows, self._count, (room, self._rows.shape[1]))
        self._keys[self._count : end] = [key for key, _ in found]
        halves = np.frombuffer(b"".join(blob for _, blob in found), "<f2")
        self._rows[self._count : end] = halves.reshape(len(found), -1)
        self._count = end


def _moved(array: npt.NDArray[_Scalar], count: int, shape: tuple[int, ...]) -> npt.NDArray[_Scalar]:
    larger = np.empty(shape, array.dtype)
    larger[:count] = array[:count]
    return larger
