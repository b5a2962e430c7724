"""The paper's Figures 5 and 6: do systems answer by what holds now, and by what was told once?

    python -m benchmarks.temporal_answers --llm URL --model NAME [--split test | --split paper]
        [--repetitions 25] [--every 5] [--questions 40] [--tokens N] [--window 4096]
        [--without-vectors] [--by-hand GRADES] [--plot FILE] [--cache DIR] [--json OUT]
        [--grader-llm URL --grader-model NAME | --grader-llm-command COMMAND]

The statements of ``temporal_world`` are added over the repetitions. After the first one, and after
every fifth (``--every``), each system of ``benchmarks.systems`` answers ``--questions`` standard
questions (what holds now, what held before) and as many long-range ones (what was stated once, at
the start), drawn by lot. The paper asks after every repetition, and a person grades, blind. Here a
language model gives 0, 1 or 2 points (``benchmarks.grades``); with ``--by-hand`` a person does too.
The reference is the statement that says the answer. The bare model sees the newest statements that
fit into ``--window`` tokens: 4,096 is the window of the paper's GPT-3.5. ``--tokens`` gives all
systems with a memory contexts of the same size.

``--split paper`` tells the statements of the paper's Figure 7 among statements that have nothing to
do with them, asks its three questions, and shows what each system answers.

The table stands after the last repetition, with paired intervals (a unit is a person); ``--plot``
draws all repetitions. Answers and grades are kept: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from benchmarks.answering import NO_ANSWERER, add_model_options, answerer_and_grader, resumable
from benchmarks.grades import (
    PERFECT,
    AnsweredQuestion,
    Points,
    agreements,
    model_points,
    scores_of,
)
from benchmarks.hand_grading import HandGrades, grade_by_hand
from benchmarks.intervals import Scores
from benchmarks.rankings import default_embedding
from benchmarks.report import machine, save, show
from benchmarks.systems import BARE, VECTORS, Systems
from benchmarks.temporal_world import LONG_RANGE, Question, Statement, World, tell

STANDARD = "standard"
_COLUMNS = (STANDARD, LONG_RANGE)
_UNRELATED = 20
"""Statements between two of the paper's."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Tell the statements, let the systems answer, grade, report."""
    parser = argparse.ArgumentParser(description="Graded answers about what changes")
    parser.add_argument("--split", choices=("dev", "test", "paper"), default="test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=25)
    parser.add_argument(
        "--every", type=int, default=5, help="ask each time after this many repetitions"
    )
    parser.add_argument("--questions", type=int, default=40, help="of each kind, drawn by lot")
    parser.add_argument("--tokens", type=int, help="of each context; without it, as each system")
    parser.add_argument("--window", type=int, default=4_096, help="tokens that the bare model sees")
    parser.add_argument("--without-vectors", action="store_true", help="no system with embeddings")
    parser.add_argument("--by-hand", type=Path, metavar="GRADES", help="a JSON file of own grades")
    parser.add_argument("--plot", type=Path, help="an SVG file to write")
    parser.add_argument("--json", type=Path)
    add_model_options(parser, cache=".answers")
    options = parser.parse_args(arguments)
    answerer, grader = answerer_and_grader(options, parser)
    if answerer is None or grader is None:
        parser.error(NO_ANSWERER)
    if options.split == "paper":
        world, repetitions = figure_7(tell("test", seed=options.seed, repetitions=1)), [1]
    else:
        world = tell(options.split, seed=options.seed, repetitions=options.repetitions)
        repetitions = sorted({1, *range(options.every, options.repetitions + 1, options.every)})
    systems = Systems(
        answerer,
        None if options.without_vectors else default_embedding(),
        tokens=options.tokens,
        window=options.window,
    )
    with resumable(options.cache):
        found = answered(world, systems, repetitions, questions=options.questions)
    everything = [each for of_one in found.values() for each in of_one]
    graders: dict[str, Points] = {grader.name: model_points(grader)}
    if options.by_hand is not None:
        grades = HandGrades(options.by_hand)
        grade_by_hand(everything, grades)
        graders["by hand"] = grades.points
    with resumable(options.cache):
        written = {name: _report(name, found, points) for name, points in graders.items()}
    agreed = agreements(everything, graders)
    if agreed:
        show("Temporal: agreement", agreed)
    if options.split == "paper":
        for each in everything:
            show(
                each.question,
                [{"system": name, "answer": text} for name, text in each.answers.items()],
            )
    if options.plot is not None:
        _draw(options.plot, written)
    if options.json is not None:
        save(
            options.json,
            machine=machine(),
            split=options.split,
            seed=options.seed,
            updates=len(world.statements),
            answers=answerer.name,
            tokens=options.tokens,
            window=options.window,
            graders=written,
            agreement=agreed,
        )


def figure_7(world: World) -> World:
    """The three examples that the paper prints, one after the other, each statement followed by
    statements of ``world`` that have nothing to do with it."""
    path = Path(__file__).with_name("figure_7.toml")
    examples = tomllib.loads(path.read_text(encoding="utf-8"))["example"]
    unrelated = iter(world.statements)
    statements: list[Statement] = []
    questions = []
    for number, example in enumerate(examples):
        subject = example["subject"]
        topic = (subject, f"example {number + 1}")
        for statement in example["statements"]:
            states = (statement["state"],) if "state" in statement else ()
            statements.append(
                Statement(
                    text=statement["text"],
                    subject=subject,
                    topic=topic if states else None,
                    states=states,
                )
            )
            statements += [each for _, each in zip(range(_UNRELATED), unrelated, strict=False)]
        questions.append(
            Question(
                text=example["question"],
                kind=example["kind"],
                subject=subject,
                topic=topic,
                state=example["answered_by"],
            )
        )
    return World(tuple(statements), (len(statements),), (tuple(questions),))


def answered(
    world: World, systems: Systems, repetitions: Sequence[int], *, questions: int
) -> dict[int, list[AnsweredQuestion]]:
    """What the systems answer after each of the ``repetitions``: at most ``questions`` of
    each column."""
    result = {}
    written = 0
    for repetition in repetitions:
        end = world.ends[repetition - 1]
        systems.update([each.text for each in world.statements[written:end]])
        written = end
        drawn = _drawn(world.questions[repetition - 1], questions, seed=repetition)
        result[repetition] = [
            AnsweredQuestion(
                unit=asked.subject,
                question=asked.text,
                references=(_reference(world, asked),),
                answers=systems.answers(asked.text),
                column=_column(asked),
            )
            for asked in tqdm(drawn, desc=f"repetition {repetition}", leave=False, disable=None)
        ]
    return result


def _drawn(questions: Sequence[Question], count: int, *, seed: int) -> list[Question]:
    random = Random(seed)
    drawn = []
    for column in _COLUMNS:
        of_column = [asked for asked in questions if _column(asked) == column]
        drawn += random.sample(of_column, min(count, len(of_column)))
    return drawn


def _column(asked: Question) -> str:
    return LONG_RANGE if asked.kind == LONG_RANGE else STANDARD


def _reference(world: World, asked: Question) -> str:
    """The statement with which the state began that answers."""
    return next(
        statement.text
        for statement in world.statements
        if statement.topic == asked.topic and statement.states[-1:] == (asked.state,)
    )


def _report(
    grader: str, found: Mapping[int, Sequence[AnsweredQuestion]], points: Points
) -> dict[str, Any]:
    """Print the table of one grader; the same, with the curves over the repetitions."""
    scores = {repetition: scores_of(each, points) for repetition, each in found.items()}
    repetitions = list(found)
    last = scores[repetitions[-1]]
    systems = [row for row in last.rows if row != PERFECT]
    columns = [each for each in _COLUMNS if any(each in last.columns(row) for row in systems)]
    table = [
        {"system": row, **{column: last.mean(row, column) for column in columns}} for row in systems
    ]
    differences = last.differences(
        [row for row in systems if row != BARE], [VECTORS, BARE], columns
    )
    if table:
        show(f"Temporal, graded by {grader}: after {repetitions[-1]} repetitions", table)
    if differences:
        show("Temporal: differences and their 95 % intervals", differences)
    curves = {
        column: {row: [_mean(each, row, column) for each in scores.values()] for row in systems}
        for column in columns
    }
    return {
        "rows": table,
        "differences": differences,
        "repetitions": repetitions,
        "curves": curves,
    }


def _mean(scores: Scores, row: str, column: str) -> float | None:
    return scores.mean(row, column) if row in scores.rows else None


def _draw(path: Path, written: Mapping[str, Mapping[str, Any]]) -> None:
    """The curves by the last grader that has graded: the person, where there is one."""
    from benchmarks.plot import draw_over_repetitions

    report = next((each for each in reversed(list(written.values())) if each["curves"]), None)
    if report is None:
        print(f"{path} is not written: no answer was graded")
        return
    draw_over_repetitions(
        path,
        report["repetitions"],
        {f"{column} questions".capitalize(): rows for column, rows in report["curves"].items()},
        accuracy="accuracy of the answers",
    )


if __name__ == "__main__":
    main()
