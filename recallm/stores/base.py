"""The contract of a temporal graph store: its protocols, under the rules of ``recallm.stores``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, Unpack, runtime_checkable

from recallm.model import (
    Amendment,
    ConceptRow,
    Entity,
    EvidenceConditions,
    Filter,
    Forgotten,
    Horizon,
    NamespaceState,
    OpenSession,
    Passage,
    Postings,
    PreparedUpdate,
    Relation,
    Scalar,
    Selection,
    Session,
    Sizes,
    Stats,
    StoredStatement,
    Summary,
    Triplet,
    TripletConditions,
    TripletEvidence,
)

SCHEMA_VERSION = 2
"""Of SQLite files: a store opens no other version. Neo4j databases have a version of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The result of one update: its t, or, for a duplicate, the t of the passage it repeats."""

    t_index: int
    duplicate: bool = False


SWEPT_PASSAGES = 256
"""Expired passages that one write forgets at most: a sweep of them takes tens of milliseconds."""


class GraphReader(Protocol):
    """A consistent view of one namespace within a horizon.

    The view ends at one t: ``as_of``, or, for a datetime ``as_of``, the t of the latest update that
    was said by then. The reader hides whole knowledge updates: those after that t, those whose
    passage expired (``expires_at <= now``) or is withdrawn from that t or an earlier one on (unless
    the horizon shows withdrawn ones), and, for a datetime, those said later or at an unknown time,
    graph-only updates among them.

    *What is shown* (passages, statements, keys, vectors, entities, triplets) comes from visible
    updates; a concept or relation is shown where a visible update touches or shows it. An entity or
    triplet counts its visible evidence. A triplet with a hidden subject or object is hidden too.

    *What is counted* are all updates up to the view's t: an expired or withdrawn passage counts in
    strengths, t_index, labels, document frequencies and sizes until it is forgotten.
    (Session keys stay as written.) A session exists while a counted statement belongs to it.
    """

    @property
    def state(self) -> NamespaceState:
        """The view's t and what the namespace's vectors are, read when the reader was opened.

        The t is the counter, or ``as_of`` where that is smaller. For a datetime ``as_of`` it is
        the t of the latest update said by then, 0 if there is none.
        """
        ...

    def together(self, *reads: Callable[[GraphReader], Any]) -> list[Any]:
        """The results of functions that each read from this view. A reader on a server asks their
        independent queries in one round trip. To learn what they ask, a function may be called
        several times: a function does nothing but read."""
        ...

    def passages(
        self,
        where: Filter = ...,
        *,
        ids: Collection[str] | None = None,
        limit: int | None = None,
        likely: Mapping[tuple[str, ...], Scalar] | None = None,
    ) -> list[Passage]:
        """The visible passages with these ids (all if None) that meet ``where``, latest t first;
        at most ``limit``.

        ``likely`` names values in the metadata by their paths of keys; None is a missing value too.
        Where the mapping around a path is there and holds another value, a store may leave the
        passage out, and need not: whoever asks looks at the values. ``limit`` counts what is
        returned."""
        ...

    def paths(self) -> list[tuple[str, ...]]:
        """The distinct paths of visible items, sorted by their parts."""
        ...

    def t_indexes(self, where: Filter) -> list[int]:
        """The t of each visible passage that meets ``where``, ascending."""
        ...

    def sessions(self) -> list[Session]:
        """The sessions that visible passages belong to, each counted by these; latest t_index
        first."""
        ...

    def open_session(self) -> OpenSession | None:
        """The session that the next update may continue by time, whatever the horizon hides; None
        where there is none, or its latest update has expired (``recallm.model.keys``)."""
        ...

    def statements(self, keys: Collection[int], *, ahead: int = 0) -> list[StoredStatement]:
        """The visible statements with these keys, and, of those up to ``ahead`` steps before and
        after each, some or all; ascending by key.

        ``previous`` and ``next`` skip hidden and forgotten statements. Within a passage they go by
        position; beyond it to the last (first) statement of the passage before (after) it by t with
        the same session_key. They are None at the ends of a session, or of a passage without one.
        """
        ...

    def statement_keys(
        self, *, embedded: bool, after: int = -1, limit: int | None = None
    ) -> list[int]:
        """The keys of the visible statements that have a vector, or that have none: the first
        ``limit`` greater than ``after``, ascending."""
        ...

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        """For each stem that some counted statement holds: its newest ``limit`` visible
        statements that meet ``where``. Other stems are left out."""
        ...

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Postings]:
        """For each concept that some counted statement mentions: its newest ``limit`` visible
        statements (all if None) that meet ``where``. Other concepts are left out."""
        ...

    def concepts(
        self, names: Collection[str] | None = None, *, limit: int | None = None
    ) -> list[ConceptRow]:
        """The concepts with these names (all if None) that are shown, latest t_index first, then by
        name; at most ``limit``. A statement that mentions a concept touches it, and so does the
        evidence of an entity that stands on it.

        The concept's summary is in force where its t_index is at most the view's t and it covers no
        hidden update, that is: no update hidden by its timestamp or its expiry mentions the concept
        at or before the summary's t_index.
        """
        ...

    def relations(
        self, names: Collection[str], *, limit: int | None = None, among: bool = False
    ) -> list[Relation]:
        """For each name its ``limit`` relations (all if None) of latest t_index, then greatest
        strength, then by the other end's name; all together, each once, by (a, b). ``among``: all
        relations whose two ends are both in ``names``, whatever the ``limit``."""
        ...

    def entities(
        self,
        ids: Collection[str] | None = None,
        *,
        concepts: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Entity]:
        """The visible entities with these ids, those that stand on these concepts, and those that
        the updates of these visible passages brought (all, if no condition is given), by id."""
        ...

    def triplets(self, **where: Unpack[TripletConditions]) -> list[Triplet]:
        """The visible triplets that meet every condition (``passages``: visible ones), by (subject,
        predicate, object)."""
        ...

    def triplet_evidence(
        self, *, limit: int | None = None, **where: Unpack[EvidenceConditions]
    ) -> list[TripletEvidence]:
        """The visible evidence of the visible triplets that meet every condition given: latest t
        first, then greatest position, then by (subject, predicate, object); at most ``limit``."""
        ...

    def predicates(self) -> Mapping[str, int]:
        """Each predicate of the namespace, whatever the horizon hides, with the number of its
        triplets; sorted."""
        ...

    def entities_by_words(
        self, words: Collection[str], *, limit: int
    ) -> Mapping[str, tuple[str, ...]]:
        """For each of these words that a visible entity bears: the ids of such entities, sorted;
        of more than ``limit`` entities some ``limit``. The words are sorted."""
        ...

    def sizes(self, session_keys: Collection[str] = ()) -> Sizes:
        """How many statements, terms and sessions are counted, and the sizes of those of these
        sessions that exist."""
        ...

    def vectors(
        self,
        keys: Collection[int] | None = None,
        *,
        model: str,
        after: int = -1,
        limit: int | None = None,
    ) -> Mapping[int, bytes]:
        """The vectors under ``model`` of the visible statements with these keys (all if None): the
        first ``limit`` with keys greater than ``after``, ascending by key."""
        ...

    def entity_vectors(
        self, ids: Collection[str] | None = None, *, model: str
    ) -> Mapping[str, bytes]:
        """The vectors under ``model`` of the visible entities with these ids (all if None), by
        id."""
        ...

    def stats(self) -> Stats:
        """How much of everything there is, whatever the horizon hides (``t_index``: the view's)."""
        ...

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        """The whole namespace, whatever the horizon hides: each update in order of t with its
        ``t_index`` (updates of which nothing is left are skipped), then every summary, by t_index
        and concept. ``restore`` of it gives an equal namespace.

        Each piece of evidence has its own properties. An entity's vectors stand at its first
        evidence (by t, then position) alone; type and concept of an entity are at each what they
        are now. The id of a graph-only update is "". Within an update: statements by position,
        neighbours by (a, b, earlier, later), entities by (id, position), triplets by (subject,
        predicate, object, position), vectors by (position, model).
        """
        ...


class GraphStore(Protocol):
    """A temporal graph. Safe to use from several threads at once.

    After ``close`` every operation raises ClosedError.
    """

    def apply(
        self,
        namespace: str,
        updates: Sequence[PreparedUpdate],
        *,
        now: datetime | None = None,
    ) -> list[Applied]:
        """Write knowledge updates, in order, in one transaction. With ``now``, those passages are
        forgotten first that have expired by then: the first ``SWEPT_PASSAGES`` of them (by expiry,
        then t), and those with an id of ``updates``, which are free then.

        An id that exists (stored, or earlier in ``updates``) with the same text is a duplicate:
        the store neither checks nor writes anything of that update, but a withdrawal of its passage
        is undone. With another text the store refuses the update, or, where it ``replaces``, first
        forgets the passage with that id.

        A mention whose reference names a passage that is neither stored nor earlier in ``updates``
        is not written (``recallm.stores.semantics.cutting``).

        A graph-only update is never a duplicate. With an id it joins the update that brought that
        passage (stored, hidden or not, or earlier in ``updates``): its entities and triplets become
        evidence at that t, as if they had come with the passage, and no t is taken; its positions
        are those of the passage's statements. Entities are written before triplets; both are
        evidence at the update's t.

        An update with a key replaces the items under that key at its path: the store forgets them,
        as by their ids, before it writes the update, those from earlier in ``updates`` too.

        Raises:
            ConflictError: an id belongs to another text; ``index`` is the place in ``updates``.
            UnknownPassageError: a graph-only update has the id of no passage.
            EmbeddingModelError: a statement's vector is of another model than those before it.
            DimensionError: a vector has another size than those under its model.
            UnknownEntityError: a triplet names an entity that is neither stored nor in its update.

        Of several errors the store raises the first update's, and of that one the first named here.
        Without updates it does nothing.
        """
        ...

    def reader(self, namespace: str, horizon: Horizon = ...) -> AbstractContextManager[GraphReader]:
        """A view of ``namespace``; one that was never written is empty."""
        ...

    def amend(self, namespace: str, amendment: Amendment) -> int:
        """Add vectors, set moments of expiry, withdraw passages, or write a summary, in one
        transaction; how many statements, passages or summaries that changed.

        No t is taken, but by a withdrawal that changes something: its passages are hidden from that
        t on. Undone, they are as if they had never been withdrawn. Either way the summaries go that
        cover a mention in such a passage (``forget``). A withdrawal belongs to its passage: nothing
        else that is forgotten undoes it.

        Raises:
            EmbeddingModelError: the namespace's statement vectors are of another model.
            DimensionError: a vector has another size than those under its model.
        """
        ...

    def forget(self, namespace: str, selection: Selection) -> Forgotten:
        """Forget the selection, and everything that stood on it alone, hidden or not.

        Statements go with their mentions, postings, vectors and the evidence that they show (a
        neighbour pair across two statements goes with either; no new pair is made up), and with
        the summary of a concept they mention where its t is not before theirs. A passage goes with
        its last statement; ``redact`` (``recallm.stores.semantics.cutting``) cuts one that keeps
        some (positions stay). A mention by reference goes where its antecedent's passage goes, or
        spells the concept no more (``recallm.stores.semantics.cutting``). Entity and triplet
        evidence goes with its statement, that without one with the last statement of its update
        (``before`` a t: with its t). An entity without evidence goes with its triplets; a triplet
        without evidence and a concept that nothing touches go too. Session keys derived from time
        stay as written, but the next update continues no session whose latest update is forgotten.
        A selection that matches nothing forgets nothing.

        A passage without statements goes where its id, source, session or time is selected. An item
        goes as a whole, with the first of its statements. ``session`` selects what was given this
        session, or this source and no session; ``before`` a datetime what was said earlier, facts
        among it; ``expired`` the passages with ``expires_at <= value``; ``graph`` entities, with
        their triplets, and triplets, while texts stay; ``everything`` all but the counter.
        ``dry_run`` changes nothing.

        ``concept`` selects the statements that mention it, the entities on it, and the triplets of
        these. Such a triplet takes the evidence of its ends at its place along, unless another
        triplet there names them; a passage that stays loses the entries of its metadata in which a
        label of the concept stands, in any case, as whole words. A passage without a text (a fact,
        a row of a table) goes with its last entity or triplet, and so does a graph-only update.

        The result counts the passages, concepts, relations, entities and triplets of which nothing
        is left, and the summaries that went.
        """
        ...

    def restore(
        self, namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
    ) -> int:
        """Fill an empty namespace with what ``dump`` gave, and set its counter to ``t_index``;
        return the number of updates written. One transaction; ``records`` is read inside it, and
        an error it raises rolls back. A triplet may come before its entities.

        Raises:
            InvalidInputError: the namespace is not empty: it holds something, or its counter is
                above 0 (its keys would be used twice).
            UnknownEntityError: a triplet names an entity that no record brings.
            EmbeddingModelError: a statement's vector is of another model than those before it.
            DimensionError: a vector has another size than those before it under its model.
        """
        ...

    def namespaces(self) -> list[str]:
        """The names of all namespaces that hold something or whose counter is above 0, sorted."""
        ...

    def close(self) -> None:
        """Release connections and files; a second call does nothing."""


# What a store may do beyond ``GraphStore``.


@runtime_checkable
class CheckedStore(Protocol):
    """A store that can examine its own file."""

    def problems(self) -> list[str]:
        """What is wrong with the structure of the file, a line each; empty where nothing is."""
        ...
