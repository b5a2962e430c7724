"""Exact search: every vector is compared, in one matrix in memory for each namespace."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from recallm.forking import new_lock
from recallm.model import VectorState
from recallm.stores.base import GraphReader
from recallm.vectors.matrix import GrowingMatrix, Matrix

__all__ = ["PORTION", "ExactIndex"]

PORTION = 4_096
"""Vectors read from the store at once."""

_KEPT_BYTES = 1 << 30
"""Of matrices, the latest used first; the one in use is kept whatever it takes."""


class ExactIndex:
    """See ``VectorIndex``: four bytes a dimension in memory, nothing on disk."""

    is_durable = False

    def __init__(self) -> None:
        self._lock = new_lock()
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
            view = kept.vectors.view
        self._let_go()
        return view

    def emptied(self, namespace: str, state: VectorState | None) -> None:
        """See ``VectorIndex.emptied``."""
        del state
        with self._lock:
            self._kept.pop(namespace, None)

    def close(self) -> None:
        """See ``VectorIndex.close``."""
        with self._lock:
            self._kept.clear()

    def _let_go(self) -> None:
        """Of the matrices that were not used for longest, where all are too large."""
        with self._lock:
            total = sum(kept.vectors.taken for kept in self._kept.values())
            while total > _KEPT_BYTES and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                total -= oldest.vectors.taken


class _Kept:
    """The vectors of one namespace in memory; ``lock`` is held while they are caught up."""

    def __init__(self, state: VectorState) -> None:
        self.lock = new_lock()
        self.vectors = GrowingMatrix(state.size // 2)
        self._of = (state.origin, state.model, state.size)
        self._revision = state.revision
        self._latest = -1

    def is_of(self, state: VectorState) -> bool:
        """Whether these are the vectors that ``state`` tells of."""
        return self._of == (state.origin, state.model, state.size)

    def catch_up(self, state: VectorState, reader: GraphReader) -> None:
        if state.revision < self._revision:
            return  # its reader was opened before another's, and sees what was forgotten since
        if state.revision > self._revision:
            self._compare(state, reader)
            self._revision = state.revision
        while found := list(
            reader.vectors(model=state.model, after=self._latest, limit=PORTION).items()
        ):
            self.vectors.add(found)
            self._latest = found[-1][0]
            if len(found) < PORTION:
                break

    def _compare(self, state: VectorState, reader: GraphReader) -> None:
        """Take away what is gone, and add what was given to earlier statements."""
        there = np.array(reader.statement_keys(embedded=True), np.int64)
        self.vectors.keep(there)
        earlier = there[there <= self._latest]
        missing = earlier[~np.isin(earlier, self.vectors.keys)]
        for start in range(0, len(missing), PORTION):
            portion = missing[start : start + PORTION].tolist()
            self.vectors.add(sorted(reader.vectors(portion, model=state.model).items()))
