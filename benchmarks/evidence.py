"""How much of the evidence and of the right answer stands in what was recalled.

All of it is counted in stems of content words (nouns, names, verbs, adjectives, adverbs, numbers),
as recallm's extraction finds them. They are looked for among the stems of all words of a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import date

from benchmarks.corpora import Asked
from benchmarks.rankers import Found
from recallm import RecallConfig
from recallm.english.dating import named_dates
from recallm.english.extractor import Extractor
from recallm.english.words import stem
from recallm.model import content_terms

_WORD = re.compile(r"\w+")

_SOME_DAY = date(2023, 6, 15)
"""Relative dates ("last week") are read from this day; only where they stand is used."""


class Stems:
    """The stems of texts, each text read once."""

    def __init__(self) -> None:
        self._extractor = Extractor(RecallConfig())
        self._content: dict[str, frozenset[str]] = {}

    def content(self, text: str) -> frozenset[str]:
        """The stems of the content words."""
        if text not in self._content:
            found = self._extractor.extract(text).statements
            self._content[text] = frozenset(
                term for statement in found for term in content_terms(statement.terms)
            )
        return self._content[text]

    def held(self, texts: Iterable[str]) -> frozenset[str]:
        """All that can be found in ``texts``: the stems of all words and those of content words,
        of which extraction knows irregular forms and acronyms."""
        texts = tuple(texts)
        return self.words("\n".join(texts)).union(*map(self.content, texts))

    @staticmethod
    def words(text: str) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(map(stem, _WORD.findall(text)))


def answer_stems(asked: Asked, stems: Stems) -> frozenset[str]:
    """The stems to look for in a context: those of the content words of the right answer, without
    its dates and without the words of the question. A context gives a date by the head of a line
    and by "yesterday", so that the words of a date say nothing; "7 May 2023" has no stem."""
    answer = asked.answers[0]
    for found in reversed(named_dates(answer, _SOME_DAY)):
        answer = f"{answer[: found.start]} {answer[found.end :]}"
    return stems.content(answer) - stems.held([asked.question])


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
            shares.append(len(content & stems.held(texts.get(turn, ()))) / len(content))
    return sum(shares) / len(shares) if shares else None
