"""Names of predicates: one normal form for the spellings of a relation."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

_CACHED = 1 << 14
"""Predicates whose names are remembered."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[\s_\-\u2010\u2011]+")
_CONTRACTED_NOT = re.compile(r"n['\u2019]t\b", re.IGNORECASE)
_IRREGULAR = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
"""What is left of "can't", "won't", "shan't" and "ain't" without "n't"."""

_BE = frozenset(("am", "is", "are", "was", "were", "be", "been", "being"))
_HAVE = frozenset(("has", "have", "had"))
_DO = frozenset(("do", "does", "did"))
_MODALS = frozenset(
    ("can", "could", "may", "might", "must", "shall", "should", "will", "would", "maybe")
)
_ARTICLES = frozenset(("a", "an", "the"))
_AT_PRESENT = frozenset(("currently", "now", "presently", "still"))
_DENIALS = ("not", "never", "no longer", "no more", "not anymore", "not any longer", "not any more")
"""Words that deny what follows them."""
_TRAILING_DENIALS = ("anymore", "any more", "any longer")
"""Words behind a denied predicate that add nothing to the denial."""
_STOPPED = frozenset(
    ("stop", "stops", "stopped", "cease", "ceases", "ceased", "quit", "quits", "quitted")
)
"""Verbs that deny the gerund behind them: "stopped working for"."""


class PredicateName(NamedTuple):
    """The normal form of a predicate, and whether the predicate denies it."""

    name: str
    negative: bool = False


class PredicateNames:
    """The names of predicates; ``concept_name`` stems words ("works for" → "work for").

    >>> names = PredicateNames(str.lower)
    >>> [names.of(text).name for text in ("WORKS_FOR", "worksFor", "is employed by", "is a")]
    ['works for', 'works for', 'employed by', 'is a']
    >>> names.of("does not live in"), names.of("no longer works for")
    (PredicateName(name='live in', negative=True), PredicateName(name='works for', negative=True))

    * Words are parted at humps, underscores and hyphens.
    * Auxiliaries and articles before the relation go where a word remains ("is a customer of" →
      "customer of"), so do "currently" and "still". A modal stays: "may move to" is another
      relation than "move to".
    * "not", "never", "no longer", "doesn't" and "stopped" before a gerund make a predicate
      negative. A denial later in the predicate ("known for not paying") is part of its name.
    """

    def __init__(self, concept_name: Callable[[str], str]) -> None:
        self._concept_name = concept_name
        self.of = lru_cache(maxsize=_CACHED)(self._of)
        """The name of the predicate ``text``."""

    def _of(self, text: str) -> PredicateName:
        words, negative = relation_words(text)
        name = self._concept_name(" ".join(words)) if words else ""
        if not name:  # symbols alone
            return PredicateName(self._concept_name(text) or text.casefold())
        return PredicateName(name, negative)


def relation_words(text: str) -> tuple[list[str], bool]:
    """The words of a predicate that make its name, in lower case, and whether it is negative."""
    words = _words(text)
    modals: list[str] = []
    negative = False
    rest = words
    while rest:
        denial = _denial_at(rest)
        if denial and len(rest) > denial:
            negative = True
            rest = rest[denial:]
        elif rest[0] in _MODALS and len(rest) > 1:
            modals.append(rest[0])
            rest = rest[1:]
        elif _is_auxiliary(rest):
            rest = rest[1:]
        elif len(rest) > 1 and rest[0] in _STOPPED and rest[1].endswith("ing"):
            negative = True
            rest = rest[1:]
        else:
            break
    if negative:
        rest = _without_trailing(rest)
    if not rest:
        return words, False
    return modals + rest, negative


def _words(text: str) -> list[str]:
    text = _CONTRACTED_NOT.sub(" not", _HUMP.sub(" ", text))
    words = [word for word in _SEPARATORS.split(text.lower()) if word]
    return [
        _IRREGULAR.get(word, word) if words[i + 1 : i + 2] == ["not"] else word
        for i, word in enumerate(words)
    ]


def _denial_at(words: list[str]) -> int:
    """How many of the first words deny what follows them."""
    return max(
        (
            len(denial)
            for denial in map(str.split, _DENIALS)
            if words[: len(denial)] == denial
        ),
        default=0,
    )  # fmt: skip


def _is_auxiliary(words: list[str]) -> bool:
    """Whether the first word only carries what follows it."""
    if len(words) < 2:
        return False
    first, second = words[:2]
    if first in _BE:
        return not (len(words) == 2 and second in _ARTICLES)
    if first in _HAVE:
        return second in _BE or second.endswith("ed") or _denial_at(words[1:]) > 0
    if first in _DO:
        return _denial_at(words[1:]) > 0
    return first in _ARTICLES or first in _AT_PRESENT


def _without_trailing(words: list[str]) -> list[str]:
    for denial in map(str.split, _TRAILING_DENIALS):
        if len(words) > len(denial) and words[-len(denial) :] == denial:
            return words[: -len(denial)]
    return words
