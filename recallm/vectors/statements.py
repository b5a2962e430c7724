"""The vectors of a memory's statements: made, written, found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recallm.errors import DimensionError, EmbeddingModelError
from recallm.model import (
    AddVectors,
    Filter,
    Horizon,
    PreparedUpdate,
    StatementVector,
    VectorState,
    statement_key,
)
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors.embedding import Embedding, Rows, statement_text
from recallm.vectors.index import Found, Vector, VectorIndex, VectorView

__all__ = ["Asked", "StatementVectors"]

_ALL = Horizon()

_FURTHER = 8
"""So many times as many are looked at where some of the nearest are hidden, before all that are
seen are told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question's unit vector, of shape (dimension,), and what its namespace's vectors were
    then."""

    vector: Vector
    state: VectorState


class StatementVectors:
    """An embedding model and an index over the vectors that it made, of one store.

    Raises:
        EmbeddingError: of each method, the model failed.

    """

    def __init__(self, store: GraphStore, embedding: Embedding, index: VectorIndex) -> None:
        self._store = store
        self._embedding = embedding
        self._index = index

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._embedding.name

    def embedded(self, namespace: str, updates: Sequence[PreparedUpdate]) -> list[PreparedUpdate]:
        """The updates with the vectors of their statements; those that are there already, which
        nothing will be written of, without."""
        known = self._known(namespace, updates)
        texts = [
            statement_text((update.text or "")[it.start : it.end], update.speaker)
            for update in updates
            if update.id not in known
            for it in update.statements
        ]
        blobs = iter(_blobs(self._embedding.texts(texts)))
        model = self._embedding.name
        return [
            replace(
                update,
                vectors=tuple(
                    StatementVector(position=it.position, model=model, blob=next(blobs))
                    for it in update.statements
                ),
            )
            if update.id not in known
            else update
            for update in updates
        ]

    def mend(
        self, namespace: str, updates: Sequence[PreparedUpdate], ts: Sequence[int | None]
    ) -> None:
        """Give vectors to the statements of those of ``updates`` that were taken for known and were
        written after all, at these t: they were forgotten in between."""
        keys = [
            statement_key(t, it.position)
            for update, t in zip(updates, ts, strict=True)
            if t is not None and not update.vectors
            for it in update.statements
        ]
        if keys:
            self.fill(namespace, keys)

    def _known(self, namespace: str, updates: Sequence[PreparedUpdate]) -> set[str]:
        """The ids that stand with the same text, where the first one does: a call that is repeated
        embeds nothing twice."""
        with self._store.reader(namespace, _ALL) as reader:

            def stored(some: Sequence[PreparedUpdate]) -> set[str]:
                texts = {it.id: it.text for it in reader.passages(ids={it.id for it in some})}
                return {it.id for it in some if it.id in texts and texts[it.id] == it.text}

            return stored(updates) if stored(updates[:1]) else set()

    def check(self, namespace: str) -> None:
        """Refuse a namespace whose vectors are of another model, before anything is embedded.

        Raises:
            EmbeddingModelError: they are.

        """
        with self._store.reader(namespace, _ALL) as reader:
            self._state(reader)

    def ask(self, namespace: str, question: str) -> Asked | None:
        """The question under the model; None where the namespace has no vectors.

        Raises:
            EmbeddingModelError: its vectors are of another model.
            DimensionError: they have another dimension.

        """
        with self._store.reader(namespace, _ALL) as reader:
            state = self._state(reader)
        if state is None:
            if self._index.is_durable:
                self._index.emptied(namespace, None)
            return None
        vector = self._embedding.question(question)
        if 2 * len(vector) != state.size:
            raise DimensionError(self.model, expected=state.size // 2, found=len(vector))
        return Asked(vector=vector, state=state)

    def finder(
        self, namespace: str, asked: Asked, reader: GraphReader, where: Filter, *, past: bool
    ) -> Callable[[int], Found]:
        """Finds the nearest statements that ``reader`` sees and that meet ``where``; ``past``:
        its horizon is not the present."""
        with self._store.reader(namespace, _ALL) as everything:
            state = everything.state.vectors
            if state is None or replace(state, revision=asked.state.revision) != asked.state:
                return _nothing  # all was forgotten since
            view = self._index.caught_up(namespace, state, everything)
        return _Finder(view, asked.vector, reader, self.model, where, past)

    def fill(self, namespace: str, keys: Sequence[int]) -> int:
        """Give vectors to the statements with these keys; the number of those that had none."""
        with self._store.reader(namespace, _ALL) as reader:
            rows = reader.statements(keys)
        texts = [statement_text(row.text, row.speaker) for row in rows]
        blobs = _blobs(self._embedding.texts(texts))
        vectors = {row.key: blob for row, blob in zip(rows, blobs, strict=True)}
        return self._store.amend(namespace, AddVectors(model=self.model, vectors=vectors))

    def state(self, namespace: str) -> VectorState | None:
        """What the namespace's vectors are, of whatever model."""
        with self._store.reader(namespace, _ALL) as reader:
            return reader.state.vectors

    def forgotten(self, namespace: str, before: VectorState | None) -> None:
        """Some was forgotten: a durable index deletes it at once, so that no search finds it.
        ``before`` is what ``state`` said then. What Chroma's files may still hold of the numbers:
        see ``ChromaIndex``."""
        if not self._index.is_durable:
            return
        with self._store.reader(namespace, _ALL) as reader:
            state = reader.state.vectors
            if state is not None and state.model == self.model:
                self._index.caught_up(namespace, state, reader)
        if state is None:
            self._index.emptied(namespace, before)

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def _state(self, reader: GraphReader) -> VectorState | None:
        state = reader.state.vectors
        if state is not None and state.model != self.model:
            raise EmbeddingModelError(stored=state.model, given=self.model)
        return state


class _Finder:
    """The nearest of the statements that a reader sees and that meet a filter."""

    def __init__(
        self,
        view: VectorView,
        vector: Vector,
        reader: GraphReader,
        model: str,
        where: Filter,
        past: bool,
    ) -> None:
        self._view = view
        self._vector = vector
        self._reader = reader
        self._model = model
        self._where = where
        self._moments: list[int] | None = None
        self._restricted = past or bool(where)

    def __call__(self, limit: int) -> Found:
        if not self._restricted:
            # Some may have expired, or come after the reader was opened: they starve no others.
            for wanted in (limit, _FURTHER * limit):
                found = self._view.nearest(self._vector, wanted)
                seen = self._reader.vectors([key for key, _ in found], model=self._model)
                visible = [it for it in found if it[0] in seen]
                if len(visible) >= limit or len(visible) == len(found) < wanted:
                    return visible[:limit]
            self._restricted = True
        if self._moments is None:
            self._moments = self._reader.t_indexes(self._where)
        return self._view.nearest(self._vector, limit, moments=self._moments)


def _nothing(limit: int) -> Found:
    del limit
    return []


def _blobs(rows: Rows) -> list[bytes]:
    return [row.tobytes() for row in rows.astype("<f2")]
