"""Budgets and equal sentences: how much of an order is recalled, in every ranking.

* A **budget** limits the number of statements and the tokens of the complete text.
* **Equal sentences** of one speaker count as one statement. The latest of them is recalled, or the
  earliest if the question asks for the first. If it asks for dates or for every answer, equal
  sentences of different days count separately (``EqualSentences.asked_by``).
* The **text** of a context has one statement a line; ``recallm.untrusted_text`` says
  what a line is.

A token counter need not be additive: the complete text is counted where the budget is tight.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Self, TypeAlias, TypeVar

from recallm.antecedents import RecalledReference, named_references, with_names
from recallm.model import StoredStatement, TemporalReading
from recallm.ranking.stem_counts import Floats
from recallm.results import chronological
from recallm.untrusted_text import statement_line

__all__ = [
    "PREFIX",
    "SHORTEST_LINE",
    "Budget",
    "EqualSentences",
    "SentenceKey",
    "context_line",
    "context_text",
    "fit_by_worth",
    "fit_in_order",
    "fitting_number",
]

PREFIX = "Oldest first; on conflict, the later holds:"
"""What the prompt of the RecallM paper says of its statements, in few tokens."""

SHORTEST_LINE = 5
"""Tokens of a short statement, to estimate how many statements a budget may hold."""

_COST_EXPONENT = 0.5
"""Worth is divided by tokens to this power. At 1, many short statements that help little crowd out
the one that answers; at 0, long ones do. On film plots 0.5 keeps most answers at any budget."""

_SPARE_TRIALS = 32
"""At most 32 more statements are tried for the tokens that are left over."""

SentenceKey: TypeAlias = tuple[str | None, str, date | None]
"""The speaker, the text without its case and white space, and the day where that counts."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """At most ``limit`` statements, at most ``max_tokens`` by ``count_tokens``; None: no limit.
    ``names_antecedents``: the text that is counted names whom pronouns stand for."""

    limit: int | None
    max_tokens: int | None
    count_tokens: Callable[[str], int]
    names_antecedents: bool = False

    def holds(self, text: str) -> bool:
        """Whether a text has few enough tokens."""
        return self.max_tokens is None or self.count_tokens(text) <= self.max_tokens

    def is_full(self, number: int) -> bool:
        """Whether no statement may follow ``number`` of them."""
        return self.limit is not None and number >= self.limit


# The text of a context.


def context_line(statement: StoredStatement, references: Iterable[RecalledReference] = ()) -> str:
    """A statement with its date and speaker, where known, and the names of its references:
    ``[2023-05-08] Caroline: …``."""
    text = with_names(statement.text, references)
    return statement_line(text, speaker=statement.speaker, timestamp=statement.timestamp)


def context_text(statements: Sequence[StoredStatement], *, names_antecedents: bool) -> str:
    """The statements in order of time; empty where there are none. The text begins with ``PREFIX``
    where they come from several passages: sentences of one passage stand in their own order."""
    several = len({statement.passage_id for statement in statements}) > 1
    references = named_references(statements) if names_antecedents else {}
    lines = (context_line(it, references.get(it.key, ())) for it in statements)
    return "\n".join((*([PREFIX] if several else []), *lines))


# Equal sentences.


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualSentences:
    """Which statements are equal, and which of them is recalled: the latest, or the ``earliest``.
    With ``by_day`` equal sentences of different days are different."""

    earliest: bool = False
    by_day: bool = False

    @classmethod
    def asked_by(cls, time: TemporalReading) -> Self:
        """The rule for what a question asks about time."""
        return cls(earliest=time.order == "earliest", by_day=time.spread or time.window != "none")

    def key(self, statement: StoredStatement) -> SentenceKey:
        """The key that equal statements share."""
        text = unicodedata.normalize("NFKC", statement.text).casefold()
        said = statement.timestamp if self.by_day else None
        return statement.speaker, " ".join(text.split()), said.date() if said else None

    def prefers(self, statement: StoredStatement, other: StoredStatement) -> bool:
        """Whether ``statement`` is recalled in place of ``other``, its equal."""
        later, earlier = (other, statement) if self.earliest else (statement, other)
        return chronological((later, earlier))[1] is later

    def distinct(self, statements: Iterable[StoredStatement]) -> dict[SentenceKey, StoredStatement]:
        """The preferred statement of each key, in the order of each key's first statement."""
        found: dict[SentenceKey, StoredStatement] = {}
        for statement in statements:
            key = self.key(statement)
            if key not in found or self.prefers(statement, found[key]):
                found[key] = statement
        return found


# Budgets.


