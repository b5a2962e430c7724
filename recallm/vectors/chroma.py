"""Chroma as the index over statement vectors: a collection for each namespace.

The store's vectors are the truth, a collection is a cache of them. Each search first moves what the
collection lacks into it, a bounded number of vectors at a time; while the collection lacks any, the
exact search answers. After a failure of Chroma every search of the process is exact. So is every
search where another process has the folder open: an embedded Chroma is not made for several.

A collection that is opened is compared with the store: keys that the store has no more leave it,
keys that it lacks come into it. Where no key is equal, or the latest vectors under equal keys
differ, the collection is deleted and filled again: so is that of a copy of the store that was
written to since.
"""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from recallm.errors import RecallMError
from recallm.ground import forking
from recallm.ground.forking import keep_for_good, new_lock
from recallm.model import Horizon, VectorState
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors.arrays import Keys, Matches, Matrix, Vector, decode, from_updates
from recallm.vectors.index import (
    PAGE,
    ExactIndex,
    FollowedVectors,
    VectorView,
    are_same_vectors,
)

_CONFIGURATION = {"hnsw": {"space": "cosine", "ef_search": 200}}

_DELETE_BATCH = 5_000
_LATEST = 500
"""The latest vectors of a collection are compared with the store's: what was written after a
back-up that took the place of the store stands at the end."""

_TOLERANCE = 2e-3
"""The difference that half precision makes to a number of a vector."""

_PANIC_MODULE = "pyo3_runtime"
"""The module of the exceptions by which Chroma's native code panics."""

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


class ChromaError(Exception):
    """Chroma failed, in whatever way."""


