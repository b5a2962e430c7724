"""The vectors of a memory's statements: its embedding model makes them, its store holds them, its
index searches them.

The store's vectors are the truth. The index follows the store: each time it is asked, it reads the
vectors of new statements, and, if the revision of the vectors has changed (some were forgotten, or
earlier statements were given theirs), it compares all keys. So it does not matter which process
wrote a vector.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from recallm.errors import DimensionError, EmbeddingModelError, InvalidInputError
from recallm.ground import checks
from recallm.ground.forking import new_lock
from recallm.model import (
    AddVectors,
    Filter,
    Horizon,
    NamespaceState,
    PreparedUpdate,
    StatementVector,
    VectorState,
)
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors import minilm
from recallm.vectors.arrays import Keys, Matches, Matrix, Rows, Vector
from recallm.vectors.embedding import Embedding, model_name, statement_text

_EVERYTHING = Horizon(withdrawn=True)

_log = logging.getLogger("recallm")

_FRAMEWORK_METHODS = (
    ("embed_documents", "embed_query"),  # LangChain
    ("get_text_embedding_batch", "get_query_embedding"),  # LlamaIndex
)
"""The methods that embed texts, and one question."""


def checked_embedding(given: object) -> Embedding | None:
    """The argument ``embeddings`` as an ``Embedding``: None, "default", the folder of a model (see
    ``minilm.model_in``; as a Path, or a str with a separator), an ``Embedding``, an embedding model
    of LangChain or LlamaIndex, an ``EmbeddingFunction`` of Chroma, or a callable list of texts →
    vectors.

    Raises:
        InvalidInputError: ``given`` has another type.
        MissingDependencyError: "default" or a folder needs a package that is not installed.

    """
    if given is None or isinstance(given, Embedding):
        return given
    if isinstance(given, str) and given == "default":
        return minilm.mini_lm()
    if _is_path(given):
        return minilm.model_in(checks.file_path(given, "embeddings"))
    model: Any = given
    if not isinstance(model, type):
        for methods in _FRAMEWORK_METHODS:
            embed, embed_question = (getattr(model, method, None) for method in methods)
            if callable(embed) and callable(embed_question):
                return Embedding(name=model_name(model), embed=embed, embed_question=embed_question)
        if callable(model):
            is_chroma = callable(getattr(model, "default_space", None))
            embed_question = _chroma_question(model) if is_chroma else None
            return Embedding(name=model_name(model), embed=model, embed_question=embed_question)
    raise InvalidInputError(
        "embeddings must be 'default', the folder of a model (as a Path, or a str with a "
        "separator), an embedding model of LangChain, LlamaIndex or Chroma, a callable list of "
        f"texts → vectors, or an Embedding, not {checks.shown(given)}",
        argument="embeddings",
    )


def _is_path(given: object) -> bool:
    """Whether it is a Path, or a str with a separator."""
    return isinstance(given, os.PathLike) or (
        isinstance(given, str) and (os.sep in given or "/" in given)
    )


def _chroma_question(model: Any) -> Callable[[str], Any]:
    """Embeds one question: Chroma's models take only lists."""
    embed = getattr(model, "embed_query", model)
    return lambda question: embed([question])[0]


