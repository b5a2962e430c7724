"""What English words say of a statement: that it is small talk, or that it tells a change.

**Small talk** greets, thanks, wishes, praises or reacts, and says nothing else. "Thanks, Deb!",
"Wow, that's awesome!" and "Hey Mel, good to see you!" are small talk. "Thanks for the guitar from
Paris" has content, "I'm great" tells how the speaker is, and "It was great" tells of an event.
Behind a question "Yes!" and "Maria!" are answers.

**A change** that names what it ends: "swapped Malaga for Porto", "let Greta go", "from translator
to baker".

The lists of words stand in ``data/english.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from functools import lru_cache
from importlib.resources import files

from recallm.model import StoredStatement, Trait, content_terms

__all__ = ["WORDS", "is_small_talk", "tells_change"]

WORDS = {
    name: frozenset(words.replace("\n", " ").split(", ") if "," in words else words.split())
    for name, words in tomllib.loads(
        files("recallm.ranking").joinpath("data", "english.toml").read_text(encoding="utf-8")
    ).items()
}
"""The lists of words; comments in the file say what each holds."""

_COURTESIES = WORDS["courtesies"]
_REACTIONS = WORDS["reactions"]
_ANSWERS = WORDS["answers"]
_OTHERS = WORDS["others"]
_BEFORE_ACKNOWLEDGEMENT = _COURTESIES | _REACTIONS | _ANSWERS
_MOST_NAMES = 2
"""At most 2 persons are addressed; other words of content say something."""

_MOST_WORDS = 6
"""Small talk has at most 6 content words that are no filling: the names of those addressed."""

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_ADDRESSED = re.compile(
    r"(?:(?:^|,)\s*|\b(?:hey|hi|hello|thanks|bye|wow|yeah|yes|thank you)\s+)"
    r"([^\W\d_]+)(?=\s*(?:[,.!]|$))",
    re.IGNORECASE,
)
"""Whom a statement addresses: "Thanks, Deb!", "Hey Mel, …"."""

_TELLING = Trait.PAST | Trait.NUMBER | Trait.FUTURE

_BEGINNINGS_OF_CHANGE = WORDS["beginnings_of_change"]
_WORDS_OF_CHANGE = WORDS["words_of_change"]
_CHANGE = re.compile(
    rf"\b(?:{'|'.join(sorted(_BEGINNINGS_OF_CHANGE))})\w*\b"
    rf"|\b(?:{'|'.join(sorted(_WORDS_OF_CHANGE))})\b"
    r"|\b(?:any more|no longer|place of|favour of)\b|\bfrom\b.{1,80}?\bto\b",
    re.IGNORECASE,
)
_START = re.compile(r"\b\w{1,3}")
_STARTS_OF_CHANGE = frozenset(
    word[:3]
    for word in (*_BEGINNINGS_OF_CHANGE, *_WORDS_OF_CHANGE, "any", "no", "place", "favour", "from")
)
"""The first three letters of what tells a change: most texts have none of these, and are not
searched."""


def is_small_talk(statement: StoredStatement, *, names: Collection[str], answers: bool) -> bool:
    """Whether a statement is small talk. ``names`` are the stems of the names of those who talk;
    ``answers``: it stands just behind a question."""
    traits = statement.traits
    if not answers and statement.length <= _MOST_NAMES and _acknowledges(statement.text):
        return True
    if traits & _TELLING:
        return False
    terms = set(content_terms(statement.terms)) - WORDS["filling_stems"]
    if len(terms) > _MOST_WORDS:  # true of most, and names are slow to compare
        return False
    stems = {term for term in terms if not any(name.startswith(term) for name in names)}
    if len(stems) > _MOST_NAMES:
        return False
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(statement.text)]
    said = {word.partition("'")[0] for word in words}
    if not said & (_COURTESIES | _REACTIONS | _ANSWERS) or said & _OTHERS:
        return False
    if answers and not said & (_COURTESIES | _REACTIONS - _ANSWERS):
        return False
    if traits & Trait.FIRST_PERSON and not said & _COURTESIES:
        return False
    if traits & Trait.NEGATION and not said & (_ANSWERS | {"worries", "problem", "wait"}):
        return False
    if not stems or answers:
        return not stems
    addressed = set(_ADDRESSED.findall(statement.text))
    return stems <= {
        word
        for mention in statement.concepts
        if mention.label in addressed
        for word in mention.name.split(" ")
    }


def _acknowledges(text: str) -> bool:
    """Whether a text only says that something was heard: "OK, noted."."""
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]
    while words and words[0] in _BEFORE_ACKNOWLEDGEMENT:
        del words[0]
    return " ".join(words) in WORDS["acknowledgements"]


@lru_cache(maxsize=16_384)
def tells_change(text: str) -> bool:
    """Whether a text has words of a change."""
    if _STARTS_OF_CHANGE.isdisjoint(_START.findall(text.lower())):
        return False
    return _CHANGE.search(text) is not None
