"""Words: everything that is known of a token by its text alone, looked up once.

A lexicon is kept for each pipeline; it is bounded, since texts may bring endless new tokens.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from recallm.extraction.dates import time_marks
from recallm.extraction.irregular import NOUNS, verb_base
from recallm.extraction.marks import Mark, listed
from recallm.extraction.stemming import is_acronym, plain, stem
from recallm.extraction.tenses import tense_marks

__all__ = ["LONGEST_WORD", "Lexicon", "Word"]

LONGEST_WORD = 100
"""Characters; longer tokens are no concepts and no terms."""

_MOST_WORDS = 100_000
_WRAPPING = ".,;:!?…()[]{}<>\"'’‘“”`_*~^|/\\-–—"
_DOTTED = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_BEYOND_LATIN = 0x0370

_PRONOUNS = listed(
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers "
    "herself it its itself we our ours ourselves they them their theirs themselves this that "
    "these those who whom whose what which someone somebody something anyone anybody anything "
    "everyone everybody everything nobody nothing whoever whatever whichever one ones im etc"
)
_EDGES = listed(
    "a an the my your his her its our their this that these those some any 's ’s ' ’ s'"
)
_ASKS = listed("who whom whose what which when where why how whos whats wheres whens hows")
_AUXILIARIES = listed(
    "am is are was were do does did have has had can could will would shall should may might "
    "must 's ’s 're ’re 'd ’d 'll ’ll ai ca wo"
)
_STOP_WORDS = listed(
    "be am is are was were been being 's 're 'm ’s ’re ’m have has had having 've ’ve do does did "
    "done doing 'd ’d can could will would shall should may might must let lets 'll ’ll "
    "get gets got getting gotten gon na wan ta gonna wanna gotta "
    "very so too just also quite rather really even only well then there here thus hence "
    "when where why how whenever wherever however ever maybe perhaps actually basically "
    "about around out up down off over on in away "
    "such other another same own more most much many "
    "lot lots kind sort thing things bit way "
    "oh yeah yes no hey hi hello wow haha lol ok okay"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A token's text, and what follows from it alone.

    ``stem`` is its name as a concept and a term; ``acronym`` takes its place where the token is
    a noun, a name or a number in a text that is not all capitals. ``marks`` are of ``Mark``.
    ``verb`` and ``noun`` are the stems of the base of an irregular form ("ate", "children"), for
    terms: concepts are named as they are spelt. ``terms`` are several for scripts without spaces
    (pairs of characters). ``capitals``: written like an acronym; ``is_symbol``: an emoji or another
    picture, and no word.
    """

    text: str
    lowered: str
    is_word: bool
    stem: str
    acronym: str
    verb: str
    noun: str
    marks: int
    stops: bool
    foreign: bool
    beyond_latin: bool
    capital: bool
    capitals: bool
    is_symbol: bool
    terms: tuple[str, ...] | None


class Lexicon:
    """The words met so far. Not safe for several threads: the pipeline's lock guards it."""

    def __init__(self) -> None:
        self._words: dict[int, Word] = {}

    def find(self, key: int) -> Word | None:
        """The word with this key, if it was met."""
        return self._words.get(key)

    def add(self, key: int, text: str) -> Word:
        """Look up a new word's text in the rule tables."""
        if len(self._words) >= _MOST_WORDS:
            self._words.clear()
        word = self._words[key] = _word(text)
        return word


def _word(text: str) -> Word:
    lowered = text.lower()
    bare = _bare(text)
    is_word = len(text) <= LONGEST_WORD and any(c.isalnum() for c in bare)
    marks = time_marks(lowered) | tense_marks(lowered)
    if is_acronym(bare) and lowered == "us":
        marks &= ~Mark.FIRST_PERSON
    elif lowered in _PRONOUNS or lowered == "us":
        marks |= Mark.PRONOUN
    if lowered in _EDGES:
        marks |= Mark.EDGE
    if lowered in _ASKS:
        marks |= Mark.ASKS
    if lowered in _AUXILIARIES:
        marks |= Mark.AUXILIARY
    name = stem(bare) if is_word else ""
    alphabetic = is_word and bare.isalpha()
    return Word(
        text=text,
        lowered=lowered,
        is_word=is_word,
        stem=name,
        acronym=plain(bare) if is_word and is_acronym(bare) else name,
        verb=name if (base := verb_base(lowered)) == lowered else stem(base),
        noun=stem(NOUNS[lowered]) if lowered in NOUNS else name,
        marks=marks,
        stops=lowered in _STOP_WORDS,
        foreign=alphabetic and not bare.isascii(),
        beyond_latin=alphabetic and all(ord(c) >= _BEYOND_LATIN for c in bare),
        capital=bare[:1].isupper(),
        capitals=is_word and is_acronym(bare),
        is_symbol=not is_word and any(unicodedata.category(c) == "So" for c in text),
        terms=_pairs(bare) if is_word else None,
    )


def _bare(text: str) -> str:
    """The text without what wraps words and the dots of abbreviations: "#python" → "python",
    "Dr." → "Dr", "U.S." → "US"; "C#" and "C++" stay."""
    bare = text.strip(_WRAPPING).lstrip("#@")
    return bare.replace(".", "") if _DOTTED.fullmatch(bare) else bare


def _pairs(text: str) -> tuple[str, ...] | None:
    """Pairs of characters of a script without spaces: its words cannot be told apart."""
    if not _UNSPACED.fullmatch(text):
        return None
    return tuple(text[i : i + 2] for i in range(max(1, len(text) - 1)))
