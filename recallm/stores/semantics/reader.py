"""What a read means, once for all engines: `Reader`, over queries that an engine spells."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, LiteralString, TypeVar, Unpack

from recallm.model import (
    ConceptRow,
    Entity,
    EvidenceConditions,
    NamespaceState,
    OpenSession,
    PreparedUpdate,
    Relation,
    Session,
    Summary,
    Triplet,
    TripletConditions,
    TripletEvidence,
    position_of,
    session_name_in,
    t_index_of,
)
from recallm.stores.semantics.reading import mapping_of, open_session_of, summary_of
from recallm.stores.semantics.rows import ConceptTotals, from_microseconds, t_of, unpack_timestamp

_TEXT = r"((?:(?!\{\?|\?:|\?\}).)*)"
_PART = re.compile(r"\{\?(\w+):" + _TEXT + r"(?:\?:" + _TEXT + r")?\?\}", re.DOTALL)
"""A part without parts."""

_PAGE = 500
"""Updates that a dump reads at a time."""

Names = Collection[str] | None

_Value = TypeVar("_Value", Entity, Triplet, Relation)


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
        """Columns: the fields of ``Session``, with its key in place of the name, and times as
        microseconds since 1970; the latest first."""
        return [
            Session(
                name=session_name_in(key),
                passages=passages,
                first_t=first_t,
                t_index=t_index,
                began=None if began is None else from_microseconds(began),
                ended=None if ended is None else from_microseconds(ended),
            )
            for key, passages, first_t, t_index, began, ended in self.ask("sessions")
        ]

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
        """Columns: name, fields of ``ConceptTotals``, those of the ``Summary`` in force, and how
        many updates touched the concept after that. With a ``limit``: of the concepts that nothing
        touched after the view's t, the latest. Stored totals hold where nothing touched the concept
        after that t; else they are counted."""
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
            row, (summary_t, *summary, later) = totals[name], stored[name][6:]
            is_revised = summary_t is not None
            concepts.append(
                ConceptRow(
                    name=name,
                    label=row.label,
                    kind=row.kind,
                    t_index=row.t_index,
                    updates=row.updates,
                    statements=row.statements,
                    merges=later if is_revised else row.updates - 1,
                    summary=summary_of(name, summary_t, *summary) if is_revised else None,
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
        """See ``GraphReader``. The query of summaries has the arguments of ``summary_of`` as its
        columns, and finds every summary, also those that the view's t hides."""
        after = 0
        while updates := self.page_of_updates(after, _PAGE):
            yield from updates
            after = t_of(updates[-1])
        summaries = [summary_of(*row) for row in self.ask("summaries")]
        yield from sorted(summaries, key=attrgetter("t_index", "concept"))

    def _each(self, query: str, each: Sequence[Mapping[str, Names]]) -> list[Any]:
        """The rows of a query for each of several sets of conditions."""
        asks = [lambda reader, given=given: reader.ask(query, **given) for given in each]
        return [row for rows in self.together(*asks) for row in rows]


def value_of(kind: type[_Value], row: Sequence[Any]) -> _Value:
    """The value of a row of its fields, of which properties are JSON."""
    fields = dict(zip(kind.__dataclass_fields__, row, strict=True))
    if "properties" in fields:
        fields["properties"] = mapping_of(fields["properties"])
    return kind(**fields)


def _common(some: Names, ends: Collection[str]) -> set[str]:
    return set(ends) if some is None else set(some) & set(ends)
