"""How well weights put what answers first, on questions that they were not fitted on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

import numpy as np

from recallm.retrieval.budget import fit as fill
from recallm.retrieval.ranking import rank
from recallm.retrieval.weights import Weights, WeightTables
from training.ranking.examples import Asked

__all__ = ["COLUMNS", "means", "score"]

COLUMNS = {
    "LoCoMo": ("@10", "@25"),
    "REALTALK": ("@10", "@25"),
    "DuoRC": ("100 tokens", "200 tokens"),
    "Temporal": ("@5", "@10"),
}
"""What is measured of each data set: evidence recall among so many passages, answers in so many
tokens of context, a statement that tells the state among so many."""


def score(questions: Iterable[Asked], weights: Weights) -> dict[str, list[tuple[float, float]]]:
    """For each data set the two values of each question."""
    tables = WeightTables(words=weights, vectors=weights)
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in questions:
        found[one.kind].append(_score(one, tables))
    return dict(found)


def means(found: Mapping[str, list[tuple[float, float]]]) -> dict[str, float]:
    """The mean of each column: "LoCoMo @10" and so on."""
    return {
        f"{kind} {column}": fmean(values[place] for values in found[kind])
        for kind, columns in COLUMNS.items()
        if found.get(kind)
        for place, column in enumerate(columns)
    }


def _score(one: Asked, tables: WeightTables) -> tuple[float, float]:
    if one.candidates is None:
        return 0.0, 0.0
    ranking = rank(one.candidates, tables, min_score=None)
    first, second = (int(column.strip("@ tokens")) for column in COLUMNS[one.kind])
    if one.kind == "DuoRC":
        return _held(one, ranking, first), _held(one, ranking, second)
    ids = [one.candidates.statements[place].passage_id for place in ranking.order]
    order = {id: place for place, id in enumerate(dict.fromkeys(ids))}
    best = [
        min(order.get(one.candidates.statements[place].passage_id, len(order)) for place in group)
        for group in one.groups
    ]
    return sum(it < first for it in best) / one.wanted, sum(it < second for it in best) / one.wanted


def _held(one: Asked, ranking: object, tokens: int) -> float:
    chosen = fill(ranking, limit=None, max_tokens=tokens, count_tokens=_tokens)  # type: ignore[arg-type]
    answers = set(np.concatenate(one.groups).tolist()) if one.groups else set()
    return float(not answers.isdisjoint(chosen))


def _tokens(text: str) -> int:
    return -(-len(text) // 4)
