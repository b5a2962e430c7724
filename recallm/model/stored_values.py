"""What the temporal graph holds, and what a reader of it is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from recallm.model.keys import (
    content_terms,
    empty_mapping,
    position_of,
    session_key_of,
    session_name_of,
    statement_id,
    t_index_of,
)
from recallm.model.language import ConceptKind, ConceptMention, Trait

Moment: TypeAlias = int | str | date
"""How a reader names a moment (``ground.checks.moment``): by a t_index, an aware datetime, or a
day or a time in ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The text of one knowledge update, verbatim. A passage with a ``key`` is an item: the text
    stored under that key at ``path``. ``withdrawn_t``: the t from which on it is withdrawn."""

    id: str
    t_index: int
    text: str
    source: str | None
    session: str | None
    speaker: str | None
    timestamp: datetime | None
    metadata: Mapping[str, Any]
    path: tuple[str, ...] = ()
    key: str | None = None
    expires_at: datetime | None = None
    withdrawn_t: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation or a document: the passages that belong together.

    ``name`` selects it in ``recall(session=)``; None where its updates came without a session and a
    source. ``passages`` is their number, ``first_t`` and ``t_index`` are the t of the first and of
    the latest. ``began`` and ``ended`` (UTC) are the earliest and the latest timestamp, None where
    no passage has one.
    """

    name: str | None
    passages: int
    first_t: int
    t_index: int
    began: datetime | None
    ended: datetime | None


