"""Does recall find what was said? Conversations with evidence: LoCoMo and REALTALK.

    python -m benchmarks.locomo FOLDER… [--without-vectors] [--weights PATH] [--json OUT]

A folder holds the conversations of one of them, a JSON file each (see ``corpora``); which of the
two it is tells the name of the folder, or of one above it. Each conversation is a memory, each turn
one knowledge update. Over all questions that have evidence:

- R@k: the mean share of a question's evidence among the first k distinct turns, best first;
  A turn counts as found by any of its sentences, "Thanks, Deb!" as well;
- whole@k: how much of it these sentences are: the mean share of the content-word stems of each turn
  of evidence that stand in what was found of that turn (peers find whole turns);
- R in tokens: the same share in a context of 500 and 1,000 tokens (characters / 4, marks
  and prefix counted).

The paper's ranking orders concepts, not turns: it stands in the columns of tokens, and uncut (see
``uncut``) in a table of its own, with its tokens.

``--weights`` leaves conversations out: each is measured with weights that were not fitted on it.
Chroma stands here once: in which order its nearest are handed over changes none of these. Below
stands by how much each of recallm's rankings differs from BM25 and from Chroma (see ``intervals``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.corpora import Asked, Conversation, conversations, title_of
from benchmarks.evidence import Stems, whole_evidence
from benchmarks.intervals import Scores
from benchmarks.rankers import Found, Paper, Ranker
from benchmarks.rankings import (
    BM25_ROW,
    CHROMA_ROW,
    EMENT_ROW,
    PAPER_ROW,
    STATEMENTS_ROW,
    VECTORS_ROW,
    WEIGHTS_HELP,
    Rows,
    WeightsFor,
    default_embedding,
    items_of,
    opened_rows,
    weights_in,
)
from benchmarks.report import machine, save, show
from benchmarks.uncut import add_uncut, show_uncut
from recallm.vectors import Embedding

_TURNS = (5, 10, 25, 50)
_WHOLE = (10, 25)
_TOKENS = (500, 1_000)
_COLUMNS = (
    *(f"R@{number}" for number in _TURNS),
    *(f"whole@{number}" for number in _WHOLE),
    *(f"R in {tokens}" for tokens in _TOKENS),
)
_OURS = (PAPER_ROW, STATEMENTS_ROW, VECTORS_ROW, EMENT_ROW)
_COMPARED = ("R@5", "R@10", "R@25", "R@50", "whole@10", "whole@25", "R in 500", "R in 1000")
_SHOWN = ("R@10", "R@25", "R in 500", "R in 1000")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every folder, and report."""
    parser = argparse.ArgumentParser(description="Evidence recall on LoCoMo and REALTALK")
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--without-vectors", action="store_true", help="no rows with embeddings")
    parser.add_argument("--weights", type=Path, help=WEIGHTS_HELP)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    embedding = None if options.without_vectors else default_embedding()
    written: list[dict[str, Any]] = []
    for folder in options.folders:
        talks = list(conversations(folder)) if folder.is_dir() else []
        if not any(talk.questions for talk in talks):
            print(f"{folder} is passed over: no conversations with questions (*.json) lie there")
            continue
        title = title_of(folder)
        scores = measure(talks, embedding, weights_for=weights_in(options.weights), title=title)
        written.append({"data": title, **_report(title, scores)})
    if options.json is not None:
        save(options.json, machine=machine(), data=written)


def measure(
    talks: Sequence[Conversation],
    embedding: Embedding | None = None,
    *,
    weights_for: WeightsFor | None = None,
    title: str = "conversations",
) -> Scores:
    """The scores of every row on every question."""
    scores, stems = Scores(), Stems()
    with opened_rows(embedding, weights_for=weights_for) as rows:
        for talk in tqdm(talks, desc=title, leave=False, disable=None):
            _measure_talk(talk, rows, scores, stems)
    return scores


def score(asked: Asked, ranker: Ranker, turns: Mapping[str, str], stems: Stems) -> dict[str, float]:
    """How much of the evidence of a question ``ranker`` finds; ``turns`` are the texts of the
    conversation's turns by id."""
    found = {} if isinstance(ranker, Paper) else _in_order(asked, ranker, turns, stems)
    for tokens in _TOKENS:
        found[f"R in {tokens}"] = _share(asked, ranker.context(asked.question, tokens=tokens))
    return found


def _in_order(
    asked: Asked, ranker: Ranker, turns: Mapping[str, str], stems: Stems
) -> dict[str, float]:
    """How much of the evidence stands among the first turns."""
    wanted = set(asked.evidence)
    found: dict[str, float] = {}
    best = ranker.best(asked.question)
    order = list(dict.fromkeys(each.item for each in best))
    for number in _TURNS:
        found[f"R@{number}"] = len(wanted.intersection(order[:number])) / len(wanted)
    for number in _WHOLE:
        first = set(order[:number])
        end = next((i for i, each in enumerate(best) if each.item not in first), len(best))
        whole = whole_evidence(wanted, best[:end], turns, stems)
        if whole is not None:
            found[f"whole@{number}"] = whole
    return found


def _share(asked: Asked, context: Sequence[Found]) -> float:
    """The share of a question's evidence in a context."""
    wanted = set(asked.evidence)
    return len(wanted.intersection(each.item for each in context)) / len(wanted)


def _measure_talk(
    talk: Conversation, rows: Callable[[str], Rows], scores: Scores, stems: Stems
) -> None:
    measured = rows(talk.name)
    measured.write(items_of(talk))
    texts = {turn.id: turn.text for turn in talk.turns}
    for asked in tqdm(talk.questions, desc=talk.name, leave=False, disable=None):
        question = scores.question(talk.name, asked.category)
        for ranker in measured.rankers:
            for column, value in score(asked, ranker, texts, stems).items():
                scores.add(ranker.name, column, question, value)
        add_uncut(scores, question, asked.question, measured.rankers, partial(_share, asked))


def _report(title: str, scores: Scores) -> dict[str, Any]:
    count = len(scores.units)
    table = scores.table("ranking", scores.rows, _COLUMNS)
    show(f"{title}: evidence of {count} questions", table)
    differences = scores.differences(_OURS, (BM25_ROW, CHROMA_ROW), _COMPARED)
    show(
        f"{title}: differences and their 95 % intervals",
        [{column: row[column] for column in ("difference", *_SHOWN)} for row in differences],
    )
    return {
        "questions": count,
        "rows": table,
        "uncut": show_uncut(title, scores),
        "differences": differences,
    }


if __name__ == "__main__":
    main()
