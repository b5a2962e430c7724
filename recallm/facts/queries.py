"""Aggregation over the facts that hold: counts, groups, greatest and least values.

Each operation works in Python on the facts that hold: what holds is decided in one place, and the
answer is the same, and exact, on every store. Texts are equal where they spell one concept ("BMW",
"bmw"): ``Key`` gives both one key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Literal, TypeAlias

from recallm.facts.fact import PARTS, Fact, Part, Term

Key: TypeAlias = Callable[[Part, str], str]
"""A key that texts of this part share if they mean the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The facts that share a subject, a relation or an object: its text in the newest of them, and
    how many there are."""

    value: str
    count: int


def count(facts: Sequence[Fact], terms: Sequence[Term | None], key: Key) -> int:
    """The different values of the one term that is not given, else the number of facts."""
    parts = (PARTS[terms.index(None)],) if terms.count(None) == 1 else PARTS
    return len({_keys_of(fact, parts, key) for fact in facts})


def group(
    facts: Sequence[Fact], key: Key, *, by: Part, order: Literal["most", "least"]
) -> list[Group]:
    """The facts (the newest first) in groups that share the part ``by``: the largest groups first,
    or the smallest ones; equal ones by text."""
    distinct = {_keys_of(fact, PARTS, key): fact for fact in reversed(facts)}.values()
    counts = Counter(key(by, getattr(fact, by)) for fact in distinct)
    labels = {key(by, getattr(fact, by)): getattr(fact, by) for fact in distinct}  # the newest
    sign = -1 if order == "most" else 1
    ordered = sorted(counts, key=lambda each: (sign * counts[each], labels[each]))
    return [Group(value=labels[each], count=counts[each]) for each in ordered]


def top(facts: Sequence[Fact], *, order: Literal["greatest", "least"]) -> list[Fact]:
    """The facts with the greatest numbers or latest dates as objects first, or with the least and
    earliest. Objects that are neither are left out; where there are both numbers and dates, the
    rarer ones are left out too. Of equal values the newest fact comes first."""
    numbers: list[tuple[float, Fact]] = []
    dates: list[tuple[float, Fact]] = []
    for fact in facts:
        if isinstance(fact.value, date):
            dates.append((_seconds(fact.value), fact))
        elif isinstance(fact.value, int | float) and not isinstance(fact.value, bool):
            numbers.append((fact.value, fact))
    sign = -1 if order == "greatest" else 1
    measured = numbers if len(numbers) >= len(dates) else dates
    # A stable order: of equal values the newest stays first.
    return [fact for _, fact in sorted(measured, key=lambda measure: sign * measure[0])]


def _keys_of(fact: Fact, parts: Sequence[Part], key: Key) -> tuple[str, ...]:
    return tuple(key(part, getattr(fact, part)) for part in parts)


def _seconds(value: date) -> float:
    """A point in time for the order of dates and datetimes; without a time zone it is in UTC."""
    moment = value if isinstance(value, datetime) else datetime.combine(value, time.min)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
