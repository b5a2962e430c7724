"""Budgets and equal sentences: how much of an order is recalled, in every ranking.

* A **budget** limits the number of statements and the tokens of the complete text.
* **Equal sentences** of one speaker count as one statement. The latest of them is recalled, or the
  earliest if the question asks for the first. If it asks for dates or for every answer, equal
  sentences of different days count separately (``EqualSentences.asked_by``).
* The **text** of a context has one line for the statements of one passage, behind one head;
  ``ground.untrusted_text`` says what a line is. A further statement of a passage that has a line
  costs no head.

A token counter need not be additive: the complete text is counted where the budget is tight.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import chain
from types import MappingProxyType
from typing import Self, TypeAlias, TypeVar

from recallm.model import StoredStatement, TemporalReading
from recallm.recall.antecedents import annotated, named_references
from recallm.recall.ranking.stem_counts import Floats
from recallm.recall.request import RecallRequest
from recallm.recall.results import PREFIX, chronological, context_lines, lined_text, makes_lines

_SHORTEST_LINE = 5
"""Tokens of a short statement, to estimate how many statements a budget may hold."""

_COST_EXPONENT = 0.2
"""Worth is divided by tokens to this power. At 1, many short statements that help little crowd out
the one that answers; at 0, long ones do. On conversations and on film plots values from 0.1 to 0.3
keep most of what answers."""

_SPARE_TRIALS = 32
"""At most 32 more statements are tried for the tokens that are left over."""

SentenceKey: TypeAlias = tuple[str | None, str, date | None]
"""The speaker, the text without its case and white space, and the day where that counts."""

ALONE: Mapping[int, Sequence[int]] = MappingProxyType({})

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """At most ``limit`` statements, at most ``max_tokens`` by ``count_tokens``; None: no limit.
    ``text`` makes the text that is counted, of statements in order of time."""

    limit: int | None
    max_tokens: int | None
    count_tokens: Callable[[str], int]
    text: Callable[[Sequence[StoredStatement]], str]

    @classmethod
    def of(
        cls, request: RecallRequest, limit: int | None, superseded: Collection[int] = ()
    ) -> Self:
        """The budget of a request, for at most ``limit`` statements; ``superseded`` are the keys of
        those that later ones took the place of."""
        return cls(
            limit=limit,
            max_tokens=request.max_tokens,
            count_tokens=request.count_tokens,
            text=partial(context_text, superseded=superseded),
        )

    def holds(self, text: str) -> bool:
        """Whether a text has few enough tokens."""
        return self.max_tokens is None or self.count_tokens(text) <= self.max_tokens

    def is_full(self, number: int) -> bool:
        """Whether no statement may follow ``number`` of them."""
        return self.limit is not None and number >= self.limit


def limit_of(request: RecallRequest) -> int | None:
    """The greatest number of statements that a request allows: ``config.limit`` where it names no
    budget, None where it limits the tokens alone."""
    if request.limit is None and request.max_tokens is None:
        return request.config.limit
    return request.limit


def wanted_statements(request: RecallRequest) -> int:
    """How many statements the budget of a request may hold."""
    limit = limit_of(request)
    return limit if limit is not None else max(1, (request.max_tokens or 0) // _SHORTEST_LINE)


# The text of a context.


def context_text(statements: Sequence[StoredStatement], *, superseded: Collection[int] = ()) -> str:
    """The statements in order of time, as ``lined_text`` says; empty where there are none."""
    references = named_references(statements)

    def shown(statement: StoredStatement) -> str:
        return annotated(
            statement.text,
            references.get(statement.key, ()),
            statement.timestamp,
            is_superseded=statement.key in superseded,
        )

    return lined_text(statements, shown)


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
        range(1, number + 1), budget.max_tokens, key=lambda size: budget.count_tokens(text_of(size))
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
    companions: Mapping[int, Sequence[int]] = ALONE,
) -> list[int]:
    """The places of the statements to recall, the most valuable first.

    They are the first of ``order`` if these fit, else the best by worth for their tokens. Equal
    sentences, by ``EqualSentences.asked_by(time)``, take one place. ``companions``: by the place
    of a statement those of others, such as its question, which may follow it.
    """
    equals = EqualSentences.asked_by(time)
    choice = _Choice(statements, equals, budget.text)
    for place in _with_companions(order, companions):
        if budget.is_full(len(choice.places)) and not choice.has_equal(place):
            break
        choice.take(place)
    if budget.max_tokens is None or budget.holds(choice.text()):
        return choice.places
    choice = _Choice(statements, equals, budget.text)
    return _filled(choice, order, worth, budget, budget.max_tokens, companions)


def _with_companions(
    order: Sequence[int], companions: Mapping[int, Sequence[int]]
) -> Sequence[int]:
    """``order`` with the companions of each just behind it, each place once."""
    return list(dict.fromkeys(each for one in order for each in (one, *companions.get(one, ()))))


def _filled(
    choice: _Choice,
    order: Sequence[int],
    worth: Floats,
    budget: Budget,
    max_tokens: int,
    companions: Mapping[int, Sequence[int]],
) -> list[int]:
    """The best of ``order`` by worth for their tokens that fit by their own costs, then others that
    still fit. What a statement costs falls when its passage gets a line."""
    costs = _Costs(choice.statements, _with_companions(order, companions), budget)
    room = max_tokens - costs.of_prefix
    left: list[int] = []
    waiting = set(chain.from_iterable(companions.values())).difference(order)
    best = [costs.ranked(place, worth[place]) for place in order]
    heapify(best)
    while best:
        place = heappop(best)[-1]
        if place in waiting or place in choice.places:
            continue  # before what it goes with, or again
        full = budget.is_full(len(choice.places))
        cost = costs.tokens[place]
        if cost > room or (full and not choice.has_equal(place)):
            left.append(place)
        elif choice.take(place):
            room -= cost
            following = companions.get(place, ())
            waiting.difference_update(following)
            for other in (*costs.begin_line(place), *following):
                heappush(best, costs.ranked(other, worth[other]))
    while choice.places and not budget.holds(choice.text()):
        choice.drop_last()
    spare = max_tokens - budget.count_tokens(choice.text())
    trials = (
        place for place in left if costs.tokens[place] <= spare + 1 and not choice.has_equal(place)
    )
    for _, place in zip(range(_SPARE_TRIALS), trials, strict=False):
        if budget.is_full(len(choice.places)):
            break
        choice.take(place)
        if not budget.holds(choice.text()):
            choice.drop_last()
    return choice.places


class _Costs:
    """What each statement of ``order`` costs: ``tokens`` are by its place those of its line, or,
    where its passage has a line, of its text."""

    def __init__(
        self, statements: Sequence[StoredStatement], order: Sequence[int], budget: Budget
    ) -> None:
        self._statements = statements
        self._count_tokens = budget.count_tokens
        self._rank = {place: rank for rank, place in enumerate(order)}
        self._places: dict[str | int, list[int]] = defaultdict(list)
        for place in order:
            self._places[statements[place].line_key].append(place)
        self.tokens = {place: self._of_line(place) for place in order}

    @property
    def of_prefix(self) -> int:
        """The tokens of the prefix, where the statements make several lines."""
        needed = makes_lines(self._statements[place] for place in self._rank)
        return self._count_tokens(PREFIX + "\n") if needed else 0

    def ranked(self, place: int, worth: float) -> tuple[float, int, int]:
        """A statement as it is sorted: by its worth for its tokens, then by ``order``."""
        return -worth / self.tokens[place] ** _COST_EXPONENT, self._rank[place], place

    def begin_line(self, place: int) -> Sequence[int]:
        """Reckon with the line of a statement that was chosen. Returns the places of the statements
        that cost less for it."""
        places = self._places.pop(self._statements[place].line_key, ())
        for other in places:
            text = f" {self._statements[other].text}"
            self.tokens[other] = max(1, self._count_tokens(text))
        return places

    def _of_line(self, place: int) -> int:
        line = "".join(context_lines((self._statements[place],), lambda each: each.text))
        return max(1, self._count_tokens(line + "\n"))


class _Choice:
    """The places of the chosen statements; of equal sentences one place."""

    def __init__(
        self,
        statements: Sequence[StoredStatement],
        equals: EqualSentences,
        text: Callable[[Sequence[StoredStatement]], str],
    ) -> None:
        self.places: list[int] = []
        self.statements = statements
        self._text = text
        self._equals = equals
        self._slots: dict[SentenceKey, int] = {}

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
        if self._equals.prefers(self.statements[place], self.statements[self.places[slot]]):
            self.places[slot] = place
        return False

    def drop_last(self) -> None:
        """Remove the statement that was chosen last."""
        del self._slots[self._key(self.places.pop())]

    def text(self) -> str:
        """The text that the chosen statements make."""
        return self._text(chronological(self.statements[place] for place in self.places))

    def _key(self, place: int) -> SentenceKey:
        return self._equals.key(self.statements[place])
