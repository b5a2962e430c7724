"""Chroma as the index over statement vectors: a collection for each namespace.

The store's vectors are the truth, a collection is a cache of them. Each search first moves what the
collection lacks into it, a bounded number of vectors at a time; while it lacks any, and wherever
Chroma fails, the exact search answers. A collection that does not agree with the store is deleted
and filled again. An embedded Chroma is not made for several processes: the process that holds the
folder's lock uses it, the others search exactly.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from recallm.ground import forking
from recallm.ground.forking import keep_for_good, new_lock
from recallm.model import Horizon, NamespaceState, VectorState
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors.arrays import Keys, Matches, Matrix, Vector, from_updates
from recallm.vectors.chroma_collection import (
    ChromaCollection,
    ChromaError,
    FolderInUseError,
    call_chroma,
    collection_name,
    open_collection,
    open_folder,
)
from recallm.vectors.index import OVER_FETCH_FACTOR, PAGE, ExactIndex, VectorView, are_same_vectors

_MAX_OPEN_COLLECTIONS = 64
"""Beyond it the collection that was not used for longest is closed."""

_MAX_FAILURES = 3
"""After 3 failures of Chroma every search is exact."""

_MIN_OVER_FETCH = 512
"""The least number of matches in an over-fetch, with a filter that many vectors meet."""

_log = logging.getLogger(__name__)


class ChromaIndex(ExactIndex):
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
        self._store = store
        self._folder = place if isinstance(place, Path) else None
        self._client: Any = None if isinstance(place, Path) else place
        self._folder_lock: IO[bytes] | None = None
        self._chroma_lock = new_lock()
        """Guards everything below."""
        self._open: OrderedDict[str, ChromaCollection] = OrderedDict()
        """Collections by namespace; the most recently used is last."""
        self._failures = 0
        self._is_off = False
        forking.watch(self)

    # -- searching -------------------------------------------------------------------------

    def catch_up(self, namespace: str, state: VectorState, reader: GraphReader) -> VectorView:
        """The namespace's vectors in Chroma; in memory while Chroma lacks some, or fails."""
        view = self._followed(namespace, state, reader)
        if view is None:
            return super().catch_up(namespace, state, reader)
        super().drop(namespace, state)
        return view

    def remove_forgotten(self, namespace: str, state: VectorState, reader: GraphReader) -> None:
        """Delete forgotten vectors from the namespace's collection."""
        self._followed(namespace, state, reader)

    def _followed(
        self, namespace: str, state: VectorState, reader: GraphReader
    ) -> _ChromaView | None:
        """The view of the collection that follows the store; None while it lacks some vectors, and
        where Chroma is off."""
        while not self._is_off:
            try:
                return call_chroma(lambda: self._caught_up(namespace, state, reader))
            except ChromaError as error:
                self._note_failure(namespace, error)
        return None

    def view_of(self, namespace: str, state: NamespaceState) -> None:
        """Not known: other processes write into the collection."""
        del namespace, state

    def drop(self, namespace: str, state: VectorState | None) -> None:
        """Delete the collection of the namespace."""
        super().drop(namespace, state)
        try:
            call_chroma(lambda: self._delete_collection(namespace, state))
        except ChromaError as error:
            self._note_failure(namespace, error)

    def search_exactly(self, namespace: str, error: ChromaError) -> VectorView | None:
        """The view of the exact search, after Chroma failed with ``error`` in a search; None if
        the namespace has no vectors any more."""
        self._note_failure(namespace, error)
        with self._store.reader(namespace, Horizon(withdrawn=True)) as reader:
            state = reader.state.vectors
            return None if state is None else super().catch_up(namespace, state, reader)

    def read_vectors(self, namespace: str, keys: list[int], model: str) -> dict[int, bytes]:
        """The store's vectors with these keys, in their order."""
        with self._store.reader(namespace, Horizon(withdrawn=True)) as reader:
            stored = reader.vectors(keys, model=model)
        return {key: stored[key] for key in keys if key in stored}

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
    ) -> _ChromaView | None:
        """The view of the namespace's collection; None while that lacks some vectors."""
        with self._chroma_lock:
            collection = self._open.get(namespace)
            if collection is None or not are_same_vectors(collection.state, state):
                collection = open_collection(self._opened_client(), namespace, state, reader)
                self._open[namespace] = collection
            self._open.move_to_end(namespace)
            if len(self._open) > _MAX_OPEN_COLLECTIONS:
                self._open.popitem(last=False)
        with collection.lock:
            collection.catch_up(state, reader)
            if not collection.is_complete:
                return None
            return _ChromaView(self, namespace, state.model, collection, collection.keys)

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
        if self._client is None and self._folder is not None:
            self._client, self._folder_lock = open_folder(self._folder)
        return self._client

    def _note_failure(self, namespace: str, error: ChromaError) -> None:
        """Delete the collection that failed: it is filled anew. Switch Chroma off after too many
        failures, or when it cannot be opened."""
        with self._chroma_lock:
            if self._is_off:
                return
            collection = self._open.pop(namespace, None)
            if collection is not None:
                with suppress(ChromaError):
                    call_chroma(lambda: self._client.delete_collection(collection.name))
            self._failures += 1
            self._is_off = self._failures >= _MAX_FAILURES or self._client is None
            then = "searching exactly" if self._is_off else "trying again"
        level = logging.INFO if isinstance(error, FolderInUseError) else logging.WARNING
        _log.log(level, "Chroma failed (%s): %s", error, then)

    # -- forks (``forking.ForkAware``) -------------------------------------------------------

    def fork_locks(self, level: int) -> Sequence[threading.RLock]:
        """A fork waits for nothing here."""
        del level
        return ()

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


