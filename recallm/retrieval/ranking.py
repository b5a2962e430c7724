"""The linear model over the signals: an order, a probability, and what each signal added."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from recallm.model import StoredStatement, Trait
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats
from recallm.retrieval.signals import SIGNALS, measure
from recallm.retrieval.weights import Weights, WeightTables
from recallm.untrusted_text import one_line

__all__ = ["Ranking", "rank", "ranked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Statements, the probability that each helps to answer (``scores``), and ``order``: the
    places of those to recall from, best first, of equals the newest first.

    ``worth`` is what each adds to a context, by which tokens are spent. ``added[i, j]`` is what
    signal j added to the log-odds of statement i, beside ``intercept``.
    """

    statements: tuple[StoredStatement, ...]
    scores: Floats
    added: Floats
    order: tuple[int, ...]
    worth: Floats
    intercept: float = 0.0

    def contributions(self, place: int) -> Mapping[str, float]:
        """What each signal added for one statement: they and the intercept make its score."""
        return dict(zip(SIGNALS, self.added[place].tolist(), strict=True))


def rank(
    candidates: Candidates,
    tables: WeightTables,
    *,
    min_score: float | None,
    known: Collection[str] = (),
    repeats: bool = False,
) -> Ranking:
    """Rank the candidates; those under ``min_score``, and those of the passages ``known``, are left
    out of the order. So is what was asked before in the words of the question, which says nothing
    that the question does not, unless ``repeats`` are wanted."""
    weights = tables.words if candidates.asked is None else tables.vectors
    values = measure(candidates, weights.signals)
    return ranked(candidates, values, weights, min_score=min_score, known=known, repeats=repeats)


def ranked(
    candidates: Candidates,
    values: Floats,
    weights: Weights,
    *,
    min_score: float | None,
    known: Collection[str] = (),
    repeats: bool = False,
) -> Ranking:
    """The same of candidates that are measured: ``values``, as ``measure`` gives them."""
    statements = candidates.statements
    added = values * _row(weights)
    odds = added.sum(axis=1) + weights.intercept
    scores: Floats = np.exp(-np.logaddexp(0.0, -odds))
    keys = np.array([statement.key for statement in statements], dtype=np.int64)
    order = np.lexsort((-keys, -scores))
    if min_score is not None:
        order = order[scores[order] >= min_score]
    asked = one_line(candidates.question.text).casefold()
    told = [
        place
        for place in order.tolist()
        if statements[place].passage_id not in known
        and (repeats or not _repeats(statements[place], asked))
    ]
    return Ranking(
        statements=statements,
        scores=scores,
        worth=scores,
        added=added,
        order=tuple(told),
        intercept=weights.intercept,
    )


def _row(weights: Weights) -> Floats:
    return np.array([weights.signals.get(name, 0.0) for name in SIGNALS])


def _repeats(statement: StoredStatement, asked: str) -> bool:
    """Whether a statement is a question that stands in ``asked`` word for word."""
    return bool(statement.traits & Trait.QUESTION) and one_line(statement.text).casefold() in asked
