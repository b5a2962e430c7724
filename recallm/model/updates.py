"""What a store writes and forgets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from recallm.model.keys import NO_POSITION, empty_mapping
from recallm.model.language import ConceptMention, ExtractedStatement, Neighbours
from recallm.model.stored_values import Summary

TripletKey = tuple[str, str, str]
"""Subject, predicate and object."""

ElementKey = str | TripletKey
"""What an element of the graph is known by: the id of an entity, or a triplet's three parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityUpsert:
    """An entity to create, or to merge into the one with the same ``id``. What it says belongs to
    the evidence at the update's t and ``position``; whoever forgets that evidence forgets this. In
    the order of evidence a later type and concept replace earlier ones, and a later value of
    ``properties`` replaces an earlier one of the same key.

    A ``concept`` with an empty name means that the entity stands on no concept; label and kind are
    then those of the entity. ``vectors``: model → half-precision, little-endian vector; each
    replaces the one under its model. ``mentioned``: an entity with earlier evidence gets one
    more, and stays otherwise unchanged.
    """

    id: str
    type: str
    concept: ConceptMention
    properties: Mapping[str, Any] = field(default_factory=empty_mapping)
    vectors: Mapping[str, bytes] = field(default_factory=empty_mapping)
    position: int = NO_POSITION
    mentioned: bool = False

    @property
    def element(self) -> ElementKey:
        """The id."""
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletUpsert:
    """⟨subject, predicate, object⟩ between exact entity ids: one more evidence of this triplet,
    with ``properties`` of its own."""

    subject: str
    predicate: str
    object: str
    properties: Mapping[str, Any] = field(default_factory=empty_mapping)
    position: int = NO_POSITION

    @property
    def element(self) -> ElementKey:
        """Subject, predicate and object."""
        return self.subject, self.predicate, self.object


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementVector:
    """The half-precision, little-endian vector of one statement under one embedding model."""

    position: int
    model: str
    blob: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedUpdate:
    """One knowledge update, ready for ``GraphStore.apply``.

    ``text`` is None for an update of entities and triplets alone. Such an update has no passage; if
    its ``id`` is not empty it joins the update of the passage with that id. ``replaces``: a passage
    with this id and another text is forgotten first. ``t_index`` is None, except where an archive
    is restored in its own order; ``session_key`` is None, except in an archive, which keeps the
    session keys that follow from time and not from the names of the update, and so is
    ``withdrawn_t``, the t from which on the passage is withdrawn.
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
    session_key: str | None = None
    withdrawn_t: int | None = None

    @property
    def elements(self) -> tuple[EntityUpsert | TripletUpsert, ...]:
        """The entities, then the triplets."""
        return (*self.entities, *self.triplets)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddVectors:
    """Give the statements with these keys their vectors under ``model``. The store counts those
    that changed; it leaves unknown statements and those that have a vector as they are."""

    model: str
    vectors: Mapping[int, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetExpiry:
    """Give passages, by id, another moment of expiry (None: never). The store counts those that it
    knows, expired ones too."""

    expires_at: Mapping[str, datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Withdraw the passages with these ids from the next t on, or with ``undo`` let them be as if
    they had never been withdrawn. The store counts those that changed: a passage that is withdrawn
    keeps its t."""

    ids: Collection[str]
    undo: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSummary:
    """Write ``summary`` if its concept still has the ``t_index`` of the summary and so many
    ``statements`` (compare-and-set). The store counts 1 if it wrote the summary, else 0. A concept
    has one summary: this one replaces the one before.
    """

    summary: Summary
    statements: int


Amendment = AddVectors | SetExpiry | Withdraw | WriteSummary
"""A change that is no knowledge update. Only a withdrawal takes a t."""

SelectionKind = Literal[
    "id", "statement", "source", "session", "concept", "before", "expired", "everything", "graph"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNames:
    """Entities by exact id, and triplets by (subject, predicate, object)."""

    entities: frozenset[str] = frozenset()
    triplets: frozenset[TripletKey] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to forget.

    ``value`` is, by ``kind``: a passage id, a statement id, a source, a session name, a concept
    name, a t_index or an aware datetime (everything before it), the moment by which a passage has
    expired, True, or entities and triplets. ``dry_run``: the store says what it would forget, and
    changes nothing.
    """

    kind: SelectionKind
    value: str | int | datetime | GraphNames
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """How much a ``forget`` removed. It is false where nothing was removed.

    ``erasure_pending``: the data are forgotten, but their bytes may still stand in the file of an
    SQLite store or in the log beside it, because a reader was open on an earlier state. The next
    process that writes to the file or opens it overwrites them.
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
        counts = (name for name in self.__slots__ if name != "erasure_pending")
        return any(getattr(self, name) for name in counts)

    def __str__(self) -> str:
        """What was removed, in words: "1 passage, 2 statements"."""
        kinds = {"entities": "entity", "summaries": "summary"}
        counts = {name: getattr(self, name) for name in self.__slots__ if name != "erasure_pending"}
        words = [
            f"{count:,} {name if count != 1 else kinds.get(name, name[:-1])}"
            for name, count in counts.items()
            if count
        ]
        return ", ".join(words) or "nothing"
