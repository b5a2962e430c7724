"""The vectors of one namespace in a Chroma collection, the newest of them still in memory.

The collection's statements about itself are verified against the store:

* ``watermark`` in its metadata is the greatest key that was noted as written. The collection may
  hold vectors beyond it, if a process was killed before it noted them: they are deleted, never
  read.
* ``revision`` is the revision of the store's vectors that the collection was last compared with. If
  the store has another one by now, or another number of vectors up to the watermark, all keys are
  compared.
* A sample of its vectors must equal the store's. A collection of another store, or of a copy of the
  store that was since written to, is deleted and made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from recallm.model import VectorState
from recallm.stores.base import GraphReader
from recallm.vectors.arrays import (
    Keys,
    Matches,
    Matrix,
    Vector,
    best_matches,
    decode,
    from_updates,
)
from recallm.vectors.index import OVER_FETCH_FACTOR, PAGE, CachedVectors

__all__ = ["ChromaCollection", "CollectionView", "StaleCollectionError", "StoredVectors"]

_WRITE_BATCH = 500
_DELETE_BATCH = 5_000
_SAMPLE_SIZE = 16

_TOLERANCE = 2e-3
"""The difference that half precision makes to a number of a vector."""

_MIN_OVER_FETCH = 512
"""The least number of matches in an over-fetch, with a filter that many vectors meet."""

StoredVectors: TypeAlias = Callable[[list[int]], Mapping[int, bytes]]
"""Reads the vectors of statements from the store."""


class StaleCollectionError(Exception):
    """The collection holds other vectors than the store."""


class ChromaCollection:
    """A namespace's collection. ``flush`` moves vectors from memory into it, and is called in one
    other thread; the other methods are safe for threads.

    Raises:
        StaleCollectionError: it holds other vectors than the store.

    """

    def __init__(self, collection: Any, state: VectorState, reader: GraphReader) -> None:
        self._collection = collection
        self._cache = CachedVectors(state)
        metadata = collection.metadata or {}
        watermark = int(metadata.get("watermark", -1))
        stored = np.array(reader.statement_keys(embedded=True), np.int64)
        stored = stored[stored <= watermark]
        if metadata.get("revision") == state.revision and collection.count() == len(stored):
            self._cache.keys_elsewhere = stored
        else:
            keys = self._list_keys()
            self._delete(keys[keys > watermark])
            self._cache.keys_elsewhere = keys[keys <= watermark]
        self.catch_up(state, reader)
        self._verify_sample(state, reader)

    @property
    def origin(self) -> str:
        """Of the namespace's vectors (``VectorState``)."""
        return self._cache.origin

    @property
    def in_memory(self) -> int:
        """How many vectors are not in the collection yet."""
        return len(self._cache.matrix.keys)

    def belongs_to(self, state: VectorState) -> bool:
        """Whether it holds the vectors that ``state`` describes."""
        return self._cache.belongs_to(state)

    def catch_up(self, state: VectorState, reader: GraphReader) -> CollectionView:
        """Follow the store. Forgotten vectors leave the collection at once."""
        with self._cache.lock:
            before = self._cache.revision
            self._delete(self._cache.catch_up(state, reader))
            if self._cache.revision != before:
                self._write_metadata()
            return CollectionView(
                self._collection, self._cache.keys_elsewhere, self._cache.matrix.snapshot
            )

    def flush(self) -> bool:
        """Move some vectors from memory into the collection; whether there were any."""
        with self._cache.lock:
            batch = self._cache.matrix.first(_WRITE_BATCH)
        if not len(batch.keys):
            return False
        self._collection.upsert(ids=_ids(batch.keys), embeddings=batch.rows)
        with self._cache.lock:
            is_stored = np.isin(batch.keys, self._cache.matrix.keys)
            self._delete(batch.keys[~is_stored])  # forgotten meanwhile
            self._cache.move_elsewhere(batch.keys[is_stored])
            self._write_metadata()
        return True

    def _write_metadata(self) -> None:
        watermark = int(self._cache.keys_elsewhere.max(initial=-1))
        metadata = {"watermark": watermark, "revision": self._cache.revision}
        self._collection.modify(metadata=metadata)

    def _list_keys(self) -> Keys:
        ids = self._collection.get(include=[])["ids"]
        return np.sort(np.array([int(id) for id in ids], np.int64))

    def _delete(self, keys: Keys) -> None:
        for start in range(0, len(keys), _DELETE_BATCH):
            self._collection.delete(ids=_ids(keys[start : start + _DELETE_BATCH]))

    def _verify_sample(self, state: VectorState, reader: GraphReader) -> None:
        keys = self._cache.keys_elsewhere
        if not len(keys):
            return
        sample = keys[np.unique(np.linspace(0, len(keys) - 1, _SAMPLE_SIZE, dtype=np.int64))]
        stored = reader.vectors(sample.tolist(), model=state.model)
        found = self._collection.get(ids=_ids(sample), include=["embeddings"])
        rows = dict(zip(map(int, found["ids"]), found["embeddings"], strict=True))
        for key, blob in stored.items():
            row, expected = rows.get(key), decode(blob)
            if row is None or len(row) != len(expected):
                raise StaleCollectionError
            if not np.allclose(np.asarray(row), expected, atol=_TOLERANCE):
                raise StaleCollectionError


