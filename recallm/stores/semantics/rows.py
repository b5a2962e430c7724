"""The contract between the shared semantics and a store: rows of one namespace, one transaction.

The modules of this package say what a write means and compute the final values of all rows that
change. A store looks rows up, writes and deletes them: it implements `Rows`, and gets `apply`,
`amend`, `forget` and `restore`.

**One transaction.** A `Rows` object lives inside one write transaction that holds the write lock of
its namespace. An exception rolls everything back. `Rows.open` is called first, and once. One
knowledge update costs `open`, one `look_up` and one `write`; the other operations serve rare cases.

**Natural keys.** Concepts are known by name, terms by stem, sessions by session key, relations by
the two names (smaller name first), passages and statements by t and position. An *element* is an
entity, known by its id, or a triplet, known by (subject, predicate, object). A key in `Changes` was
looked up before in the same transaction, or it is new.

**Passages are `PreparedUpdate` values** with their `t_index`, and `session_key` where that was
derived from time. A store derives its indexes (postings, mentions, references, relations, metadata,
paths) from the passages that it writes and deletes (`changed_rows`), and the words of entities from
their concepts and vectors (`recallm.ground.entity_words`).

**Absence.** In `Changes` the value None deletes a row (for `terms` and `predicates`: 0). A session
without statements and passages is deleted. Deleting an element also deletes its vectors and its
words. Nothing else cascades: the semantics names every other row.

**Evidence.** ``at`` is ``statement_key(t, position)``; the position is `NO_POSITION` where no
statement shows the evidence. Written evidence replaces what is stored at the same ``at``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, LiteralString, Protocol, TypeAlias, overload

from recallm.model import (
    ConceptKind,
    ConceptMention,
    ElementKey,
    EntityUpsert,
    Forgotten,
    OpenSession,
    PreparedUpdate,
    Selection,
    Summary,
    TripletKey,
    TripletUpsert,
    session_key_of,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Pair = tuple[str, str]
"""The names of two related concepts, the smaller one first."""

NO_CONCEPT = ConceptMention(name="", label="", kind="entity")


def t_of(update: PreparedUpdate) -> int:
    """The t of a numbered or stored update."""
    if update.t_index is None:
        raise ValueError(f"update {update.id!r} has no t")
    return update.t_index


def stored_session_key(update: PreparedUpdate) -> str | None:
    """The session key of a stored update; None where it belongs to no session."""
    if update.session_key is None:
        return session_key_of(update.session, update.source)
    return update.session_key or None  # NO_SESSION: decided in this write


@overload
def microseconds(timestamp: datetime) -> int: ...
@overload
def microseconds(timestamp: datetime | None) -> int | None: ...
def microseconds(timestamp: datetime | None) -> int | None:
    """A timestamp as it is compared and indexed: whole microseconds since 1970 (UTC)."""
    return None if timestamp is None else (timestamp - _EPOCH) // _MICROSECOND


def from_microseconds(value: int) -> datetime:
    """The timestamp (UTC) ``value`` microseconds after 1970."""
    return _EPOCH + value * _MICROSECOND


def timestamp_text(timestamp: datetime | None) -> str | None:
    """A timestamp as readers get it back: ISO 8601, with its own offset."""
    return None if timestamp is None else timestamp.isoformat()


@lru_cache(maxsize=1 << 10)
def unpack_timestamp(text: str | None) -> datetime | None:
    """Decode a timestamp that may be missing."""
    return None if text is None else datetime.fromisoformat(text)


_LATEST_T = 1 << 42
"""No t comes after it; shifted to a key it still fits into 63 bits."""


def selected_by(selection: Selection) -> tuple[str, int | str]:
    """How a selection selects updates as a whole, and the value that is compared: microseconds
    since 1970, a t, or a text."""
    kind, value = str(selection.kind), selection.value
    if isinstance(value, datetime):
        return "said before" if kind == "before" else kind, microseconds(value)
    return kind, max(0, min(value, _LATEST_T)) if isinstance(value, int) else str(value)


@dataclass(slots=True)
class NamespaceTotals:
    """The row of a namespace: its counter t, its corpus size, and what `VectorState` says.

    ``sessions`` counts the sessions that have statements. Of ``open_session`` a store keeps the t
    (0 for None): the rest is that of the passage at that t. ``vector_sizes`` are the
    sizes in bytes of the vectors under each model. ``vocabulary`` counts the changes of the set of
    predicates.
    """

    t: int = 0
    statements: int = 0
    terms: int = 0
    sessions: int = 0
    model: str | None = None
    origin: str | None = None
    revision: int = 0
    vocabulary: int = 0
    vector_sizes: dict[str, int] = field(default_factory=dict)
    open_session: OpenSession | None = None


@dataclass(slots=True)
class ConceptTotals:
    """A concept's row, as `recallm.model.ConceptRow` explains it."""

    label: str
    kind: ConceptKind
    t_index: int
    updates: int
    statements: int


