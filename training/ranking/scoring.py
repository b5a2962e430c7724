"""How well weights put what answers first, on questions that they were not fitted on."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from recallm.model import TemporalReading
from recallm.ranking.budget import Budget, fit_by_worth
from recallm.ranking.signals import Weights
from recallm.ranking.statements import RankedStatements, rank_measured
from recallm.recall_request import quarter_of_characters
from training.ranking.examples import Asked
from training.ranking.fitting import Measured

__all__ = ["COLUMNS", "means", "score"]

COLUMNS = {
    "LoCoMo": ("@10", "@25"),
    "REALTALK": ("@10", "@25"),
    "DuoRC": ("100 tokens", "200 tokens"),
    "Temporal": ("@5", "@10"),
}
"""What is measured of each data set: evidence recall among the first passages, answers within the
tokens of a context, a statement that tells the state among the first statements."""


def score(known: Iterable[Measured], weights: Weights) -> dict[str, list[tuple[float, float]]]:
    """For each data set the two values of each question; 0 where nothing of it is known."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in known:
        found[one.asked.kind].append(_score(one, weights))
    return dict(found)


def means(found: Mapping[str, list[tuple[float, float]]]) -> dict[str, float]:
    """The mean of each column: "LoCoMo @10" and so on."""
    return {
        f"{kind} {column}": fmean(values[place] for values in found[kind])
        for kind, columns in COLUMNS.items()
        if found.get(kind)
        for place, column in enumerate(columns)
    }


def _score(one: Measured, weights: Weights) -> tuple[float, float]:
    asked = one.asked
    if asked.candidates is None:
        return 0.0, 0.0
    ranking = rank_measured(asked.candidates, one.values, weights)
    first, second = (int(column.strip("@ tokens")) for column in COLUMNS[asked.kind])
    if asked.kind == "DuoRC":
        return _held(asked, ranking, first), _held(asked, ranking, second)
    ids = [ranking.statements[place].passage_id for place in ranking.order]
    order = {id: place for place, id in enumerate(dict.fromkeys(ids))}
    best = [
        min(order.get(ranking.statements[place].passage_id, math.inf) for place in group)
        for group in asked.groups
    ]
    within = [sum(place < limit for place in best) / asked.wanted for limit in (first, second)]
    return within[0], within[1]


def _held(asked: Asked, ranking: RankedStatements, tokens: int) -> float:
    budget = Budget(limit=None, max_tokens=tokens, count_tokens=quarter_of_characters)
    chosen = fit_by_worth(
        ranking.statements, ranking.order, ranking.worth, budget, TemporalReading()
    )
    return float(any(not answers.isdisjoint(chosen) for answers in map(set, asked.groups)))
