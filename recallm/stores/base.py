"""The contract of a temporal graph store.

Rules that every store keeps:

* **Namespace.** Every operation names one; it is part of every key and every uniqueness
  constraint. Nothing read or counted in one namespace depends on another.
* **One transaction.** ``apply``, ``forget``, ``revise``, ``delete_graph`` and ``restore`` happen
  as a whole or not at all. A namespace's counter t is taken inside the transaction, so that two
  writers never share a t and none is lost; a transaction that fails takes no t. An update that is
  a duplicate takes none either.
* **Evidence.** Totals (strength, t_index, updates, documents, sizes) always equal what the rows
  beneath them say: after any ``forget`` they are as if what was forgotten had never been said.
  The counter t alone never goes back, so that a key is never used twice.
* **Readers** see all of an update or nothing of it, and one state for as long as they are open.
  A server without snapshots (Neo4j) keeps to this for updates alone: what is forgotten, replaced,
  deleted, merged into an entity or given another expiry while a reader is open shows in it at once.
* Stores know no language: names, stems and labels come ready in the values of
  ``recallm.model``.
* Order is fixed wherever a result has one, so that stores agree; ties are broken by name or key.
  Strings are ordered by code point.
* **Properties.** Type, concept, label and kind of an entity are those of its latest upsert that
  does not merely mention it, also when that is forgotten. Each evidence (of an entity or triplet,
  at a t and a position) keeps the properties that it was told with; told again there, they are
  merged into its own. A mere mention of an entity that is there brings none. The entity's
  (triplet's) properties are those of its evidence merged in the order of (t, position), whenever
  each was told: key by key, a later value as a whole in place of an earlier one, None being a value
  like any other. What is forgotten takes its properties along; a horizon does not take them apart.
* **Concepts.** An entity touches the concept that it stands on now, at each t of its evidence.
  Label and kind of a concept that only entities touch are those of the one with the earliest
  evidence (then by id). ``merges`` counts the updates that touched it after its summary
  in force, or after the first one where it has none.
* **Vectors.** Under one model all vectors of a namespace, of statements and of entities, have as
  many bytes as the first that was written, also when that one is forgotten; only ``everything``
  forgets how many. An entity's vectors go with it. Those of statements are all of one model,
  likewise: that of the first, until ``everything`` is forgotten.
* **Items.** A passage with a key is an item: at most one is kept under a key at a path (but for
  restored archives, of which the latest by t is the item).
* JSON values (metadata) are equal where their JSON texts with sorted keys are: 1, 1.0, true and
  "1" are four values.
* Failures are errors of the ``StoreError`` tree, with the driver's error as ``__cause__``.

Strings hold any character but lone surrogates (refused before they get here); NUL included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from recallm.model import (
    ConceptRow,
    ContextVersion,
    CorpusSize,
    Entity,
    Filter,
    Forgotten,
    Horizon,
    Mentions,
    Passage,
    Postings,
    PreparedUpdate,
    Relation,
    Selection,
    SessionSize,
    Stats,
    StoredStatement,
    Summary,
    Triplet,
    VectorState,
)

__all__ = ["Applied", "CypherStore", "GraphReader", "GraphStore"]

SCHEMA_VERSION = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of one update: its t, or that of the passage it repeats."""

    t_index: int
    duplicate: bool = False


