"""How much of a turn of evidence stands in what was recalled: a sentence of it, or all of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from benchmarks.rankers import Found
from recallm import RecallConfig
from recallm.extraction import Extractor
from recallm.extraction.stems import stem

__all__ = ["Stems", "whole_evidence"]


class Stems:
    """The stems of all words of a text, and those of its content words."""

    def __init__(self) -> None:
        self._extractor = Extractor(RecallConfig())
        self._content: dict[str, frozenset[str]] = {}

    def content(self, text: str) -> frozenset[str]:
        """The stems of the nouns, names, verbs, adjectives, adverbs and numbers."""
        if text not in self._content:
            found = self._extractor.extract(text).statements
            terms = (term for statement in found for term in statement.terms)
            self._content[text] = frozenset(terms) & self.all([text])
        return self._content[text]

    @staticmethod
    def all(texts: Iterable[str]) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(stem(word) for text in texts for word in re.findall(r"\w+", text))


def whole_evidence(
    wanted: Collection[str], found: Iterable[Found], turns: Mapping[str, str], stems: Stems
) -> float | None:
    """The mean share of the content-word stems of each turn of ``wanted`` that stand in what was
    found of that turn; None where no turn has such a stem. ``turns`` are the texts by id."""
    texts: dict[str, list[str]] = {}
    for each in found:
        texts.setdefault(each.item, []).append(each.text)
    shares = []
    for turn in wanted:
        content = stems.content(turns[turn])
        if content:
            shares.append(len(content & stems.all(texts.get(turn, ()))) / len(content))
    return sum(shares) / len(shares) if shares else None
