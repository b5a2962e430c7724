"""Golden files: sentences and what the shipped pipeline makes of them.

``python -m tests.extraction.golden`` writes them anew: read the difference before it is
committed.
"""

from __future__ import annotations

from pathlib import Path

from recallm.english.extractor import Extractor
from recallm.ground.config import RecallConfig

_FOLDER = Path(__file__).parents[1] / "golden"
CONCEPTS = _FOLDER / "concepts.txt"
QUESTIONS = _FOLDER / "questions.txt"


def sentences_to_concepts(golden: str) -> str:
    """The file again, each text's statements and concepts found anew.

    A text stands after "# "; "/" in it is a line break. Below it one line a statement: its
    concepts, its terms, its traits.
    """
    extractor = Extractor(RecallConfig())
    lines: list[str] = []
    for text in _texts(golden):
        lines.append(f"# {text}")
        for statement in extractor.extract(text.replace(" / ", "\n")).statements:
            concepts = ", ".join(concept.name for concept in statement.concepts)
            lines.append(
                f"{concepts or '-'} | {' '.join(statement.terms) or '-'} | "
                f"{(statement.traits.name or '-').lower()}"
            )
    return "\n".join(lines) + "\n"


def to_questions(golden: str) -> str:
    """The file again: each question's essential concepts, terms, what it asks, and its intent."""
    extractor = Extractor(RecallConfig())
    lines: list[str] = []
    for text in _texts(golden):
        question = extractor.question(text)
        concepts = ", ".join(concept.name for concept in question.concepts)
        lines.append(f"# {text}")
        lines.append(
            f"{concepts or '-'} | {' '.join(question.terms) or '-'} | "
            f"{(question.asks.name or '-').lower()} | {question.time.intent}"
        )
    return "\n".join(lines) + "\n"


def _texts(golden: str) -> list[str]:
    return [line[2:] for line in golden.splitlines() if line.startswith("# ")]


if __name__ == "__main__":
    CONCEPTS.write_text(sentences_to_concepts(CONCEPTS.read_text("utf-8")), "utf-8")
    QUESTIONS.write_text(to_questions(QUESTIONS.read_text("utf-8")), "utf-8")
