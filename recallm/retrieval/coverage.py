"""Different answers instead of paraphrases of one, where a question asks for all that there is.

"Which bands has Dave enjoyed?" wants each band once. As in maximal marginal relevance, a statement
is worth less each time that all its names were brought by those before it, or all its concepts
where it names nothing; what the question itself names does not count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from recallm.model import StoredStatement
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.ranking import Ranking

__all__ = ["cover"]

_AGAIN = 0.1
"""What is left of a statement's worth for each time that what it brings was brought before."""

_LOOKED_AT = 30
"""The best of a ranking; those after them keep their places."""

_NAMES = ("name", "entity")


def cover(ranking: Ranking, candidates: Candidates) -> Ranking:
    """The ranking with what brings something new first; ``worth`` says what each adds to those
    before it. The scores stay."""
    asked = {*candidates.essential, *candidates.speakers}
    left = list(ranking.order[:_LOOKED_AT])
    all_of = {place: _concepts(ranking.statements[place], asked) for place in left}
    known = {
        mention.name
        for place in left
        for mention in ranking.statements[place].concepts
        if mention.kind in _NAMES
    }
    names_of = {place: concepts & known for place, concepts in all_of.items()}
    worth = ranking.worth.copy()
    order: list[int] = []
    brought: Counter[str] = Counter()
    while left:
        gains = {
            place: worth[place] * _AGAIN ** _times(all_of[place], names_of[place], brought)
            for place in left
        }
        best = max(left, key=gains.__getitem__)
        worth[best] = gains[best]
        brought.update(all_of[best])
        order.append(best)
        left.remove(best)
    return replace(ranking, order=(*order, *ranking.order[_LOOKED_AT:]), worth=worth)


def _concepts(statement: StoredStatement, asked: set[str]) -> frozenset[str]:
    return frozenset(
        mention.name
        for mention in statement.concepts
        if mention.name not in asked and mention.name != statement.speaker_concept
    )


def _times(concepts: frozenset[str], names: frozenset[str], brought: Counter[str]) -> int:
    """How often all that a statement could bring was brought: its names, or its concepts where it
    has none."""
    return min((brought[name] for name in names or concepts), default=0)
