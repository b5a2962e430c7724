"""Does the context answer? A language model reads the contexts of each system at equal tokens.

    python -m benchmarks.reading FOLDER… [--tokens 1000 …] [--questions N] [--without-vectors]
        [--categories] [--weights PATH] [--cache DIR] [--json OUT]
        [--llm URL --model NAME | --llm-command COMMAND]
        [--grader-llm URL --grader-model NAME | --grader-llm-command COMMAND]

A folder holds conversations of LoCoMo or REALTALK (see ``corpora``). Of each question with evidence
and an answer (LoCoMo's adversarial ones have none) every system hands over a context of so many
tokens: its text as a model gets it, first line, dates and speakers counted, four characters a
token. Peers hand over whole turns with the same heads, Chroma in both orders. "Whole turns" are
turns in the order in which recallm finds them.

With a model: it answers from each context, and a grader, who sees the question, the right answer
and the answer but never the system, grades it 0, ½ or 1. A grade stands for every system that gave
the same answer. Answers and grades are kept in ``--cache``: a run that was stopped goes on.

Without a model, of each context:

- answer stems: the share of the content-word stems of the right answer, without those of the
  question, that stand in it. Questions that ask for a date are left out (contexts give dates by
  heads and by "yesterday"), and answers without such a stem ("yes");
- evidence: the share of the turns of evidence of which some sentence stands in it ("Thanks, Deb!"
  is enough), as in ``benchmarks.locomo``;
- whole evidence: the mean share of the content-word stems of each of these turns that stand in it
  in sentences of that turn;
- wasted: the share of its characters in sentences that are of no turn of evidence and hold no stem
  of the right answer.

Below stands by how much each of recallm's rows differs from each peer's (see ``intervals``).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from benchmarks.answering import Answerer, add_answerer_options, answerer_of, filled_prompt
from benchmarks.corpora import Asked, Conversation, conversations, title_of
from benchmarks.evidence import Stems, whole_evidence
from benchmarks.intervals import Scores
from benchmarks.rankers import Found, Ranker
from benchmarks.rankings import (
    BM25_ROW,
    PAPER_ROW,
    SIMILARITY_ROW,
    STATEMENTS_ROW,
    TIME_ROW,
    TURNS_ROW,
    VECTORS_ROW,
    WeightsFor,
    default_embedding,
    items_of,
    opened_rows,
    weights_in,
)
from benchmarks.report import machine, save, show
from recallm import LLMError
from recallm.vectors import Embedding

__all__ = ["Read", "contexts_of", "figures", "grade_of", "graded", "main"]

_ROWS = (
    STATEMENTS_ROW,
    VECTORS_ROW,
    TURNS_ROW,
    BM25_ROW,
    TIME_ROW,
    SIMILARITY_ROW,
    PAPER_ROW,
)
_OURS = (STATEMENTS_ROW, VECTORS_ROW)
_PEERS = (TURNS_ROW, BM25_ROW, TIME_ROW, SIMILARITY_ROW)
_WEIGHTS = "a file of weights, or a folder with NAME.toml fitted without NAME, for each"
_READ = "read"
_COLUMNS = (_READ, "answer stems", "evidence", "whole evidence", "wasted")
_GRADE = re.compile(r"(?<![\d.])(?:0\.5|½|1/2|[01](?:\.0)?)(?!\d|\.\d|/)")
_HALF = frozenset(("0.5", "½", "1/2"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A question (``number`` in the scores) and the context that the system ``row`` hands over."""

    asked: Asked
    number: int
    row: str
    text: str
    statements: tuple[Found, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the contexts, measure them, let the model read them, report."""
    parser = argparse.ArgumentParser(description="Answers that are read out of contexts")
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--tokens", type=int, nargs="+", default=[250, 1_000])
    parser.add_argument("--questions", type=int, help="so many of each folder, drawn by lot")
    parser.add_argument("--without-vectors", action="store_true", help="no rows with embeddings")
    parser.add_argument("--categories", action="store_true", help="a table by category too")
    parser.add_argument("--weights", type=Path, help=_WEIGHTS)
    parser.add_argument("--cache", type=Path, default=Path(".reading"), help="answers and grades")
    parser.add_argument("--json", type=Path)
    add_answerer_options(parser)
    add_answerer_options(parser, prefix="grader-")
    options = parser.parse_args(arguments)
    answerer = answerer_of(options, parser, cache=options.cache)
    grader = answerer_of(options, parser, cache=options.cache, prefix="grader-") or answerer
    if answerer is None and grader is not None:
        parser.error("a grader needs somebody who answers: give --llm or --llm-command too")
    embedding = None if options.without_vectors else default_embedding()
    written: list[dict[str, Any]] = []
    for folder in options.folders:
        talks = _drawn(list(conversations(folder)), options.questions)
        if not talks:
            parser.error(f"{folder} holds no conversation with questions and answers (*.json)")
        for tokens in options.tokens:
            scores, read = contexts_of(
                talks, embedding, tokens=tokens, weights_for=weights_in(options.weights)
            )
            if answerer is not None and grader is not None:
                graded(read, scores, answerer, grader)
            title = f"{title_of(folder)}, {tokens:,} tokens"
            written.append(
                {
                    "data": title,
                    "answers": getattr(answerer, "name", None),
                    "grades": getattr(grader, "name", None),
                    **_report(title, scores, by_category=options.categories),
                }
            )
    if options.json is not None:
        save(options.json, machine=machine(), data=written)


def contexts_of(
    talks: Sequence[Conversation],
    embedding: Embedding | None = None,
    *,
    tokens: int,
    weights_for: WeightsFor | None = None,
) -> tuple[Scores, list[Read]]:
    """The context of every row for every question, and the figures that need no model."""
    scores, read = Scores(), []
    stems = Stems()
    with opened_rows(
        embedding, similarity_order=True, whole_turns=True, weights_for=weights_for
    ) as rows:
        for talk in tqdm(talks, desc="conversations", leave=False, disable=None):
            measured = rows(talk.name)
            measured.write(items_of(talk))
            rankers = [each for each in measured.rankers if each.name in _ROWS]
            texts = {turn.id: turn.text for turn in talk.turns}
            for asked in tqdm(talk.questions, desc=talk.name, leave=False, disable=None):
                number = scores.question(talk.name, asked.category)
                for ranker in rankers:
                    each = _read(asked, number, ranker, tokens)
                    read.append(each)
                    for column, value in figures(each, texts, stems).items():
                        scores.add(ranker.name, column, number, value)
    return scores, read


def _read(asked: Asked, number: int, ranker: Ranker, tokens: int) -> Read:
    handed = ranker.handed_over(asked.question, tokens=tokens)
    return Read(
        asked=asked,
        number=number,
        row=ranker.name,
        text=handed.text,
        statements=tuple(handed.statements),
    )


# Figures that need no model.


def figures(read: Read, turns: Mapping[str, str], stems: Stems) -> dict[str, float]:
    """The figures of one context that need no model; ``turns`` are the texts of the conversation's
    turns by id."""
    asked = read.asked
    gold = stems.content(asked.answers[0]) - stems.all([asked.question])
    found: dict[str, float] = {}
    if gold and asked.category != "temporal":
        found["answer stems"] = len(gold & stems.all([read.text])) / len(gold)
    wanted = set(asked.evidence)
    found["evidence"] = len(wanted & {each.item for each in read.statements}) / len(wanted)
    whole = whole_evidence(wanted, read.statements, turns, stems)
    if whole is not None:
        found["whole evidence"] = whole
    length = sum(len(each.text) for each in read.statements)
    wasted = sum(
        len(each.text)
        for each in read.statements
        if each.item not in wanted and not gold & stems.all([each.text])
    )
    found["wasted"] = wasted / length if length else 0.0
    return found


# Reading by a model.


def graded(read: Sequence[Read], scores: Scores, answerer: Answerer, grader: Answerer) -> None:
    """Let ``answerer`` answer from each context, and ``grader`` grade what it says. Contexts are
    read in an order that says nothing of their systems."""
    order = list(read)
    Random(0).shuffle(order)
    for each in tqdm(order, desc="answers", leave=False, disable=None):
        answer = answerer(
            filled_prompt("answer", {"context": each.text}, question=each.asked.question)
        )
        grade = grade_of(
            grader(
                filled_prompt(
                    "grade",
                    {"answer": answer},
                    question=each.asked.question,
                    gold=each.asked.answers[0],
                )
            )
        )
        scores.add(each.row, _READ, each.number, grade)


def grade_of(reply: str) -> float:
    """The grade in a grader's reply: 0, 0.5 or 1.

    Raises:
        LLMError: it names none of these, or several.

    """
    grades = set(_GRADE.findall(reply))
    values = {0.5 if grade in _HALF else float(grade) for grade in grades}
    if len(values) != 1:
        raise LLMError(f"the grader must reply with 0, 0.5 or 1, not with {reply[:200]!r}")
    return values.pop()


# Reports.


def _drawn(talks: Sequence[Conversation], questions: int | None) -> list[Conversation]:
    """The conversations with the questions that have an answer; ``questions`` of them, by lot."""
    answered = [
        (place, asked)
        for place, talk in enumerate(talks)
        for asked in talk.questions
        if asked.answers and asked.category != "adversarial"
    ]
    if questions is not None and questions < len(answered):
        answered = Random(0).sample(answered, questions)
    found = []
    for place, talk in enumerate(talks):
        chosen = tuple(asked for of, asked in answered if of == place)
        if chosen:
            found.append(Conversation(name=talk.name, turns=talk.turns, questions=chosen))
    return found


def _report(title: str, scores: Scores, *, by_category: bool) -> dict[str, Any]:
    rows = [row for row in _ROWS if row in scores.rows]
    scored = scores.columns(rows[0])
    first = _READ if _READ in scored else "answer stems"
    columns = [column for column in _COLUMNS if column in scored]
    table = [
        {"system": row, **{column: scores.mean(row, column) for column in columns}} for row in rows
    ]
    show(f"{title}: {len(scores.units)} questions", table)
    kinds = sorted({kind for kind in scores.kinds if kind is not None})
    categories = [
        {"system": row, **{kind: scores.mean(row, first, kind) for kind in kinds}, "of": first}
        for row in rows
    ]
    if by_category and kinds:
        show(f"{title}: by category", categories)
    differences = scores.differences(_OURS, _PEERS, columns)
    show(f"{title}: differences and their 95 % intervals", differences)
    return {
        "questions": len(scores.units),
        "rows": table,
        "by_category": categories,
        "differences": differences,
    }


if __name__ == "__main__":
    main()
