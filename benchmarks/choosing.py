"""How much a recall hands over, and how much of the evidence that is.

    python -m benchmarks.choosing DIR... [--embeddings default]

``DIR`` is a folder of conversations (LoCoMo, REALTALK). Each conversation becomes a memory. The
memory is asked its own questions, and those of the next conversation, which is unknown there. The
columns are means over the questions: how many statements a recall hands over, the share of the
evidence among them, the same with ``RecallConfig(fill=True)``, and the statements for a question of
the other conversation.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import asdict
from pathlib import Path

from benchmarks.corpora import Asked, Conversation, conversations
from benchmarks.rankings import items_of
from benchmarks.report import report
from recallm import RecallConfig, RecallM

Measured = dict[str, list[float]]

_FILL = RecallConfig(fill=True)


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description="What a recall hands over")
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--embeddings", choices=["default"])
    options = parser.parse_args()
    rows = []
    for folder in options.folders:
        talks = list(conversations(folder))
        found: Measured = {}
        for talk, other in zip(talks, [*talks[1:], *talks[:1]], strict=True):
            _measure(talk, other, options.embeddings, found)
        means = {column: statistics.mean(values) for column, values in found.items()}
        rows.append({"conversations": folder.name, **means})
    report("What a recall hands over", rows, None)


def _measure(
    talk: Conversation, other: Conversation, embeddings: str | None, found: Measured
) -> None:
    """Add a column's value for each question."""
    with RecallM(embeddings=embeddings) as memory:
        memory.update_many(asdict(item) for item in items_of(talk))
        filled = RecallM(
            memory._opened.store, namespace=memory.namespace, embeddings=embeddings, config=_FILL
        )
        for asked in talk.questions:
            for name, asks in (("chosen", memory), ("filled", filled)):
                lines, evidence = _recalled(asks, asked)
                found.setdefault(f"{name}: statements", []).append(lines)
                found.setdefault(f"{name}: evidence", []).append(evidence)
        unknown = found.setdefault("of another conversation: statements", [])
        unknown += [len(memory.recall(asked.question).statements) for asked in other.questions]


def _recalled(memory: RecallM, asked: Asked) -> tuple[float, float]:
    """How many statements a question gets, and the share of its evidence among them."""
    statements = memory.recall(asked.question).statements
    passages = {statement.passage for statement in statements}
    return len(statements), len(passages.intersection(asked.evidence)) / len(asked.evidence)


if __name__ == "__main__":
    main()
