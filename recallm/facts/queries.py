"""Aggregation over the facts that hold: counts, groups, greatest and least values, joined patterns.

Each operation asks for the facts that hold (``Read``) and works on them in Python: what holds is
decided in one place, and the answer is the same, and exact, on every store. Texts are equal where
they spell one concept ("BMW", "bmw").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import islice
from typing import Literal, TypeAlias

from recallm.errors import InvalidInputError
from recallm.facts.fact import PARTS, Fact, Match, Part, Term, checked_term
from recallm.ground import checks

Pattern: TypeAlias = tuple[Term | None, Term | None, Term | None]
"""Subject, relation and object; a text that begins with "?" is a variable, None any value."""

Read: TypeAlias = Callable[[Pattern, Match], list[Fact]]
"""The facts that hold and have these terms, newest first."""

Key: TypeAlias = Callable[[Part, str], str]
"""A key that texts of this part share if they mean the same."""

_MOST_JOINED = 1_000_000
"""Solutions of some of the patterns; more are refused."""

_MOST_LOOKED_UP = 64
"""Up to 64 values of a variable are looked up one by one. For more of them all facts of the next
pattern are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The facts that share a subject, a relation or an object: its text in the newest of them, and
    how many there are."""

    value: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Values for the variables of some patterns, by name without "?" in the order in which the
    patterns have them, and a fact for each pattern."""

    values: Mapping[str, str]
    facts: tuple[Fact, ...]

    def __getitem__(self, variable: str) -> str:
        """The value of a variable, by its name with or without "?"."""
        return self.values[variable.removeprefix("?")]


@dataclass(frozen=True, slots=True)
class FactQueries:
    """Operations over the facts that ``read`` gives with ``match``."""

    read: Read
    key: Key
    match: Match

    def count(self, terms: Pattern) -> int:
        """The different values of the one term that is not given, else the number of facts."""
        parts = (PARTS[terms.index(None)],) if terms.count(None) == 1 else PARTS
        return len({self._keys_of(fact, parts) for fact in self.read(terms, self.match)})

    def group(
        self, terms: Pattern, *, by: Part, order: Literal["most", "least"], limit: int | None
    ) -> list[Group]:
        """The facts in groups that share the part ``by``: the largest groups first, or the smallest
        ones; equal ones by text."""
        part: Part = checks.choice(by, PARTS, "by")
        checks.choice(order, ("most", "least"), "order")
        at_most = checks.count(limit, "limit")
        found = reversed(self.read(terms, self.match))
        facts = {self._keys_of(fact, PARTS): fact for fact in found}.values()
        counts = Counter(self._key_of(fact, part) for fact in facts)
        labels = {self._key_of(fact, part): getattr(fact, part) for fact in facts}  # the newest
        sign = -1 if order == "most" else 1
        ordered = sorted(counts, key=lambda key: (sign * counts[key], labels[key]))
        return [Group(value=labels[key], count=counts[key]) for key in ordered[:at_most]]

    def top(
        self,
        subject: Term | None,
        relation: Term,
        *,
        order: Literal["greatest", "least"],
        limit: int | None,
    ) -> list[Fact]:
        """The facts with the greatest numbers or latest dates as objects first, or with the least
        and earliest. Objects that are neither are left out; where a relation has both numbers and
        dates, the rarer ones are left out too. Of equal values the newest fact comes first."""
        checked_term(relation, "relation")
        checks.choice(order, ("greatest", "least"), "order")
        at_most = checks.count(limit, "limit")
        numbers: list[tuple[float, Fact]] = []
        dates: list[tuple[float, Fact]] = []
        for fact in self.read((subject, relation, None), self.match):
            if isinstance(fact.value, date):
                dates.append((_seconds(fact.value), fact))
            elif isinstance(fact.value, int | float) and not isinstance(fact.value, bool):
                numbers.append((fact.value, fact))
        sign = -1 if order == "greatest" else 1
        measured = numbers if len(numbers) >= len(dates) else dates
        # A stable order: of equal values the newest stays first.
        measured.sort(key=lambda measure: sign * measure[0])
        return [fact for _, fact in measured[:at_most]]

    def find(self, patterns: Iterable[Pattern], *, limit: int | None) -> list[Solution]:
        """The values of the variables with which every pattern holds, each solution once."""
        checked = [_Checked.of(pattern) for pattern in checks.listed(patterns, "patterns")]
        at_most = checks.count(limit, "limit")
        if not checked:
            raise InvalidInputError(
                "find needs a pattern, such as ('?who', 'works for', 'BMW')", argument="patterns"
            )
        found = [_Joined({}, {}, {})]
        for place in _order(checked):
            if not found:
                break
            found = list(islice(self._extended(found, checked[place], place), _MOST_JOINED + 1))
            if len(found) > _MOST_JOINED:
                raise InvalidInputError(
                    f"the patterns have more than {_MOST_JOINED:,} solutions; name more of their "
                    "terms",
                    argument="patterns",
                )
        distinct = {tuple(sorted(joined.keys.items())): joined for joined in reversed(found)}
        names = dict.fromkeys(name for pattern in checked for name in pattern.variables)
        return [
            Solution(
                values={name: joined.values[name] for name in names},
                facts=tuple(fact for _, fact in sorted(joined.facts.items())),
            )
            for joined in list(reversed(distinct.values()))[:at_most]
        ]

    def _extended(
        self, found: Sequence[_Joined], pattern: _Checked, place: int
    ) -> Iterator[_Joined]:
        """``found`` joined with the facts of a pattern."""
        shared = sorted(set(pattern.variables) & found[0].keys.keys())
        known: dict[tuple[str, ...], list[_Joined]] = defaultdict(list)
        for joined in found:
            known[tuple(joined.keys[name] for name in shared)].append(joined)
        for fact in self._facts_of(pattern, shared, known):
            bound = self._bound(pattern, fact)
            if bound is None:
                continue
            values, keys = bound
            for joined in known.get(tuple(keys[name] for name in shared), ()):
                yield _Joined(
                    values | joined.values, keys | joined.keys, joined.facts | {place: fact}
                )

    def _facts_of(
        self,
        pattern: _Checked,
        shared: Sequence[str],
        known: Mapping[tuple[str, ...], Sequence[_Joined]],
    ) -> list[Fact]:
        """The facts of a pattern that may agree with the values of its variables."""
        if shared and len(known) <= _MOST_LOOKED_UP:
            facts: list[Fact] = []
            for same in known.values():
                values = {name: same[0].values[name] for name in shared}
                facts += self.read(pattern.terms(values), "exact")
            if facts:
                return facts
        return self.read(pattern.terms({}), self.match)

    def _bound(self, pattern: _Checked, fact: Fact) -> tuple[dict[str, str], dict[str, str]] | None:
        """The values that a fact gives the variables of a pattern, and their keys; None where one
        variable stands for two things."""
        values: dict[str, str] = {}
        keys: dict[str, str] = {}
        for part, name in zip(PARTS, pattern.names, strict=True):
            if name is not None:
                key = self._key_of(fact, part)
                values.setdefault(name, getattr(fact, part))
                if keys.setdefault(name, key) != key:
                    return None
        return values, keys

    def _key_of(self, fact: Fact, part: Part) -> str:
        return self.key(part, getattr(fact, part))

    def _keys_of(self, fact: Fact, parts: Sequence[Part]) -> tuple[str, ...]:
        return tuple(self._key_of(fact, part) for part in parts)


