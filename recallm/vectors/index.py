"""The index over statement vectors: which of a namespace are nearest to a question's.

The store's vectors are the truth. The index follows the store: each time it is asked, it reads the
vectors of new statements, and, if the revision of the vectors has changed (some were forgotten, or
earlier statements were given theirs), it compares all keys. So it does not matter which process
wrote a vector.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from recallm.ground.forking import new_lock
from recallm.model import NamespaceState, VectorState
from recallm.stores.base import GraphReader
from recallm.vectors.arrays import Keys, Matrix, Rows

OVER_FETCH_FACTOR = 8
"""Times as many matches as wanted are fetched when some may be hidden."""

_PAGE = 4_096
"""Vectors that are read from the store at once."""

_MAX_MEMORY = 1 << 30
"""Bytes of all matrices in memory. Beyond it those that were not used for longest are dropped; the
one in use stays, whatever its size."""


def are_same_vectors(one: VectorState, other: VectorState) -> bool:
    """Whether two states describe vectors of one model, of one origin: they differ in what was
    added or forgotten alone."""
    return (one.origin, one.model, one.size) == (other.origin, other.model, other.size)


class CachedVectors:
    """The vectors of one namespace in memory. Hold ``lock`` while calling a method. Snapshots never
    change: rows are added behind them, and a removal makes new arrays."""

    def __init__(self, state: VectorState) -> None:
        self.lock = new_lock()
        self.state = state
        self.revision = -1  # nothing was read yet
        self.t_index = 0
        self._last_key = -1
        self._count = 0
        self._keys: Keys = np.empty(0, np.int64)
        self._rows: Rows = np.empty((0, state.size // 2), np.float32)

    @property
    def memory_size(self) -> int:
        """Bytes of memory."""
        return self._rows.nbytes + self._keys.nbytes

    @property
    def keys(self) -> Keys:
        """The keys, in the order in which they were added."""
        return self._keys[: self._count]

    @property
    def snapshot(self) -> Matrix:
        """The vectors that are there now."""
        return Matrix(self.keys, self._rows[: self._count])

    def catch_up(self, state: VectorState, reader: GraphReader) -> None:
        """Read what the store has and this lacks, and remove what the store has no more."""
        if state.revision < self.revision:
            # The reader was opened before an earlier call's, and still sees forgotten statements.
            return
        if self.revision < state.revision and (self.revision >= 0 or len(self.keys)):
            stored = np.array(reader.statement_keys(embedded=True), np.int64)
            self.keep_only(stored)
            missing = np.setdiff1d(stored, self.keys).tolist()
            for start in range(0, len(missing), _PAGE):
                self.add(reader.vectors(missing[start : start + _PAGE], model=state.model))
            self._last_key = max(self._last_key, int(stored.max(initial=-1)))
        while vectors := reader.vectors(model=state.model, after=self._last_key, limit=_PAGE):
            self.add(vectors)
            self._last_key = max(vectors)
        # Last, so that a call which an error ended is made up for by the next one.
        self.revision = state.revision
        self.t_index = max(self.t_index, reader.state.t_index)

    def add(self, blobs: Mapping[int, bytes]) -> None:
        """Add stored vectors, by new keys."""
        before, end = self._count, self._count + len(blobs)
        if end > len(self._keys):
            more = max(end, min(2 * end, end + (1 << 16))) - before
            self._keys = np.concatenate([self.keys, np.empty(more, np.int64)])
            room = np.empty((more, self._rows.shape[1]), np.float32)
            self._rows = np.concatenate([self._rows[:before], room])
        added = Matrix.of(blobs, self._rows.shape[1])
        self._keys[before:end], self._rows[before:end] = added.keys, added.rows
        self._count = end

    def keep_only(self, keys: Keys) -> None:
        """Remove all vectors but those with these keys."""
        stays = np.isin(self.keys, keys)
        if not stays.all():
            self._keys, self._rows = self.keys[stays], self._rows[: self._count][stays]
            self._count = len(self._keys)


class VectorIndex:
    """Finds the nearest statement vectors of any namespace of one store, by comparing every one: in
    one matrix in memory for each namespace, four bytes a dimension. Safe for threads."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._caches: OrderedDict[str, CachedVectors] = OrderedDict()
        """By namespace; the most recently used is last."""

    def catch_up(self, namespace: str, state: VectorState, reader: GraphReader) -> Matrix:
        """All vectors of the namespace, as ``reader`` shows them (it must hide nothing). ``state``
        is what the reader says of them."""
        with self._lock:
            cache = self._caches.pop(namespace, None)
            if cache is None or not are_same_vectors(cache.state, state):
                cache = CachedVectors(state)
            self._caches[namespace] = cache
        with cache.lock:
            cache.catch_up(state, reader)
            snapshot = cache.snapshot
        self._limit_memory()
        return snapshot

    def view_of(self, namespace: str, state: NamespaceState) -> Matrix | None:
        """The vectors of the latest ``catch_up``, if nothing was written since, so that the store
        need not be asked; None if that is not known. ``state`` is the present one."""
        with self._lock:
            cache = self._caches.get(namespace)
            if cache is None or state.vectors is None:
                return None
            if not are_same_vectors(cache.state, state.vectors):
                return None
            self._caches.move_to_end(namespace)
        with cache.lock:
            known = cache.revision, cache.t_index
            is_present = known == (state.vectors.revision, state.t_index)
            return cache.snapshot if is_present else None

    def _limit_memory(self) -> None:
        with self._lock:
            total = sum(cache.memory_size for cache in self._caches.values())
            while total > _MAX_MEMORY and len(self._caches) > 1:
                _, oldest = self._caches.popitem(last=False)
                total -= oldest.memory_size
