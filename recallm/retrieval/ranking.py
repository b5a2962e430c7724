"""The linear model over the signals: an order, a probability, and what each signal added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recallm.model import StoredStatement
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats
from recallm.retrieval.signals import SIGNALS, measure
from recallm.retrieval.weights import INTERCEPT, WEIGHTS

__all__ = ["Ranked", "rank"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate with its score; ``added`` runs parallel to ``SIGNALS``."""

    statement: StoredStatement
    score: float
    added: Floats

    @property
    def contributions(self) -> Mapping[str, float]:
        """What each signal added to the log-odds; they and the intercept make the score."""
        return dict(zip(SIGNALS, self.added.tolist(), strict=True))


def rank(candidates: Candidates, *, min_score: float | None) -> list[Ranked]:
    """The candidates, best first (of equals the newest), from ``min_score`` on."""
    added = measure(candidates) * np.array([WEIGHTS[name] for name in SIGNALS])
    odds = added.sum(axis=1) + INTERCEPT
    scores: Floats = 1.0 / (1.0 + np.exp(-odds))
    keys = np.array([statement.key for statement in candidates.statements], dtype=np.int64)
    order = np.lexsort((-keys, -scores))
    return [
        Ranked(
            statement=candidates.statements[place], score=float(scores[place]), added=added[place]
        )
        for place in order.tolist()
        if min_score is None or scores[place] >= min_score
    ]
