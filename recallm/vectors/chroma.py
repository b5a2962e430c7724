"""Chroma as the index over statement vectors: a collection for each namespace and model.

The store stays the truth: a collection that is broken, deleted or not to be believed is made anew,
and whatever Chroma cannot do is done by the exact search. Its embedded store is not made for
several processes: the one that holds the folder's lock uses it.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import re
import shutil
import threading
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from recallm import forking
from recallm.errors import RecallMError
from recallm.forking import keep_for_good, new_lock
from recallm.model import Horizon, VectorState
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors.collected import Collected, CollectedView, Stale
from recallm.vectors.exact import ExactIndex
from recallm.vectors.index import Found, Vector, VectorView
from recallm.vectors.lock import FolderLock

__all__ = ["ChromaIndex"]

_LOCK = "recallm.lock"
_MARK = "recallm.index"
"""In a folder that has this file Chroma's own files were made here, and may be made anew."""

_DATABASE = "chroma.sqlite3"

_DAMAGED = re.compile("file is not a database|database disk image is malformed")
"""What SQLite says then; whatever else keeps Chroma from opening its folder may pass."""

_KEPT = 64
"""Namespaces whose collections are kept open, the latest used first."""

_FAILURES = 3
"""After so many the exact search takes over for good."""

_PREFIX = "recallm"

_PANICS = "pyo3_runtime"
"""The module of the errors by which Chroma's native code panics."""

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


class _ChromaError(Exception):
    """Chroma failed, in whatever way."""


