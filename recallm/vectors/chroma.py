"""Chroma as the index over statement vectors: a collection for each namespace and model.

The store's vectors are the truth: a collection that is damaged, deleted or stale is made anew, and
the exact search answers wherever Chroma fails. An embedded Chroma is not made for several
processes: the process that holds the folder's lock uses it, the others search exactly.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import threading
import weakref
from collections import OrderedDict
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from recallm import forking
from recallm.forking import keep_for_good, new_lock
from recallm.model import Horizon, VectorState
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors.arrays import Matches, Vector
from recallm.vectors.chroma_collection import (
    ChromaCollection,
    CollectionView,
    StaleCollectionError,
)
from recallm.vectors.chroma_folder import (
    ChromaError,
    FolderInUseError,
    FolderLock,
    call_chroma,
    list_collections,
    open_collection,
    open_folder,
)
from recallm.vectors.index import ExactIndex, VectorView

__all__ = ["ChromaIndex"]

_MAX_OPEN_COLLECTIONS = 64
"""Beyond it those that were not used for longest are closed."""

_MAX_FAILURES = 3
"""After 3 failures of Chroma every search is exact."""

_log = logging.getLogger(__name__)


class ChromaIndex:
    """A ``VectorIndex`` in a folder (``place``, made if there is none), or on a client of chromadb,
    which stays open when the index is closed.

    A thread of its own moves new vectors into Chroma. Until then they are searched in memory, so
    that no caller waits for Chroma to write.

    Forgotten vectors are deleted from their collection at once if they were forgotten through this
    index, else at the next recall. The collections of a namespace that another process emptied are
    deleted at the next recall if it was open here, else once it has vectors again. No search finds
    such vectors meanwhile. Their numbers (never a text: Chroma is given none) may stay in Chroma's
    files until Chroma writes over them: in the log and the free pages of ``chroma.sqlite3`` and in
    the graph of the collection. To remove them for good, delete the folder while no index has it
    open; it is made anew from the store.
    """

    is_durable = True

    def __init__(self, store: GraphStore, place: Path | Any) -> None:
        self._store = store
        self._exact = ExactIndex()
        self._folder = place if isinstance(place, Path) else None
        self._client: Any = None if isinstance(place, Path) else place
        self._folder_lock: FolderLock | None = None
        self._lock = new_lock()
        """Guards the client and the open collections; taken before ``_queue_lock``."""
        self._open: OrderedDict[str, ChromaCollection] = OrderedDict()
        """Collections by namespace; the most recently used is last."""
        self._failures = 0
        self._is_off = False
        self._queue_lock = new_lock()
        self._queue_changed = threading.Condition(self._queue_lock)
        """Entered through its lock only: then no interrupt can come between."""
        self._queue: dict[str, ChromaCollection] = {}
        """The collections with vectors to be moved into Chroma, by namespace."""
        self._thread: threading.Thread | None = None
        self._is_closed = False
        _open_indexes.add(self)
        forking.watch(self)

    # -- searching -------------------------------------------------------------------------

    def catch_up(self, namespace: str, state: VectorState, reader: GraphReader) -> VectorView:
        """The namespace's vectors in Chroma and in memory; in memory only where Chroma fails."""
        while not (self._is_off or self._is_closed):
            try:
                collection, view = call_chroma(lambda: self._caught_up(namespace, state, reader))
            except ChromaError as error:
                self._note_failure(namespace, error)
                continue
            if collection.in_memory:
                self._enqueue(namespace, collection)
            return _ChromaView(self, view, namespace, state)
        return self._exact.catch_up(namespace, state, reader)

    def drop(self, namespace: str, state: VectorState | None) -> None:
        """Delete the collections of the namespace."""
        self._exact.drop(namespace, state)
        if not (self._is_off or self._is_closed):
            try:
                call_chroma(lambda: self._delete_collections(namespace, state))
            except ChromaError as error:
                self._note_failure(namespace, error)

    def wait_until_flushed(self, timeout: float = 60.0) -> bool:
        """Wait until all vectors have been moved into Chroma; whether that was so in time."""
        with self._queue_lock:
            return self._queue_changed.wait_for(lambda: not self._queue, timeout)

    def close(self) -> None:
        """Stop the thread; close the client and release the folder if they are this index's."""
        with self._queue_lock:
            self._is_closed = True
            self._queue_changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        with self._lock:
            self._open.clear()
            if self._folder is not None and self._client is not None:
                client, self._client = self._client, None
                with suppress(ChromaError):
                    call_chroma(lambda: client.close())  # noqa: PLW0108 - early versions have none
            if self._folder_lock is not None:
                self._folder_lock.release()
        self._exact.close()

    def search_exactly(self, namespace: str, state: VectorState, error: ChromaError) -> VectorView:
        """The view of the exact search, after Chroma failed with ``error`` in a search."""
        self._note_failure(namespace, error)
        with self._store.reader(namespace, Horizon()) as reader:
            return self._exact.catch_up(namespace, reader.state.vectors or state, reader)

    def read_stored(self, namespace: str, keys: list[int], model: str) -> dict[int, bytes]:
        """The vectors of statements, from the store."""
        with self._store.reader(namespace, Horizon()) as reader:
            return dict(reader.vectors(keys, model=model))

    # -- collections -----------------------------------------------------------------------

    def _caught_up(
        self, namespace: str, state: VectorState, reader: GraphReader
    ) -> tuple[ChromaCollection, CollectionView]:
        with self._lock:
            collection = self._open.get(namespace)
            if collection is None or not collection.belongs_to(state):
                collection = self._open_collection(namespace, state, reader)
                self._open[namespace] = collection
            self._open.move_to_end(namespace)
            self._close_unused()
        return collection, collection.catch_up(state, reader)

    def _close_unused(self) -> None:
        """Close collections beyond the limit, but none that still has vectors to be moved."""
        with self._queue_lock:
            idle = [name for name in self._open if name not in self._queue]
        for name in idle[: max(len(self._open) - _MAX_OPEN_COLLECTIONS, 0)]:
            if name != next(reversed(self._open)):
                del self._open[name]

    def _open_collection(
        self, namespace: str, state: VectorState, reader: GraphReader
    ) -> ChromaCollection:
        client = self._open_client()
        name = _collection_name(namespace, state)
        for other in list_collections(client, _name_prefix(namespace, state.origin)):
            if other != name:  # of another model, from before everything was forgotten
                client.delete_collection(other)
        for _ in range(2):
            try:
                return ChromaCollection(open_collection(client, name), state, reader)
            except StaleCollectionError:
                client.delete_collection(name)
        raise ChromaError("a new collection does not hold what was written to it")

    def _delete_collections(self, namespace: str, state: VectorState | None) -> None:
        """Delete those of this store; another store's may be in the same place."""
        with self._lock:
            collection = self._open.pop(namespace, None)
            with self._queue_lock:
                self._queue.pop(namespace, None)
            known = state or collection
            if known is None or (self._folder is not None and not self._folder.exists()):
                return
            client = self._open_client()
            for name in list_collections(client, _name_prefix(namespace, known.origin)):
                client.delete_collection(name)

    def _open_client(self) -> Any:
        if self._client is None and self._folder is not None:
            self._client, self._folder_lock = open_folder(self._folder)
        return self._client

    # -- moving vectors into Chroma ----------------------------------------------------------

    def _enqueue(self, namespace: str, collection: ChromaCollection) -> None:
        with self._lock, self._queue_lock:
            if self._is_closed or self._open.get(namespace) is not collection:
                return
            self._queue[namespace] = collection
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._flush_queue, name="recallm-chroma", daemon=True
                )
                self._thread.start()
            self._queue_changed.notify_all()

    def _flush_queue(self) -> None:
        """The thread: it ends when the queue is empty."""
        while True:
            with self._queue_lock:
                if self._is_closed or not self._queue:
                    self._queue.clear()
                    self._thread = None
                    return
                namespace, collection = next(iter(self._queue.items()))
            try:
                has_more = call_chroma(collection.flush)
            except ChromaError as error:
                has_more = False
                with self._lock:
                    is_open = self._open.get(namespace) is collection
                if is_open:
                    self._note_failure(namespace, error)
            with self._queue_lock:
                if not has_more and self._queue.get(namespace) is collection:
                    del self._queue[namespace]
                self._queue_changed.notify_all()

    # -- failures ----------------------------------------------------------------------------

    def _note_failure(self, namespace: str, error: ChromaError) -> None:
        """Delete the collection that failed; switch Chroma off after too many failures, or when it
        cannot be opened."""
        with self._lock:
            if self._open.pop(namespace, None) is not None and self._client is not None:
                with suppress(ChromaError):
                    call_chroma(lambda: self._delete_failed(namespace))
            self._failures += 1
            if self._is_off:
                return
            self._is_off = self._failures >= _MAX_FAILURES or self._client is None
        if isinstance(error, FolderInUseError):
            _log.info("%s: searching exactly", error)
        else:
            then = "searching exactly" if self._is_off else "trying again"
            _log.warning("Chroma failed (%s): %s", error, then)

    def _delete_failed(self, namespace: str) -> None:
        self._client.heartbeat()  # fails if a server is down: then the collection is whole
        with self._store.reader(namespace, Horizon()) as reader:
            state = reader.state.vectors
        if state is not None:
            self._client.delete_collection(_collection_name(namespace, state))

    # -- forks (``forking.ForkAware``) -------------------------------------------------------

    def fork_locks(self, level: int) -> Sequence[threading.RLock]:
        """A fork waits for nothing here."""
        del level
        return ()

    def before_fork(self) -> None:
        """The parent keeps its client."""

    def after_fork_in_child(self, *, prepared: bool) -> None:
        """The child searches exactly: it has none of Chroma's threads."""
        del prepared
        self._is_off = True
        self._thread = None
        self._queue.clear()
        keep_for_good((self._client, dict(self._open)))
        self._client = None
        self._open.clear()
        if self._folder_lock is not None:
            self._folder_lock.release()


