"""What a read means, once for all engines: `Reader`, over queries that an engine spells."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, LiteralString

from recallm.model import (
    ConceptRow,
    Entity,
    NamespaceState,
    OpenSession,
    Relation,
    Session,
    Triplet,
    TripletEvidence,
    TripletKey,
)
from recallm.stores.semantics.reading import (
    bearers_of,
    concept_rows,
    entity_of,
    evidence_row_of,
    latest_first,
    open_session_of,
    relation_of,
    session_of,
    triplet_of,
)
from recallm.stores.semantics.rows import ConceptTotals

_TEXT = r"((?:(?!\{\?|\?:|\?\}).)*)"
_PART = re.compile(r"\{\?(\w+):" + _TEXT + r"(?:\?:" + _TEXT + r")?\?\}", re.DOTALL)
"""A part without parts."""

Names = Collection[str] | None


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

    @abstractmethod
    def ask(self, query: str, /, **given: Any) -> list[Any]:
        """The rows of the query of this name. An argument that is None is not given: it is no
        condition."""

    @abstractmethod
    def together(self, *reads: Callable[[Any], Any]) -> list[Any]:
        """See ``GraphReader``."""

    @abstractmethod
    def count_touches(self, names: Collection[str]) -> Mapping[str, ConceptTotals]:
        """The totals of concepts up to the view's t, counted."""

    def sessions(self) -> list[Session]:
        """Columns: those of ``session_of``, the latest first."""
        return [session_of(*row) for row in self.ask("sessions")]

    def open_session(self) -> OpenSession | None:
        """Columns: those of ``open_session_of``; no row where the session has expired."""
        for row in self.ask("open session"):
            return open_session_of(*row)
        return None

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
        touched after the view's t, the latest."""
        if names is None:
            found = self.ask("latest concepts", limit=limit)
        else:
            found = self.ask("concepts", names=names)
        return concept_rows(found, self.state.t_index, limit, self.count_touches)

    def relations(
        self, names: Collection[str], *, limit: int | None = None, among: bool = False
    ) -> list[Relation]:
        """Columns: a, b, strength, t."""
        query = "relations among" if among else "relations"
        rows = self.ask(query, names=names, limit=None if among else limit) if names else []
        return sorted(set(map(relation_of, rows)), key=attrgetter("a", "b"))

    def entities(
        self, ids: Names = None, *, concepts: Names = None, passages: Names = None
    ) -> list[Entity]:
        """Columns: the fields of ``Entity``. At most one condition is given."""
        given = {"ids": ids, "concepts": concepts, "passages": passages}
        each = [{name: value} for name, value in given.items() if value is not None]
        entities = {row[0]: entity_of(row) for row in self._each("entities", each or [{}])}
        return [entities[id] for id in sorted(entities)]

    def triplets(
        self,
        *,
        subjects: Names = None,
        predicates: Names = None,
        objects: Names = None,
        ends: Names = None,
        passages: Names = None,
    ) -> list[Triplet]:
        """Columns: the fields of ``Triplet``."""
        given = {"predicates": predicates, "passages": passages}
        sides = [(subjects, objects)]
        if ends is not None:
            sides = [(_common(subjects, ends), objects), (subjects, _common(objects, ends))]
        each = [{**given, "subjects": some, "objects": others} for some, others in sides]
        triplets: dict[TripletKey, Triplet] = {
            tuple(row[:3]): triplet_of(row) for row in self._each("triplets", each)
        }
        return [triplets[key] for key in sorted(triplets)]

    def triplet_evidence(
        self,
        *,
        subjects: Names = None,
        predicates: Names = None,
        objects: Names = None,
        limit: int | None = None,
    ) -> list[TripletEvidence]:
        """Columns: those of ``evidence_row_of``; with a ``limit`` the latest of the order."""
        rows = self.ask(
            "evidence", subjects=subjects, predicates=predicates, objects=objects, limit=limit
        )
        return latest_first(map(evidence_row_of, rows), limit)

    def predicates(self) -> Mapping[str, int]:
        """Columns: predicate, how many triplets have it."""
        return dict(sorted(self.ask("predicates")))

    def entities_by_words(
        self, words: Collection[str], *, limit: int
    ) -> Mapping[str, tuple[str, ...]]:
        """Columns: word, id; of each word at most ``limit``."""
        return bearers_of(self.ask("bearers", words=words, limit=limit) if words and limit else ())

    def _each(self, query: str, each: Sequence[Mapping[str, Names]]) -> list[Any]:
        """The rows of a query for each of several sets of conditions."""
        asks = [lambda reader, given=given: reader.ask(query, **given) for given in each]
        return [row for rows in self.together(*asks) for row in rows]


def _common(some: Names, ends: Collection[str]) -> set[str]:
    return set(ends) if some is None else set(some) & set(ends)
