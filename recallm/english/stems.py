"""Stems: the keys by which words of the same meaning are matched.

A stem is the word in lower case, in Unicode's compatibility form without accents ("José" →
"jose"), cut by Porter's algorithm of 1980 (the paper, Knowledge Update, uses NLTK's). As in
Porter's own program, words of one or two letters stay as they are. Acronyms are not cut: "GPS" and
"GP" are two concepts. Capitals alone make no acronym, since people write them for emphasis:
"PARIS" is Paris.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import Stemmer

from recallm.english.word_lists import ENGLISH, word_set
from recallm.ground.forking import new_lock

_LONGEST_ACRONYM = 6
_VOWELS = frozenset("aeiouy")
_ACRONYMS = word_set(ENGLISH["acronyms"]["like_words"])
_HYPHENS = dict.fromkeys(map(ord, "‐‑‒–−"), "-")
"""The Unicode hyphens, and the dashes and the minus that are typed for one inside a word."""

_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
"""Latin letters that have no accent to take away."""

_COMBINING = re.compile("(?<=[a-z])[\u0300-\u036f]+")

_lock = new_lock()
_porter = Stemmer.Stemmer("porter", 0)


def plain(word: str) -> str:
    """The word in lower case and Unicode's compatibility form, Latin letters without accents."""
    if word.isascii():
        return word.lower()
    # The compatibility form of some marks begins with a space ("¸"). Format characters such as
    # soft hyphens are not letters.
    visible = (letter for letter in word if unicodedata.category(letter) != "Cf")
    lowered = unicodedata.normalize("NFKC", "".join(visible)).lower().translate(_HYPHENS)
    if not lowered.isascii():
        lowered = _COMBINING.sub("", "".join(map(_without_accent, lowered))).translate(_LETTERS)
    return "".join(lowered.split())


@lru_cache(maxsize=4096)
def _without_accent(letter: str) -> str:
    """A Latin letter without its accents. In other scripts marks make another letter."""
    first, *marks = list(unicodedata.normalize("NFKD", letter))
    return first if marks and first.isascii() else letter


def stem(word: str) -> str:
    """The Porter stem of a word: "coffee" → "coffe", "Paris" → "pari"."""
    lowered = plain(word)
    if len(lowered) <= 2:
        return lowered
    # A PyStemmer object keeps state between calls: one thread at a time.
    with _lock:
        stemmed: str = _porter.stemWord(lowered)
    return stemmed


def is_like_acronym(word: str) -> bool:
    """Whether a word is written like an acronym: two to six characters, all letters capital."""
    return 2 <= len(word) <= _LONGEST_ACRONYM and word.isupper() and word[0].isalpha()


def name_in_capitals(word: str) -> str:
    """The name of a word that is written like an acronym.

    An acronym's name is the word in lower case ("GPS" → "gps"). A word with a vowel is no acronym,
    unless the table of English words lists it ("AIDS"): its name is its stem ("PARIS" → "pari").
    """
    name = plain(word)
    return stem(word) if _VOWELS.intersection(name) and name not in _ACRONYMS else name


def is_all_capitals(text: str) -> bool:
    """Whether a text has several words, all in capitals: then capitals do not mark acronyms."""
    return text.isupper() and len(text.split()) > 1
