"""Does the context answer? A language model reads the contexts of each system at equal tokens.

    python -m benchmarks.reading FOLDER… [--tokens 250 500 1000] [--questions N]
        [--without-vectors] [--categories] [--weights PATH] [--cache DIR] [--json OUT]
        [--llm URL --model NAME | --llm-command COMMAND]
        [--grader-llm URL --grader-model NAME | --grader-llm-command COMMAND]

A folder holds conversations of LoCoMo or REALTALK (see ``corpora``). For each question with
evidence and an answer every system hands over a context of the same tokens: its text as a model
gets it, with the first line, dates and speakers, at four characters a token. What does not fit is
left out whole, a statement or a turn. Peers hand over whole turns with the same heads as recallm,
BM25 and Chroma in order of time and with the best first; differences are to the better of the two
orders. "Whole turns" are turns in the order in which recallm finds them. LoCoMo's adversarial
questions, which ask for something that nobody said, are left out, as in LoCoMo's own evaluation of
retrieval.

With a model: it answers from each context, and a grader, who sees the question, the right answer
and the answer but never the system, grades it 0, ½ or 1. Contexts are read in an order drawn by
lot; equal answers to a question are graded once. A grader that replies with something else is asked
once more, then the answer counts 0, and the title of the table says how many there were. Answers
and grades are kept in ``--cache``: the command that failed or was stopped goes on where it was.

Without a model, of each context:

- answer stems: the share of the content-word stems of the right answer that stand in it. Stems of
  the question do not count, nor do dates: a context gives "7 May 2023" by ``[2023-05-08]`` and
  "yesterday". Answers without another stem ("yes", "7 May 2023") are left out of this figure;
- evidence: the share of the turns of evidence of which some sentence stands in it ("Thanks, Deb!"
  is enough), as R in ``benchmarks.locomo``;
- whole evidence: the mean share of the content-word stems of each of these turns that stand in it
  in sentences of that turn;
- wasted: the share of its text on lines that are of no turn of evidence and hold no stem of the
  right answer.

Below stands by how much each of recallm's rows differs from each peer's (see ``intervals``).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from benchmarks.answering import (
    NO_ANSWERER,
    Answerer,
    add_model_options,
    answerer_and_grader,
    filled_prompt,
    resumable,
)
from benchmarks.corpora import Asked, Conversation, conversations, title_of
from benchmarks.evidence import Stems, answer_stems, whole_evidence
from benchmarks.intervals import Scores
from benchmarks.rankers import HandedOver
from benchmarks.rankings import (
    BEST_BM25_ROW,
    BM25_ROW,
    PAPER_ROW,
    SIMILARITY_ROW,
    STATEMENTS_ROW,
    TIME_ROW,
    TURNS_ROW,
    VECTORS_ROW,
    WEIGHTS_HELP,
    WeightsFor,
    default_embedding,
    items_of,
    opened_rows,
    weights_in,
)
from benchmarks.report import machine, save, show
from recallm.vectors import Embedding

_ROWS = (
    STATEMENTS_ROW,
    VECTORS_ROW,
    TURNS_ROW,
    BM25_ROW,
    BEST_BM25_ROW,
    TIME_ROW,
    SIMILARITY_ROW,
    PAPER_ROW,
)
_OURS = (STATEMENTS_ROW, VECTORS_ROW)
_PEERS = ((TURNS_ROW,), (BM25_ROW, BEST_BM25_ROW), (TIME_ROW, SIMILARITY_ROW))
"""Each with its orders, which only a reader can tell apart."""

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
    context: HandedOver


@dataclass(frozen=True, slots=True, kw_only=True)
class Contexts:
    """The contexts of one number of tokens, and their scores."""

    scores: Scores = field(default_factory=Scores)
    read: list[Read] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the contexts, measure them, let the model read them, report."""
    parser = argparse.ArgumentParser(description="Answers that are read out of contexts")
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--tokens", type=int, nargs="+", default=[250, 500, 1_000])
    parser.add_argument(
        "--questions", type=int, help="the number of questions from each folder, drawn by lot"
    )
    parser.add_argument("--without-vectors", action="store_true", help="no rows with embeddings")
    parser.add_argument("--categories", action="store_true", help="a table by category too")
    parser.add_argument("--weights", type=Path, help=WEIGHTS_HELP)
    parser.add_argument("--json", type=Path)
    add_model_options(parser, cache=".reading")
    options = parser.parse_args(arguments)
    answerer, grader = answerer_and_grader(options, parser)
    if answerer is None and grader is not None:
        parser.error(NO_ANSWERER)
    embedding = None if options.without_vectors else default_embedding()
    written: list[dict[str, Any]] = []
    for folder in options.folders:
        talks = _drawn(list(conversations(folder)), options.questions)
        if not talks:
            parser.error(f"{folder} holds no conversation with questions and answers (*.json)")
        found = contexts_of(
            talks, embedding, tokens=options.tokens, weights_for=weights_in(options.weights)
        )
        for tokens, contexts in found.items():
            title = f"{title_of(folder)}, {tokens:,} tokens"
            unreadable = 0
            if answerer is not None and grader is not None:
                with resumable(options.cache):
                    unreadable = graded(contexts, answerer, grader)
            written.append(
                {
                    "data": title,
                    "answers": getattr(answerer, "name", None),
                    "grades": getattr(grader, "name", None),
                    "unreadable grades": unreadable,
                    **_report(title, contexts.scores, by_category=options.categories),
                }
            )
            if unreadable:
                print(f"{unreadable} replies of the grader were no grade: these answers count 0")
    if options.json is not None:
        save(options.json, machine=machine(), data=written)