class ChromaIndex:
    """See ``VectorIndex``.

    ``where`` is a folder, which is made if there is none, or a client of chromadb, which stays open
    when the index is closed. New vectors are moved into Chroma by a thread of its own: until then
    they are searched in memory, so that nothing waits for it.

    What is forgotten is deleted from its collection at once, by whoever forgets it with this index,
    else at the next recall; a namespace that another emptied, at the next recall where it was open
    here, else once it has vectors again. No search finds it from then on. Its numbers (never a
    text: Chroma is given none) may stay in Chroma's files, until Chroma writes over them:
    in the log and the free pages of ``chroma.sqlite3`` and in the graph of the collection. They are
    gone for good once the folder is deleted, with no index open in it: it is made anew from the
    store.
    """

    is_durable = True

    def __init__(self, store: GraphStore, where: Path | Any) -> None:
        self._store = store
        self._exact = ExactIndex()
        self._folder = where if isinstance(where, Path) else None
        self._client: Any = None if isinstance(where, Path) else where
        self._folder_lock: FolderLock | None = None
        self._lock = new_lock()
        self._kept: OrderedDict[str, Collected] = OrderedDict()
        self._failures = 0
        self._off = False
        self._mutex = new_lock()
        self._work = threading.Condition(self._mutex)
        """Entered by its mutex alone: an interrupt cannot come between."""
        self._waiting: dict[str, Collected] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        _open.add(self)
        forking.watch(self)

    # -- searching -------------------------------------------------------------------------

    def caught_up(self, namespace: str, state: VectorState, reader: GraphReader) -> VectorView:
        """See ``VectorIndex.caught_up``."""
        while not self._is_off():
            try:
                collected, view = _chroma(lambda: self._collected(namespace, state, reader))
            except _ChromaError as error:
                self._fail(namespace, error)
                continue
            if collected.waiting:
                self._wake(namespace, collected)
            return _View(view, partial(self._instead, namespace), self._store, namespace, state)
        return self._exact.caught_up(namespace, state, reader)

    def emptied(self, namespace: str, state: VectorState | None) -> None:
        """See ``VectorIndex.emptied``."""
        self._exact.emptied(namespace, state)
        if not self._is_off():
            try:
                _chroma(lambda: self._forget(namespace, state))
            except _ChromaError as error:
                self._fail(namespace, error)

    def settle(self, timeout: float = 60.0) -> bool:
        """Wait until nothing is left to be moved into Chroma; whether that was so in time."""
        with self._mutex:
            return self._work.wait_for(lambda: not self._waiting, timeout)

    def close(self) -> None:
        """See ``VectorIndex.close``."""
        with self._mutex:
            self._closed = True
            self._work.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        with self._lock:
            self._kept.clear()
            if self._folder is not None and self._client is not None:
                client, self._client = self._client, None
                with suppress(_ChromaError):
                    _chroma(lambda: client.close())  # noqa: PLW0108 - early versions have none
            if self._folder_lock is not None:
                self._folder_lock.release()
        self._exact.close()

    # -- collections -----------------------------------------------------------------------

    def _collected(
        self, namespace: str, state: VectorState, reader: GraphReader
    ) -> tuple[Collected, CollectedView]:
        with self._lock:
            collected = self._kept.get(namespace)
            if collected is None or not collected.is_of(state):
                collected = self._opened(namespace, state, reader)
                self._kept[namespace] = collected
            self._kept.move_to_end(namespace)
            self._let_go()
        with collected.lock:
            return collected, collected.catch_up(state, reader)

    def _let_go(self) -> None:
        """Of the collections that were not used for longest and have nothing left to be moved."""
        with self._mutex:
            idle = [name for name in self._kept if name not in self._waiting]
        for name in idle[: max(len(self._kept) - _KEPT, 0)]:
            if name != next(reversed(self._kept)):
                del self._kept[name]

    def _opened(self, namespace: str, state: VectorState, reader: GraphReader) -> Collected:
        client = self._opened_client()
        name = _name(namespace, state)
        for other in self._names(namespace, state.origin):
            if other != name:  # of another model, before everything was forgotten
                client.delete_collection(other)
        for _ in range(2):
            collection = _get_or_create(client, name)
            try:
                return Collected(collection, state, reader)
            except Stale:
                client.delete_collection(name)
        raise _ChromaError("a new collection does not hold what was written to it")

    def _names(self, namespace: str, origin: str) -> list[str]:
        """The collections of a namespace of this store, and of no other that shares the place."""
        prefix = _prefix(namespace, origin)
        client = self._opened_client()
        names: list[str] = []
        while True:
            page = client.list_collections(limit=1_000, offset=len(names))
            names += [getattr(each, "name", each) for each in page]
            if len(page) < 1_000:
                return [name for name in names if name.startswith(prefix)]

    def _forget(self, namespace: str, state: VectorState | None) -> None:
        with self._lock:
            kept = self._kept.pop(namespace, None)
            origin = state.origin if state is not None else kept.origin if kept is not None else ""
            with self._mutex:
                self._waiting.pop(namespace, None)
            if not origin or (self._folder is not None and not self._folder.exists()):
                return
            for name in self._names(namespace, origin):
                self._opened_client().delete_collection(name)

    def _opened_client(self) -> Any:
        if self._client is None and self._folder is not None:
            self._client = self._opened_folder(self._folder)
        return self._client

    def _opened_folder(self, folder: Path) -> Any:
        folder.mkdir(parents=True, exist_ok=True)
        is_new = not any(each.name != _LOCK for each in folder.iterdir())
        lock = FolderLock(folder / _LOCK)
        if not lock.acquire():
            _log.info("%s is in use elsewhere: searching exactly", folder)
            self._off = True
            raise _ChromaError(f"{folder} is in use elsewhere")
        self._folder_lock = lock
        if is_new:
            (folder / _MARK).touch()
        try:
            return _chroma(lambda: _persistent(str(folder)))
        except _ChromaError as error:
            if not (folder / _MARK).exists() or not _DAMAGED.search(str(error)):
                raise  # it may hold what is somebody else's, or be whole
        _log.warning("%s is damaged: it is made anew", folder / _DATABASE)
        for each in folder.iterdir():
            if each.name.startswith(_DATABASE):
                each.unlink()
            elif _is_segment(each):
                shutil.rmtree(each)
        # Chroma keeps what failed under the path as it was spelled.
        return _persistent(f"{folder}{os.sep}")

    # -- moving vectors into Chroma ----------------------------------------------------------

    def _wake(self, namespace: str, collected: Collected) -> None:
        with self._lock, self._mutex:
            if self._closed or self._kept.get(namespace) is not collected:
                return
            self._waiting[namespace] = collected
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._move, name="recallm-chroma", daemon=True
                )
                self._thread.start()
            self._work.notify_all()

    def _move(self) -> None:
        while True:
            with self._mutex:
                if self._closed or not self._waiting:
                    self._waiting.clear()
                    self._thread = None
                    return
                namespace, collected = next(iter(self._waiting.items()))
            try:
                more = _chroma(collected.fold)
            except _ChromaError as error:
                more = False
                with self._lock:
                    is_current = self._kept.get(namespace) is collected
                if is_current:
                    self._fail(namespace, error)
            with self._mutex:
                if not more and self._waiting.get(namespace) is collected:
                    del self._waiting[namespace]
                self._work.notify_all()

    # -- forks -------------------------------------------------------------------------------

    def fork_locks(self, level: int) -> Sequence[threading.RLock]:
        """See ``ForkAware``."""
        del level
        return ()

    def before_fork(self) -> None:
        """See ``ForkAware``: the parent goes on with its client."""

    def after_fork_in_child(self, *, prepared: bool) -> None:
        """See ``ForkAware``: Chroma's threads are not in the child, which searches exactly."""
        del prepared
        self._off = True
        self._thread = None
        self._waiting.clear()
        keep_for_good((self._client, dict(self._kept)))
        self._client = None
        self._kept.clear()
        if self._folder_lock is not None:
            self._folder_lock.release()

    # -- failing -----------------------------------------------------------------------------

    def _is_off(self) -> bool:
        return self._off or self._closed

    def _fail(self, namespace: str, error: Exception) -> None:
        with self._lock:
            if self._kept.pop(namespace, None) is not None and self._client is not None:
                with suppress(_ChromaError):
                    _chroma(lambda: self._drop(namespace))
            self._failures += 1
            if self._off:
                return
            self._off = self._failures >= _FAILURES or self._client is None
        then = "searching exactly" if self._off else "trying again"
        _log.warning("Chroma failed (%s): %s", error, then)

    def _drop(self, namespace: str) -> None:
        self._client.heartbeat()  # a server that does not answer has lost nothing
        with self._store.reader(namespace, Horizon()) as reader:
            state = reader.state.vectors
        if state is not None:
            self._client.delete_collection(_name(namespace, state))

    def _instead(self, namespace: str, error: Exception, state: VectorState) -> VectorView:
        """The exact search, where Chroma failed in the middle of one."""
        self._fail(namespace, error)
        with self._store.reader(namespace, Horizon()) as reader:
            return self._exact.caught_up(namespace, reader.state.vectors or state, reader)