class StoredStatement(NamedTuple):
    """A statement as a store gives it to recall.

    ``session`` and ``source`` are as they were given; ``session_key`` is the resolved session
    (``recallm.model.keys``), None where there is none. ``previous`` and ``next`` are
    the keys of the statements just before and after it in its session. ``item_path`` is the path
    of its passage if that is an item, else None. ``start`` and ``end`` are its span in the passage;
    both are 0 where it is a fact or a revised context.

    A recall makes more than a hundred: a tuple of this size is made three times as fast as a frozen
    dataclass.
    """

    key: int
    passage_id: str
    text: str
    timestamp: datetime | None
    speaker: str | None
    speaker_concept: str | None
    source: str | None
    session: str | None
    session_key: str | None
    metadata: Mapping[str, Any]
    terms: tuple[str, ...]
    concepts: tuple[ConceptMention, ...]
    traits: Trait
    previous: int | None
    next: int | None
    item_path: tuple[str, ...] | None = None
    start: int = 0
    end: int = 0

    @property
    def length(self) -> int:
        """How many content words it has."""
        return len(content_terms(self.terms))

    @property
    def t_index(self) -> int:
        """The temporal index of its knowledge update."""
        return t_index_of(self.key)

    @property
    def position(self) -> int:
        """Its place in its passage, from 0."""
        return position_of(self.key)

    @property
    def line_key(self) -> str | int:
        """What the statements on one line of a context share: their passage. A fact and a revised
        context stand alone."""
        return self.passage_id if self.start < self.end else self.key

    @property
    def is_heading(self) -> bool:
        """Whether it ends with a colon: what follows in its passage belongs to it."""
        return self.text.rstrip("*_ ").endswith(":") and self.start < self.end

    @property
    def session_name(self) -> str | None:
        """Its session as given, else its source; None if it has neither."""
        return session_name_of(self.session, self.source)

    @property
    def id(self) -> str:
        """``<passage id>#<position>``."""
        return statement_id(self.passage_id, self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The revised context of a concept. It covers all statements about the concept up to
    ``t_index``."""

    concept: str
    t_index: int
    text: str
    terms: tuple[str, ...]
    traits: Trait


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptRow:
    """A concept of the temporal graph.

    ``updates`` counts the knowledge updates that touched it, ``statements`` the statements that
    mention it, ``merges`` the updates that touched it since it was created or last revised (the
    authors' ``revision_count``). ``label`` and ``kind`` are those of its earliest mention.
    ``summary`` is its revised context in force, None where there is none.
    """

    name: str
    label: str
    kind: ConceptKind
    t_index: int
    updates: int
    statements: int
    merges: int
    summary: Summary | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """An undirected relation (``a < b`` by name). ``strength`` counts the updates that show it,
    ``t_index`` is the latest of them."""

    a: str
    b: str
    strength: int
    t_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A node that a user named by an exact id. It stands on the concept ``concept``, or on none if
    that is empty. ``source`` is the id of the latest passage that showed it, None if no passage
    did."""

    id: str
    type: str
    label: str
    concept: str
    properties: Mapping[str, Any]
    t_index: int
    updates: int
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Triplet:
    """A directed relation with a predicate between two entities, by exact id. ``source`` is the id
    of the latest passage that showed it, None if no passage did."""

    subject: str
    predicate: str
    object: str
    properties: Mapping[str, Any]
    strength: int
    t_index: int
    source: str | None = None


class EvidenceConditions(TypedDict, total=False):
    """What the evidence of triplets must meet; None is no condition."""

    subjects: Collection[str] | None
    predicates: Collection[str] | None
    objects: Collection[str] | None


class TripletConditions(EvidenceConditions, total=False):
    """What triplets must meet. ``ends``: ids of subject or object; ``passages``: ids of passages
    that show the triplet, at least one of them."""

    ends: Collection[str] | None
    passages: Collection[str] | None


class TripletEvidence(NamedTuple):
    """One piece of evidence of a triplet.

    Of the subject and of the object: the exact id, the label, and the name of its concept (empty
    where it stands on none). ``properties`` are those of this evidence. ``position`` is that of the
    statement that shows the triplet, `NO_POSITION` where none does. ``passage`` is the id of the
    passage of the update, None where the update has no passage; ``timestamp`` and ``source`` are
    those of the passage.
    """

    subject: str
    subject_label: str
    subject_concept: str
    predicate: str
    object: str
    object_label: str
    object_concept: str
    object_type: str
    properties: Mapping[str, Any]
    t_index: int
    position: int
    passage: str | None
    timestamp: datetime | None
    source: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorState:
    """The state of a namespace's statement vectors, whatever the reader's horizon. There is none
    before the first vector.

    All vectors have ``size`` bytes and come from ``model``, which stay fixed even when every vector
    is forgotten. ``origin`` is a random mark of the namespace, drawn with its first vector, so that
    an index never takes the vectors of another namespace for these. ``revision`` rises whenever
    vectors are forgotten or are added to older statements; it never falls.
    """

    model: str
    size: int
    origin: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceState:
    """What a reader knows of its namespace from the moment it is opened.

    ``t_index`` is that of the view. The rest describes the whole namespace, whatever the horizon
    hides: ``vectors`` the statement vectors (None before the first), ``vector_bytes`` how many
    bytes a vector under each embedding model has, the vectors of entities included. ``vocabulary``
    rises whenever the set of predicates changes; it never falls.
    """

    t_index: int
    vectors: VectorState | None
    vector_bytes: Mapping[str, int]
    vocabulary: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which statements may be recalled.

    ``since`` and ``until`` are inclusive: a t_index, or an aware datetime, which excludes every
    statement without a timestamp. ``session`` is the name of a session: one that was
    given, or the source that names it (``recallm.model.keys``). ``session_key`` selects a
    session without a name too, and with ``NO_SESSION`` the passages that belong to none. Every
    entry of ``metadata`` must equal the passage's (as JSON values).
    ``path``: only items whose path begins with it (any item if it is empty); None: all passages.
    ``key``, which needs a ``path``: only the item under this key at exactly that path.
    """

    since: int | datetime | None = None
    until: int | datetime | None = None
    speaker: str | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=empty_mapping)
    path: tuple[str, ...] | None = None
    key: str | None = None
    session_key: str | None = None

    def __post_init__(self) -> None:
        if self.session is not None:
            object.__setattr__(self, "session_key", session_key_of(self.session, None))

    def __bool__(self) -> bool:
        bounds = (self.since, self.until, self.speaker, self.session_key, self.path)
        return bool(self.metadata) or any(bound is not None for bound in bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """What a reader may see.

    ``as_of``: a t_index (what arrived up to it), an aware datetime (what was said up to it;
    what has no timestamp is not seen), or None (all). ``now``: passages that expired are not seen,
    though they count until they are forgotten (``recallm.stores.base.GraphReader``). ``withdrawn``:
    withdrawn passages are seen too.
    """

    as_of: int | datetime | None = None
    now: datetime | None = None
    withdrawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Postings:
    """The statements that hold a stem, or that mention a concept: newest first, at most the
    requested limit.

    ``statements`` counts all of them (up to the view's t, before any filter). ``keys``, ``counts``
    (how often each holds the stem; 1 for a mention) and ``sessions`` are arrays of whole numbers
    that run in parallel. A session is a number of the reader, 0 for none; ``session_keys`` has its
    key.
    """

    statements: int
    keys: NDArray[np.int64]
    counts: NDArray[Any]
    sessions: NDArray[Any]
    session_keys: Mapping[int, str]

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Postings) and self.rows() == other.rows()

    def session_names(self) -> set[str]:
        """The keys of the sessions of the statements."""
        if not self.sessions.any():
            return set()
        numbers = np.unique(self.sessions).tolist()
        return {self.session_keys[number] for number in numbers if number}

    def hold(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of ``keys`` are keys of the statements."""
        ascending = self.keys[::-1]
        places = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
        return np.asarray(ascending[places] == keys if len(ascending) else places >= 0)

    def rows(self) -> tuple[int, list[tuple[int, int, str | None]]]:
        """``statements``, and key, count and key of the session of each."""
        sessions = map(self.session_keys.get, self.sessions.tolist())
        rows = zip(self.keys.tolist(), self.counts.tolist(), sessions, strict=True)
        return self.statements, list(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSize:
    """The size of a namespace, for BM25: its statements, all their terms, its sessions."""

    statements: int
    terms: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSize:
    """Statements and terms of one session."""

    statements: int
    terms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The size of a namespace, and those of some of its sessions by their keys."""

    corpus: CorpusSize
    sessions: Mapping[str, SessionSize]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The size of a namespace. ``t_index`` is its counter; ``vectors`` counts the vectors of
    statements."""

    t_index: int
    passages: int
    statements: int
    concepts: int
    relations: int
    entities: int
    triplets: int
    summaries: int
    vectors: int
    sessions: int