def contexts_of(
    talks: Sequence[Conversation],
    embedding: Embedding | None = None,
    *,
    tokens: Sequence[int],
    weights_for: WeightsFor | None = None,
) -> dict[int, Contexts]:
    """For each number of tokens the context of every row for every question, and the figures that
    need no model."""
    found = {number: Contexts() for number in tokens}
    stems = Stems()
    with opened_rows(
        embedding, similarity_order=True, for_reading=True, weights_for=weights_for
    ) as rows:
        for talk in tqdm(talks, desc="conversations", leave=False, disable=None):
            measured = rows(talk.name)
            measured.write(items_of(talk))
            rankers = [each for each in measured.rankers if each.name in _ROWS]
            texts = {turn.id: turn.text for turn in talk.turns}
            for asked in tqdm(talk.questions, desc=talk.name, leave=False, disable=None):
                for number, contexts in found.items():
                    question = contexts.scores.question(talk.name, asked.category)
                    for ranker in rankers:
                        context = ranker.handed_over(asked.question, tokens=number)
                        contexts.read.append(
                            Read(asked=asked, number=question, row=ranker.name, context=context)
                        )
                        for column, value in figures(asked, context, texts, stems).items():
                            contexts.scores.add(ranker.name, column, question, value)
    return found


def figures(
    asked: Asked, context: HandedOver, turns: Mapping[str, str], stems: Stems
) -> dict[str, float]:
    """The figures of one context that need no model; ``turns`` are the texts of the conversation's
    turns by id."""
    answer = answer_stems(asked, stems)
    statements = context.statements
    found: dict[str, float] = {}
    if answer:
        # The speakers in the heads count, too.
        held = stems.words(context.text) | stems.held(each.text for each in statements)
        found["answer stems"] = len(answer & held) / len(answer)
    wanted = set(asked.evidence)
    found["evidence"] = len(wanted & {each.item for each in statements}) / len(wanted)
    whole = whole_evidence(wanted, statements, turns, stems)
    if whole is not None:
        found["whole evidence"] = whole
    wasted = sum(
        len(line)
        for line, on_line in context.lines
        if wanted.isdisjoint(each.item for each in on_line)
        and answer.isdisjoint(stems.held(each.text for each in on_line))
    )
    found["wasted"] = wasted / len(context.text) if context.text else 0.0
    return found


# Reading by a model.


def graded(contexts: Contexts, answerer: Answerer, grader: Answerer) -> int:
    """Let ``answerer`` answer from each context, and ``grader`` grade what it says. Contexts are
    read in an order that says nothing of their systems.

    Returns:
        How many replies of the grader were no grade; their answers count 0.

    Raises:
        LLMError: a model failed.

    """
    unreadable = 0
    order = list(contexts.read)
    Random(0).shuffle(order)
    for each in tqdm(order, desc="answers", leave=False, disable=None):
        asked = each.asked
        prompt = filled_prompt("answer", {"context": each.context.text}, question=asked.question)
        grading = filled_prompt(
            "grade",
            {"answer": answerer(prompt)},
            question=asked.question,
            gold=asked.answers[0],
        )
        grade = grade_of(grader(grading))
        if grade is None:
            grade = grade_of(grader(f"{grading}\n{filled_prompt('grade_again', {})}"))
        unreadable += grade is None
        contexts.scores.add(each.row, _READ, each.number, grade or 0.0)
    return unreadable


def grade_of(reply: str) -> float | None:
    """The grade in a grader's reply: 0, 0.5 or 1; None if it names none of these, or several."""
    values = {0.5 if grade in _HALF else float(grade) for grade in _GRADE.findall(reply)}
    return values.pop() if len(values) == 1 else None


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
    columns = [column for column in _COLUMNS if column in scores.columns(STATEMENTS_ROW)]
    first = columns[0]  # what was read, else the answer stems
    peers = [[row for row in orders if row in scores.rows] for orders in _PEERS]
    # Without a reader both orders of a peer have the same figures.
    hidden = set() if first == _READ else {row for orders in peers for row in orders[1:]}
    rows = [row for row in _ROWS if row in scores.rows and row not in hidden]
    table = scores.table("system", rows, columns)
    show(f"{title}: {len(scores.units)} questions", table)
    best = [
        max(orders, key=lambda row: scores.mean(row, first) or 0.0) for orders in peers if orders
    ]
    differences = scores.differences(_OURS, best, columns)
    show(f"{title}: differences and their 95 % intervals", differences)
    kinds = sorted({kind for kind in scores.kinds if kind is not None})
    categories = [
        {"system": row, **{kind: scores.mean(row, first, kind) for kind in kinds}} for row in rows
    ]
    by_kind = scores.differences_by_kind(_OURS, best, first)
    if by_category and kinds:
        show(f"{title}: {first} by category", categories)
        show(f"{title}: differences of {first} by category", by_kind)
    return {
        "questions": len(scores.units),
        "rows": table,
        "differences": differences,
        "by_category": categories,
        "differences_by_category": by_kind,
    }


if __name__ == "__main__":
    main()