class GraphReader(Protocol):
    """A consistent view of one namespace within a horizon.

    The horizon has a t, that of the view: ``as_of``, or, for a datetime ``as_of``, that of the
    latest update that was said by then. Whole knowledge updates are hidden: those after that t,
    those whose passage expired (``expires_at <= now``), and, for a datetime, those said later or
    at no known time, graph-only updates among them.

    *What is shown* (passages, statements, keys, vectors, entities, triplets) is what visible
    updates say; a concept or relation is shown where a visible update touches or shows it. An
    entity or triplet counts its visible evidence. A triplet whose subject or object is hidden is
    hidden too.

    *What counts* are all updates up to the view's t, hidden or not: what expired counts in
    strengths, t_index, labels, document frequencies, sizes and ``stats`` until it is forgotten.
    (Session keys stay as written.) A session exists while a statement that counts belongs to it.
    """

    @property
    def t_index(self) -> int:
        """The view's t: the counter, or ``as_of`` where that is a smaller t. For a datetime
        ``as_of``: the t of the latest update that was said by then, 0 if there is none."""
        ...

    @property
    def has_expired(self) -> bool:
        """Whether a passage of the namespace has expired by the horizon's ``now``."""
        ...

    def passage(self, id: str) -> Passage | None:
        """The passage with this id, verbatim; None if there is none."""
        ...

    def passages(self, where: Filter, *, limit: int | None = None) -> list[Passage]:
        """The visible passages that meet ``where``, latest t first; at most ``limit``."""
        ...

    def item(self, path: Sequence[str], key: str) -> Passage | None:
        """The visible item under this key at this path, the latest where there are several."""
        ...

    def paths(self) -> list[tuple[str, ...]]:
        """The paths at which a visible item is kept, each once, sorted by their parts."""
        ...

    def statements(self, keys: Collection[int]) -> list[StoredStatement]:
        """The statements with these keys that are visible, ascending by key. ``previous`` and
        ``next`` skip what is hidden or forgotten: within the passage by position, else the last
        (first) statement of the passage before (after) it by t with the same session_key; None
        where the passage has no session or is the first (last) of it. A passage without
        statements is skipped like a hidden one."""
        ...

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        """For each stem that some statement holds which counts: its newest ``limit`` visible
        statements that meet ``where``. Stems that none holds are left out."""
        ...

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Mentions]:
        """For each concept that some statement mentions which counts: its newest ``limit`` visible
        statements (all if None) that meet ``where``. Others are left out."""
        ...

    def concepts(
        self, names: Collection[str] | None = None, *, limit: int | None = None
    ) -> list[ConceptRow]:
        """The concepts with these names (all if None) that are shown, latest t_index first, then by
        name; at most ``limit``. A statement that mentions a concept touches it, and so does the
        evidence of an entity that stands on it."""
        ...

    def relations(self, names: Collection[str], *, limit: int) -> list[Relation]:
        """For each name its ``limit`` relations of latest t_index (then greatest strength, then
        the other end's name); all together, each once, by (a, b)."""
        ...

    def relations_among(self, names: Collection[str]) -> list[Relation]:
        """Every relation whose two ends are both in ``names``, by (a, b)."""
        ...

    def linked(
        self, start: str, *, hops: int, oldest: int, newest: int, limit: int
    ) -> list[ConceptRow]:
        """The concepts at most ``hops`` relations from ``start`` (``start`` itself left out) with
        ``oldest <= t_index <= newest``, latest t_index first, then by name, at most ``limit``.
        What lies between may be of any age (as in the authors' query)."""
        ...

    def summaries(self, names: Collection[str]) -> Mapping[str, Summary]:
        """The summary in force for each concept that has one: the latest that is visible (a
        summary is visible where its t_index is at most the view's t_index and no hidden update,
        by its timestamp or its expiry, is covered, that is: mentions the concept at or before
        the summary's t_index). Earlier summaries are kept: a view of the past shows them."""
        ...

    def entities(
        self,
        ids: Collection[str] | None = None,
        *,
        concepts: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Entity]:
        """The visible entities with these ids, those that stand on these concepts, and those that
        the updates of these visible passages brought (all, if none of it is given), by id."""
        ...

    def triplets(
        self,
        *,
        subjects: Collection[str] | None = None,
        predicates: Collection[str] | None = None,
        objects: Collection[str] | None = None,
        ends: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Triplet]:
        """The visible triplets that meet every condition given (``ends``: subject or object;
        ``passages``: the update of one of these visible passages brought it), by
        (subject, predicate, object)."""
        ...

    def corpus(self) -> CorpusSize:
        """How many statements, terms and sessions count."""
        ...

    def sessions(self, session_keys: Collection[str]) -> Mapping[str, SessionSize]:
        """The size of each of these sessions that exists."""
        ...

    def vectors(self, keys: Collection[int], *, model: str) -> Mapping[int, bytes]:
        """The vectors of these statements under ``model``, where there is one."""
        ...

    def entity_vectors(
        self, ids: Collection[str] | None = None, *, model: str
    ) -> Mapping[str, bytes]:
        """The vectors under ``model`` of the visible entities with these ids (all if None), where
        there is one."""
        ...

    def vector_size(self, model: str) -> int | None:
        """How many bytes a vector under ``model`` has, whatever the horizon hides; None before the
        first."""
        ...

    def vector_state(self) -> VectorState | None:
        """What the namespace's statement vectors are, whatever the horizon hides; None before the
        first."""
        ...

    def vectors_after(self, key: int, *, limit: int) -> list[tuple[int, bytes]]:
        """The first ``limit`` statement vectors whose keys are greater than ``key``, with their
        keys, ascending, whatever the horizon hides."""
        ...

    def vector_keys(self) -> list[int]:
        """The keys of all statements that have a vector, ascending, whatever the horizon hides."""
        ...

    def unembedded(self, *, after: int, limit: int) -> list[int]:
        """The first ``limit`` keys greater than ``after`` of statements that have no vector,
        ascending, whatever the horizon hides."""
        ...

    def moments(self, where: Filter) -> list[int]:
        """The t of each visible passage that meets ``where``, ascending."""
        ...

    def context_version(self, name: str) -> ContextVersion | None:
        """What ``GraphStore.revise`` will compare, whatever the horizon hides: the t of the latest
        statement that mentions the concept, how many do, the t of its latest summary. None if no
        statement mentions it."""
        ...

    def stats(self) -> Stats:
        """How much of everything counts (``summaries``: the concepts that have one up to the view's
        t; ``t_index``: the view's)."""
        ...

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        """Everything in the namespace, whatever the horizon hides: each update in order of t with
        its ``t_index`` (an update of which nothing is left is passed over), then every summary,
        by t_index and concept. ``restore`` of it gives an equal namespace. Each evidence has its
        own properties. An entity's vectors stand at its latest evidence (by t, then position),
        empty elsewhere; type and concept of an entity are at each what they are now. The id of a
        graph-only update is "". Within an update: statements by position, neighbours by (a, b,
        earlier, later), entities by (id, position), triplets by (subject, predicate, object,
        position), vectors by (position, model)."""
        ...


