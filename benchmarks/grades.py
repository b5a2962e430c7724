"""Answers of several systems to the same questions, and their grades: 0, 1 or 2 points.

The paper's scale for DuoRC: 0 is wrong, 1 partly right, or right but rambling, 2 right and
succinct. Accuracy is the sum of the points over twice the number of answers. A language model
grades (``model_points``; the prompt ``points`` in ``prompts.toml``), or a person
(``hand_grading``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

from sklearn.metrics import cohen_kappa_score
from tqdm import tqdm

from benchmarks.answering import Answerer, filled_prompt
from benchmarks.intervals import Scores
from benchmarks.systems import PAPER, VECTORS
from recallm import LLMError

FULL = 2
"""Points of an answer that is right and succinct."""

ACCURACY = "accuracy"
PERFECT = "a perfect choice"
"""The row of the better one of RecallM and vectors, the paper's "Hybrid-RecallM Maximum"."""

_POINTS = re.compile(r"(?<![\d.])[012](?![\d.]\d|\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """A question about a ``unit`` (a film, a person), its reference answers, and the answer of each
    system by its name. ``column`` is the column of the table in which its points count;
    ``published`` are points that came with the answers, by the system."""

    unit: str
    question: str
    references: tuple[str, ...]
    answers: Mapping[str, str]
    column: str = ACCURACY
    published: Mapping[str, int] = field(default_factory=dict)


Points: TypeAlias = Callable[[AnsweredQuestion, str], int | None]
"""A question and the name of a system → the points of its answer; None: not graded."""


def model_points(grader: Answerer) -> Points:
    """Grades by a language model, which sees the question, the reference answers and the answer,
    not the system. A reply without points is reported, and its answer is not graded: the reply is
    cached, so that an error would stop every later run at the same place."""

    def points(asked: AnsweredQuestion, system: str) -> int | None:
        reply = grader(
            filled_prompt(
                "points",
                {"answer": asked.answers[system]},
                question=asked.question,
                references="\n".join(f"- {each}" for each in asked.references),
            )
        )
        try:
            return points_of(reply)
        except LLMError as error:
            tqdm.write(f"an answer to {asked.question!r} is not graded: {error}")
            return None

    return points


def points_of(reply: str) -> int:
    """The points in a grader's reply: 0, 1 or 2.

    Raises:
        LLMError: it has none of these, or several.

    """
    found = set(_POINTS.findall(reply))
    if len(found) != 1:
        raise LLMError(f"the grader must reply with 0, 1 or 2, not with {reply[:200]!r}")
    return int(found.pop())


def scores_of(answered: Iterable[AnsweredQuestion], points: Points) -> Scores:
    """The share of the full points of each system, and of a perfect choice; only of questions of
    which every answer is graded."""
    scores = Scores()
    for asked in tqdm(answered, desc="grades", leave=False, disable=None):
        graded = {
            system: found
            for system in asked.answers
            if (found := points(asked, system)) is not None
        }
        if graded.keys() != asked.answers.keys():
            continue
        if PAPER in graded and VECTORS in graded:
            graded[PERFECT] = max(graded[PAPER], graded[VECTORS])
        number = scores.question(asked.unit)
        for system, found in graded.items():
            scores.add(system, asked.column, number, found / FULL)
    return scores


def agreements(
    answered: Sequence[AnsweredQuestion], graders: Mapping[str, Points]
) -> list[dict[str, Any]]:
    """How far each two of the graders agree, over the answers that both graded: the share of equal
    points, and Cohen's kappa with quadratic weights (None where all points are the same)."""
    rows = []
    for one, other in combinations(graders, 2):
        pairs = [
            (first, second)
            for asked in answered
            for system in asked.answers
            if (first := graders[one](asked, system)) is not None
            and (second := graders[other](asked, system)) is not None
        ]
        if pairs:
            firsts, seconds = zip(*pairs, strict=True)
            kappa = None
            if len({*firsts, *seconds}) > 1:
                kappa = float(cohen_kappa_score(firsts, seconds, weights="quadratic"))
            rows.append(
                {
                    "graders": f"{one} and {other}",
                    "answers": len(pairs),
                    "equal": sum(a == b for a, b in pairs) / len(pairs),
                    "weighted kappa": kappa,
                }
            )
    return rows
