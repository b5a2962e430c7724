"""What a read means, once for all engines: `Reader`, over queries that an engine spells, and the
values that it makes of their rows."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any, LiteralString, TypeVar, Unpack

from recallm.model import (
    ConceptMention,
    ConceptRow,
    CorpusSize,
    ElementKey,
    Entity,
    EntityUpsert,
    EvidenceConditions,
    ExtractedStatement,
    NamespaceState,
    Neighbours,
    OpenSession,
    PreparedUpdate,
    Relation,
    Session,
    SessionSize,
    Sizes,
    StatementVector,
    Summary,
    Trait,
    Triplet,
    TripletConditions,
    TripletEvidence,
    TripletUpsert,
    VectorState,
    empty_mapping,
    position_of,
    session_key_of,
    session_name_in,
    t_index_of,
)
from recallm.stores.semantics.rows import (
    ConceptTotals,
    Evidence,
    from_microseconds,
    t_of,
    unpack_timestamp,
)

_TEXT = r"((?:(?!\{\?|\?:|\?\}).)*)"
_PART = re.compile(r"\{\?(\w+):" + _TEXT + r"(?:\?:" + _TEXT + r")?\?\}", re.DOTALL)
"""A part without parts."""

_PAGE = 500
"""Updates that a dump reads at a time."""

Names = Collection[str] | None

_Value = TypeVar("_Value", Entity, Relation, Session, Summary, Triplet)
_Shown = TypeVar("_Shown", EntityUpsert, TripletUpsert)


def literal(text: str) -> LiteralString:
    """A text that is made of literals and numbers alone, for the type checker."""
    return text  # pyright: ignore[reportReturnType]


@cache
def with_parts(query: LiteralString, given: frozenset[str]) -> LiteralString:
    """A query with those of its parts ``{?name: …?}`` alone whose parameter is given; of
    ``{?name: …?: …?}`` with the second part where the parameter is not given. A part may have
    parts."""
    text, found = str(query), 1
    while found:
        text, found = _PART.subn(lambda part: part[2] if part[1] in given else part[3] or "", text)
    return literal(text)


class Reader(ABC):
    """``GraphReader`` but for what engines look for in ways of their own: passages, statements,
    postings and mentions.

    An engine spells the queries that are named here, with these columns, for what its view shows.
    """

    state: NamespaceState
    opened: Sequence[Any]
    """The columns of ``open_session_of``: an engine reads them with the row of the namespace."""

    @abstractmethod
    def ask(self, query: str, /, **given: Any) -> list[Any]:
        """The rows of the query of this name. An argument that is None is not given: it is no
        condition."""

    @abstractmethod
    def together(self, *reads: Callable[[Any], Any]) -> list[Any]:
        """See ``GraphReader``."""

    @abstractmethod
    def page_of_updates(self, after: int, limit: int) -> Sequence[PreparedUpdate]:
        """The first ``limit`` updates, or some of them, after a t; none where there is none."""

    @abstractmethod
    def count_touches(self, names: Collection[str]) -> Mapping[str, ConceptTotals]:
        """The totals of concepts up to the view's t, counted."""

    def sessions(self) -> list[Session]:
        """Columns: the fields of ``Session``, with its key in place of the name; the latest
        first."""
        found = self.ask("sessions")
        return [value_of(Session, (session_name_in(key), *row)) for key, *row in found]

    def open_session(self) -> OpenSession | None:
        return open_session_of(*self.opened)

    def statement_keys(
        self, *, embedded: bool, after: int = -1, limit: int | None = None
    ) -> list[int]:
        """Column: the key, ascending. ``embedded`` is given or not."""
        found = self.ask("statement keys", embedded=embedded or None, after=after, limit=limit)
        return [key for (key,) in found]

    def vectors(
        self,
        keys: Collection[int] | None = None,
        *,
        model: str,
        after: int = -1,
        limit: int | None = None,
    ) -> Mapping[int, bytes]:
        """Columns: key, vector, ascending by key."""
        if keys is not None and not keys:
            return {}
        return dict(self.ask("vectors", keys=keys, model=model, after=after, limit=limit))

    def entity_vectors(self, ids: Names = None, *, model: str) -> Mapping[str, bytes]:
        """Columns: the entity's id, vector."""
        return dict(sorted(self.ask("entity vectors", ids=ids, model=model)))

    def concepts(self, names: Names = None, *, limit: int | None = None) -> list[ConceptRow]:
        """Columns: name, fields of ``ConceptTotals``, those of the ``Summary`` in force but its
        concept, and how many updates touched the concept after that. With a ``limit``: of the
        concepts that nothing touched after the view's t, the latest. Stored totals hold where
        nothing touched the concept after that t; else they are counted."""
        if names is None:
            found = self.ask("latest concepts", limit=limit)
        else:
            found = self.ask("concepts", names=names)
        t_index = self.state.t_index
        stored = {row[0]: row for row in found}
        totals = {n: ConceptTotals(*row[1:6]) for n, row in stored.items() if row[3] <= t_index}
        if len(totals) < len(stored):
            totals |= self.count_touches(stored.keys() - totals.keys())
        latest = sorted(totals, key=lambda name: (-totals[name].t_index, name))[:limit]
        concepts: list[ConceptRow] = []
        for name in latest:
            row, (*summary, later) = totals[name], stored[name][6:]
            is_revised = summary[0] is not None
            concepts.append(
                ConceptRow(
                    name=name,
                    label=row.label,
                    kind=row.kind,
                    t_index=row.t_index,
                    updates=row.updates,
                    statements=row.statements,
                    merges=later if is_revised else row.updates - 1,
                    summary=value_of(Summary, (name, *summary)) if is_revised else None,
                )
            )
        return concepts

    def relations(
        self, names: Collection[str], *, limit: int | None = None, among: bool = False
    ) -> list[Relation]:
        """Columns: a, b, strength, t."""
        query = "relations among" if among else "relations"
        rows = self.ask(query, names=names, limit=None if among else limit) if names else []
        relations = {value_of(Relation, row) for row in rows}
        return sorted(relations, key=attrgetter("a", "b"))

    def entities(
        self, ids: Names = None, *, concepts: Names = None, passages: Names = None
    ) -> list[Entity]:
        """Columns: the fields of ``Entity``. At most one condition is given."""
        given = {"ids": ids, "concepts": concepts, "passages": passages}
        each = [{name: value} for name, value in given.items() if value is not None]
        rows = {row[0]: row for row in self._each("entities", each or [{}])}
        return [value_of(Entity, rows[id]) for id in sorted(rows)]

    def triplets(self, **where: Unpack[TripletConditions]) -> list[Triplet]:
        """Columns: the fields of ``Triplet``."""
        given: dict[str, Any] = {**where}
        ends = given.pop("ends", None)
        each = [given]
        if ends is not None:
            sides = ("subjects", "objects")
            each = [{**given, side: _common(given.get(side), ends)} for side in sides]
        rows = {tuple(row[:3]): row for row in self._each("triplets", each)}
        return [value_of(Triplet, rows[key]) for key in sorted(rows)]

    def triplet_evidence(
        self, *, limit: int | None = None, **where: Unpack[EvidenceConditions]
    ) -> list[TripletEvidence]:
        """Columns: subject (id, label, concept), predicate, object (id, label, concept, type),
        properties, ``at``, and the passage (id, timestamp, source) of the update; with a ``limit``
        the latest of the order."""
        rows = self.ask("evidence", **where, limit=limit)
        evidence: list[TripletEvidence] = []
        for *ends, properties, at, passage, said, source in rows:
            update = t_index_of(at), position_of(at), passage, unpack_timestamp(said), source
            evidence.append(TripletEvidence._make([*ends, mapping_of(properties), *update]))
        evidence.sort(key=lambda e: (-e.t_index, -e.position, e.subject, e.predicate, e.object))
        return evidence[:limit]

    def predicates(self) -> Mapping[str, int]:
        """Columns: predicate, how many triplets have it."""
        return dict(sorted(self.ask("predicates")))

    def entities_by_words(
        self, words: Collection[str], *, limit: int
    ) -> Mapping[str, tuple[str, ...]]:
        """Columns: word, id; of each word at most ``limit``."""
        found = self.ask("bearers", words=words, limit=limit) if words and limit else ()
        ids: dict[str, list[str]] = {}
        for word, id in sorted(map(tuple, found)):
            ids.setdefault(word, []).append(id)
        return {word: tuple(bearers) for word, bearers in ids.items()}

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        """See ``GraphReader``. The query of summaries has the fields of ``Summary`` as its
        columns, and finds every summary, also those that the view's t hides."""
        after = 0
        while updates := self.page_of_updates(after, _PAGE):
            yield from updates
            after = t_of(updates[-1])
        summaries = [value_of(Summary, row) for row in self.ask("summaries")]
        yield from sorted(summaries, key=attrgetter("t_index", "concept"))

    def _each(self, query: str, each: Sequence[Mapping[str, Names]]) -> list[Any]:
        """The rows of a query for each of several sets of conditions."""
        asks = [lambda reader, given=given: reader.ask(query, **given) for given in each]
        return [row for rows in self.together(*asks) for row in rows]


