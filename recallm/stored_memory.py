"""The part of a memory that needs neither extraction nor ranking: lookups, expiry, archives, and
closing the store."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import IO, Any, NoReturn, Self, TypeVar

from tqdm import tqdm

from recallm import checks
from recallm.archive import open_for_reading, open_for_writing, read_archive, write_archive
from recallm.errors import ClosedError, InvalidInputError, StoreCorruptError
from recallm.graph import MemoryGraph
from recallm.model import (
    LARGEST_NUMBER,
    ConceptRow,
    Filter,
    Horizon,
    Moment,
    Passage,
    PreparedUpdate,
    Session,
    SetExpiry,
    Stats,
    Summary,
    Withdraw,
)
from recallm.neighbourhood import known_name
from recallm.results import RecalledStatement, Receipt, RelatedConcept, Shown, chronological
from recallm.stores.base import CheckedStore, ClusterStore, GraphReader, GraphStore
from recallm.stores.sharded import shard_of

__all__ = ["StoredMemory"]

T = TypeVar("T")


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

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, _: object) -> Self:
        """This memory: a copied retriever or chain shares its store."""
        return self

    def __reduce__(self) -> NoReturn:
        raise InvalidInputError(
            "a memory cannot be pickled, for its store is open in this process; pickle its path "
            "or address and its namespace, and open RecallM(path, namespace=…) from them",
            argument="memory",
        )

    # -- lookups ---------------------------------------------------------------------------

    def get(self, id: str) -> Passage | None:
        """The passage with this id, verbatim; None if there is none."""
        return next(iter(self.get_many([checks.string(id, "id")]).values()), None)

    def get_many(self, ids: Collection[str], *, withdrawn: bool = False) -> dict[str, Passage]:
        """The passages with these ids, by id, all read at one moment. Unknown ids are left out, and
        so are withdrawn passages, unless ``withdrawn`` is True."""
        distinct = dict.fromkeys(checks.strings(ids, "ids"))
        with self._reader(withdrawn=checks.flag(withdrawn, "withdrawn")) as reader:
            found = {passage.id: passage for passage in reader.passages(ids=distinct)}
        return {id: found[id] for id in distinct if id in found}

    def passages(
        self,
        *,
        limit: int | None = None,
        as_of: Moment | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        speaker: str | None = None,
        session: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        path: Sequence[str] | None = None,
        withdrawn: bool = False,
    ) -> Shown[Passage]:
        """The passages that meet the filters (as in ``recall``), in the order of their t_index:
        the latest ``limit`` of them; with ``withdrawn`` those that were withdrawn too."""
        at_most = checks.count(limit, "limit")
        where = checks.statement_filter(
            since=since,
            until=until,
            speaker=speaker,
            session=session,
            metadata=metadata,
            path=path,
        )
        with self._reader(as_of, withdrawn=checks.flag(withdrawn, "withdrawn")) as reader:
            return Shown(reversed(reader.passages(where, limit=at_most)))

    def history(
        self,
        concept: str,
        *,
        limit: int | None = None,
        skip: int = 0,
        as_of: Moment | None = None,
    ) -> Shown[RecalledStatement]:
        """Every statement that mentions ``concept`` (its label, or its name), in order; with a
        ``limit`` those that arrived last, after the last ``skip`` were left out."""
        label = checks.string(concept, "concept")
        at_most = checks.count(limit, "limit")
        skipped = min(checks.whole(skip, "skip", least=0), LARGEST_NUMBER)
        with self._reader(as_of) as reader:
            name = known_name(reader, label, self._concept_name)
            newest = None if at_most is None else min(skipped + at_most, LARGEST_NUMBER)
            found = reader.mentions([name], limit=newest, where=Filter()).get(name)
            rows = reader.statements(found.keys[skipped:]) if found else []
        return Shown(chronological(RecalledStatement.of(row) for row in rows))

    def concepts(
        self,
        labels: Iterable[str] | None = None,
        *,
        limit: int | None = None,
        as_of: Moment | None = None,
    ) -> tuple[ConceptRow, ...]:
        """The known concepts with these labels or names (all if None), latest t_index first."""
        spellings = None if labels is None else checks.strings(labels, "labels")
        at_most = checks.count(limit, "limit")
        with self._reader(as_of) as reader:
            names = spellings and {
                known_name(reader, label, self._concept_name) for label in spellings
            }
            return tuple(reader.concepts(names, limit=at_most))

    def relations(
        self, concept: str, *, limit: int | None = None, as_of: Moment | None = None
    ) -> tuple[RelatedConcept, ...]:
        """The concepts that are related to ``concept`` (its label, or its name), at most ``limit``:
        latest t_index first, then the strongest, then by name."""
        label = checks.string(concept, "concept")
        at_most = checks.count(limit, "limit")
        with self._reader(as_of) as reader:
            name = known_name(reader, label, self._concept_name)
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
        return MemoryGraph(
            shard_of(self._store, self._namespace), self._namespace, self._concept_name, self._clock
        )

    def sessions(
        self, *, limit: int | None = None, as_of: Moment | None = None
    ) -> tuple[Session, ...]:
        """The conversations and documents of this namespace, the latest first, at most ``limit``.

        ``recall(session=name)`` and ``passages(session=name)`` read one; ``forget(session=name)``
        forgets what was given this session, or this source and no session.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> update = memory.update("Ann met Bob.", session="monday")
        >>> [(session.name, session.passages) for session in memory.sessions()]
        [('monday', 1)]
        """
        at_most = checks.count(limit, "limit")
        with self._reader(as_of) as reader:
            return tuple(reader.sessions()[:at_most])

    def namespaces(self) -> tuple[str, ...]:
        """The names of all namespaces of the store that hold or ever held something, sorted; for
        those who administer a store, not for its users. Of several stores (``store=`` as a
        function), those of the stores that this memory has opened."""
        self._check_open()
        return tuple(self._store.namespaces())

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

    def withdraw(self, ids: Collection[str], *, undo: bool = False) -> int:
        """Withdraw the passages with these ids: what was said and does not stand any more, such as
        a message that was edited. Return how many passages changed.

        From the next t on they are not recalled, and nothing shows what only they say; with
        ``as_of`` an earlier t, or a moment at which the latest update had an earlier t, they are
        recalled as before. With ``undo``, or where such a passage is written again, they are as if
        they had never been withdrawn. Nothing is forgotten: ``forget`` and ``stats`` reach them.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> red = memory.update("My bike is red.")
        >>> memory.withdraw([red.id])
        1
        >>> memory.recall("What colour is my bike?").text
        ''
        >>> memory.recall("What colour is my bike?", as_of=red.t_index).text
        'My bike is red.'

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed; nothing was changed.

        """
        self._check_open()
        amendment = Withdraw(ids=checks.strings(ids, "ids"), undo=checks.flag(undo, "undo"))
        return self._store.amend(self._namespace, amendment)

    def problems(self, *, structure: bool = True, progress: bool = False) -> list[str]:
        """What is wrong with this namespace, a line each; nothing, where all is well. All that
        the namespace holds is read, its checksums are compared, and its totals are counted.

        ``structure``: also examine the structure of the whole file, where the store can.
        ``progress`` shows a bar on standard error, where it takes more than two seconds.

        Raises:
            StoreError: the store failed, but for what damage explains.

        """
        self._check_open()
        found: list[str] = []
        try:
            store = shard_of(self._store, self._namespace)
            if structure and isinstance(store, CheckedStore):
                found += store.problems()
            with self._reader() as reader:
                held = reader.stats()
                counted = _counted(_shown(reader.dump(), progress, "examined", total=held.t_index))
        except StoreCorruptError as error:
            return [*found, str(error)]
        return found + [
            f"{count} {name} are stored, {getattr(held, name)} are counted"
            for name, count in counted.items()
            if count != getattr(held, name)
        ]

    # -- archives --------------------------------------------------------------------------

    def export(self, target: str | os.PathLike[str] | IO[str], *, progress: bool = False) -> int:
        """Write the namespace as JSON Lines to a file or a text stream; return its number of
        knowledge updates. Expired passages that no sweep forgot are included. An export replaces
        an older archive only when it is complete, and overwrites no other kind of file.
        ``progress`` shows a bar on standard error, where it takes more than two seconds.

        Raises:
            ArchiveError: the file cannot be written, or exists and is no archive. It stays as it
                was.
            InvalidInputError: ``target`` is neither a path nor a text stream.

        """
        with self._reader() as reader:
            return self._write_archive(reader, target, progress=progress)

    def export_namespace(self, namespace: str, target: str | os.PathLike[str] | IO[str]) -> Receipt:
        """``export`` all that ``namespace`` holds, such as the data of one user who asks for them;
        return the receipt.

        Raises:
            ArchiveError, InvalidInputError: as in ``export``.

        """
        memory = self.in_namespace(namespace)
        with memory._reader() as reader:
            held = reader.stats()
            memory._write_archive(reader, target)
        return Receipt.of(held, action="export", namespace=memory.namespace, at=self.now())

    def copy_to(self, other: StoredMemory, *, progress: bool = False) -> int:
        """Copy this namespace to the namespace of ``other``, which must be empty: to another file,
        to or from a server, or to another owner. Return the number of knowledge updates.

        ``other`` has an equal memory afterwards, or nothing; this memory stays as it is. Vectors
        are copied too: use the same embedding model there. ``progress`` shows a bar on standard
        error, where it takes more than two seconds.

        >>> from recallm import RecallM
        >>> memory, other = RecallM(), RecallM(namespace="copy")
        >>> update = memory.update("Brandon loves coffee")
        >>> memory.copy_to(other)
        1
        >>> other.recall("Who loves coffee?").text == memory.recall("Who loves coffee?").text
        True

        Raises:
            InvalidInputError: the other namespace is not empty, or ``other`` is no memory.
            StoreError: a store failed; nothing was copied.

        """
        if not isinstance(other, StoredMemory):
            raise InvalidInputError("other must be a RecallM", argument="other")
        other._check_open()
        with self._reader() as reader:
            return other._store.restore(
                other._namespace,
                reader.state.t_index,
                _shown(reader.dump(), progress, "copied", total=reader.state.t_index),
            )

    def load(self, source: str | os.PathLike[str] | IO[str], *, progress: bool = False) -> int:
        """Fill this namespace, which must be empty, with an archive; return its number of
        knowledge updates. The whole archive is loaded, or nothing: each line must be valid.
        ``progress`` shows a bar on standard error, where it takes more than two seconds.

        Raises:
            ArchiveError: the archive is damaged, cut short, or of another version; ``line`` says
                where.
            InvalidInputError: the namespace is not empty, or ``source`` is neither a path nor a
                text stream.

        """
        self._check_open()
        with open_for_reading(source) as stream:
            t_index, records = read_archive(stream)
            records = _shown(records, progress, "loaded", total=t_index)
            return self._store.restore(self._namespace, t_index, records)

    # -- life ------------------------------------------------------------------------------

    @property
    def namespace(self) -> str:
        """The owner of this memory."""
        return self._namespace

    @property
    def bookmark(self) -> str | None:
        """What this memory wrote and read, as a text: a memory of another process on the same
        server, opened with ``bookmark=``, reads no earlier state. None for a store without
        bookmarks: a file shows every process the latest state.

        Raises:
            ClosedError: the memory is closed.

        """
        self._check_open()
        store = shard_of(self._store, self._namespace)
        return store.bookmark if isinstance(store, ClusterStore) else None

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

    def _write_archive(
        self,
        reader: GraphReader,
        target: str | os.PathLike[str] | IO[str],
        *,
        progress: bool = False,
    ) -> int:
        t_index = reader.state.t_index
        records = _shown(reader.dump(), progress, "exported", total=t_index)
        with open_for_writing(target) as stream:
            return write_archive(stream, self._namespace, t_index, records)

    def _reader(
        self, as_of: Moment | None = None, *, withdrawn: bool = False
    ) -> AbstractContextManager[GraphReader]:
        self._check_open()
        moment = checks.moment(as_of, "as_of")
        horizon = Horizon(as_of=moment, now=self._clock(), withdrawn=withdrawn)
        return self._store.reader(self._namespace, horizon)

    def _check_open(self) -> None:
        if self._closed or (self._root is not None and self._root._closed):
            raise ClosedError


def _shown(records: Iterable[T], progress: bool, done: str, *, total: int) -> Iterator[T]:
    """``records``, with a bar on standard error that counts them."""
    bar = tqdm(records, desc=done, total=total, disable=not progress, unit="update", delay=2)
    return iter(bar)


def _counted(records: Iterable[PreparedUpdate | Summary]) -> dict[str, int]:
    """How much of everything is in ``records``, by the names of ``Stats``."""
    counts = dict.fromkeys(("passages", "statements", "vectors", "summaries"), 0)
    entities: set[str] = set()
    triplets: set[tuple[str, str, str]] = set()
    for record in records:
        if isinstance(record, Summary):
            counts["summaries"] += 1
            continue
        counts["passages"] += record.text is not None
        counts["statements"] += len(record.statements)
        counts["vectors"] += len(record.vectors)
        entities.update(it.id for it in record.entities)
        triplets.update((it.subject, it.predicate, it.object) for it in record.triplets)
    return {**counts, "entities": len(entities), "triplets": len(triplets)}
