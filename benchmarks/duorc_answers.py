"""The paper's Table 1: systems answer questions about films of DuoRC, and their answers are graded.

    python -m benchmarks.duorc_answers FILE --llm URL --model NAME [--films 20] [--questions N]
        [--tokens N] [--without-vectors] [--by-hand GRADES] [--cache DIR] [--json OUT]
        [--grader-llm URL --grader-model NAME | --grader-llm-command COMMAND]
    python -m benchmarks.duorc_answers FILE --authors [--by-hand GRADES] [--grader-llm … | --llm …]

``FILE`` is JSON Lines, gzipped or not, a film a line, with the answers and grades of the RecallM
authors. Each film is a memory of its own, its plot one knowledge update. The systems of
``benchmarks.systems`` answer every question (or ``--questions`` of them, by lot), a grader gives 0,
1 or 2 points (``benchmarks.grades``), and with ``--by-hand`` a person does, blind, in the terminal.
Answers and grades are kept in ``--cache`` and GRADES: a run that was stopped goes on.

With ``--authors`` the answers are the authors' own, graded again: how far a grader agrees with the
grades that the authors published. Without a model, ``--by-hand`` alone can grade them.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from benchmarks.answering import (
    NO_ANSWERER,
    Answerer,
    add_model_options,
    answerer_and_grader,
    resumable,
)
from benchmarks.grades import (
    ACCURACY,
    PERFECT,
    AnsweredQuestion,
    Points,
    agreements,
    model_points,
    scores_of,
)
from benchmarks.hand_grading import HandGrades, grade_by_hand
from benchmarks.rankings import default_embedding
from benchmarks.report import machine, save, show
from benchmarks.systems import HYBRID, PAPER, VECTORS, Systems
from recallm.vectors import Embedding

_TABLE_1 = {PAPER: 0.4813, VECTORS: 0.5571, HYBRID: 0.5268, PERFECT: 0.6826}
"""The accuracy that the paper prints, over 6,725 questions."""

_AUTHORS = {PAPER: "recallm", VECTORS: "vectordb", HYBRID: "hybrid"}
"""The names of systems in the authors' data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmQuestion:
    """A question about a film, its reference answers, and what the authors' systems answered, with
    the points that the authors gave (by the names of ``benchmarks.systems``)."""

    film: str
    plot: str
    question: str
    references: tuple[str, ...]
    authors_answers: Mapping[str, str]
    authors_points: Mapping[str, int]


def main(arguments: Sequence[str] | None = None) -> None:
    """Let the systems answer, grade, report."""
    parser = argparse.ArgumentParser(description="Graded answers to questions about films")
    parser.add_argument("path", type=Path, metavar="FILE")
    parser.add_argument(
        "--films", type=int, default=20, help="the number of films, from the first on"
    )
    parser.add_argument("--questions", type=int, help="the number of their questions, drawn by lot")
    parser.add_argument("--tokens", type=int, help="of each context; without it, as each system")
    parser.add_argument("--without-vectors", action="store_true", help="no system with embeddings")
    parser.add_argument("--authors", action="store_true", help="grade the authors' answers again")
    parser.add_argument("--by-hand", type=Path, metavar="GRADES", help="a JSON file of own grades")
    parser.add_argument("--json", type=Path)
    add_model_options(parser, cache=".answers")
    options = parser.parse_args(arguments)
    if not options.path.is_file():
        parser.error(f"{options.path} does not exist: it must be a JSON Lines file, a film a line")
    answerer, grader = answerer_and_grader(options, parser)
    asked = _drawn(list(film_questions(options.path, options.films)), options.questions)
    if not asked:
        parser.error(f"{options.path} holds no question")
    graders: dict[str, Points] = {}
    if options.authors:
        answered = answered_by_authors(asked)
        graders["the authors"] = lambda each, system: each.published.get(system)
    elif answerer is None:
        parser.error(NO_ANSWERER)
    else:
        embedding = None if options.without_vectors else default_embedding()
        with resumable(options.cache):
            answered = list(answered_by_systems(asked, answerer, embedding, tokens=options.tokens))
    if grader is not None:
        graders[grader.name] = model_points(grader)
    if options.by_hand is not None:
        grades = HandGrades(options.by_hand)
        grade_by_hand(answered, grades)
        graders["by hand"] = grades.points
    with resumable(options.cache):
        table, differences = _table(answered, graders)
        agreed = agreements(answered, graders)
    show(f"DuoRC: accuracy of {len(answered)} answers a system", table)
    for rows, title in (
        (differences, "differences and their 95 % intervals"),
        (agreed, "agreement"),
    ):
        if rows:
            show(f"DuoRC: {title}", rows)
    if options.json is not None:
        save(
            options.json,
            machine=machine(),
            questions=len(answered),
            answers="the authors" if answerer is None or options.authors else answerer.name,
            tokens=options.tokens,
            rows=table,
            differences=differences,
            agreement=agreed,
        )


