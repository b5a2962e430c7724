"""Indexes over statement vectors: which of a namespace are nearest to a question's.

The store's vectors are the truth. An index follows the store: each time it is asked, it reads the
vectors of new statements, and, if the revision of the vectors has changed (some were forgotten, or
earlier statements were given theirs), it compares all keys. So it does not matter which process
wrote a vector, nor when a process was killed.

``CachedVectors`` states how to follow the store; ``ExactIndex`` holds all vectors in memory and
compares every one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import Protocol

import numpy as np

from recallm.ground.forking import new_lock
from recallm.model import NamespaceState, VectorState
from recallm.stores.base import GraphReader
from recallm.vectors.arrays import GrowingMatrix, Matches, Vector

PAGE = 4_096
"""Vectors that are read from the store at once."""

OVER_FETCH_FACTOR = 8
"""Times as many matches as wanted are fetched when some may be hidden."""

_MAX_MEMORY = 1 << 30
"""Bytes of all matrices in memory. Beyond it those that were not used for longest are dropped; the
one in use stays, whatever its size."""


class VectorView(Protocol):
    """The statement vectors of a namespace as they were when the index caught up."""

    def nearest(
        self, vector: Vector, limit: int, *, updates: Collection[int] | None = None
    ) -> Matches:
        """The ``limit`` nearest statements; with ``updates``, only those of the knowledge updates
        with these t."""
        ...


def are_same_vectors(one: VectorState, other: VectorState) -> bool:
    """Whether two states describe vectors of one model, of one origin: they differ in what was
    added or forgotten alone."""
    return (one.origin, one.model, one.size) == (other.origin, other.model, other.size)


class CachedVectors:
    """The vectors of one namespace in a ``matrix``, as far as the index has read them from the
    store. Hold ``lock`` while calling a method."""

    def __init__(self, state: VectorState) -> None:
        self.lock = new_lock()
        self.matrix = GrowingMatrix(state.size // 2)
        self.state = state
        self.revision = -1  # nothing was read yet
        self.t_index = 0
        self._last_key = -1

    def catch_up(self, state: VectorState, reader: GraphReader) -> None:
        """Read what the store has and this lacks, and remove what the store has no more."""
        if state.revision < self.revision:
            # The reader was opened before an earlier call's, and still sees forgotten statements.
            return
        if 0 <= self.revision < state.revision:
            stored = np.array(reader.statement_keys(embedded=True), np.int64)
            self.matrix.keep_only(stored)
            missing = np.setdiff1d(stored, self.matrix.keys)
            for start in range(0, len(missing), PAGE):
                page = missing[start : start + PAGE].tolist()
                self.matrix.add(reader.vectors(page, model=state.model))
            self._last_key = max(self._last_key, int(stored.max(initial=-1)))
        self.revision = state.revision
        while vectors := reader.vectors(model=state.model, after=self._last_key, limit=PAGE):
            self.matrix.add(vectors)
            self._last_key = max(vectors)
        self.t_index = max(self.t_index, reader.state.t_index)


class ExactIndex:
    """Finds the nearest statement vectors of any namespace of one store, by comparing every one: in
    one matrix in memory for each namespace, four bytes a dimension. Safe for threads.

    ``is_durable``: the index keeps vectors on disk or on a server (``ChromaIndex``). Then
    ``remove_forgotten`` must be called at once when vectors are forgotten.
    """

    is_durable = False

    def __init__(self) -> None:
        self._lock = new_lock()
        self._caches: OrderedDict[str, CachedVectors] = OrderedDict()
        """By namespace; the most recently used is last."""

    def catch_up(self, namespace: str, state: VectorState, reader: GraphReader) -> VectorView:
        """All vectors of the namespace, as ``reader`` shows them (it must hide nothing). ``state``
        is what the reader says of them."""
        with self._lock:
            cache = self._caches.pop(namespace, None)
            if cache is None or not are_same_vectors(cache.state, state):
                cache = CachedVectors(state)
            self._caches[namespace] = cache
        with cache.lock:
            cache.catch_up(state, reader)
            snapshot = cache.matrix.snapshot
        self._limit_memory()
        return snapshot

    def view_of(self, namespace: str, state: NamespaceState) -> VectorView | None:
        """The view of the latest ``catch_up``, if nothing was written since, so that the store need
        not be asked; None if that is not known. ``state`` is the present one."""
        with self._lock:
            cache = self._caches.get(namespace)
            if cache is None or state.vectors is None:
                return None
            if not are_same_vectors(cache.state, state.vectors):
                return None
            self._caches.move_to_end(namespace)
        with cache.lock:
            if (cache.revision, cache.t_index) != (state.vectors.revision, state.t_index):
                return None
            return cache.matrix.snapshot

    def remove_forgotten(self, namespace: str, state: VectorState, reader: GraphReader) -> None:
        """Delete at once what the store has no more, where anything is on disk."""

    def drop(self, namespace: str, state: VectorState | None) -> None:
        """Delete everything of a namespace that has no vectors any more; ``state`` is its last one,
        if it is known."""
        del state
        with self._lock:
            self._caches.pop(namespace, None)

    def close(self) -> None:
        """Close what is open; a second call does nothing."""
        with self._lock:
            self._caches.clear()

    def _limit_memory(self) -> None:
        with self._lock:
            total = sum(cache.matrix.memory_size for cache in self._caches.values())
            while total > _MAX_MEMORY and len(self._caches) > 1:
                _, oldest = self._caches.popitem(last=False)
                total -= oldest.matrix.memory_size
