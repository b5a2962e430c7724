"""Which words of short sentences become concepts: precision and recall, and the mistakes.

    python -m benchmarks.concept_words [--file SENTENCES] [--model PIPELINE] [--json OUT]

``short_sentences.txt`` holds 200 sentences. The words that should be concepts (nouns, names and
numbers) stand in brackets: "[Ingrid] lives in [Malaga]." They were written before any model was
measured on them, and no training reads them. ``--model`` names an installed spaCy pipeline; without
it the shipped one is measured. Entities of several words are left out: their words count.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import report
from recallm import RecallConfig
from recallm.english.extractor import Extractor

SHORT_SENTENCES = Path(__file__).with_name("short_sentences.txt")
_BRACKETED = re.compile(r"\[([^\]]+)\]")


class ConceptScores(NamedTuple):
    """Counts over all sentences, and a line for each sentence with a mistake."""

    sentences: int
    right: int
    missed: int
    wrong: int
    mistakes: list[str]

    def row(self, name: str) -> dict[str, object]:
        """The scores in per cent, as a row of a table."""
        return {
            "pipeline": name,
            "precision": 100 * self.right / max(1, self.right + self.wrong),
            "recall": 100 * self.right / max(1, self.right + self.missed),
            "F1": 200 * self.right / max(1, 2 * self.right + self.wrong + self.missed),
            "sentences without a mistake": 100 * (1 - len(self.mistakes) / self.sentences),
        }


def scored(lines: Iterable[str], extractor: Extractor) -> ConceptScores:
    """Compare the concepts of each line's sentence with its words in brackets."""
    sentences = right = missed = wrong = 0
    mistakes: list[str] = []
    for line in lines:
        gold = {extractor.concept_name(word) for word in _BRACKETED.findall(line)}
        statements = extractor.extract(_BRACKETED.sub(r"\1", line)).statements
        mentions = (mention for statement in statements for mention in statement.concepts)
        found = {mention.name for mention in mentions if " " not in mention.name}
        sentences += 1
        right += len(found & gold)
        missed += len(gold - found)
        wrong += len(found - gold)
        if found != gold:
            less = ", ".join(sorted(gold - found)) or "-"
            more = ", ".join(sorted(found - gold)) or "-"
            mistakes.append(f"{line}   missed: {less}   wrong: {more}")
    return ConceptScores(sentences, right, missed, wrong, mistakes)


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", type=Path, default=SHORT_SENTENCES)
    parser.add_argument("--model", help="an installed spaCy pipeline, by name or path")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lines = options.file.read_text(encoding="utf-8").splitlines()
    scores = scored(lines, Extractor(RecallConfig(spacy_model=options.model)))
    for mistake in scores.mistakes:
        print(mistake)
    report("Concepts of short sentences", [scores.row(options.model or "shipped")], options.json)


if __name__ == "__main__":
    main()
