"""The contract between the shared semantics and a store: rows of one namespace, one transaction.

The modules of this package say once, in Python, what a write means. They compute the final values
of all rows that change; a store only looks rows up, writes rows and deletes rows. A new store
implements `Rows` and gets `apply`, `amend`, `forget`
and `restore`.

**One transaction.** A `Rows` object lives inside one write transaction that holds the write lock of
its namespace: between a look-up and a write, nobody else changes a row. An exception rolls
everything back. `Rows.open` is called first, and once.

**Sets, not single rows.** Every operation takes many keys at once. One knowledge update costs
`open`, one `look_up` and one `write`; the other operations serve rare cases (evidence that is not
the latest, forgetting).

**Natural keys.** Concepts are known by name, terms by stem, sessions by session key, relations by
the two names (smaller name first), entities by id, triplets by (subject, predicate, object),
passages and statements by t and position. A store that uses row numbers maps them itself. A key in
`Changes` was looked up before in the same transaction, or it is new.

**Passages are `PreparedUpdate` values** with their `t_index`, and `session_key` where that was
derived from time. Inverted indexes (postings, mentions, metadata, paths) belong to the store: it
derives them from the statements and the metadata of the passages that it writes and deletes.

**Absence.** In `Changes` the value None deletes a row (for `terms`: 0). Deleting an entity or a
triplet also deletes its evidence; deleting an entity deletes its vectors. Nothing else cascades:
the semantics names every other row.

**Evidence.** ``at`` is ``statement_key(t, position)``; the position is `NO_POSITION` where no
statement shows the evidence. Written properties replace those at the same ``at``; written empty
properties leave those that are stored as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from recallm.model import (
    ConceptKind,
    ConceptMention,
    ContextVersion,
    Forgotten,
    PreparedUpdate,
    Selection,
    Summary,
)

__all__ = [
    "Changes",
    "ConceptTotals",
    "EntityRow",
    "Evidence",
    "Keys",
    "NamespaceTotals",
    "Opened",
    "Pair",
    "RelationTotals",
    "Rows",
    "SessionTotals",
    "Totals",
    "TripletKey",
    "TripletRow",
    "t_of",
]

Pair = tuple[str, str]
"""The names of two related concepts, the smaller one first."""

TripletKey = tuple[str, str, str]
"""Subject, predicate and object."""

Properties = Mapping[str, Any]


def t_of(update: PreparedUpdate) -> int:
    """The t of a numbered or stored update."""
    if update.t_index is None:
        raise ValueError(f"update {update.id!r} has no t")
    return update.t_index


@dataclass(slots=True)
class NamespaceTotals:
    """The row of a namespace: its counter t, its corpus size, and what `VectorState` says.

    ``open_session`` is the session key that the latest update without a name got, ``open_said`` the
    timestamp of that update: the next one may continue the session. ``sessions`` counts the
    sessions that have statements.
    """

    t: int = 0
    statements: int = 0
    terms: int = 0
    sessions: int = 0
    open_session: str | None = None
    open_said: datetime | None = None
    model: str | None = None
    origin: str | None = None
    revision: int = 0


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


@dataclass(slots=True)
class RelationTotals:
    """Strength (the number of updates that show the relation), and the t of the latest of these."""

    strength: int
    t_index: int


@dataclass(slots=True)
class EntityRow:
    """What the latest upsert says of an entity, its merged properties, and the ``at`` of its latest
    evidence (-1: none, an entity that only a triplet names so far)."""

    type: str
    concept: ConceptMention
    properties: Properties
    latest: int


@dataclass(slots=True)
class TripletRow:
    """A triplet's merged properties, and the ``at`` of its latest evidence."""

    properties: Properties
    latest: int


@dataclass(slots=True, kw_only=True)
class Keys:
    """The keys of rows to look up, by table."""

    concepts: Collection[str] = ()
    terms: Collection[str] = ()
    sessions: Collection[str] = ()
    relations: Collection[Pair] = ()
    entities: Collection[str] = ()
    triplets: Collection[TripletKey] = ()