def film_questions(path: Path, films: int) -> Iterator[FilmQuestion]:
    """The questions about the first ``films`` films of a file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in islice(lines, films):
            row = json.loads(line)
            for asked in row["questions"]:
                yield FilmQuestion(
                    film=row["id"],
                    plot=row["plot"],
                    question=asked["question"],
                    references=tuple(asked["answers"]),
                    authors_answers={
                        system: asked.get(f"{name}_answer", "") for system, name in _AUTHORS.items()
                    },
                    authors_points={
                        system: asked["grades"][name]
                        for system, name in _AUTHORS.items()
                        if "grades" in asked
                    },
                )


def answered_by_authors(asked: Sequence[FilmQuestion]) -> list[AnsweredQuestion]:
    """The answers and points that the authors published."""
    return [
        replace(_answered(each, each.authors_answers), published=each.authors_points)
        for each in asked
    ]


def answered_by_systems(
    asked: Sequence[FilmQuestion],
    answerer: Answerer,
    embedding: Embedding | None = None,
    *,
    tokens: int | None = None,
) -> Iterator[AnsweredQuestion]:
    """The answers of every system, in a memory for each film."""
    film, systems = None, Systems(answerer, embedding, tokens=tokens)
    for each in tqdm(asked, desc="answers", leave=False, disable=None):
        if each.film != film:
            film, systems = each.film, Systems(answerer, embedding, tokens=tokens)
            systems.update([each.plot])
        yield _answered(each, systems.answers(each.question))


def _answered(asked: FilmQuestion, answers: Mapping[str, str]) -> AnsweredQuestion:
    return AnsweredQuestion(
        unit=asked.film, question=asked.question, references=asked.references, answers=answers
    )


def _drawn(asked: list[FilmQuestion], count: int | None) -> list[FilmQuestion]:
    """``count`` of the questions, by lot, in their order."""
    if count is None or count >= len(asked):
        return asked
    places = sorted(Random(0).sample(range(len(asked)), count))
    return [asked[place] for place in places]


def _table(
    answered: Sequence[AnsweredQuestion], graders: Mapping[str, Points]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A row a system with its accuracy by each grader, and differences to vectors."""
    scores = {name: scores_of(answered, points) for name, points in graders.items()}
    systems = dict.fromkeys(
        [*answered[0].answers, *(row for each in scores.values() for row in each.rows)]
    )
    table = [
        {
            "system": system,
            **{
                name: each.mean(system, ACCURACY) if system in each.rows else None
                for name, each in scores.items()
            },
            "paper": _TABLE_1.get(system),
        }
        for system in systems
    ]
    differences = [
        {"grader": name, **row}
        for name, each in scores.items()
        for row in each.differences(each.rows, [VECTORS], [ACCURACY])
    ]
    return table, differences


if __name__ == "__main__":
    main()