class GraphStore(Protocol):
    """A temporal graph. Safe to use from several threads at once.

    After ``close`` every operation raises ClosedError.
    """

    def apply(self, namespace: str, updates: Sequence[PreparedUpdate]) -> list[Applied]:
        """Write knowledge updates, in order, in one transaction.

        An id that exists (stored, or earlier in ``updates``) with the same text is a duplicate:
        nothing of that update is written or checked. With another text the update is refused, or,
        where it ``replaces``, the passage is forgotten, as by its id, before it is written.
        A graph-only update is never a duplicate. With an id it joins the update that brought that
        passage (stored, hidden or not, or earlier in ``updates``): what it brings is evidence at
        that t, as if it had come with the passage, and no t is taken; its positions are those of
        the passage's statements.
        Entities are written before triplets; both are evidence at the update's t.
        An update with a key takes the place of the items under that key at its path: they are
        forgotten, as by their ids, before it is written, those from earlier in ``updates`` too.

        Raises:
            ConflictError: an id belongs to another text; ``index`` is the place in ``updates``.
            UnknownPassageError: a graph-only update has the id of no passage.
            EmbeddingModelError: a statement's vector is of another model than those before it.
            DimensionError: a vector has another size than those under its model.
            UnknownEntityError: a triplet names an entity that is neither stored nor in its update.

        Of several errors the first update's is raised, and of that one the first named here.
        """
        ...

    def reader(self, namespace: str, horizon: Horizon = ...) -> AbstractContextManager[GraphReader]:
        """A view of ``namespace``; one that was never written is empty."""
        ...

    def revise(self, namespace: str, summary: Summary, *, expected: ContextVersion) -> bool:
        """Compare-and-set: write ``summary`` if the concept's context is still ``expected``;
        otherwise write nothing and return False. ``summary.t_index`` is ``expected.t_index``;
        a summary of the same concept and t is replaced."""
        ...

    def embed(self, namespace: str, model: str, vectors: Mapping[int, bytes]) -> int:
        """Give the statements with these keys their vectors, in one transaction; the number of
        those that there are and that had none. The others are passed over. No t is taken.

        Raises:
            EmbeddingModelError: the namespace's statement vectors are of another model.
            DimensionError: a vector has another size than those under its model.
        """
        ...

    def expire(self, namespace: str, moments: Mapping[str, datetime | None]) -> int:
        """Give passages, by id, another moment of expiry (None: never), all or none; the number
        of those that there are, expired ones included. No t is taken."""
        ...

    def forget(self, namespace: str, selection: Selection) -> Forgotten:
        """Forget what is selected, and all that stood on it alone.

        Statements go with their mentions, postings, vectors and the evidence that they show (a
        neighbour pair across two statements goes with either; no new pair is made up), and with
        every summary of a concept they mention from their t on. A passage goes with its last
        statement; one that keeps some is cut by ``recallm.stores.redaction.redact`` (its digest
        is then the remaining text's; positions stay). Entity and triplet evidence goes with its
        statement, that without one with the last statement of its update (``before`` a t: with
        its t). An entity without evidence goes with its triplets; a triplet without evidence, a
        concept that nothing touches any more go too. ``concept``: also the entities that stand
        on it. ``everything``: all but the counter. Sessions derived from time are derived again
        (``recallm.stores.sessions``). What matches nothing forgets nothing. A passage without
        statements goes where its id, source, session or time is selected. ``session`` selects
        by the name that ``Filter.session`` knows; ``expired`` the passages with
        ``expires_at <= value``, at most ``limit`` of them: those that expired first,
        then by t. An item goes as a whole, with the first of its statements. What is hidden or
        expired is forgotten alike.

        Counted are the passages, concepts, relations, entities and triplets of which nothing is
        left, and all summaries that went, superseded ones too.
        """
        ...

    def delete_graph(
        self,
        namespace: str,
        *,
        entities: Collection[str] = (),
        triplets: Iterable[tuple[str, str, str]] = (),
    ) -> Forgotten:
        """Delete entities by exact id, with their triplets, and triplets by (subject, predicate,
        object). Unknown ones delete nothing. Statements stay."""
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
        ...


@runtime_checkable
class CypherStore(Protocol):
    """A store that answers its users' own Cypher."""

    @property
    def cypher_schema(self) -> str:
        """How entities and triplets stand in it, in words for a language model."""
        ...

    def cypher(
        self, namespace: str, query: str, parameters: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """The rows of ``query``, in a session that can only read; ``$namespace`` is what the rows
        of ``namespace`` have as their namespace.

        Raises:
            InvalidInputError: the query cannot be run, or would write.
        """
        ...