class _ChromaView:
    """A ``VectorView`` that searches exactly if Chroma fails."""

    def __init__(
        self, index: ChromaIndex, view: CollectionView, namespace: str, state: VectorState
    ) -> None:
        self._index = index
        self._view = view
        self._namespace = namespace
        self._state = state

    def nearest(
        self, vector: Vector, limit: int, *, updates: Collection[int] | None = None
    ) -> Matches:
        """The nearest statements, approximately."""

        def read_stored(keys: list[int]) -> dict[int, bytes]:
            return self._index.read_stored(self._namespace, keys, self._state.model)

        try:
            return call_chroma(lambda: self._view.nearest(vector, limit, updates, read_stored))
        except ChromaError as error:
            exact = self._index.search_exactly(self._namespace, self._state, error)
            return exact.nearest(vector, limit, updates=updates)


_open_indexes: weakref.WeakSet[ChromaIndex] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """No thread may be inside Chroma while the interpreter goes down."""
    for index in list(_open_indexes):
        index.close()


def _collection_name(namespace: str, state: VectorState) -> str:
    """A name of the characters that Chroma accepts, for any namespace and model."""
    return _name_prefix(namespace, state.origin) + _digest(f"{state.size} {state.model}")[:8]


def _name_prefix(namespace: str, origin: str) -> str:
    return f"recallm-{_digest(namespace)[:16]}-{_digest(origin)[:16]}-"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
