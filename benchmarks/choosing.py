"""What a recall hands over: how much, how much of that is evidence, and what its scores mean.

    python -m benchmarks.choosing DIR... [--embeddings default] [--weights PATH] [--sample N]

``DIR`` is a folder of conversations (LoCoMo, REALTALK, LongMemEval). Each conversation becomes a
memory. The memory is asked its own questions, and those of the next conversation, which is unknown
there. The columns are means over the questions: how many statements a recall hands over, the share
of the evidence among them, how many are evidence, whether the best of them is; the first two with
``RecallConfig(fill=True)``; and the statements for a question of the other conversation.

A second table says what a ``score`` means: of the statements handed over with a score in each
tenth, the mean score and the share that is evidence (a statement is where its turn is). The
expected error is the mean difference of the two, a tenth counting as often as it holds statements.

``--sample N`` takes every Nth conversation of a folder.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpora import ABSTENTION, Asked, Conversation, conversations, histories
from benchmarks.rankings import WEIGHTS_HELP, WeightsFor, items_of, weights_in
from benchmarks.report import report, show
from recallm import RecallConfig, RecallM

_TENTHS = 10


class Scored(NamedTuple):
    """The score of a statement that is handed over, and whether the statement is evidence."""

    score: float
    is_evidence: bool


class Measured:
    """The values of each column, one for each question, and what the scores mean."""

    def __init__(self) -> None:
        self.columns: dict[str, list[float]] = {}
        self.scored: list[Scored] = []

    def add(self, column: str, value: float) -> None:
        """Add the value of a question."""
        self.columns.setdefault(column, []).append(value)


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description="What a recall hands over")
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--embeddings", choices=["default"])
    parser.add_argument("--weights", type=Path, help=WEIGHTS_HELP)
    parser.add_argument("--sample", type=int, default=1, metavar="N")
    options = parser.parse_args()
    rows, tenths = [], []
    for folder in options.folders:
        talks = [*conversations(folder)] or [*filter(_is_answered, histories(folder))]
        talks = talks[:: options.sample]
        found = Measured()
        for talk, other in zip(talks, [*talks[1:], *talks[:1]], strict=True):
            _measure(talk, other, options.embeddings, weights_in(options.weights), found)
        means = {column: statistics.mean(values) for column, values in found.columns.items()}
        rows.append({"conversations": folder.name, **means})
        tenths.append({"conversations": folder.name, **calibration(found.scored)})
    show("What a score means: mean score, share of evidence (statements)", tenths)
    report("What a recall hands over", rows, None)


def _is_answered(talk: Conversation) -> bool:
    return all(asked.evidence and asked.category != ABSTENTION for asked in talk.questions)


def calibration(scored: Sequence[Scored]) -> dict[str, Any]:
    """The expected error, and for each tenth the mean score, the share of evidence and the number
    of statements."""
    row: dict[str, Any] = {"expected error": 0.0}
    for tenth in range(_TENTHS):
        within = [each for each in scored if min(int(each.score * _TENTHS), _TENTHS - 1) == tenth]
        column = f"{tenth / _TENTHS:.1f}"
        row[column] = ""
        if within:
            score = statistics.mean(each.score for each in within)
            share = statistics.mean(each.is_evidence for each in within)
            row[column] = f"{score:.2f}, {share:.2f} ({len(within)})"
            row["expected error"] += abs(score - share) * len(within) / len(scored)
    return row


def _measure(
    talk: Conversation,
    other: Conversation,
    embeddings: str | None,
    weights_for: WeightsFor,
    found: Measured,
) -> None:
    """Add the values of each question of a conversation."""
    config = RecallConfig(weights=weights_for(talk.name))
    with RecallM(embeddings=embeddings, config=config) as memory:
        memory.update_many(asdict(item) for item in items_of(talk))
        filled = RecallM(
            memory._opened.store,
            namespace=memory.namespace,
            embeddings=embeddings,
            config=RecallConfig(weights=config.weights, fill=True),
        )
        for asked in talk.questions:
            _add("chosen", memory, asked, found)
            _add("filled", filled, asked, found)
        for asked in other.questions:
            statements = memory.recall(asked.question).statements
            found.add("of another conversation: statements", len(statements))


def _add(name: str, memory: RecallM, asked: Asked, found: Measured) -> None:
    """Add what a question gets."""
    statements = memory.recall(asked.question).statements
    passages = {statement.passage for statement in statements}
    found.add(f"{name}: statements", len(statements))
    found.add(f"{name}: evidence", len(passages.intersection(asked.evidence)) / len(asked.evidence))
    if name != "chosen":
        return
    scored = [
        Scored(statement.score or 0.0, statement.passage in asked.evidence)
        for statement in statements
    ]
    best = max(scored, default=Scored(0.0, is_evidence=False), key=lambda each: each.score)
    found.add("chosen: are evidence", sum(each.is_evidence for each in scored) / (len(scored) or 1))
    found.add("chosen: best is evidence", best.is_evidence)
    found.scored += scored


if __name__ == "__main__":
    main()
