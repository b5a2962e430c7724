"""One namespace's vectors in a Chroma collection, the folder of an embedded Chroma, its failures.

The collection's metadata describes it: the model and the size of its vectors, the ``watermark``
(the greatest key that was written) and the ``revision`` of the store's vectors that it agrees with.
A collection that does not agree with the store in all of these, in the number of vectors up to the
watermark, in a sample of them and in the latest is deleted and filled again. So are those of a
killed process, of another store, and of a copy of the store that was written to since.

``folder/chroma`` belongs to recallm alone. It holds nothing that is not in the store: a folder that
Chroma cannot open is deleted and filled again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from recallm.errors import RecallMError
from recallm.model import VectorState
from recallm.stores.base import GraphReader
from recallm.vectors.arrays import Keys, Vector, decode
from recallm.vectors.index import FollowedVectors

_CONFIGURATION = {"hnsw": {"space": "cosine", "ef_search": 200}}

_DELETE_BATCH = 5_000
_SAMPLE_SIZE = 16
_LATEST = 500
"""All of the latest vectors are compared too: what was written after a back-up that took the place
of the store stands at the end."""

_TOLERANCE = 2e-3
"""The difference that half precision makes to a number of a vector."""

_PANIC_MODULE = "pyo3_runtime"
"""The module of the exceptions by which Chroma's native code panics."""

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


class ChromaError(Exception):
    """Chroma failed, in whatever way."""


class FolderInUseError(ChromaError):
    """Another index, in this process or another, has the folder open."""


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


# The collection.


class ChromaCollection(FollowedVectors):
    """A namespace's collection, which holds the vectors with these ``keys`` (ascending) and agrees
    with ``state``."""

    room = 1_000
    """So that no caller waits long for Chroma to write."""

    def __init__(self, collection: Any, keys: Keys, state: VectorState) -> None:
        super().__init__(state, state.revision)
        self._collection = collection
        self._keys = keys
        self._last_key = int(keys.max(initial=-1))

    @property
    def name(self) -> str:
        """Its name in Chroma."""
        return str(self._collection.name)

    @property
    def keys(self) -> Keys:
        """The keys of all vectors in the collection, ascending."""
        return self._keys

    def catch_up(self, state: VectorState, reader: GraphReader) -> None:
        """Follow the store: forgotten vectors leave the collection, some new ones come into it."""
        before = self.revision, len(self._keys)
        super().catch_up(state, reader)
        if before != (self.revision, len(self._keys)):
            self._collection.modify(
                metadata={
                    "model": self.state.model,
                    "size": self.state.size,
                    "revision": self.revision,
                    "watermark": int(self._keys.max(initial=-1)),
                }
            )

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

    def nearest(self, vector: Vector, limit: int) -> dict[int, float]:
        """The keys of the nearest vectors in the collection, with their cosines."""
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


# The folder.


def open_folder(folder: Path) -> tuple[Any, IO[bytes]]:
    """A client of an embedded Chroma in ``folder``, which is made if there is none, and the file
    whose lock keeps other indexes out until it is closed, or its process ends.

    Raises:
        FolderInUseError: another index has the folder open.
        ChromaError: Chroma cannot open it, nor make it anew.

    """
    folder.mkdir(0o700, parents=True, exist_ok=True)
    lock = (folder / "recallm.lock").open("ab")
    chroma = folder / "chroma"
    try:
        try:
            _lock(lock.fileno())
        except OSError as error:
            raise FolderInUseError(f"{folder} is in use elsewhere ({error})") from None
        try:
            return call_chroma(lambda: _client(str(chroma))), lock
        except ChromaError as error:
            _log.warning("%s cannot be opened (%s): it is made anew", chroma, error)
        shutil.rmtree(chroma)
        # Chroma remembers a failure under the path as it was spelled.
        return call_chroma(lambda: _client(f"{chroma}{os.sep}")), lock
    except BaseException:
        lock.close()
        raise


def _client(folder: str) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