class _ChromaView:
    """The vectors of a namespace when its collection caught up, by their ``keys`` (ascending). It
    searches exactly if Chroma fails.

    The collection may hold later vectors by now. Readers hide statements that are too new for them.
    """

    def __init__(
        self,
        index: ChromaIndex,
        namespace: str,
        model: str,
        collection: ChromaCollection,
        keys: Keys,
    ) -> None:
        self._index = index
        self._namespace = namespace
        self._model = model
        self._collection = collection
        self._keys = keys

    def nearest(
        self, vector: Vector, limit: int, *, updates: Collection[int] | None = None
    ) -> Matches:
        """The nearest statements, approximately."""
        if limit <= 0 or not len(self._keys):
            return []
        try:
            found = call_chroma(lambda: self._in_collection(vector, limit, updates))
        except ChromaError as error:
            exact = self._index.search_exactly(self._namespace, error)
            return [] if exact is None else exact.nearest(vector, limit, updates=updates)
        return sorted(found.items(), key=lambda match: (-match[1], -match[0]))[:limit]

    def _in_collection(
        self, vector: Vector, limit: int, updates: Collection[int] | None
    ) -> dict[int, float]:
        """The nearest in the collection, with their cosines. If many meet the filter, enough of
        them are probably among the nearest of all; else, or if not, the stored vector of each is
        compared."""
        if updates is None:
            return self._collection.nearest(vector, limit)
        allowed = self._keys[from_updates(self._keys, updates)]
        if len(allowed) > PAGE:
            wanted = set(allowed.tolist())
            nearest = self._collection.nearest(
                vector, max(OVER_FETCH_FACTOR * limit, _MIN_OVER_FETCH)
            )
            found = {key: cosine for key, cosine in nearest.items() if key in wanted}
            if len(found) >= limit:
                return found
        found = {}
        latest_first = allowed[::-1].tolist()
        for start in range(0, len(latest_first), PAGE):
            page = latest_first[start : start + PAGE]
            stored = self._index.read_vectors(self._namespace, page, self._model)
            found |= Matrix.of(stored, len(vector)).nearest(vector, limit)
        return found