def fitting_number(number: int, text_of: Callable[[int], str], budget: Budget) -> int:
    """How many of the first ``number`` parts fit; ``text_of(n)`` is the text of the first n."""
    if budget.max_tokens is None:
        return number
    return bisect_right(
        range(1, number + 1),
        budget.max_tokens,
        key=lambda size: budget.count_tokens(text_of(size)),
    )


def fit_in_order(
    ordered: Sequence[_T], text_of: Callable[[Sequence[_T]], str], budget: Budget
) -> list[_T]:
    """The first of ``ordered`` that the budget holds. Shorter ones take the place of the first that
    does not fit."""
    first = list(ordered if budget.limit is None else ordered[: budget.limit])
    if budget.holds(text_of(first)):
        return first
    size = fitting_number(len(first) - 1, lambda size: text_of(first[:size]), budget)
    chosen = first[:size]
    for part in ordered[size + 1 : size + 1 + _SPARE_TRIALS]:
        if budget.is_full(len(chosen)):
            break
        if budget.holds(text_of([*chosen, part])):
            chosen.append(part)
    return chosen


def fit_by_worth(
    statements: Sequence[StoredStatement],
    order: Sequence[int],
    worth: Floats,
    budget: Budget,
    time: TemporalReading,
) -> list[int]:
    """The places of the statements to recall, the most valuable first.

    They are the first of ``order`` if these fit, else the best by worth for their tokens. Equal
    sentences, by ``EqualSentences.asked_by(time)``, take one place.
    """
    equals = EqualSentences.asked_by(time)
    choice = _Choice(statements, equals, budget.names_antecedents)
    for place in order:
        if budget.is_full(len(choice.places)) and not choice.has_equal(place):
            break
        choice.take(place)
    if budget.max_tokens is None or budget.holds(choice.text()):
        return choice.places
    costs = {
        place: max(1, budget.count_tokens(context_line(statements[place]) + "\n"))
        for place in order
    }
    by_value = sorted(order, key=lambda place: -worth[place] / costs[place] ** _COST_EXPONENT)
    choice = _Choice(statements, equals, budget.names_antecedents)
    return _filled(choice, by_value, costs, budget, budget.max_tokens)


def _filled(
    choice: _Choice,
    ordered: Sequence[int],
    costs: Mapping[int, int],
    budget: Budget,
    max_tokens: int,
) -> list[int]:
    """The first of ``ordered`` that fit by their own costs, then others that still fit."""
    left: list[int] = []
    room = max_tokens - (budget.count_tokens(PREFIX + "\n") if choice.needs_prefix else 0)
    for place in ordered:
        full = budget.is_full(len(choice.places))
        if costs[place] > room or (full and not choice.has_equal(place)):
            left.append(place)
        elif choice.take(place):
            room -= costs[place]
    while choice.places and not budget.holds(choice.text()):
        choice.drop_last()
    spare = max_tokens - budget.count_tokens(choice.text())
    trials = (place for place in left if costs[place] <= spare + 1 and not choice.has_equal(place))
    for _, place in zip(range(_SPARE_TRIALS), trials, strict=False):
        if budget.is_full(len(choice.places)):
            break
        choice.take(place)
        if not budget.holds(choice.text()):
            choice.drop_last()
    return choice.places


class _Choice:
    """The places of the chosen statements; of equal sentences one place."""

    def __init__(
        self, statements: Sequence[StoredStatement], equals: EqualSentences, names: bool
    ) -> None:
        self.places: list[int] = []
        self._names_antecedents = names
        self._statements = statements
        self._equals = equals
        self._slots: dict[SentenceKey, int] = {}

    @property
    def needs_prefix(self) -> bool:
        """Whether the candidates come from several passages."""
        return len({statement.passage_id for statement in self._statements}) > 1

    def has_equal(self, place: int) -> bool:
        """Whether an equal sentence is chosen."""
        return self._key(place) in self._slots

    def take(self, place: int) -> bool:
        """Choose a statement; False if an equal one was chosen, which it replaces if preferred."""
        key = self._key(place)
        slot = self._slots.get(key)
        if slot is None:
            self._slots[key] = len(self.places)
            self.places.append(place)
            return True
        if self._equals.prefers(self._statements[place], self._statements[self.places[slot]]):
            self.places[slot] = place
        return False

    def drop_last(self) -> None:
        """Remove the statement that was chosen last."""
        del self._slots[self._key(self.places.pop())]

    def text(self) -> str:
        """The text that the chosen statements make."""
        return context_text(
            chronological(self._statements[place] for place in self.places),
            names_antecedents=self._names_antecedents,
        )

    def _key(self, place: int) -> SentenceKey:
        return self._equals.key(self._statements[place])