def call_chroma(call: Callable[[], _T]) -> _T:
    """The result of ``call``; whatever Chroma raises becomes a ``ChromaError``.

    Its native code panics with exceptions that are no ``Exception``. An interrupt is none either,
    and reaches the caller.
    """
    try:
        return call()
    except (RecallMError, ChromaError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__module__ != _PANIC_MODULE:
            raise
        raise ChromaError(f"{type(error).__name__}: {error}") from error


# The index.


class ChromaIndex(ExactIndex, forking.ForkAware):
    """An index in a folder (``place``, made if there is none), or on a client of chromadb, which
    stays open when the index is closed. Where Chroma lacks vectors or fails, the search is exact.

    Forgotten vectors are deleted from their collection at once if they were forgotten through this
    index, else at the next recall. The collection of a namespace that another process emptied is
    deleted at the next recall if it was open here, else once it has vectors again. No search finds
    such vectors meanwhile. Their numbers (never a text: Chroma is given none) may stay in Chroma's
    files until Chroma writes over them: in the log and the free pages of ``chroma.sqlite3`` and in
    the graph of the collection. To remove them for good, delete the folder while no index has it
    open; it is made anew from the store.
    """

    is_durable = True

    def __init__(self, store: GraphStore, place: Path | Any) -> None:
        super().__init__()
        self.store = store
        self._folder = place if isinstance(place, Path) else None
        self._client: Any = None if isinstance(place, Path) else place
        self._folder_lock: IO[bytes] | None = None
        self._chroma_lock = new_lock()
        """Guards everything below."""
        self._open: dict[str, ChromaCollection] = {}
        """Collections by namespace."""
        self._is_off = False
        forking.watch(self)

    # -- searching -------------------------------------------------------------------------

    def catch_up(self, namespace: str, state: VectorState, reader: GraphReader) -> VectorView:
        """The namespace's vectors in Chroma; in memory while Chroma lacks some, or fails."""
        collection = None
        if not self._is_off:
            try:
                collection = call_chroma(lambda: self._caught_up(namespace, state, reader))
            except ChromaError as error:
                self._switch_off(error)
        if collection is None:
            return super().catch_up(namespace, state, reader)
        super().drop(namespace, state)
        return collection

    def drop(self, namespace: str, state: VectorState | None) -> None:
        """Delete the collection of the namespace."""
        super().drop(namespace, state)
        try:
            call_chroma(lambda: self._delete_collection(namespace, state))
        except ChromaError as error:
            self._switch_off(error)

    def search_exactly(self, namespace: str, error: ChromaError) -> VectorView | None:
        """The view of the exact search, after Chroma failed with ``error`` in a search; None if
        the namespace has no vectors any more."""
        self._switch_off(error)
        with self.store.reader(namespace, Horizon(withdrawn=True)) as reader:
            state = reader.state.vectors
            return None if state is None else super().catch_up(namespace, state, reader)

    def close(self) -> None:
        """Close the client and release the folder if they are this index's."""
        with self._chroma_lock:
            self._is_off = True
            self._open.clear()
            if self._folder_lock is not None:
                client, self._client = self._client, None
                with suppress(ChromaError):
                    call_chroma(lambda: client.close())  # noqa: PLW0108 - early versions have none
                self._folder_lock.close()
                self._folder_lock = None
        super().close()

    # -- collections -----------------------------------------------------------------------

    def _caught_up(
        self, namespace: str, state: VectorState, reader: GraphReader
    ) -> ChromaCollection | None:
        """The namespace's collection; None while that lacks some vectors."""
        with self._chroma_lock:
            collection = self._open.get(namespace)
            if collection is None or not are_same_vectors(collection.state, state):
                collection = self._opened_collection(namespace, state, reader)
            self._open[namespace] = collection
        with collection.lock:
            collection.catch_up(state, reader)
            return collection if collection.is_complete else None

    def _opened_collection(
        self, namespace: str, state: VectorState, reader: GraphReader
    ) -> ChromaCollection:
        """The collection of a namespace, made if there is none, made anew if it does not agree with
        the store."""
        client = self._opened_client()
        name = collection_name(namespace, state.origin)
        collection = client.get_or_create_collection(
            name, embedding_function=None, configuration=_CONFIGURATION
        )
        keys = np.array(sorted(map(int, collection.get(include=[])["ids"])), np.int64)
        if not _agrees(collection, keys, state, reader):
            client.delete_collection(name)
            collection = client.create_collection(
                name, embedding_function=None, configuration=_CONFIGURATION
            )
            keys = keys[:0]
        return ChromaCollection(self, namespace, collection, keys, state)

    def _delete_collection(self, namespace: str, state: VectorState | None) -> None:
        """Delete this store's collection; another store's may be in the same place."""
        with self._chroma_lock:
            collection = self._open.pop(namespace, None)
            if collection is not None:
                name = collection.name
            elif state is not None:
                name = collection_name(namespace, state.origin)
            else:
                return
            if self._is_off or (self._folder is not None and not self._folder.exists()):
                return
            client = self._opened_client()
            client.get_or_create_collection(name, embedding_function=None)
            client.delete_collection(name)

    def _opened_client(self) -> Any:
        """The client. One of a folder is opened, where no other index has the folder open, in this
        process or another: its lock ends with the index, or with its process."""
        if self._client is None and self._folder is not None:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            self._folder_lock = (self._folder / "recallm.lock").open("ab")
            try:
                _lock(self._folder_lock.fileno())
            except OSError as error:
                self._is_off = True  # nothing is damaged: no warning
                _log.info("%s is in use elsewhere: searching exactly", self._folder)
                raise ChromaError(f"{self._folder} is in use elsewhere ({error})") from None
            import chromadb
            from chromadb.config import Settings

            settings = Settings(anonymized_telemetry=False)
            self._client = chromadb.PersistentClient(str(self._folder / "chroma"), settings)
        return self._client

    def _switch_off(self, error: ChromaError) -> None:
        with self._chroma_lock:
            if not self._is_off:
                self._is_off = True
                _log.warning(
                    "Chroma cannot be used (%s): searching exactly; where %s is damaged, delete it "
                    "while no program has it open, and it is made anew",
                    error,
                    self._folder or "its place",
                )

    def before_fork(self) -> None:
        """The parent keeps its client."""

    def after_fork_in_child(self, *, prepared: bool) -> None:
        """The child searches exactly: it leaves the client and the folder's lock to the parent."""
        del prepared
        self._is_off = True
        keep_for_good((self._client, dict(self._open)))
        if self._folder_lock is not None:
            self._folder_lock.close()
        self._client = self._folder_lock = None
        self._open.clear()


# The collection.


class ChromaCollection(FollowedVectors):
    """A namespace's collection, which holds the vectors with these ``keys`` (ascending). It may get
    later vectors while a search goes on: readers hide statements that are too new for them."""

    room = 1_000
    """So that no caller waits long for Chroma to write."""

    def __init__(
        self, index: ChromaIndex, namespace: str, collection: Any, keys: Keys, state: VectorState
    ) -> None:
        super().__init__(state)
        self._index = index
        self._namespace = namespace
        self._collection = collection
        self._keys = keys

    @property
    def name(self) -> str:
        """Its name in Chroma."""
        return str(self._collection.name)

    @property
    def keys(self) -> Keys:
        """The keys of all vectors in the collection, ascending."""
        return self._keys

    def keep_only(self, keys: Keys) -> None:
        """Delete all vectors but those with these keys."""
        forgotten = np.setdiff1d(self._keys, keys)
        for start in range(0, len(forgotten), _DELETE_BATCH):
            self._collection.delete(ids=_ids(forgotten[start : start + _DELETE_BATCH]))
        self._keys = np.setdiff1d(self._keys, forgotten)

    def add(self, blobs: Mapping[int, bytes]) -> None:
        """Write stored vectors into the collection."""
        keys = np.array(list(blobs), np.int64)
        rows = np.stack([decode(blob) for blob in blobs.values()])
        self._collection.upsert(ids=_ids(keys), embeddings=rows)
        self._keys = np.union1d(self._keys, keys)

    def nearest(
        self, vector: Vector, limit: int, *, updates: Collection[int] | None = None
    ) -> Matches:
        """The nearest statements, approximately; exactly if Chroma fails."""
        if limit <= 0 or not len(self._keys):
            return []
        try:
            found = call_chroma(lambda: self._nearest(vector, limit, updates))
        except ChromaError as error:
            exact = self._index.search_exactly(self._namespace, error)
            return [] if exact is None else exact.nearest(vector, limit, updates=updates)
        return sorted(found.items(), key=lambda match: (-match[1], -match[0]))[:limit]

    def _nearest(
        self, vector: Vector, limit: int, updates: Collection[int] | None
    ) -> dict[int, float]:
        """The nearest, with their cosines. With a filter, the stored vector of each statement that
        meets it is compared."""
        if updates is None:
            return self._query(vector, limit)
        allowed = self._keys[from_updates(self._keys, updates)]
        found: dict[int, float] = {}
        with self._index.store.reader(self._namespace, Horizon(withdrawn=True)) as reader:
            for start in range(0, len(allowed), PAGE):
                page = allowed[start : start + PAGE].tolist()
                stored = reader.vectors(page, model=self.state.model)
                found |= Matrix.of(stored, len(vector)).nearest(vector, limit)
        return found

    def _query(self, vector: Vector, limit: int) -> dict[int, float]:
        """The nearest of all, with their cosines."""
        result = self._collection.query(
            query_embeddings=[vector], n_results=limit, include=["distances"]
        )
        distances = np.nan_to_num(np.array(result["distances"][0], np.float64), nan=1.0)
        cosines = np.clip(1 - distances, -1, 1).tolist()
        return dict(zip(map(int, result["ids"][0]), cosines, strict=True))


def collection_name(namespace: str, origin: str) -> str:
    """A name of the characters that Chroma accepts, for any namespace. ``origin`` is that of the
    namespace's vectors (``VectorState``)."""
    return f"recallm-{hashlib.sha256(f'{namespace} {origin}'.encode()).hexdigest()}"


def _agrees(collection: Any, keys: Keys, state: VectorState, reader: GraphReader) -> bool:
    """Whether the store has some of these keys, and the same vectors under the latest of them. A
    namespace whose model changed, after everything was forgotten, has other keys."""
    stored_keys = np.array(reader.statement_keys(embedded=True), np.int64)
    sample = np.intersect1d(keys, stored_keys)[-_LATEST:]
    if not len(sample):
        return False
    stored = reader.vectors(sample.tolist(), model=state.model)
    found = collection.get(ids=_ids(sample), include=["embeddings"])
    return all(
        np.allclose(row, decode(stored[int(id)]), atol=_TOLERANCE)
        for id, row in zip(found["ids"], found["embeddings"], strict=True)
        if int(id) in stored
    )


def _ids(keys: Keys) -> list[str]:
    return [str(key) for key in keys.tolist()]


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