@dataclass(frozen=True, slots=True)
class CollectionView:
    """The vectors of a namespace when the collection caught up: ``keys`` (ascending) are those in
    the collection, ``memory`` holds the others."""

    collection: Any
    keys: Keys
    memory: Matrix

    def nearest(
        self,
        vector: Vector,
        limit: int,
        updates: Collection[int] | None,
        read_stored: StoredVectors,
    ) -> Matches:
        """The ``limit`` nearest statements, in memory and in the collection."""
        matches = self.memory.nearest(vector, limit, updates=updates)
        if updates is None:
            matches += self._query(vector, limit)
        else:
            allowed = self.keys[from_updates(self.keys, updates)]
            matches += self._query_allowed(vector, limit, allowed, read_stored)
        matches.sort(key=lambda match: (-match[1], -match[0]))
        return matches[: max(limit, 0)]

    def _query(self, vector: Vector, limit: int) -> Matches:
        """The nearest in the collection. It may hold others than ``keys``, which are left out: then
        it is asked for more."""
        fetched = limit
        while len(self.keys) and limit > 0:
            keys, cosines = self._fetch(vector, fetched)
            known = _among(keys, self.keys)
            if known.sum() >= min(limit, len(self.keys)) or len(keys) < fetched:
                return best_matches(keys[known], cosines[known], limit)
            fetched *= 4
        return []

    def _query_allowed(
        self, vector: Vector, limit: int, allowed: Keys, read_stored: StoredVectors
    ) -> Matches:
        """The nearest of ``allowed``. If these are many, enough of them are probably among the
        nearest of all; else, or if not, the stored vector of each is compared."""
        if len(allowed) > PAGE and limit > 0:
            keys, cosines = self._fetch(vector, max(OVER_FETCH_FACTOR * limit, _MIN_OVER_FETCH))
            known = _among(keys, allowed)
            if known.sum() >= limit:
                return best_matches(keys[known], cosines[known], limit)
        cosines = np.full(len(allowed), -1, np.float32)
        for start in range(0, len(allowed), PAGE):
            page = allowed[start : start + PAGE].tolist()
            stored = read_stored(page)
            for place, key in enumerate(page, start):
                if key in stored:
                    cosines[place] = decode(stored[key]) @ vector
        return best_matches(allowed, cosines, limit)

    def _fetch(self, vector: Vector, limit: int) -> tuple[Keys, Vector]:
        """Ask the collection: keys with their cosines, nearest first."""
        result = self.collection.query(
            query_embeddings=[vector], n_results=limit, include=["distances"]
        )
        keys = np.array([int(id) for id in result["ids"][0]], np.int64)
        distances = np.array(result["distances"][0], np.float32)
        return keys, 1 - np.nan_to_num(distances, nan=1.0)


def _among(keys: Keys, ascending: Keys) -> Any:
    """Which ``keys`` are in ``ascending``, by binary search: ``np.isin`` would sort all of it."""
    places = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return ascending[places] == keys


def _ids(keys: Keys) -> list[str]:
    return [str(key) for key in keys.tolist()]
