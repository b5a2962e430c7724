"""Different answers instead of paraphrases of one, where a question asks for all that there is.

"Which bands has Dave enjoyed?" wants each band once. As in maximal marginal relevance, a statement
is worth less the more of its names those before it have brought already, and the less so where it
brings no concept at all that is new; what the question itself names does not count.
"""

from __future__ import annotations

from dataclasses import replace

from recallm.model import StoredStatement
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.ranking import Ranking

__all__ = ["cover"]

_KNOWN = 0.4
"""What of its worth a statement loses that brings nothing new."""

_LOOKED_AT = 50
"""The best of a ranking; those after them keep their places."""

_NAMES = ("name", "entity")


def cover(ranking: Ranking, candidates: Candidates) -> Ranking:
    """The ranking with what brings something new first; ``worth`` says what each adds to those
    before it. The scores stay."""
    asked = {*candidates.essential, *candidates.speakers}
    left = list(ranking.order[:_LOOKED_AT])
    all_of = {place: _concepts(ranking.statements[place], asked) for place in left}
    names_of = {
        place: all_of[place] & _concepts(ranking.statements[place], asked, names=True)
        for place in left
    }
    worth = ranking.worth.copy()
    order: list[int] = []
    brought: set[str] = set()
    while left:
        gains = {
            place: worth[place] * (1.0 - _KNOWN * _known(all_of[place], names_of[place], brought))
            for place in left
        }
        best = max(left, key=gains.__getitem__)
        worth[best] = gains[best]
        brought |= all_of[best]
        order.append(best)
        left.remove(best)
    return replace(ranking, order=(*order, *ranking.order[_LOOKED_AT:]), worth=worth)


def _concepts(
    statement: StoredStatement, asked: set[str], *, names: bool = False
) -> frozenset[str]:
    return frozenset(
        mention.name
        for mention in statement.concepts
        if (not names or mention.kind in _NAMES)
        and mention.name not in asked
        and mention.name != statement.speaker_concept
    )


def _known(concepts: frozenset[str], names: frozenset[str], brought: set[str]) -> float:
    """How much of what a statement could bring is there already, from 0 to 1."""
    if concepts and concepts <= brought:
        return 1.0
    return len(names & brought) / len(names) if names else 0.0