@dataclass(slots=True)
class SessionTotals:
    """Statements and terms of a session. The store keeps the row of a session without statements
    as long as it has a passage of it."""

    statements: int = 0
    terms: int = 0


Evidence = EntityUpsert | TripletUpsert
"""What one place says of an entity or a triplet; the vectors are no part of it."""


def json_text(value: Mapping[str, Any]) -> str:
    """The JSON text of a mapping, in its own order."""
    return json.dumps(dict(value)) if value else "{}"


def kept_of(evidence: Evidence) -> tuple[str | None, list[str] | None]:
    """What is kept of evidence: the JSON of its properties, and its description; None where
    evidence has no properties, or no description (`reading.evidence_of` reads both)."""
    properties = json_text(evidence.properties) if evidence.properties else None
    if isinstance(evidence, TripletUpsert):
        return properties, None
    concept, mentioned = evidence.concept, ["mentioned"] if evidence.mentioned else []
    return properties, [evidence.type, concept.name, concept.label, concept.kind, *mentioned]


def is_bare(evidence: Evidence) -> bool:
    """Whether evidence says nothing of an element that is there already."""
    if isinstance(evidence, EntityUpsert):
        return evidence.mentioned
    return not evidence.properties


@dataclass(slots=True)
class ElementRow:
    """What its evidence makes of an entity or a triplet, in the order of ``at``: a later type and
    concept replace earlier ones, a later property replaces an earlier one of the same key, and
    what is only mentioned counts where nothing is earlier.

    ``latest`` is the ``at`` of the latest evidence (-1: none, an entity that only a triplet names
    so far).
    """

    type: str = ""
    concept: ConceptMention = NO_CONCEPT
    properties: Mapping[str, Any] = field(default_factory=dict)
    latest: int = -1

    @classmethod
    def of(cls, evidence: Mapping[int, Evidence]) -> ElementRow:
        """The row that all its evidence makes, by ``at``."""
        row = cls()
        for at in sorted(evidence):
            row.add(at, evidence[at])
        return row

    def add(self, at: int, evidence: Evidence) -> None:
        """Add evidence that comes after all that there is."""
        if self.latest < 0 or not is_bare(evidence):
            self.properties = {**self.properties, **evidence.properties}
            if isinstance(evidence, EntityUpsert):
                self.type, self.concept = evidence.type, evidence.concept
        self.latest = at


@dataclass(slots=True, kw_only=True)
class Keys:
    """The natural keys of some rows."""

    concepts: set[str] = field(default_factory=set)
    terms: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    elements: set[ElementKey] = field(default_factory=set)
    predicates: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class Totals:
    """The stored rows of some keys. With each entity comes the row of its concept. ``terms`` are
    the statements that hold a stem, ``predicates`` the triplets that have a predicate."""

    concepts: dict[str, ConceptTotals] = field(default_factory=dict)
    terms: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, SessionTotals] = field(default_factory=dict)
    elements: dict[ElementKey, ElementRow] = field(default_factory=dict)
    predicates: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Opened:
    """What `Rows.open` finds: the namespace's row (fresh if it was never written), the passages
    with the given ids (id → t, text, the t from which on the passage is withdrawn or None), the
    items under the given paths and keys (→ t → passage id), and whether a passage has expired by
    the given moment."""

    totals: NamespaceTotals
    passages: dict[str, tuple[int, str, int | None]] = field(default_factory=dict)
    items: dict[tuple[tuple[str, ...], str], dict[int, str]] = field(default_factory=dict)
    has_expired: bool = False


