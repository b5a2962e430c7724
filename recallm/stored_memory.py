"""The part of a memory that needs neither extraction nor ranking: lookups, expiry, archives, and
closing the store."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import IO, Any, Self

from recallm import checks
from recallm.archive import open_for_reading, open_for_writing, read_archive, write_archive
from recallm.errors import ClosedError, InvalidInputError
from recallm.graph import MemoryGraph
from recallm.model import ConceptRow, Filter, Horizon, Passage, SetExpiry, Stats
from recallm.results import RecalledStatement, RelatedConcept, chronological
from recallm.stores.base import GraphReader, GraphStore

__all__ = ["StoredMemory"]


class StoredMemory:
    """One namespace of a store. ``RecallM`` adds updates and recall.

    ``concept_name`` gives the name of the concept that a label spells. ``closing``: functions that
    ``close`` calls, in this order. ``clock`` gives the present, aware. Safe to use from several
    threads. As a context manager it closes itself.
    """

    def __init__(
        self,
        store: GraphStore,
        namespace: str,
        *,
        concept_name: Callable[[str], str],
        clock: Callable[[], datetime],
        closing: Sequence[Callable[[], None]],
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._concept_name = concept_name
        self._clock = clock
        self._closing = tuple(closing)
        self._before_closing: list[Callable[[], object]] = []
        self._closed = False
        self._root: Self | None = None

    # -- lookups ---------------------------------------------------------------------------

    def get(self, id: str) -> Passage | None:
        """The passage with this id, verbatim; None if there is none."""
        return next(iter(self.get_many([checks.string(id, "id")]).values()), None)

    def get_many(self, ids: Collection[str]) -> dict[str, Passage]:
        """The passages with these ids, by id, all read at one moment. Unknown ids are left out."""
        distinct = dict.fromkeys(checks.strings(ids, "ids"))
        with self._reader() as reader:
            found = {passage.id: passage for passage in reader.passages(ids=distinct)}
        return {id: found[id] for id in distinct if id in found}

    def passages(
        self,
        *,
        limit: int | None = None,
        as_of: int | datetime | None = None,
        since: int | datetime | None = None,
        until: int | datetime | None = None,
        speaker: str | None = None,
        session: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        path: Sequence[str] | None = None,
    ) -> tuple[Passage, ...]:
        """The passages that meet the filters (as in ``recall``), in the order of their t_index:
        the latest ``limit`` of them.

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        at_most = checks.count(limit, "limit")
        where = checks.statement_filter(
            since=since,
            until=until,
            speaker=speaker,
            session=session,
            metadata=metadata,
            path=path,
        )
        with self._reader(as_of) as reader:
            return tuple(reversed(reader.passages(where, limit=at_most)))

    def history(
        self, concept: str, *, as_of: int | datetime | None = None
    ) -> tuple[RecalledStatement, ...]:
        """Every statement that mentions ``concept`` (its label, or its name), in order."""
        label = checks.string(concept, "concept")
        with self._reader(as_of) as reader:
            name = self._name(reader, label)
            found = reader.mentions([name], limit=None, where=Filter()).get(name)
            rows = reader.statements(found.keys) if found else []
        return tuple(chronological(RecalledStatement.of(row) for row in rows))

    def concepts(
        self,
        labels: Iterable[str] | None = None,
        *,
        limit: int | None = None,
        as_of: int | datetime | None = None,
    ) -> tuple[ConceptRow, ...]:
        """The known concepts with these labels or names (all if None), latest t_index first."""
        spellings = None if labels is None else checks.strings(labels, "labels")
        at_most = checks.count(limit, "limit")
        with self._reader(as_of) as reader:
            names = spellings and {self._name(reader, label) for label in spellings}
            return tuple(reader.concepts(names, limit=at_most))

    def relations(
        self, concept: str, *, limit: int | None = None, as_of: int | datetime | None = None
    ) -> tuple[RelatedConcept, ...]:
        """The concepts that are related to ``concept`` (its label, or its name), at most ``limit``:
        latest t_index first, then the strongest, then by name.

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        label = checks.string(concept, "concept")
        at_most = checks.count(limit, "limit")
        with self._reader(as_of) as reader:
            name = self._name(reader, label)
            relations = {
                relation.b if relation.a == name else relation.a: relation
                for relation in reader.relations([name], limit=at_most)
            }
            labels = {row.name: row.label for row in reader.concepts(relations)}
        related = (
            RelatedConcept(
                name=other,
                label=labels.get(other, other),
                strength=found.strength,
                t_index=found.t_index,
            )
            for other, found in relations.items()
        )
        return tuple(sorted(related, key=lambda it: (-it.t_index, -it.strength, it.name)))

    @property
    def graph(self) -> MemoryGraph:
        """Entities and triplets by exact id."""
        self._check_open()
        return MemoryGraph(self._store, self._namespace, self._concept_name, self._clock)

    def stats(self) -> Stats:
        """The size of this namespace. Expired passages count until a sweep forgets them."""
        with self._reader() as reader:
            return reader.stats()

    def expire(self, moments: Mapping[str, datetime | None]) -> int:
        """Set when passages expire: passage id → aware moment, or None for never. Return how many
        of the passages exist.

        Raises:
            InvalidInputError: a moment cannot be used; nothing was changed.
            StoreError: the store failed; nothing was changed.

        """
        self._check_open()
        checked = {
            checks.string(id, "moments"): checks.timestamp(moment, "moments")
            for id, moment in checks.mapping(moments, "moments").items()
        }
        return self._store.amend(self._namespace, SetExpiry(expires_at=checked))

    # -- archives --------------------------------------------------------------------------

    def export(self, target: str | os.PathLike[str] | IO[str]) -> int:
        """Write the namespace as JSON Lines to a file or a text stream; return its number of
        knowledge updates. Expired passages that no sweep forgot are included. An export replaces
        an older archive only when it is complete, and overwrites no other kind of file.

        Raises:
            ArchiveError: the file cannot be written, or exists and is no archive. It stays as it
                was.
            InvalidInputError: ``target`` is neither a path nor a text stream.

        """
        with self._reader() as reader, open_for_writing(target) as stream:
            return write_archive(stream, self._namespace, reader.state.t_index, reader.dump())

    def load(self, source: str | os.PathLike[str] | IO[str]) -> int:
        """Fill this namespace, which must be empty, with an archive; return its number of
        knowledge updates. The whole archive is loaded, or nothing: each line must be valid.

        Raises:
            ArchiveError: the archive is damaged, cut short, or of another version; ``line`` says
                where.
            InvalidInputError: the namespace is not empty, or ``source`` is neither a path nor a
                text stream.

        """
        self._check_open()
        with open_for_reading(source) as stream:
            t_index, records = read_archive(stream)
            return self._store.restore(self._namespace, t_index, records)

    # -- life ------------------------------------------------------------------------------

    @property
    def namespace(self) -> str:
        """The owner of this memory."""
        return self._namespace

    def now(self) -> datetime:
        """The present, aware, by this memory's clock."""
        return self._clock()

    def in_namespace(self, namespace: str) -> Self:
        """The same store, pipeline and settings for another owner. It costs nothing, and is closed
        together with this memory."""
        other = self._derived()
        other._namespace = checks.name(namespace, "namespace")
        return other

    def close(self) -> None:
        """Close the memory and the store that it opened; a second call does nothing."""
        if self._closed:
            return
        try:
            for finish in self._before_closing:
                finish()
        finally:
            self._closed = True
            for close in self._closing:
                close()

    @property
    def root(self) -> Self:
        """The memory that this one was derived from, by ``in_namespace`` or ``with_ranking``, and
        with which it is closed; itself where it was opened."""
        return self._root or self

    def before_closing(self, finish: Callable[[], object]) -> None:
        """Call ``finish`` whenever this memory, its root or another that is derived from it is
        closed, while all of them can still be written to. ``close`` raises what ``finish`` raises,
        after it has closed.

        Raises:
            InvalidInputError: ``finish`` is not callable.
            ClosedError: the memory is closed.

        """
        self._check_open()
        if not callable(finish):
            raise InvalidInputError("finish must be callable", argument="finish")
        self.root._before_closing.append(finish)

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " closed" if self._closed else ""
        kind = type(self).__name__
        return f"<{kind}{state} namespace={self._namespace!r} store={self._store!r}>"

    def _derived(self) -> Self:
        """A copy that shares the store. Only the original memory closes it, for all copies."""
        self._check_open()
        other = copy.copy(self)
        other._closing = ()
        other._closed = False
        other._root = self._root or self
        return other

    def _name(self, reader: GraphReader, label: str) -> str:
        """The name of the concept that a user means by ``label``: the first known one among the
        concept that it spells, the concept with this name, and the concept that it spells in lower
        case."""
        spelled = self._concept_name(label)
        names = (spelled, label, self._concept_name(label.lower()))
        known = {concept.name for concept in reader.concepts(names)}
        return next((name for name in names if name in known), spelled)

    def _reader(self, as_of: int | datetime | None = None) -> AbstractContextManager[GraphReader]:
        self._check_open()
        horizon = Horizon(as_of=checks.moment(as_of, "as_of"), now=self._clock())
        return self._store.reader(self._namespace, horizon)

    def _check_open(self) -> None:
        if self._closed or (self._root is not None and self._root._closed):
            raise ClosedError
