"""What a reader gets: what the contexts of each system hold at equal tokens.

    python -m benchmarks.reading FOLDER… [--tokens 250 500 1000] [--questions N]
        [--without-vectors] [--weights PATH] [--json OUT]

A folder holds conversations of LoCoMo or REALTALK (see ``corpora``). For each question with
evidence and an answer every system hands over a context of the same tokens: its text as a model
gets it, with the first line, dates and speakers, at four characters a token. What does not fit is
left out whole, a statement or a turn. Peers hand over whole turns with the same heads as recallm.
"Whole turns" are turns in the order in which recallm finds them. LoCoMo's adversarial questions,
which ask for something that nobody said, are left out, as in LoCoMo's own evaluation of retrieval.

Of each context:

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from benchmarks.corpora import Asked, Conversation, conversations, title_of
from benchmarks.evidence import Stems, answer_stems, whole_evidence
from benchmarks.intervals import Scores
from benchmarks.rankers import HandedOver
from benchmarks.rankings import (
    BM25_ROW,
    CHROMA_ROW,
    PAPER_ROW,
    STATEMENTS_ROW,
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

_ROWS = (STATEMENTS_ROW, VECTORS_ROW, TURNS_ROW, BM25_ROW, CHROMA_ROW, PAPER_ROW)
_OURS = (STATEMENTS_ROW, VECTORS_ROW)
_PEERS = (TURNS_ROW, BM25_ROW, CHROMA_ROW)
_COLUMNS = ("answer stems", "evidence", "whole evidence", "wasted")


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the contexts, measure them, report."""
    parser = argparse.ArgumentParser(description="What contexts hold at equal tokens")
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--tokens", type=int, nargs="+", default=[250, 500, 1_000])
    parser.add_argument(
        "--questions", type=int, help="the number of questions from each folder, drawn by lot"
    )
    parser.add_argument("--without-vectors", action="store_true", help="no rows with embeddings")
    parser.add_argument("--weights", type=Path, help=WEIGHTS_HELP)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    embedding = None if options.without_vectors else default_embedding()
    written: list[dict[str, Any]] = []
    for folder in options.folders:
        talks = _drawn(list(conversations(folder)), options.questions)
        if not talks:
            parser.error(f"{folder} holds no conversation with questions and answers (*.json)")
        found = measure(
            talks, embedding, tokens=options.tokens, weights_for=weights_in(options.weights)
        )
        for tokens, scores in found.items():
            title = f"{title_of(folder)}, {tokens:,} tokens"
            written.append({"data": title, **_report(title, scores)})
    if options.json is not None:
        save(options.json, machine=machine(), data=written)


def measure(
    talks: Sequence[Conversation],
    embedding: Embedding | None = None,
    *,
    tokens: Sequence[int],
    weights_for: WeightsFor | None = None,
) -> dict[int, Scores]:
    """For each number of tokens the scores of every row on every question."""
    found = {number: Scores() for number in tokens}
    stems = Stems()
    with opened_rows(embedding, whole_turns=True, weights_for=weights_for) as rows:
        for talk in tqdm(talks, desc="conversations", leave=False, disable=None):
            measured = rows(talk.name)
            measured.write(items_of(talk))
            rankers = [each for each in measured.rankers if each.name in _ROWS]
            texts = {turn.id: turn.text for turn in talk.turns}
            for asked in tqdm(talk.questions, desc=talk.name, leave=False, disable=None):
                for number, scores in found.items():
                    question = scores.question(talk.name, asked.category)
                    for ranker in rankers:
                        context = ranker.handed_over(asked.question, tokens=number)
                        for column, value in figures(asked, context, texts, stems).items():
                            scores.add(ranker.name, column, question, value)
    return found


def figures(
    asked: Asked, context: HandedOver, turns: Mapping[str, str], stems: Stems
) -> dict[str, float]:
    """The figures of one context; ``turns`` are the texts of the conversation's turns by id."""
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


def _report(title: str, scores: Scores) -> dict[str, Any]:
    rows = [row for row in _ROWS if row in scores.rows]
    table = scores.table("system", rows, _COLUMNS)
    show(f"{title}: {len(scores.units)} questions", table)
    differences = scores.differences(_OURS, _PEERS, _COLUMNS)
    show(f"{title}: differences and their 95 % intervals", differences)
    return {"questions": len(scores.units), "rows": table, "differences": differences}


if __name__ == "__main__":
    main()
