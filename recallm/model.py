"""The values that pass between the parts of recallm.

All are frozen. Three rules hold everywhere:

* A statement's **key** is ``t_index << 20 | position``: natural, the same in every store, and
  ascending in the order of arrival.
* Names of concepts are keys (lower-cased Porter stems), labels are how a text spells them.
* Timestamps are aware; None where it is unknown when something was said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntFlag
from types import MappingProxyType
from typing import Any, Literal

from recallm.exact import content

__all__ = [
    "MAX_POSITION",
    "NO_POSITION",
    "ConceptKind",
    "ConceptMention",
    "ConceptRow",
    "ContextVersion",
    "CorpusSize",
    "Entity",
    "EntityUpsert",
    "ExtractedStatement",
    "Extraction",
    "Filter",
    "Forgotten",
    "Horizon",
    "Mentions",
    "Neighbours",
    "Passage",
    "Postings",
    "PreparedUpdate",
    "Question",
    "Relation",
    "Selection",
    "SelectionKind",
    "SessionSize",
    "StatementVector",
    "Stats",
    "StoredStatement",
    "Summary",
    "TemporalIntent",
    "TemporalOrder",
    "TemporalReading",
    "TemporalWindow",
    "Trait",
    "Triplet",
    "TripletUpsert",
    "VectorState",
    "empty_mapping",
    "statement_key",
    "t_index_of",
    "text_digest",
]

_POSITION_BITS = 20
NO_POSITION = (1 << _POSITION_BITS) - 1
"""The position of evidence that no statement shows (a graph-only update)."""
MAX_POSITION = NO_POSITION - 1
"""The last position a statement can have in its passage."""


def statement_key(t_index: int, position: int) -> int:
    """The key of the statement at ``position`` of the knowledge update ``t_index``."""
    return t_index << _POSITION_BITS | position


def t_index_of(key: int) -> int:
    """The temporal index in a statement's key."""
    return key >> _POSITION_BITS


def text_digest(text: str) -> str:
    """SHA-256 of a passage's text, in hexadecimal: how the same text is known again."""
    return hashlib.sha256(text.encode()).hexdigest()


def empty_mapping() -> Mapping[str, Any]:
    """A read-only empty mapping, for defaults."""
    return MappingProxyType({})


class Trait(IntFlag):
    """What a statement holds, seen at extraction; the ranking's answer-type signals read it."""

    QUESTION = 1
    TIME = 2
    NUMBER = 4
    NAME = 8
    PERSON = 16
    PLACE = 32
    ORGANISATION = 64
    FIRST_PERSON = 128
    NEGATION = 256
    PAST = 512
    PRESENT = 1024
    FUTURE = 2048


