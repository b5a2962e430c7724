"""How much of a ranking is recalled: so many statements, so many tokens, no sentence twice."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from recallm.model import StoredStatement
from recallm.retrieval.lines import chronological, line, render
from recallm.retrieval.ranking import Ranking

__all__ = ["fit"]

_TOKENS_POWER = 0.5
"""Value is divided by tokens to this power. At 1, many short statements that help little crowd
out the one that answers; at 0, long ones. On film plots 0.5 keeps most answers at any budget."""

_SPARE_TRIALS = 32
"""How many more statements are tried where single lines, counted alone, left some tokens over."""


def fit(
    ranking: Ranking,
    *,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
) -> list[int]:
    """The places of the statements to recall, the most valuable first.

    The best ``limit`` by score where they fit ``max_tokens``; else by value for their tokens, the
    value being the probability that a statement helps. Of equal sentences of a speaker only the
    latest is kept, and it takes one place.
    """
    statements = ranking.statements
    best = _distinct(statements, ranking.order, limit)
    if max_tokens is None or _tokens(statements, best, count_tokens) <= max_tokens:
        return best
    costs = {place: max(1, count_tokens(line(statements[place]) + "\n")) for place in ranking.order}
    by_value = sorted(
        ranking.order, key=lambda place: -ranking.scores[place] / costs[place] ** _TOKENS_POWER
    )
    ordered = _distinct(statements, by_value, None)
    return _within(statements, ordered, costs, limit, max_tokens, count_tokens)


def _within(
    statements: Sequence[StoredStatement],
    ordered: Sequence[int],
    costs: Mapping[int, int],
    limit: int | None,
    max_tokens: int,
    count_tokens: Callable[[str], int],
) -> list[int]:
    """The first of ``ordered`` that fit, and then what still fits of the others."""
    chosen: list[int] = []
    left: list[int] = []
    room = max_tokens - count_tokens(render([""]))
    for place in ordered:
        if costs[place] <= room and (limit is None or len(chosen) < limit):
            chosen.append(place)
            room -= costs[place]
        else:
            left.append(place)
    while chosen and _tokens(statements, chosen, count_tokens) > max_tokens:
        left.insert(0, chosen.pop())
    spare = max_tokens - _tokens(statements, chosen, count_tokens)
    trials = (place for place in left if costs[place] <= spare + 1)
    for _, place in zip(range(_SPARE_TRIALS), trials, strict=False):
        if limit is not None and len(chosen) >= limit:
            break
        if _tokens(statements, [*chosen, place], count_tokens) <= max_tokens:
            chosen.append(place)
    return chosen


def _distinct(
    statements: Sequence[StoredStatement], ordered: Iterable[int], limit: int | None
) -> list[int]:
    """The first ``limit`` that differ; a later equal sentence takes the place of an earlier."""
    taken: dict[tuple[str | None, str], int] = {}
    chosen: list[int] = []
    for place in ordered:
        sentence = _sentence(statements[place])
        slot = taken.get(sentence)
        if slot is not None:
            if _later(statements[place], statements[chosen[slot]]):
                chosen[slot] = place
        elif limit is None or len(chosen) < limit:
            taken[sentence] = len(chosen)
            chosen.append(place)
        else:
            break
    return chosen


def _later(one: StoredStatement, other: StoredStatement) -> bool:
    return chronological((one, other))[1] is one


def _sentence(statement: StoredStatement) -> tuple[str | None, str]:
    text = unicodedata.normalize("NFKC", statement.text).casefold()
    return statement.speaker, " ".join(text.split())


def _tokens(
    statements: Sequence[StoredStatement], chosen: Iterable[int], count_tokens: Callable[[str], int]
) -> int:
    ordered = chronological(statements[place] for place in chosen)
    return count_tokens(render([line(statement) for statement in ordered]))
