"""How much of a ranking is recalled: so many statements, so many tokens, no sentence twice."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from recallm.model import StoredStatement
from recallm.retrieval.lines import chronological, line, render
from recallm.retrieval.ranking import Ranked

__all__ = ["fit"]

_SPARE_TRIALS = 32
"""How many more statements are tried where single lines, counted alone, left some tokens over."""


def fit(
    ranked: Sequence[Ranked],
    *,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
) -> list[Ranked]:
    """The statements to recall, the most valuable first.

    The best ``limit`` by score where they fit ``max_tokens``; else by value per token, the value
    being the probability that a statement helps. Of equal sentences of a speaker only the latest
    is kept, and it takes one place.
    """
    best = _distinct(ranked, limit)
    if max_tokens is None or _tokens(best, count_tokens) <= max_tokens:
        return best
    costs = {id(one): max(1, count_tokens(line(one.statement) + "\n")) for one in ranked}
    by_value = sorted(ranked, key=lambda one: (-one.score / costs[id(one)], -one.statement.key))
    return _within(_distinct(by_value, None), costs, limit, max_tokens, count_tokens)


def _within(
    ordered: Sequence[Ranked],
    costs: dict[int, int],
    limit: int | None,
    max_tokens: int,
    count_tokens: Callable[[str], int],
) -> list[Ranked]:
    chosen: list[Ranked] = []
    left: list[Ranked] = []
    room = max_tokens - count_tokens(render([""]))
    for one in ordered:
        if costs[id(one)] <= room and (limit is None or len(chosen) < limit):
            chosen.append(one)
            room -= costs[id(one)]
        else:
            left.append(one)
    while chosen and _tokens(chosen, count_tokens) > max_tokens:
        left.insert(0, chosen.pop())
    spare = max_tokens - _tokens(chosen, count_tokens)
    trials = (one for one in left if costs[id(one)] <= spare + 1)
    for _, one in zip(range(_SPARE_TRIALS), trials, strict=False):
        if limit is not None and len(chosen) >= limit:
            break
        if _tokens([*chosen, one], count_tokens) <= max_tokens:
            chosen.append(one)
    return chosen


def _distinct(ordered: Iterable[Ranked], limit: int | None) -> list[Ranked]:
    """The first ``limit`` that differ; a later equal sentence takes the place of an earlier."""
    places: dict[tuple[str | None, str], int] = {}
    chosen: list[Ranked] = []
    for one in ordered:
        sentence = _sentence(one.statement)
        place = places.get(sentence)
        if place is not None:
            if _later(one.statement, chosen[place].statement):
                chosen[place] = one
        elif limit is None or len(chosen) < limit:
            places[sentence] = len(chosen)
            chosen.append(one)
        else:
            break
    return chosen


def _later(one: StoredStatement, other: StoredStatement) -> bool:
    return chronological((one, other))[1] is one


def _sentence(statement: StoredStatement) -> tuple[str | None, str]:
    text = unicodedata.normalize("NFKC", statement.text).casefold()
    return statement.speaker, " ".join(text.split())


def _tokens(chosen: Iterable[Ranked], count_tokens: Callable[[str], int]) -> int:
    ordered = chronological(one.statement for one in chosen)
    return count_tokens(render([line(statement) for statement in ordered]))