def _common(some: Names, ends: Collection[str]) -> set[str]:
    return set(ends) if some is None else set(some) & set(ends)


# What rows say.


def mapping_of(text: str | None) -> Mapping[str, Any]:
    """The mapping of a JSON text, which may be missing."""
    found: Mapping[str, Any] = json.loads(text) if text else empty_mapping()
    return found


def _moment(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else from_microseconds(microseconds)


_READ: Mapping[str, Callable[[Any], Any]] = {
    "properties": mapping_of,
    "terms": lambda text: tuple(json.loads(text)),
    "traits": Trait,
    "began": _moment,
    "ended": _moment,
}
"""What is made of the columns that are no values yet: JSON, traits as a number, and times as
microseconds since 1970."""


def value_of(kind: type[_Value], row: Iterable[Any]) -> _Value:
    """The value of a row of its fields."""
    fields = dict(zip(kind.__dataclass_fields__, row, strict=True))
    return kind(**{name: _READ[name](v) if name in _READ else v for name, v in fields.items()})


def evidence_of(
    key: ElementKey,
    at: int,
    properties: str | None,
    description: Sequence[Any] | None,
    vectors: Mapping[str, bytes] | None = None,
) -> Evidence:
    """Evidence of an entity or a triplet; ``description`` is that of `rows.kept_of`."""
    own: dict[str, Any] = {"properties": mapping_of(properties), "position": position_of(at)}
    if not isinstance(key, str):
        return TripletUpsert(subject=key[0], predicate=key[1], object=key[2], **own)
    own |= {"vectors": vectors or empty_mapping()}
    type, name, label, kind, *mentioned = description or []
    concept = ConceptMention(name=name, label=label, kind=kind)
    return EntityUpsert(id=key, type=type, concept=concept, mentioned=bool(mentioned), **own)


def state_of(
    t_index: int,
    vector_bytes: Mapping[str, int],
    vocabulary: int,
    model: str | None,
    origin: str,
    revision: int,
) -> NamespaceState:
    """``GraphReader.state``; ``model`` is None where no statement ever had a vector."""
    vectors = None
    if model is not None:
        size = vector_bytes[model]
        vectors = VectorState(model=model, size=size, origin=origin, revision=revision)
    return NamespaceState(
        t_index=t_index, vectors=vectors, vector_bytes=vector_bytes, vocabulary=vocabulary
    )


def sizes_of(corpus: Iterable[int], sessions: Iterable[tuple[str, int, int]]) -> Sizes:
    """``GraphReader.sizes``: statements, terms and sessions of the namespace, and (key, statements,
    terms) of some sessions."""
    return Sizes(
        corpus=CorpusSize(**dict(zip(("statements", "terms", "sessions"), corpus, strict=True))),
        sessions={
            key: SessionSize(statements=statements, terms=terms)
            for key, statements, terms in sorted(sessions)
        },
    )


def passage_fields(row: Mapping[str, Any], path: Iterable[str]) -> dict[str, Any]:
    """The arguments that ``Passage`` and ``PreparedUpdate`` share. What a row lacks is None."""
    return {
        "id": row["id"],
        "t_index": row["t"],
        "text": row["text"],
        "source": row.get("source"),
        "session": row.get("session"),
        "speaker": row.get("speaker"),
        "timestamp": unpack_timestamp(row.get("timestamp")),
        "metadata": json.loads(row["metadata"]),
        "path": tuple(path),
        "key": row.get("key"),
        "expires_at": unpack_timestamp(row.get("expires_at")),
        "withdrawn_t": row.get("withdrawn"),
    }


def open_session_of(
    t_index: int, key: str | None, said: int | None, source: str | None
) -> OpenSession | None:
    """The session of the update that the next one may continue, which was said so many
    microseconds after 1970; None where that update has no session or no time, or there is none."""
    if key is None or said is None:
        return None
    return OpenSession(t_index, key, from_microseconds(said), source)


def update_of(
    t_index: int,
    passage: Mapping[str, Any] | None,
    *,
    session_key: str | None = None,
    speaker_concept: str | None = None,
    neighbours: Iterable[Any] = (),
    said: Iterable[Sequence[Any]] = (),
    vectors: Iterable[tuple[int, str, bytes]] = (),
    shown: Iterable[Evidence] = (),
) -> PreparedUpdate:
    """A stored update with its parts in the order of ``GraphReader.dump``.

    Args:
        t_index: its t.
        passage: the ``passage_fields`` of its passage; None for a graph-only update.
        session_key: the key of the session that it belongs to.
        speaker_concept: see ``PreparedUpdate``.
        neighbours: (a, b, earlier, later).
        said: (``at``, start, end, terms, concepts, traits) of each statement.
        vectors: (``at``, model, vector).
        shown: the evidence of entities and of triplets.
    """
    evidence = list(shown)
    fields: dict[str, Any] = {"id": "", "text": None, "t_index": t_index}
    if passage is not None:
        named = session_key_of(passage["session"], passage["source"])
        fields = {**passage, "speaker_concept": speaker_concept}
        fields["session_key"] = None if session_key == named else session_key
    return PreparedUpdate(
        **fields,
        statements=tuple(
            ExtractedStatement(
                position=position_of(at),
                start=start,
                end=end,
                terms=terms,
                concepts=concepts,
                traits=Trait(traits),
            )
            for at, start, end, terms, concepts, traits in sorted(said, key=itemgetter(0))
        ),
        neighbours=tuple(
            Neighbours(a=a, b=b, earlier=earlier, later=later)
            for a, b, earlier, later in sorted(neighbours)
        ),
        entities=_in_order(EntityUpsert, evidence),
        triplets=_in_order(TripletUpsert, evidence),
        vectors=tuple(
            StatementVector(position=position_of(at), model=model, blob=blob)
            for at, model, blob in sorted(vectors)
        ),
    )


def _in_order(kind: type[_Shown], evidence: Iterable[Evidence]) -> tuple[_Shown, ...]:
    """The evidence of one kind, in the order of `GraphReader.dump`."""
    shown = (each for each in evidence if isinstance(each, kind))
    return tuple(sorted(shown, key=attrgetter("element", "position")))
