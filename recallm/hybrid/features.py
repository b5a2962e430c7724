"""Features of an answer beside its question, whoever gave it.

They come from plain words and rules: from no phrases of one model, and from no parsing, so that an
answer costs a fraction of a millisecond. The **new stems** of an answer are what it says: stems of
content words that are neither the question's nor words about knowing and hedging. Names count if
the question does not hold them already.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from recallm.english.word_lists import word_set
from recallm.english.words import Word, stem, word_of
from recallm.model import Mark

Floats = NDArray[np.float64]

MAX_LENGTH = 2000
"""Characters of a text that are read: its beginning shows what kind of answer it is."""

_EARLY = 60
"""Characters. A refusal that begins later follows some sort of answer."""

_MAX_WORD_LENGTH = 60

_WORDS = {
    name: word_set(words)
    for name, words in tomllib.loads(
        files("recallm.hybrid").joinpath("data", "english.toml").read_text(encoding="utf-8")
    ).items()
}
"""The lists of words; comments in the file say what each holds."""

_STRAIGHT_QUOTES = str.maketrans("’‘‛´`“”„", "'''''\"\"\"")
_SENTENCE = re.compile(r"(?:[^.?!]|[.?!](?=\w))+")
_TOKEN = re.compile(r"(?<!\w)\w+n't\b|'(?:s|re|ve|ll|d|m)\b|[^\W_]+(?:[.,-][^\W_]+)*")


def plain_answer(text: str) -> str:
    """The beginning of an answer with straight quotation marks, and without white space and marks
    of emphasis around it."""
    plain = unicodedata.normalize("NFKC", text[:MAX_LENGTH].translate(_STRAIGHT_QUOTES))
    return plain[:MAX_LENGTH].replace("**", "").strip()


def _words(text: str) -> tuple[Word, ...]:
    return tuple(word_of(token) for token in _TOKEN.findall(text) if len(token) <= _MAX_WORD_LENGTH)


def _content_stems(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(
        word.stem
        for word in words
        if word.is_word
        and not word.is_stop_word
        and word.lowered not in _WORDS["fillers"]
        and not word.marks & (Mark.PRONOUN | Mark.ASKS | Mark.AUXILIARY)
    )


@cache
def _stems_without_content() -> frozenset[str]:
    """Stems of words about knowing, hedging and the like: they are never new stems."""
    kinds = ("negations", "sources", "informing", "unknown", "knowing", "hedges", "generic")
    return frozenset().union(*map(_stems_of, (*kinds, "vague", "self")))


@cache
def _stems_of(kind: str) -> frozenset[str]:
    """The stems of a list of words."""
    return frozenset(map(stem, _WORDS[kind]))


def question_stems(text: str) -> set[str]:
    """The stems of the content words of a question."""
    return set(_content_stems(_words(plain_answer(text))))


class AnswerFeatures:
    """An answer beside the stems of its question, analysed for the rules of the features.

    ``values``: of ``FEATURES``, of shape (len(FEATURES),); ``new_stems``: what the answer says;
    ``refuses``: whether it says that it does not know.
    """

    def __init__(self, text: str, question: set[str]) -> None:
        self.text = plain_answer(text)
        words = _words(self.text)
        self.size = len(words)
        self.lowered = [word.lowered for word in words]
        self.stems = _content_stems(words)
        self.new_stems = set(self.stems) - question - _stems_without_content()
        self.refusal = refusal_start(" ".join(self.text.lower().split()))
        self.refuses = self.refusal is not None
        self.names = sum(
            word.is_capitalised
            and word.stem in self.new_stems
            and (place > 0 or not word.marks & Mark.PRONOUN)
            for place, word in enumerate(words)
        )
        self.values: Floats = np.array([float(rule(self, question)) for rule in _RULES.values()])


def _log(number: int) -> float:
    return float(np.log1p(number))


_RULES: Mapping[str, Callable[[AnswerFeatures, set[str]], float]] = {
    "refuses at once": lambda a, _: a.refusal is not None and a.refusal < _EARLY,
    "tells more beside a refusal": lambda a, _: a.refuses * _log(len(a.new_stems)),
    "length": lambda a, _: _log(a.size),
    "parts": lambda a, _: min(a.text.count(",") + a.lowered.count("and"), 4) / 4,
    "joins": lambda a, _: min(a.lowered.count("and") + a.lowered.count("or"), 3) / 3,
    "begins with the question": lambda a, q: len(q & set(a.stems[:3])) / 3,
    "tells": lambda a, _: _log(len(a.new_stems)),
    "tells nothing": lambda a, _: not a.new_stems and not a.refuses,
    "names": lambda a, _: _log(a.names),
}
"""The features of an answer ``a`` to a question with the stems ``q``, by name. "Tells" speaks of
new stems."""

FEATURES = tuple(_RULES)
"""The names of the features, in the order of the weights."""


# Refusals.


_NEAR = 5
"""Words before and behind a negation that belong to it."""

_PHRASES = re.compile(
    r"\bi(?:'m| am) (?:sorry|afraid)\b|\bapologi[sz]e|^sorry\b|\bunanswerable\b|\bn/a\b"
    r"|\b(?:please|could you|can you)\b.{0,40}\b(?:provide|clarify|specify|share|rephrase|more)\b"
    r"|\bas an? (?:\w+ ){0,2}(?:ai|assistant|language model|llm)\b|\bmy (?:training|knowledge)\b"
    r"|\bi have no\b|\byou (?:have not|haven't|have never|never)\b"
)
"""Regrets, requests for more, and what a model says of itself."""


def refusal_start(text: str) -> int | None:
    """Where the first refusal begins in ``text`` (lower case, plain apostrophes); None where it
    has none. Reads its first ``MAX_LENGTH`` characters."""
    text = text[:MAX_LENGTH]
    starts = [found.start() for found in _PHRASES.finditer(text)]
    for sentence in _SENTENCE.finditer(text):
        tokens = list(_TOKEN.finditer(text, *sentence.span()))
        words = [token[0] for token in tokens]
        starts += [token.start() for i, token in enumerate(tokens) if _refuses_at(i, words)]
    return min(starts, default=None)


def _refuses_at(place: int, words: Sequence[str]) -> bool:
    """Whether a word of a sentence refuses: something is "unclear", it is "not mentioned", I
    "cannot recall", the text says "nothing"."""
    word = words[place]
    if word in _WORDS["unknown"]:
        stands_alone = place in (0, len(words) - 1)
        return stands_alone or not _WORDS["being"].isdisjoint(words[max(0, place - 2) : place])
    is_negation = word in _WORDS["negations"] or word.endswith("n't")
    if not is_negation and word != "silent":
        return False
    before = words[max(0, place - _NEAR) : place]
    is_of_source = not _WORDS["sources"].isdisjoint(before)
    if not is_negation or (is_of_source and word in ("no", "nothing")):
        return is_of_source
    denied = [word_of(each).stem for each in words[place + 1 : place + 1 + _NEAR]]
    if not _stems_of("informing").isdisjoint(denied):
        return True
    if word == "nothing" or is_of_source or not _WORDS["answerers"].isdisjoint(before):
        return not _stems_of("telling").isdisjoint(denied)
    # "Not sure", "No idea", "Can't say"
    return place == 0 and not _stems_of("telling").isdisjoint(denied[:1])
