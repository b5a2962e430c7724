"""Contexts as recallm's rankings hand them over, uncut: do they answer, and how long are they?

The paper's contexts have no best statement and no second best: cut to a number of statements they
lose what the paper keeps. So they are measured whole, beside their tokens (characters / 4), and
within the same tokens as all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.intervals import Scores
from benchmarks.rankers import Found, Memory, Ranker
from benchmarks.report import show
from recallm.recall.request import quarter_of_characters

_ANSWERS = "uncut"
_TOKENS = "tokens uncut"


def add_uncut(
    scores: Scores,
    question: int,
    asked: str,
    rankers: Sequence[Ranker],
    judge: Callable[[Sequence[Found]], float],
) -> None:
    """Score the context that each of recallm's ``rankers`` hands over where nothing limits it."""
    for ranker in rankers:
        if isinstance(ranker, Memory):
            handed = ranker.handed_over(asked)
            scores.add(ranker.name, _ANSWERS, question, judge(handed.statements))
            scores.add(ranker.name, _TOKENS, question, quarter_of_characters(handed.text))


def show_uncut(title: str, scores: Scores, kinds: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Print the table: for each of recallm's rankings the mean score of its uncut contexts, over
    all questions and over those of each kind, and the median of their tokens."""
    table = [
        {
            "ranking": row,
            "uncut": scores.mean(row, _ANSWERS),
            **{kind: scores.mean(row, _ANSWERS, kind) for kind in kinds},
            "median tokens": scores.median(row, _TOKENS),
        }
        for row in scores.rows
        if scores.has(row, _ANSWERS)
    ]
    show(f"{title}: contexts as the rankings hand them over, and their tokens", table)
    return table
