"""What can be seen of an answer beside its question, whoever gave it.

Plain words and rules, no phrases of one model and no parsing: an answer costs a fraction of a
millisecond. What an answer **tells** are its stems that are neither the question's nor words of
knowing and hedging; names, numbers and times count where the question does not hold them already.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recallm.extraction import Lexicon, Mark, Word, asked_traits, stem, word_set
from recallm.hybrid.refusals import (
    GENERIC,
    HEDGES,
    LONGEST,
    NEGATIONS,
    OF_ITSELF,
    OF_KNOWING,
    SOURCES,
    VAGUE,
    refusals,
)
from recallm.model import Trait

__all__ = ["FEATURES", "Floats", "ReadAnswer", "ReadQuestion", "difference", "plain"]

Floats = NDArray[np.float64]

_EARLY = 60
"""Characters: a refusal that begins later comes after an answer of a kind."""
_LONG = 25
"""Words: more are rarely needed to answer."""
_BARE = 2
"""Words: so many are a name or a number, no sentence."""
_LONGEST_WORD = 60
_MOST_WORDS = 20_000

_SOURCES_AT_END = re.compile(
    r"\n\W{0,8}(?:sources?|references?|citations?)\b[ \t]*(?:[:\n].*)?\Z", re.IGNORECASE | re.DOTALL
)
_LEAD = re.compile(
    r"\A\W*(?:(?:sure|certainly|of course|okay|great question)[,.!:]\s*|(?:the |my )?(?:final )?"
    r"answer(?: is)?\s*:\s*|(?:based on|according to|given|from|per)\s(?:the|this|these|my|your|our"
    r"|what)\b[^,.:\n]{0,60}[,:]\s*)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?<![\s(])[\s(]*\b(?:let me know|feel free|(?:i )?hope (?:this|that|it) helps"
    r"|is there anything else)\b[^\n]*\Z",
    re.IGNORECASE,
)
_STRAIGHT = str.maketrans("’‘‛´`“”„", "'''''\"\"\"")
_TOKEN = re.compile(r"(?<!\w)\w+n't\b|'(?:s|re|ve|ll|d|m)\b|[^\W_]+(?:[.,-][^\W_]+)*")
_ENDS = re.compile(r"[.!?][\"')\]]{0,3}\s+(?=\S)|\n(?=\S)")
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)

_PLACES = frozenset(("in", "at", "to", "from", "near", "inside", "outside", "into", "on", "under"))
_REASONS = frozenset(("because", "to", "so", "since", "for", "due", "order", "as"))
_YES_NO = frozenset(("yes", "no", "yeah", "nope", "true", "false", "correct", "incorrect"))
_NUMBERS = word_set("one two three four five six seven eight nine ten several both all none no")
_PRONOUNS = frozenset(("he", "she", "they", "it"))
_FILLERS = word_set(
    "a an the this that these those and or but if then than as because while until of in on at to "
    "from by with for about into onto over under after before between through during against up "
    "out off again once no not nor both each all any some only own so since though although also "
    "whether upon within without toward towards per via"
)
_PEOPLE = word_set(
    "man woman boy girl father mother son daughter brother sister wife husband friend girlfriend "
    "boyfriend doctor captain king queen police officer agent professor detective group family "
    "people leader child kids children uncle aunt men women student soldiers parents"
)

FEATURES = (
    "refuses",
    "refuses at once",
    "refuses in several ways",
    "tells more beside a refusal",
    "speaks of its sources",
    "speaks of knowing",
    "asks back",
    "denies",
    "speaks in general",
    "is vague",
    "length",
    "is bare",
    "is long",
    "sentences",
    "list",
    "parts",
    "joins",
    "quotes",
    "holds the question",
    "begins with the question",
    "begins with what it tells",
    "begins with a pronoun",
    "tells",
    "tells nothing",
    "names",
    "number in words",
    "fits what is asked",
    "misses what is asked",
    "says yes or no",
    "gives a reason",
    "agreed with",
)
"""Names of the features of one answer beside another one, in the order of the weights."""


@lru_cache(maxsize=_MOST_WORDS)
def _word(text: str) -> Word:
    return Lexicon().add(0, text)


@lru_cache(maxsize=1)
def _telling_nothing() -> frozenset[str]:
    """Stems of the words that are no part of what an answer tells."""
    words = SOURCES | OF_KNOWING | HEDGES | GENERIC | VAGUE | OF_ITSELF | NEGATIONS
    return frozenset(stem(word) for word in words)


def plain(text: str) -> str:
    """An answer without what is no part of it: "Based on the context," before it, "I hope this
    helps" or a list of sources after it, marks of emphasis, white space; quotation marks are the
    straight ones."""
    text = unicodedata.normalize("NFKC", text[: 2 * LONGEST].translate(_STRAIGHT))[: 2 * LONGEST]
    text = _SOURCES_AT_END.sub("", "\n" + text.replace("**", "").strip()).strip()
    bare = _CLOSING.sub("", _LEAD.sub("", text))
    return (bare or text)[:LONGEST]


def _words(text: str) -> tuple[Word, ...]:
    return tuple(_word(token) for token in _TOKEN.findall(text) if len(token) <= _LONGEST_WORD)


def _stems(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(
        word.stem
        for word in words
        if word.is_word
        and not word.is_stop_word
        and word.lowered not in _FILLERS
        and not word.marks & (Mark.PRONOUN | Mark.ASKS | Mark.AUXILIARY)
    )


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question: its words in lower case, the stems of those that say something, the traits that
    an answer would have, whether it asks for yes or no, whether for a reason."""

    lowered: frozenset[str]
    stems: frozenset[str]
    asks: Trait
    yes_no: bool
    reason: bool

    @classmethod
    def of(cls, text: str) -> ReadQuestion:
        """``text``, read once for all its answers."""
        words = _words(plain(text))
        lowered = [word.lowered for word in words]
        asks = asked_traits(words)
        auxiliary = bool(words) and bool(words[0].marks & Mark.AUXILIARY)
        return cls(
            lowered=frozenset(lowered),
            stems=frozenset(_stems(words)),
            asks=asks,
            yes_no=auxiliary and not asks,
            reason="why" in lowered,
        )


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer: what it tells (stems), and its features by itself, in the order of
    ``FEATURES`` without the last, which another answer gives it."""

    tells: frozenset[str]
    features: tuple[float, ...]

    @property
    def refuses(self) -> bool:
        """Whether it says that it does not know."""
        return bool(self.features[FEATURES.index("refuses")])

    @classmethod
    def of(cls, text: str, question: ReadQuestion) -> ReadAnswer:
        """``text`` beside its question."""
        text = plain(text)
        words = _words(text)
        lowered = [word.lowered for word in words]
        seen = set(lowered)
        stems = _stems(words)
        told = [it for it in stems if it not in question.stems and it not in _telling_nothing()]
        tells = frozenset(told)
        refused = refusals(" ".join(text.lower().split()))
        places = [place for place in refused if place is not None]
        refuses = bool(places)
        new = [word for word in words if word.lowered not in question.lowered]
        names = [
            word
            for place, word in enumerate(words)
            if word.is_capitalised
            and word.stem in tells
            and (place > 0 or not word.marks & Mark.PRONOUN)
        ]
        number = any(word.marks & Mark.COUNT and word.stem in tells for word in new)
        time = any(
            word.marks & (Mark.TIME | Mark.TIME_NUMBER | Mark.UNIT)
            and not word.marks & Mark.PRONOUN
            for word in new
        )
        reasons = question.reason and not refuses and bool(_REASONS & seen) and bool(tells)
        fits = not refuses and _fits(question, words, tells, bool(names), number, time)
        size = len(words)
        return cls(
            tells=tells,
            features=(
                float(refuses),
                float(refuses and min(places) < _EARLY),
                len(places) / 3,
                float(refuses) * _log(len(tells)),
                float(bool(SOURCES & (seen - question.lowered))),
                sum(word in OF_KNOWING for word in lowered) / max(size, 5),
                float("?" in text),
                float(not refuses and any(map(_denies, lowered))),
                sum(word in GENERIC for word in lowered) / max(size, 5),
                float(bool(VAGUE & seen)),
                _log(size),
                float(size <= _BARE),
                max(0.0, _log(size) - _log(_LONG)),
                _log(len(_ENDS.findall(text))),
                float(_ITEM.search(text) is not None),
                min(text.count(",") + lowered.count("and"), 4) / 4,
                min(lowered.count("and") + lowered.count("or"), 3) / 3,
                float('"' in text),
                len(question.stems & set(stems)) / max(len(question.stems), 1),
                len(question.stems & set(stems[:3])) / 3,
                float(bool(stems) and stems[0] in tells),
                float(bool(_PRONOUNS & set(lowered[:1]))),
                _log(len(tells)),
                float(not tells and not refuses and not question.yes_no),
                _log(len(names)),
                float(bool(_NUMBERS & (seen - question.lowered))),
                float(fits),
                float(
                    not refuses
                    and ((bool(question.asks) and not fits) or (question.reason and not reasons))
                ),
                float(question.yes_no and bool(_YES_NO & set(lowered[:1]))),
                float(reasons),
            ),
        )


def _fits(
    question: ReadQuestion,
    words: Sequence[Word],
    tells: frozenset[str],
    named: bool,
    number: bool,
    time: bool,
) -> bool:
    """Whether an answer tells something of the kind that the question asks for."""
    seen = {word.lowered for word in words}
    return bool(
        (question.asks & Trait.TIME and time)
        or (question.asks & Trait.NUMBER and number)
        or (question.asks & Trait.NAME and named)
        or (question.asks & Trait.PERSON and (seen & _PEOPLE or seen & _PRONOUNS))
        or (question.asks & Trait.PLACE and tells and seen & _PLACES)
    )


def difference(answer: ReadAnswer, other: ReadAnswer) -> Floats:
    """What one answer has over another, shape (len(FEATURES),); the other over the one: its
    negative."""
    both = len(answer.tells & other.tells)
    agreed = both / max(len(answer.tells), 1) - both / max(len(other.tells), 1)
    own = np.subtract(answer.features, other.features)
    return np.append(own, agreed)


def _log(number: int) -> float:
    return float(np.log1p(number))


def _denies(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")