class StatementVectors:
    """The statement vectors of one store.

    Args:
        store: has the vectors.
        embedding: the model.

    Raises:
        EmbeddingError: of each method, the model failed.

    """

    def __init__(self, store: GraphStore, embedding: Embedding) -> None:
        self._store = store
        self.embedding = embedding
        self.model = embedding.name
        self._index = VectorIndex()
        self._examined: set[str] = set()
        """Namespaces in which statements without a vector were looked for."""

    def with_vectors(
        self, updates: Sequence[PreparedUpdate], are_new: Sequence[bool]
    ) -> list[PreparedUpdate]:
        """The updates with the vectors of their statements. Those that are not new stay without:
        the store writes nothing of them, unless their passage is forgotten meanwhile. ``embed``
        gives its statements vectors then."""
        texts = [
            statement_text(span.text_in(update.text or ""), update.speaker)
            for update, is_new in zip(updates, are_new, strict=True)
            if is_new
            for span in update.statements
        ]
        blobs = iter(_half_precision(self.embedding.texts(texts)))
        return [
            replace(
                update,
                vectors=tuple(
                    StatementVector(position=span.position, model=self.model, blob=next(blobs))
                    for span in update.statements
                ),
            )
            if is_new
            else update
            for update, is_new in zip(updates, are_new, strict=True)
        ]

    def checked_state(self, reader: GraphReader) -> VectorState | None:
        """The state of the namespace's vectors.

        Raises:
            EmbeddingModelError: they are of another model.

        """
        state = reader.state.vectors
        if state is not None and state.model != self.model:
            raise EmbeddingModelError(stored=state.model, given=self.model)
        return state

    def warned_state(self, namespace: str, reader: GraphReader) -> VectorState | None:
        """``checked_state``. The first call for a namespace warns where statements have no
        vector.

        Raises:
            EmbeddingModelError: the namespace's vectors are of another model.

        """
        state = self.checked_state(reader)
        if namespace not in self._examined:
            self._examined.add(namespace)
            if reader.state.t_index and reader.statement_keys(embedded=False, limit=1):
                _log.warning(
                    "namespace %r holds statements without a vector: they are found by their words "
                    "alone; give them vectors with memory.embed(), or "
                    "'recallm embed --embeddings default'",
                    namespace,
                )
        return state

    def embed_question(self, namespace: str, question: str, reader: GraphReader) -> Vector | None:
        """The question's unit vector; None where ``reader`` sees no vectors.

        Raises:
            EmbeddingModelError: its vectors are of another model.
            DimensionError: they have another dimension.

        """
        state = self.warned_state(namespace, reader)
        if state is None:
            return None
        vector = self.embedding.question(question)
        if 2 * len(vector) != state.size:
            raise DimensionError(self.model, expected=state.size // 2, found=len(vector))
        return vector

    def finder(
        self, namespace: str, question: Vector, reader: GraphReader, where: Filter, *, past: bool
    ) -> Callable[[GraphReader, int], Matches]:
        """A function from a reader and n to the n statements nearest to the vector ``question``
        that ``reader`` shows and that meet ``where``. ``past``: the reader's horizon is not the
        present."""
        view = None if past else self._index.view_of(namespace, reader.state)
        if view is None:
            asked_in = reader.state.vectors
            with self._store.reader(namespace, _EVERYTHING) as everything:
                state = everything.state.vectors
                if asked_in is None or state is None or not are_same_vectors(state, asked_in):
                    return lambda *_: []  # everything was forgotten meanwhile
                view = self._index.catch_up(namespace, state, everything)

        # A reader on a server calls ``nearest`` again for each round trip (``together``).
        @cache
        def search(limit: int, updates: tuple[int, ...] | None = None) -> Matches:
            return view.nearest(question, limit, updates=updates)

        visible_updates: list[tuple[int, ...]] = []

        def nearest(reader: GraphReader, limit: int) -> Matches:
            # A few matches may be hidden: expired, or written after the reader was opened. If too
            # few are visible after over-fetching, only visible statements are searched.
            over_fetched = () if past or where else (limit, _OVER_FETCH_FACTOR * limit)
            for fetched in over_fetched:
                matches = search(fetched)
                shown = reader.vectors([key for key, _ in matches], model=self.model)
                visible = [match for match in matches if match[0] in shown]
                if len(visible) >= limit or len(visible) == len(matches) < fetched:
                    return visible[:limit]
            if not visible_updates:
                visible_updates.append(tuple(reader.t_indexes(where)))
            return search(limit, visible_updates[0])

        return nearest

    def embed_statements(self, namespace: str, keys: Sequence[int]) -> int:
        """Embed the statements with these keys; how many had no vector before."""
        with self._store.reader(namespace, _EVERYTHING) as reader:
            statements = reader.statements(keys)
        texts = [statement_text(each.text, each.speaker) for each in statements]
        blobs = _half_precision(self.embedding.texts(texts))
        vectors = {each.key: blob for each, blob in zip(statements, blobs, strict=True)}
        return self._store.amend(namespace, AddVectors(model=self.model, vectors=vectors))


def _half_precision(rows: Rows) -> list[bytes]:
    return [row.tobytes() for row in rows.astype("<f2")]


# -- the index -----------------------------------------------------------------------------------

_OVER_FETCH_FACTOR = 8
"""Times as many matches as wanted are fetched when some may be hidden."""

_PAGE = 4_096
"""Vectors that are read from the store at once."""

_MAX_MEMORY = 1 << 30
"""Bytes of all matrices in memory. Beyond it those that were not used for longest are dropped; the
matrix in use stays, also where its size alone is greater."""


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