class _View:
    """See ``VectorView``."""

    def __init__(
        self,
        view: CollectedView,
        instead: Callable[[Exception, VectorState], VectorView],
        store: GraphStore,
        namespace: str,
        state: VectorState,
    ) -> None:
        self._view = view
        self._instead = instead
        self._store = store
        self._namespace = namespace
        self._state = state

    def nearest(
        self, vector: Vector, limit: int, *, moments: Collection[int] | None = None
    ) -> Found:
        """See ``VectorView.nearest``."""
        try:
            return _chroma(lambda: self._view.nearest(vector, limit, moments, self._blobs))
        except _ChromaError as error:
            return self._instead(error, self._state).nearest(vector, limit, moments=moments)

    def _blobs(self, keys: list[int]) -> dict[int, bytes]:
        with self._store.reader(self._namespace, Horizon()) as reader:
            return dict(reader.vectors(keys, model=self._state.model))


_open: weakref.WeakSet[ChromaIndex] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """No thread of ours is in Chroma while the interpreter goes down."""
    for index in list(_open):
        index.close()


def _chroma(call: Callable[[], _T]) -> _T:
    """What ``call`` gives; whatever Chroma raises becomes one error.

    Its embedded store panics with errors that are no ``Exception``; an interrupt is none either,
    and goes on to the caller.
    """
    try:
        return call()
    except (RecallMError, _ChromaError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__module__ != _PANICS:
            raise
        raise _ChromaError(f"{type(error).__name__}: {error}") from error


def _persistent(folder: str) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))


def _is_segment(folder: Path) -> bool:
    """Whether it is one of the folders in which Chroma keeps vectors, and holds nothing else."""
    with suppress(ValueError):
        uuid.UUID(folder.name)
        return folder.is_dir() and all(
            each.suffix in (".bin", ".pickle") and each.is_file() for each in folder.iterdir()
        )
    return False


def _get_or_create(client: Any, name: str) -> Any:
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=None)
    except (NotFoundError, ValueError):
        return client.get_or_create_collection(
            name,
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
            metadata={"watermark": -1, "revision": -1},
        )


def _name(namespace: str, state: VectorState) -> str:
    """What Chroma accepts for every namespace and model: letters, digits, hyphens."""
    return _prefix(namespace, state.origin) + _digest(f"{state.size} {state.model}")[:8]


def _prefix(namespace: str, origin: str) -> str:
    return f"{_PREFIX}-{_digest(namespace)[:16]}-{_digest(origin)[:16]}-"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
