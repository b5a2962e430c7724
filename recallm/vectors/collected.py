"""The vectors of one namespace in a Chroma collection, and in memory what is not in it yet.

Nothing of what the collection says of itself is believed until it was held against the store:

* ``watermark`` in its metadata is the last key up to which it was filled. What lies beyond (a
  process was cut short between the two writes) is written again, and never read.
* ``revision`` is that of the vectors (``VectorState``) that it was compared with. With another one,
  or another number of vectors than the store has up to the watermark, its ids are compared.
* A sample of its vectors must be those of the store: a collection of another store, or of a copy
  that went another way, is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from recallm.forking import new_lock
from recallm.model import VectorState
from recallm.stores.base import GraphReader
from recallm.vectors.blobs import decode
from recallm.vectors.exact import PORTION
from recallm.vectors.index import Found, Vector
from recallm.vectors.matrix import GrowingMatrix, Keys, Matrix, of_moments, ranked

__all__ = ["Collected", "CollectedView", "Stale"]

_WRITTEN = 500
"""Vectors that are written to the collection at once."""

_DELETED = 5_000
"""Ids that are deleted at once."""

_SAMPLE = 16

_MORE = 512
"""Vectors that are looked at, at least, where only some knowledge updates count."""

_ALIKE = 2e-3
"""How far a number of a vector may be from the stored one: half precision, made one long again."""


class Stale(Exception):
    """The collection holds other vectors than the store."""


class Collected:
    """See the module. ``lock`` is held while it is caught up; ``fold`` moves what is in memory
    into the collection, from one other thread."""

    def __init__(self, collection: Any, state: VectorState, reader: GraphReader) -> None:
        self.lock = new_lock()
        self._collection = collection
        self._of = (state.origin, state.model, state.size)
        self._revision = state.revision
        self._tail = GrowingMatrix(state.size // 2)
        metadata = collection.metadata or {}
        self._watermark = int(metadata.get("watermark", -1))
        self._latest = self._watermark
        there = np.array(reader.statement_keys(embedded=True), np.int64)
        there = there[there <= self._watermark]
        if metadata.get("revision") == state.revision and collection.count() == len(there):
            self._held: Keys = there
        else:
            self._held = self._compared(there)
        self._check_sample(state, reader)
        self._fill(there, state, reader)
        if metadata.get("revision") != state.revision:
            self._note()

    def is_of(self, state: VectorState) -> bool:
        """Whether these are the vectors that ``state`` tells of."""
        return self._of == (state.origin, state.model, state.size)

    @property
    def origin(self) -> str:
        """Of the namespace's vectors."""
        return self._of[0]

    @property
    def waiting(self) -> int:
        """How many vectors are not in the collection yet."""
        return len(self._tail.keys)

    def catch_up(self, state: VectorState, reader: GraphReader) -> CollectedView:
        """Take in what the store has by now; what is gone leaves the collection at once
        (its numbers may stay in Chroma's files: see ``ChromaIndex``)."""
        if state.revision < self._revision:
            # Its reader was opened before another's, and sees what was forgotten since.
            return CollectedView(self._collection, self._held, self._tail.view)
        if state.revision > self._revision:
            there = np.array(reader.statement_keys(embedded=True), np.int64)
            gone = self._held[~np.isin(self._held, there)]
            self._delete(gone)
            self._held = self._held[np.isin(self._held, there)]
            self._tail.keep(there)
            self._fill(there[there <= self._latest], state, reader)
            self._revision = state.revision
            self._note()
        while found := list(
            reader.vectors(model=state.model, after=self._latest, limit=PORTION).items()
        ):
            self._tail.add(found)
            self._latest = found[-1][0]
            if len(found) < PORTION:
                break
        return CollectedView(self._collection, self._held, self._tail.view)

    def fold(self) -> bool:
        """Move some of what is in memory into the collection; whether there was any."""
        with self.lock:
            portion = self._tail.first(_WRITTEN)
        if not len(portion.keys):
            return False
        ids = [str(key) for key in portion.keys.tolist()]
        self._collection.upsert(ids=ids, embeddings=portion.rows)
        with self.lock:
            stay = np.isin(portion.keys, self._tail.keys)
            # Forgotten meanwhile.
            self._delete(portion.keys[~stay])
            moved = portion.keys[stay]
            self._held = np.union1d(self._held, moved)
            self._tail.keep(np.setdiff1d(self._tail.keys, moved))
            if len(moved):
                self._watermark = max(self._watermark, int(moved[-1]))
            self._note()
        return True

    def _note(self) -> None:
        self._collection.modify(metadata={"watermark": self._watermark, "revision": self._revision})

    def _compared(self, there: Keys) -> Keys:
        """Of the keys that the store has up to the watermark, those that the collection has; what
        else is in it is deleted."""
        ids = np.array([int(id) for id in self._collection.get(include=[])["ids"]], np.int64)
        self._delete(ids[~np.isin(ids, there)])
        held: Keys = np.intersect1d(ids, there)
        return held

    def _delete(self, keys: Keys) -> None:
        for start in range(0, len(keys), _DELETED):
            ids = [str(key) for key in keys[start : start + _DELETED].tolist()]
            self._collection.delete(ids=ids)

    def _fill(self, there: Keys, state: VectorState, reader: GraphReader) -> None:
        """Take into memory what the collection lacks of these keys."""
        known = np.concatenate([self._held, self._tail.keys])
        missing = there[~np.isin(there, known)]
        for start in range(0, len(missing), PORTION):
            portion = missing[start : start + PORTION].tolist()
            self._tail.add(sorted(reader.vectors(portion, model=state.model).items()))

    def _check_sample(self, state: VectorState, reader: GraphReader) -> None:
        """Hold some of the vectors against the store's.

        Raises:
            Stale: one is another.

        """
        count = len(self._held)
        places = sorted({count - 1 - place * count // _SAMPLE for place in range(_SAMPLE)})
        keys = [int(self._held[place]) for place in places if place >= 0]
        if not keys:
            return
        stored = reader.vectors(keys, model=state.model)
        found = self._collection.get(ids=[str(key) for key in keys], include=["embeddings"])
        kept = dict(zip(map(int, found["ids"]), found["embeddings"], strict=True))
        for key, blob in stored.items():
            row = kept.get(key)
            if row is None or len(row) * 2 != len(blob):
                raise Stale
            if not np.allclose(np.asarray(row), decode(blob), atol=_ALIKE):
                raise Stale


@dataclass(frozen=True, slots=True)
class CollectedView:
    """What was in the collection when it was caught up (``held``, ascending), and what was in
    memory alone."""

    collection: Any
    held: Keys
    tail: Matrix

    def nearest(
        self,
        vector: Vector,
        limit: int,
        moments: Collection[int] | None,
        blobs: Callable[[list[int]], dict[int, bytes]],
    ) -> Found:
        """The ``limit`` nearest; ``blobs`` reads vectors from the store."""
        beside = self.tail.nearest(vector, limit, moments=moments)
        if moments is None:
            inside = self._queried(vector, limit, self.held)
        else:
            allowed = self.held[of_moments(self.held, moments)]
            inside = self._filtered(vector, limit, allowed, blobs)
        found = sorted(inside + beside, key=lambda it: (-it[1], -it[0]))
        return found[: max(limit, 0)]

    def _filtered(
        self,
        vector: Vector,
        limit: int,
        allowed: Keys,
        blobs: Callable[[list[int]], dict[int, bytes]],
    ) -> Found:
        """Of many, some are among the nearest of all; few are looked at one by one."""
        if len(allowed) > PORTION:
            found = self._queried(vector, max(8 * limit, _MORE), allowed, once=True)
            if len(found) >= limit:
                return found
        cosines = np.zeros(len(allowed), np.float32)
        for start in range(0, len(allowed), PORTION):
            portion = allowed[start : start + PORTION].tolist()
            stored = blobs(portion)
            for place, key in enumerate(portion, start):
                cosines[place] = decode(stored[key]) @ vector if key in stored else -1
        return ranked(allowed, cosines, limit)

    def _queried(self, vector: Vector, limit: int, allowed: Keys, *, once: bool = False) -> Found:
        """The nearest of the collection that are among ``allowed``: neither what is gone nor what
        it holds beyond the watermark."""
        wanted = limit
        while len(allowed) and limit > 0:
            found = self.collection.query(
                query_embeddings=[vector], n_results=wanted, include=["distances"]
            )
            keys = np.array([int(id) for id in found["ids"][0]], np.int64)
            cosines = 1 - np.nan_to_num(np.array(found["distances"][0], np.float32), nan=1.0)
            # A look-up each, for they ascend: np.isin would sort all that is allowed.
            places = np.minimum(np.searchsorted(allowed, keys), len(allowed) - 1)
            inside = allowed[places] == keys
            if once or inside.sum() >= min(limit, len(allowed)) or len(keys) < wanted:
                return ranked(keys[inside], cosines[inside], limit if not once else wanted)
            wanted *= 4
        return []