@dataclass(slots=True, kw_only=True)
class Changes:
    """The final values of all rows that a write changes.

    ``passages`` holds (before, after): a new passage has no before, a deleted one no after. Of a
    passage that changes, both hold the same t: ``after`` may lack statements, which are deleted
    with their vectors, and neighbours; a statement may lack concepts, or have a vector now; the
    text, the metadata, ``expires_at`` and ``withdrawn_t`` may be others. All stems, concepts and
    sessions of ``before`` were looked up. A graph-only update (``text`` is None) has no passage; a
    store may ignore it here. ``element_evidence`` is by element and ``at``, ``entity_vectors`` by
    entity and model.
    """

    namespace: NamespaceTotals
    passages: list[tuple[PreparedUpdate | None, PreparedUpdate | None]] = field(
        default_factory=list
    )
    concepts: dict[str, ConceptTotals | None] = field(default_factory=dict)
    terms: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, SessionTotals] = field(default_factory=dict)
    elements: dict[ElementKey, ElementRow | None] = field(default_factory=dict)
    element_evidence: dict[ElementKey, dict[int, Evidence | None]] = field(default_factory=dict)
    predicates: dict[str, int] = field(default_factory=dict)
    entity_vectors: dict[tuple[str, str], bytes] = field(default_factory=dict)
    summaries: list[Summary] = field(default_factory=list)


RowsOfKind: TypeAlias = dict[tuple[Any, ...], tuple[Any, ...] | None]
"""An engine's rows of a kind, by key; None for a row that goes."""

RowsByKind: TypeAlias = defaultdict[LiteralString, RowsOfKind]


def changed_rows(old: RowsByKind, new: RowsByKind) -> None:
    """Leave in ``new`` what changes: not the rows that ``old`` has too, and None for what ``old``
    alone has."""
    for kind, rows in old.items():
        now = new[kind]
        for key, row in rows.items():
            if key not in now:
                now[key] = None
            elif now[key] == row:
                del now[key]


class Rows(Protocol):
    """The rows of one namespace inside one write transaction; see the module's text."""

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        now: datetime | None = None,
    ) -> Opened:
        """Take the namespace's write lock, and look up what the first decisions need."""
        ...

    def look_up(self, keys: Keys) -> Totals:
        """The stored rows with these keys."""
        ...

    def write(self, changes: Changes) -> int:
        """Write all changes; create the namespace's row if there is none. How many relations went,
        which no update shows any more."""
        ...

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        """The updates at these t as `GraphReader.dump` gives them, ascending by t."""
        ...

    def evidence(self, elements: Collection[ElementKey]) -> dict[ElementKey, dict[int, Evidence]]:
        """All evidence of these elements, which were looked up, by ``at``. One without evidence has
        no entry."""
        ...

    def count_touches(self, names: Collection[str]) -> dict[str, ConceptTotals]:
        """The totals of these concepts, counted from the mentions and the evidence of entities that
        are stored now. Label and kind are those of the earliest mention, else those of the entity
        with the earliest evidence (by t, then by id). A concept that nothing touches has no entry.
        """
        ...

    def select(self, selection: Selection) -> list[int]:
        """The t of the updates that are selected as a whole, by id, source, session, time or
        expiry (``before`` a t includes graph-only updates; ``expired``: by expiry, then t)."""
        ...

    def touching(self, concept: str) -> tuple[list[int], list[str]]:
        """The keys of the statements that mention a concept, with the ``at`` of the evidence that
        says it; and the ids of the entities on it."""
        ...

    def referring(self, ids: Collection[str]) -> list[int]:
        """The t of the updates with a reference to one of these passages, which are stored."""
        ...

    def triplets_of(self, entities: Collection[str]) -> set[TripletKey]:
        """The triplets that have one of these entities as subject or object."""
        ...

    def drop_summaries(self, first: Mapping[str, int]) -> int:
        """Delete the summary of each concept whose t is at least the given one; how many. The
        concepts were looked up."""
        ...

    def delete_everything(self) -> Forgotten:
        """Delete every row but the namespace's own; how many of each kind there were."""
        ...
