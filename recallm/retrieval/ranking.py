"""The linear model over the signals: an order, a probability, and what each signal added."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from recallm.model import StoredStatement, Trait
from recallm.results import flat
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats
from recallm.retrieval.signals import SIGNALS, measure
from recallm.retrieval.weights import INTERCEPT, WEIGHTS

__all__ = ["Ranking", "rank"]

_WEIGHTS = np.array([WEIGHTS[name] for name in SIGNALS])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Statements, the probability that each helps to answer (``scores``), and ``order``: the
    places of those to recall from, best first, of equals the newest first. What was asked before
    in the words of the question is not among them: it says nothing that the question does not.

    ``added[i, j]`` is what signal j added to the log-odds of statement i.
    """

    statements: tuple[StoredStatement, ...]
    scores: Floats
    added: Floats
    order: tuple[int, ...]

    def contributions(self, place: int) -> Mapping[str, float]:
        """What each signal added for one statement: they and the intercept make its score."""
        return dict(zip(SIGNALS, self.added[place].tolist(), strict=True))


def rank(
    candidates: Candidates, *, min_score: float | None, known: Collection[str] = ()
) -> Ranking:
    """Rank the candidates; those under ``min_score``, and those of the passages ``known``, are left
    out of the order."""
    statements = candidates.statements
    added = measure(candidates) * _WEIGHTS
    scores: Floats = 1.0 / (1.0 + np.exp(-(added.sum(axis=1) + INTERCEPT)))
    keys = np.array([statement.key for statement in statements], dtype=np.int64)
    order = np.lexsort((-keys, -scores))
    if min_score is not None:
        order = order[scores[order] >= min_score]
    asked = flat(candidates.question.text).casefold()
    told = [
        place
        for place in order.tolist()
        if statements[place].passage_id not in known and not _repeats(statements[place], asked)
    ]
    return Ranking(statements=statements, scores=scores, added=added, order=tuple(told))


def _repeats(statement: StoredStatement, asked: str) -> bool:
    """Whether a statement is a question that stands in ``asked`` word for word."""
    return bool(statement.traits & Trait.QUESTION) and flat(statement.text).casefold() in asked