@dataclass(slots=True, kw_only=True)
class Totals:
    """The stored rows of some keys. With each entity comes the row of its concept."""

    concepts: dict[str, ConceptTotals] = field(default_factory=dict)
    terms: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, SessionTotals] = field(default_factory=dict)
    relations: dict[Pair, RelationTotals] = field(default_factory=dict)
    entities: dict[str, EntityRow] = field(default_factory=dict)
    triplets: dict[TripletKey, TripletRow] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Evidence:
    """All evidence of some entities and triplets: the key, then ``at`` → properties."""

    entities: dict[str, dict[int, Properties]] = field(default_factory=dict)
    triplets: dict[TripletKey, dict[int, Properties]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Opened:
    """What `Rows.open` finds: the namespace's row (fresh if it was never written), the passages
    with the given ids (id → t, digest), the items under the given paths and keys (→ t → passage
    id), and the sizes in bytes of the vectors under the given models."""

    totals: NamespaceTotals
    passages: dict[str, tuple[int, str]] = field(default_factory=dict)
    items: dict[tuple[tuple[str, ...], str], dict[int, str]] = field(default_factory=dict)
    vector_sizes: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Changes:
    """The final values of all rows that a write changes.

    ``passages`` holds (before, after): a new passage has no before, a deleted one no after; after a
    cut, both hold the same t, and the statements that only ``before`` has are deleted with their
    vectors. A graph-only update (``text`` is None) has no passage; a store may ignore it here.
    ``relation_evidence`` is, by relation and t, the strength up to that t; its relations are in
    ``relations`` too. ``vectors`` are those of
    statements that are stored already, by key.
    """

    namespace: NamespaceTotals
    passages: list[tuple[PreparedUpdate | None, PreparedUpdate | None]] = field(
        default_factory=list
    )
    concepts: dict[str, ConceptTotals | None] = field(default_factory=dict)
    terms: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, SessionTotals] = field(default_factory=dict)
    relations: dict[Pair, RelationTotals | None] = field(default_factory=dict)
    relation_evidence: dict[Pair, dict[int, int | None]] = field(default_factory=dict)
    entities: dict[str, EntityRow | None] = field(default_factory=dict)
    entity_evidence: dict[tuple[str, int], Properties | None] = field(default_factory=dict)
    entity_vectors: dict[tuple[str, str], bytes] = field(default_factory=dict)
    triplets: dict[TripletKey, TripletRow | None] = field(default_factory=dict)
    triplet_evidence: dict[tuple[TripletKey, int], Properties | None] = field(default_factory=dict)
    summaries: list[Summary] = field(default_factory=list)
    vectors: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    vector_sizes: dict[str, int] = field(default_factory=dict)


class Rows(Protocol):
    """The rows of one namespace inside one write transaction; see the module's text."""

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        models: Collection[str] = (),
    ) -> Opened:
        """Take the namespace's write lock, and look up what the first decisions need."""
        ...

    def look_up(self, keys: Keys) -> Totals:
        """The stored rows with these keys."""
        ...

    def write(self, changes: Changes) -> None:
        """Write all changes; create the namespace's row if there is none."""
        ...

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        """The updates at these t as `GraphReader.dump` gives them, ascending by t."""
        ...

    def evidence(
        self, entities: Collection[str] = (), triplets: Collection[TripletKey] = ()
    ) -> Evidence:
        """All evidence of these entities and triplets; one without evidence has no entry."""
        ...

    def relation_evidence(self, since: Mapping[Pair, int]) -> dict[Pair, list[int]]:
        """The t of the updates that show each relation, ascending: from the given t on, with the
        latest one before. A store may give earlier ones too."""
        ...

    def count_touches(self, concepts: Collection[str]) -> dict[str, ConceptTotals]:
        """The totals of these concepts, counted from the mentions and the evidence of entities that
        are stored now. Label and kind are those of the earliest mention, else those of the entity
        with the earliest evidence (by t, then by id). A concept that nothing touches has no entry.
        """
        ...

    def mention_ends(self, concepts: Collection[str]) -> dict[str, tuple[ConceptMention, int]]:
        """The earliest mention, and the t of the latest, of each of these concepts that statements
        mention and that no entity stands on. A store that would have to read every mention leaves
        the concept out: `count_touches` answers then."""
        ...

    def select(self, selection: Selection) -> list[int]:
        """The t of the updates that are selected as a whole, by id, source, session, time or
        expiry (``before`` a t includes graph-only updates; ``expired``: by expiry, then t, at most
        ``limit``)."""
        ...

    def touching(self, concept: str) -> tuple[list[int], list[str]]:
        """The keys of the statements that mention a concept, and the ids of the entities on it."""
        ...

    def triplets_of(self, entities: Collection[str]) -> set[TripletKey]:
        """The triplets that have one of these entities as subject or object."""
        ...

    def drop_summaries(self, first: Mapping[str, int]) -> int:
        """Delete the summaries of each concept from a t on; how many there were."""
        ...

    def context_version(self, concept: str) -> ContextVersion | None:
        """The version of a concept's context that `WriteSummary` compares; None if no statement
        mentions it."""
        ...

    def unembedded(self, keys: Collection[int]) -> set[int]:
        """Those of the keys that belong to a statement without a vector."""
        ...

    def set_expiry(self, expires_at: Mapping[str, datetime | None]) -> int:
        """Set the moment of expiry of passages, by id; how many of them are stored."""
        ...

    def delete_everything(self) -> Forgotten:
        """Delete every row but the namespace's own; how many of each kind there were."""
        ...
