"""The vectors of one namespace in a Chroma collection, the newest of them still in memory.

The collection's metadata describes it: the model and the size of its vectors, the ``watermark``
(the greatest key that was written) and the ``revision`` of the store's vectors that it agrees with.
A collection that does not agree with the store in all of these, in the number of vectors up to the
watermark, in a sample of them and in the latest is deleted and filled again. So are those of a
killed process, of another store, and of a copy of the store that was written to since.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from recallm.model import VectorState
from recallm.stores.base import GraphReader
from recallm.vectors.arrays import Keys, Matrix, Vector, decode
from recallm.vectors.index import CachedVectors

__all__ = ["ChromaCollection", "collection_name", "open_collection"]

_CONFIGURATION = {"hnsw": {"space": "cosine", "ef_search": 200}}

_WRITE_BATCH = 500
_DELETE_BATCH = 5_000
_SAMPLE_SIZE = 16
_LATEST = 500
"""All of the latest vectors are compared too: what was written after a back-up that took the place
of the store stands at the end."""

_TOLERANCE = 2e-3
"""The difference that half precision makes to a number of a vector."""


class ChromaCollection:
    """A namespace's collection. ``flush`` moves vectors from memory into it, and is called in one
    other thread; the other methods are safe for threads.

    ``keys``: of the vectors that are in the collection.
    """

    def __init__(self, collection: Any, keys: Keys, state: VectorState) -> None:
        self._collection = collection
        self._cache = CachedVectors(state, keys_elsewhere=keys)

    @property
    def name(self) -> str:
        """Its name in Chroma."""
        return str(self._collection.name)

    @property
    def in_memory(self) -> int:
        """How many vectors are not in the collection yet."""
        with self._cache.lock:
            return len(self._cache.matrix.keys)

    def belongs_to(self, state: VectorState) -> bool:
        """Whether it holds the vectors that ``state`` describes."""
        return self._cache.belongs_to(state)

    def catch_up(self, state: VectorState, reader: GraphReader) -> tuple[Keys, Matrix]:
        """Follow the store: the keys of the vectors in the collection, and the vectors in memory.
        Forgotten vectors leave the collection at once."""
        with self._cache.lock:
            before = self._cache.revision
            self._delete(self._cache.catch_up(state, reader))
            if self._cache.revision != before:
                self._write_metadata()
            return self._cache.keys_elsewhere, self._cache.matrix.snapshot

    def flush(self) -> None:
        """Move some vectors from memory into the collection."""
        with self._cache.lock:
            batch = self._cache.matrix.first(_WRITE_BATCH)
        if not len(batch.keys):
            return
        self._collection.upsert(ids=_ids(batch.keys), embeddings=batch.rows)
        with self._cache.lock:
            is_stored = np.isin(batch.keys, self._cache.matrix.keys)
            self._delete(batch.keys[~is_stored])  # forgotten meanwhile
            self._cache.move_elsewhere(batch.keys[is_stored])
            self._write_metadata()

    def nearest(self, vector: Vector, limit: int) -> tuple[Keys, list[float]]:
        """The keys of the nearest vectors in the collection, and their cosines."""
        result = self._collection.query(
            query_embeddings=[vector], n_results=limit, include=["distances"]
        )
        keys = np.array([int(id) for id in result["ids"][0]], np.int64)
        distances = np.array(result["distances"][0], np.float64)
        return keys, np.clip(1 - np.nan_to_num(distances, nan=1.0), -1, 1).tolist()

    def _write_metadata(self) -> None:
        watermark = int(self._cache.keys_elsewhere.max(initial=-1))
        self._collection.modify(
            metadata={
                "model": self._cache.model,
                "size": self._cache.size,
                "revision": self._cache.revision,
                "watermark": watermark,
            }
        )

    def _delete(self, keys: Keys) -> None:
        for start in range(0, len(keys), _DELETE_BATCH):
            self._collection.delete(ids=_ids(keys[start : start + _DELETE_BATCH]))


def collection_name(namespace: str, origin: str) -> str:
    """A name of the characters that Chroma accepts, for any namespace. ``origin`` is that of the
    namespace's vectors (``VectorState``)."""
    return f"recallm-{hashlib.sha256(f'{namespace} {origin}'.encode()).hexdigest()}"


def open_collection(
    client: Any, namespace: str, state: VectorState, reader: GraphReader
) -> ChromaCollection:
    """The collection of a namespace, made if there is none, made anew if it does not agree with the
    store."""
    name = collection_name(namespace, state.origin)
    collection = client.get_or_create_collection(
        name, embedding_function=None, configuration=_CONFIGURATION
    )
    watermark = int((collection.metadata or {}).get("watermark", -1))
    keys = np.array(reader.statement_keys(embedded=True), np.int64)
    keys = keys[keys <= watermark]
    if not _agrees(collection, keys, state, reader):
        client.delete_collection(name)
        collection = client.create_collection(
            name, embedding_function=None, configuration=_CONFIGURATION
        )
        keys = keys[:0]
    return ChromaCollection(collection, keys, state)


def _agrees(collection: Any, keys: Keys, state: VectorState, reader: GraphReader) -> bool:
    """Whether a collection holds the store's vectors with these keys, and no others."""
    expected = {"model": state.model, "size": state.size, "revision": state.revision}
    metadata = collection.metadata or expected  # a new collection has none
    if not metadata.items() >= expected.items() or collection.count() != len(keys):
        return False
    if not len(keys):
        return True
    spread = keys[np.linspace(0, len(keys) - 1, _SAMPLE_SIZE, dtype=np.int64)]
    sample = np.union1d(spread, keys[-_LATEST:])
    stored = reader.vectors(sample.tolist(), model=state.model)
    found = collection.get(ids=_ids(sample), include=["embeddings"])
    rows = dict(zip(map(int, found["ids"]), found["embeddings"], strict=True))
    return rows.keys() == stored.keys() and all(
        np.allclose(rows[key], decode(blob), atol=_TOLERANCE) for key, blob in stored.items()
    )


def _ids(keys: Keys) -> list[str]:
    return [str(key) for key in keys.tolist()]
