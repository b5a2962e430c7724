"""Golden files: a memory, questions, and the context that each question recalls.

``python -m tests.retrieval.golden`` writes the contexts anew: read the difference before it is
committed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from recallm import RecallM

_FOLDER = Path(__file__).parents[1] / "golden"
CONTEXTS = _FOLDER / "contexts.txt"
_MEMORY = _FOLDER / "memory.txt"
_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_LIMIT = 4


def contexts_of_questions(golden: str) -> str:
    """The golden file again, each question's context recalled anew.

    A question stands after "# ". Below it stand the four statements that the default ranking
    recalls, in order of time, each after its share of the highest probability among them, in
    tenths ("9" means 0.9 to 1.0); then the temporal rules that fired; then the concepts that the
    paper's ranking finds, best first.
    """
    with RecallM(clock=lambda: _NOW) as memory:
        memory.update_many(_updates())
        by_paper = memory.with_ranking("paper")
        lines: list[str] = []
        for question in _questions(golden):
            context = memory.recall(question, limit=_LIMIT)
            best = max((statement.score or 0.0 for statement in context.statements), default=1.0)
            lines.append(f"# {question}")
            for statement in context.statements:
                said = "" if statement.timestamp is None else f"{statement.timestamp:%Y-%m-%d} "
                tenths = min(9, int(10 * (statement.score or 0.0) / best))
                lines.append(f"{tenths} | {said}{statement.speaker}: {statement.text}")
            rules = context.time.rules if context.time is not None else ()
            lines.append(f"time: {'; '.join(rules) or '-'}")
            concepts = ", ".join(concept.label for concept in by_paper.recall(question).concepts)
            lines.append(f"paper: {concepts or '-'}")
    return "\n".join(lines) + "\n"


def _updates() -> list[dict[str, object]]:
    updates: list[dict[str, object]] = []
    for line in _MEMORY.read_text("utf-8").splitlines():
        day, said = line.split(" ", 1)
        speaker, text = said.split(": ", 1)
        updates.append({
            "text": text,
            "speaker": speaker,
            "timestamp": datetime.fromisoformat(f"{day}T10:00:00+00:00"),
            "session": day,
        })  # fmt: skip
    return updates


def _questions(golden: str) -> list[str]:
    return [line[2:] for line in golden.splitlines() if line.startswith("# ")]


if __name__ == "__main__":
    CONTEXTS.write_text(contexts_of_questions(CONTEXTS.read_text("utf-8")), "utf-8")
