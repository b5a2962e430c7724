"""The part of a memory of facts that reads: what holds, what changed, and aggregation."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, Self, get_args

from recallm import checks
from recallm.errors import InvalidInputError
from recallm.facts.fact import Change, Fact, Match, Term, checked_term
from recallm.facts.queries import Counted, FactQueries, Group, Part, Pattern, Solution
from recallm.facts.searching import Search
from recallm.facts.values import text_key
from recallm.memory import RecallM
from recallm.model import Moment
from recallm.predicates import (
    FactReading,
    PerVocabulary,
    PredicateNames,
    Relations,
    Side,
    Vocabulary,
)

__all__ = ["StoredFacts"]


class StoredFacts:
    """The facts in the graph of ``memory``. ``FactMemory`` adds writing, and describes the
    arguments."""

    def __init__(
        self,
        memory: RecallM,
        *,
        single_valued: Iterable[str] | Mapping[str, Side] = (),
        multi_valued: Iterable[str] = (),
    ) -> None:
        if not isinstance(memory, RecallM):
            raise InvalidInputError(
                f"memory must be a RecallM, not {type(memory).__name__}", argument="memory"
            )
        self._memory = memory
        self._relations = Relations(
            PredicateNames(memory.graph.concept_name),
            single_valued=_declared(single_valued),
            multi_valued=[
                checked_term(it, "multi_valued")
                for it in checks.listed(multi_valued, "multi_valued")
            ],
        )
        relations = self._relations
        self._vocabularies = PerVocabulary(lambda predicates: Vocabulary(predicates, relations))
        self._search = Search(memory.graph.concept_name, self._relations, memory.embedding)

    @property
    def memory(self) -> RecallM:
        """The memory whose graph holds the facts."""
        return self._memory

    def in_namespace(self, name: str) -> Self:
        """The facts of another owner, with the same settings."""
        other = copy.copy(self)
        other._memory = self._memory.in_namespace(name)
        return other

    # -- reading ---------------------------------------------------------------------------

    def read(
        self,
        subject: Term | None = None,
        relation: Term | None = None,
        object: Term | None = None,
        *,
        as_of: Moment | None = None,
        match: Match = "similar",
        limit: int | None = None,
    ) -> list[Fact]:
        """The facts that hold, newest first; at most ``limit``, those that arrived last.

        None stands for any subject, relation or object: the paper's six forms, the full one, and
        everything. A denied relation ("no longer works for") finds denials. ``as_of``: what held at
        a t_index, or by what was said up to an aware datetime.

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        checks.choice(match, get_args(Match), "match")
        at_most = checks.count(limit, "limit")
        with self._reading(as_of) as reading:
            return self._facts(reading, (subject, relation, object), match, at_most)

    def changes(
        self, subject: Term, relation: Term, *, as_of: Moment | None = None
    ) -> list[Change]:
        """The values that the relation has or had for a subject, in the order in which they began.

        Terms are matched exactly. A value that came back is listed twice.

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        terms = _terms(subject, relation, None)
        with self._reading(as_of) as reading:
            spans = reading.history(self._search.conditions(reading, terms))
        return [Change.of(span) for span in spans]

    # -- aggregation -----------------------------------------------------------------------

    def count(
        self,
        subject: Term | None = None,
        relation: Term | None = None,
        object: Term | None = None,
        *,
        of: Counted | None = None,
        as_of: Moment | None = None,
        match: Match = "similar",
    ) -> int:
        """How many different values the one term that is not given has; with more or none of them
        not given, how many facts hold. ``of`` says which: "facts", "subjects", "relations" or
        "objects".

        >>> from recallm import RecallM
        >>> from recallm.facts import FactMemory
        >>> facts = FactMemory(RecallM())
        >>> facts.write_many([("Ada", "works for", "BMW"), ("Kay", "employed by", "BMW")])
        2
        >>> facts.count(relation="works for", object="BMW")
        2

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        with self._queries(as_of, match) as queries:
            return queries.count((subject, relation, object), of)

    def group(
        self,
        subject: Term | None = None,
        relation: Term | None = None,
        object: Term | None = None,
        *,
        by: Part,
        order: Literal["most", "least"] = "most",
        limit: int | None = None,
        as_of: Moment | None = None,
        match: Match = "similar",
    ) -> list[Group]:
        """How many facts hold for each subject, relation or object (``by``), the most first.

        >>> from recallm import RecallM
        >>> from recallm.facts import FactMemory
        >>> facts = FactMemory(RecallM())
        >>> staff = [("Ada", "BMW"), ("Kay", "Cisco"), ("Max", "Cisco")]
        >>> facts.write_many((name, "works for", firm) for name, firm in staff)
        3
        >>> [(it.value, it.count) for it in facts.group(relation="works for", by="object")]
        [('Cisco', 2), ('BMW', 1)]

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        with self._queries(as_of, match) as queries:
            return queries.group((subject, relation, object), by=by, order=order, limit=limit)

    def top(
        self,
        relation: Term,
        *,
        subject: Term | None = None,
        order: Literal["greatest", "least"] = "greatest",
        limit: int | None = 1,
        as_of: Moment | None = None,
        match: Match = "similar",
    ) -> list[Fact]:
        """The facts of a relation whose objects are the greatest numbers or latest dates, or the
        least and earliest; at most ``limit``. Other objects are left out.

        >>> from recallm import RecallM
        >>> from recallm.facts import FactMemory
        >>> facts = FactMemory(RecallM())
        >>> facts.write_many([("Ada", "salary", "52,000 USD"), ("Kay", "salary", 61000)])
        2
        >>> [fact.subject for fact in facts.top("salary")]
        ['Kay']

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        with self._queries(as_of, match) as queries:
            return queries.top(subject, relation, order=order, limit=limit)

    def find(
        self,
        patterns: Iterable[Pattern],
        *,
        limit: int | None = None,
        as_of: Moment | None = None,
        match: Match = "similar",
    ) -> list[Solution]:
        """The values of variables ("?who") with which all ``patterns`` hold, each solution once.

        >>> from recallm import RecallM
        >>> from recallm.facts import FactMemory
        >>> facts = FactMemory(RecallM())
        >>> facts.write_many([("Ada", "works for", "Opera"), ("Opera", "founded in", "Oslo")])
        2
        >>> of_oslo = [("?who", "works for", "?firm"), ("?firm", "founded in", "Oslo")]
        >>> [(it["who"], it["firm"]) for it in facts.find(of_oslo)]
        [('Ada', 'Opera')]

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        with self._queries(as_of, match) as queries:
            return queries.find(patterns, limit=limit)

    # -- parts -----------------------------------------------------------------------------

    def _facts(
        self,
        reading: FactReading,
        terms: tuple[Term | None, Term | None, Term | None],
        match: Match,
        limit: int | None = None,
    ) -> list[Fact]:
        """The facts that hold and have these terms, newest first."""
        return self._search.facts(reading, _terms(*terms), match, limit)

    @contextmanager
    def _queries(self, as_of: Moment | None, match: Match) -> Iterator[FactQueries]:
        """Aggregation over what one reader sees."""
        checks.choice(match, get_args(Match), "match")
        with self._reading(as_of) as reading:
            yield FactQueries(
                read=lambda terms, how: self._facts(reading, terms, how), key=self._key, match=match
            )

    def _key(self, part: Part, text: str) -> str:
        """What texts of a part share that mean the same."""
        if part == "relation":
            return self._relations.of(text).name
        return text_key(text, self._memory.graph.concept_name)

    @contextmanager
    def _reading(self, as_of: Moment | None = None) -> Iterator[FactReading]:
        """All reads within one horizon see one state."""
        horizon = checks.moment(as_of, "as_of")
        with self._memory.graph.reader(horizon) as reader:
            vocabulary = self._vocabularies.of(self._memory.namespace, reader)
            yield FactReading(reader, self._relations, vocabulary, horizon)


def _terms(
    subject: Term | None, relation: Term | None, object: Term | None
) -> tuple[str | None, str | None, str | None]:
    """The texts of the terms that are given."""
    return (
        checks.optional(checked_term, subject, "subject"),
        checks.optional(checked_term, relation, "relation"),
        checks.optional(checked_term, object, "object"),
    )


def _declared(single_valued: object) -> list[str] | dict[str, Side]:
    """The predicates that are declared single-valued, as ``Relations`` takes them."""
    if isinstance(single_valued, Mapping):
        return {
            checked_term(predicate, "single_valued"): checks.choice(
                side, get_args(Side), "single_valued"
            )
            for predicate, side in single_valued.items()
        }
    listed = checks.listed(single_valued, "single_valued")
    return [checked_term(predicate, "single_valued") for predicate in listed]