ConceptKind = Literal["noun", "name", "number", "entity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptMention:
    """A concept as one statement spells it: ``name`` is the key, ``label`` the spelling."""

    name: str
    label: str
    kind: ConceptKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedStatement:
    """One sentence of a passage: ``passage[start:end]``.

    ``terms`` are the stems of its content words, repeated as often as they stand there, in
    textual order, then its exact tokens (``recallm.exact``), each once; ``concepts`` are distinct
    by name, the speaker first where there is one.
    """

    position: int
    start: int
    end: int
    terms: tuple[str, ...]
    concepts: tuple[ConceptMention, ...]
    traits: Trait

    @property
    def length(self) -> int:
        """How many content words it has."""
        return len(content(self.terms))


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Two neighbouring concepts of an update (``a < b`` by name).

    ``earlier`` and ``later`` are the positions of the statements that hold the two; equal where
    one statement holds both. A pair stands in it once for each two positions that show it.
    """

    a: str
    b: str
    earlier: int
    later: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What extraction makes of a text: statements ascending by position, and neighbour pairs."""

    statements: tuple[ExtractedStatement, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()
    speaker_concept: str | None = None


TemporalIntent = Literal["current", "historical", "neutral"]
TemporalOrder = Literal["latest", "earliest", "any"]
TemporalWindow = Literal["none", "since", "until", "within"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalReading:
    """What a question asks of time (paper, Future Work: a dynamic temporal window).

    ``intent``: how things are now, how they were, or neither. ``recency`` (0 to 1) is how much it
    counts that nothing newer is known. ``order`` says which of equally good statements comes
    first: the latest, the earliest, or any. ``window``: the question names dates, and asks for
    what was since, until or within them. ``previous``: it asks for the state before the newest
    one; ``spread``: for all that there is, not for one answer. ``rules`` are the rules that fired,
    for people to read: "now → recency 1, latest first".
    """

    intent: TemporalIntent = "neutral"
    recency: float = 0.0
    order: TemporalOrder = "any"
    window: TemporalWindow = "none"
    previous: bool = False
    spread: bool = False
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What extraction makes of a question.

    ``concepts`` are the essential concepts 𝓔 in textual order; ``terms`` the distinct stems of
    its content words. ``tokens`` are what else it is found by: of a question without content words
    its exact tokens (``recallm.exact``) and the stems of those that are one word; of one word its
    exact token. ``asks`` holds the traits that an answer would have (TIME for "when",
    NUMBER for "how many", PERSON for "who", PLACE for "where", NAME for any name). ``time``
    is what the tense and the words ask of time.
    """

    text: str
    terms: tuple[str, ...]
    concepts: tuple[ConceptMention, ...]
    asks: Trait
    time: TemporalReading = TemporalReading()
    tokens: tuple[str, ...] = ()

    @property
    def intent(self) -> TemporalIntent:
        """How things are now, how they were, or neither."""
        return self.time.intent


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityUpsert:
    """An entity to create or to merge by its exact ``id``; ``properties`` are those of the evidence
    at its t and ``position``, and go with it.

    A ``concept`` whose name is empty is none: the entity stands on no concept, the rest of it is
    the entity's label and kind. ``vectors``: model → half-precision, little-endian vector; each
    takes the place of the one under its model. One that is only ``mentioned`` is evidence: where
    the entity is there, nothing else of it changes.
    """

    id: str
    type: str
    concept: ConceptMention
    properties: Mapping[str, Any] = field(default_factory=empty_mapping)
    vectors: Mapping[str, bytes] = field(default_factory=empty_mapping)
    position: int = NO_POSITION
    mentioned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletUpsert:
    """⟨subject, predicate, object⟩ between exact entity ids; one more evidence of it, which keeps
    its ``properties``."""

    subject: str
    predicate: str
    object: str
    properties: Mapping[str, Any] = field(default_factory=empty_mapping)
    position: int = NO_POSITION


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementVector:
    """The half-precision, little-endian vector of one statement under one embedding model."""

    position: int
    model: str
    blob: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorState:
    """The statement vectors of a namespace, from the first that was written on, whatever a horizon
    hides.

    All are of ``model`` and have ``size`` bytes, also when none is left. ``origin`` was drawn for
    the namespace when its very first one was written, so that no others are taken for these.
    ``revision`` rises with every change but vectors of new statements: when some are forgotten, or
    given to statements later. It never goes back.
    """

    model: str
    size: int
    origin: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedUpdate:
    """One knowledge update, ready for ``GraphStore.apply``.

    ``text`` is None for an update of entities and triplets alone. It has no passage of its own:
    where ``id`` is not empty it joins the update that brought the passage with that id. With
    ``replaces``, a passage with this id and another text is forgotten for it. ``t_index`` is None,
    except where an archive is restored with its own order.
    """

    id: str
    text: str | None
    statements: tuple[ExtractedStatement, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()
    source: str | None = None
    session: str | None = None
    speaker: str | None = None
    speaker_concept: str | None = None
    timestamp: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=empty_mapping)
    path: tuple[str, ...] = ()
    key: str | None = None
    expires_at: datetime | None = None
    entities: tuple[EntityUpsert, ...] = ()
    triplets: tuple[TripletUpsert, ...] = ()
    vectors: tuple[StatementVector, ...] = ()
    replaces: bool = False
    t_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The text of one knowledge update, verbatim. One with a ``key`` is an item: what is kept
    under that key at ``path``."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStatement:
    """A statement as a store gives it to recall.

    ``session`` and ``source`` are as they were given; ``session_key`` is the resolved session
    (see ``recallm.stores.sessions``), None where there is none. ``previous`` and ``next`` are the
    keys of the statements said just before and after it in its session. ``item_path`` is the path
    of its passage where that is an item (it has a key), else None.
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

    @property
    def length(self) -> int:
        """How many content words it has."""
        return len(content(self.terms))

    @property
    def t_index(self) -> int:
        """The temporal index of the knowledge update that brought it."""
        return t_index_of(self.key)

    @property
    def position(self) -> int:
        """Its place in its passage, from 0."""
        return self.key & NO_POSITION

    @property
    def id(self) -> str:
        """``<passage id>#<position>``."""
        return f"{self.passage_id}#{self.position}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptRow:
    """A concept of the temporal graph.

    ``updates`` counts the knowledge updates that touched it, ``statements`` those that mention
    it, ``merges`` the updates that were merged into it since it was created or last revised (the
    authors' ``revision_count``). ``label`` and ``kind`` are those of its earliest mention.
    """

    name: str
    label: str
    kind: ConceptKind
    t_index: int
    updates: int
    statements: int
    merges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """An undirected relation (``a < b`` by name): strength counts the updates that showed it."""

    a: str
    b: str
    strength: int
    t_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A node that a user named exactly; it stands on the concept ``concept`` (on none where that is
    empty). ``source`` is the id of the latest passage that brought it, None where none did."""

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
    of the latest passage that brought it, None where none did."""

    subject: str
    predicate: str
    object: str
    properties: Mapping[str, Any]
    strength: int
    t_index: int
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The revised context of a concept: it covers all its statements up to ``t_index``."""

    concept: str
    t_index: int
    text: str
    terms: tuple[str, ...]
    traits: Trait


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextVersion:
    """What a context was when it was read for a revision; a write compares it (and swaps).

    ``statements`` is the number of all statements that mention the concept, ``summary_t`` the
    t_index of the summary in force, None where there is none.
    """

    t_index: int
    statements: int
    summary_t: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which statements may be recalled. ``since`` and ``until`` are inclusive: a t_index, or an
    aware datetime, which a statement without a timestamp never meets. ``session`` is the
    session's name as given, or the source where no session was given. Every entry of
    ``metadata`` must equal the passage's (JSON values). ``path``: only items whose path begins
    with it, any item where it is empty; None: items or not."""

    since: int | datetime | None = None
    until: int | datetime | None = None
    speaker: str | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=empty_mapping)
    path: tuple[str, ...] | None = None

    def __bool__(self) -> bool:
        bounds = (self.since, self.until, self.speaker, self.session, self.path)
        return bool(self.metadata) or any(bound is not None for bound in bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """What a reader may see.

    ``as_of``: a t_index (what arrived up to it), an aware datetime (what was said up to it;
    what has no timestamp is not seen), or None (all). ``now``: passages that expired are not seen,
    though they count until they are forgotten (``recallm.stores.base.GraphReader``).
    """

    as_of: int | datetime | None = None
    now: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """The statements that hold a stem, newest first, at most the limit asked for.

    ``documents`` counts all of them (up to the view's t, before any filter). ``keys``,
    ``counts`` and ``sessions`` run in parallel; a session is its key or None.
    """

    documents: int
    keys: tuple[int, ...]
    counts: tuple[int, ...]
    sessions: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """The keys of the statements that mention a concept, newest first, at most the limit;
    ``statements`` counts all of them (up to the view's t, before any filter)."""

    statements: int
    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSize:
    """What BM25 needs of a namespace: statements, their terms all together, sessions."""

    statements: int
    terms: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSize:
    """Statements and terms of one session."""

    statements: int
    terms: int


SelectionKind = Literal[
    "id", "statement", "source", "session", "concept", "before", "expired", "everything"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to forget. ``value``: a passage id, a statement id, a source, a session name, a
    concept name, a t_index or an aware datetime (what came or was said before it), the moment by
    which a passage has expired, or True. ``limit``: at most so many of the expired, by a sweep: it
    waits for no other writer where the store can tell, and erases no bytes of a file."""

    kind: SelectionKind
    value: str | int | datetime
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What a ``forget`` took away, counted; true where that is anything.

    ``erasure_pending``: it is forgotten, but its bytes may still lie in the file of an SQLite store
    or in the log beside it, since a reader was open on an earlier state. Whoever writes or opens
    the file next, in any process, overwrites them.
    """

    passages: int = 0
    statements: int = 0
    concepts: int = 0
    relations: int = 0
    entities: int = 0
    triplets: int = 0
    summaries: int = 0
    erasure_pending: bool = False

    def __bool__(self) -> bool:
        counted = (name for name in self.__slots__ if name != "erasure_pending")
        return any(getattr(self, name) for name in counted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The size of a namespace; ``t_index`` is its counter, ``vectors`` are those of statements."""

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
