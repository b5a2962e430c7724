"""How much of a ranking is recalled: so many statements, so many tokens, no sentence twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from recallm.model import StoredStatement, TemporalReading
from recallm.results import chronological
from recallm.retrieval.lines import PREFIX, line, render
from recallm.retrieval.ranking import Ranking
from recallm.retrieval.sentences import is_later, sentence

__all__ = ["fit"]

_TOKENS_POWER = 0.5
"""Value is divided by tokens to this power. At 1, many short statements that help little crowd
out the one that answers; at 0, long ones. On film plots 0.5 keeps most answers at any budget."""

_ANY_TIME = TemporalReading()

_SPARE_TRIALS = 32
"""How many more statements are tried where single lines, counted alone, left some tokens over."""


def fit(
    ranking: Ranking,
    *,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
    time: TemporalReading = _ANY_TIME,
) -> list[int]:
    """The places of the statements to recall, the most valuable first.

    The first ``limit`` of the order where they fit ``max_tokens``; else by worth for their tokens.
    Of equal sentences of a speaker only the latest is kept, or the earliest where ``time`` asks for
    that, and it takes one place; where it asks for dates, or for all that there is, one a day.
    """
    statements = ranking.statements
    best = _Choice(statements, time)
    for place in ranking.order:
        if limit is not None and len(best.places) == limit and not best.holds(place):
            break
        best.take(place)
    if max_tokens is None or best.tokens(count_tokens) <= max_tokens:
        return best.places
    costs = {place: max(1, count_tokens(line(statements[place]) + "\n")) for place in ranking.order}
    by_value = sorted(
        ranking.order, key=lambda place: -ranking.worth[place] / costs[place] ** _TOKENS_POWER
    )
    return _within(statements, by_value, costs, limit, max_tokens, count_tokens, time)


def _within(
    statements: Sequence[StoredStatement],
    ordered: Sequence[int],
    costs: Mapping[int, int],
    limit: int | None,
    max_tokens: int,
    count_tokens: Callable[[str], int],
    time: TemporalReading,
) -> list[int]:
    """The first of ``ordered`` that fit, and then what still fits of the others."""
    chosen = _Choice(statements, time)
    left: list[int] = []
    several = len({statement.passage_id for statement in statements}) > 1
    room = max_tokens - (count_tokens(PREFIX + "\n") if several else 0)
    for place in ordered:
        full = limit is not None and len(chosen.places) == limit
        if costs[place] > room or (full and not chosen.holds(place)):
            left.append(place)
        elif chosen.take(place):
            room -= costs[place]
    while chosen.places and chosen.tokens(count_tokens) > max_tokens:
        chosen.drop_last()
    spare = max_tokens - chosen.tokens(count_tokens)
    trials = (place for place in left if costs[place] <= spare + 1 and not chosen.holds(place))
    for _, place in zip(range(_SPARE_TRIALS), trials, strict=False):
        if limit is not None and len(chosen.places) == limit:
            break
        chosen.take(place)
        if chosen.tokens(count_tokens) > max_tokens:
            chosen.drop_last()
    return chosen.places


class _Choice:
    """Places of statements that differ: of equal sentences of a speaker the latest one taken, or
    the earliest; of different days as different ones, where they are asked for."""

    def __init__(self, statements: Sequence[StoredStatement], time: TemporalReading) -> None:
        self.places: list[int] = []
        self._statements = statements
        self._earliest = time.order == "earliest"
        self._by_day = time.spread or time.window != "none"
        self._slots: dict[tuple[str | None, ...], int] = {}

    def holds(self, place: int) -> bool:
        """Whether an equal sentence is taken."""
        return self._sentence(place) in self._slots

    def take(self, place: int) -> bool:
        """Take a statement; False where it stands for an equal one, or that one stands for it."""
        said = self._sentence(place)
        slot = self._slots.get(said)
        if slot is None:
            self._slots[said] = len(self.places)
            self.places.append(place)
            return True
        one, other = self._statements[place], self._statements[self.places[slot]]
        if is_later(other, one) if self._earliest else is_later(one, other):
            self.places[slot] = place
        return False

    def drop_last(self) -> None:
        """Give back the statement that took its place last."""
        del self._slots[self._sentence(self.places.pop())]

    def tokens(self, count_tokens: Callable[[str], int]) -> int:
        """The tokens of the text that they make."""
        ordered = chronological(self._statements[place] for place in self.places)
        return count_tokens(render(ordered))

    def _sentence(self, place: int) -> tuple[str | None, ...]:
        one = self._statements[place]
        day = one.timestamp.date().isoformat() if self._by_day and one.timestamp else None
        return *sentence(one), day