@dataclass(frozen=True, slots=True)
class _Joined:
    """The values of the variables of the patterns that were joined so far, their keys, and the fact
    of each of these patterns, by its place."""

    values: dict[str, str]
    keys: dict[str, str]
    facts: dict[int, Fact]


@dataclass(frozen=True, slots=True)
class _Checked:
    """A pattern, and the names of the variables in it (None for a term)."""

    pattern: Pattern
    names: tuple[str | None, str | None, str | None]

    @classmethod
    def of(cls, pattern: object) -> _Checked:
        terms = tuple(checks.listed(pattern, "patterns"))
        if len(terms) != 3:
            raise InvalidInputError(
                "a pattern is (subject, relation, object); variables begin with '?'",
                argument="patterns",
            )
        subject, relation, object_ = (_name(term) for term in terms)
        return cls(terms, (subject, relation, object_))

    @property
    def variables(self) -> list[str]:
        """The names of its variables."""
        return [name for name in self.names if name is not None]

    def terms(self, values: Mapping[str, str]) -> Pattern:
        """The terms to read: a variable without a value is None."""
        subject, relation, object_ = (
            term if name is None else values.get(name)
            for term, name in zip(self.pattern, self.names, strict=True)
        )
        return subject, relation, object_

    def selectivity(self, bound: Collection[str]) -> int:
        """How few facts are likely to agree: known ends count more than a known relation."""
        weights = (3, 1, 3)
        return sum(
            weight
            for weight, term, name in zip(weights, self.pattern, self.names, strict=True)
            if (term is not None if name is None else name in bound)
        )


def _order(patterns: Sequence[_Checked]) -> list[int]:
    """The places of the patterns in the order in which they are joined: each shares a variable with
    those before it, and of these the one with the fewest facts comes first."""
    left = set(range(len(patterns)))
    bound: set[str] = set()
    order: list[int] = []
    while left:
        variables = {place: patterns[place].variables for place in sorted(left)}
        joined = [
            place
            for place, names in variables.items()
            if not (bound and names) or not bound.isdisjoint(names)
        ]
        if not joined:
            raise InvalidInputError(
                "each pattern must share a variable with the others; ask for the rest in another "
                "call",
                argument="patterns",
            )
        order.append(max(joined, key=lambda place: patterns[place].selectivity(bound)))
        left.remove(order[-1])
        bound.update(variables[order[-1]])
    return order


def _name(term: object) -> str | None:
    """The name of a variable, without "?"; None for a term."""
    if isinstance(term, str) and term.startswith("?"):
        if not term[1:].strip():
            raise InvalidInputError("a variable needs a name: '?who'", argument="patterns")
        return term[1:]
    return None


def _seconds(value: date) -> float:
    """A point in time for the order of dates and datetimes; without a time zone it is in UTC."""
    moment = value if isinstance(value, datetime) else datetime.combine(value, time.min)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
