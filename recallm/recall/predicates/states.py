"""The relations of one value that a sentence states, read without a parser.

"Ada moved to Porto" and "Ada lives in Rome" state where Ada lives: the later one replaces the
earlier one. Only some relations of the table are read in sentences (``in_sentences`` there), and
only where the word before the phrasing may be the subject: "Ada wants to move to Porto", "Ada does
not live in Rome" and "Ada's brother moved to Oslo" state nothing of Ada.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from recallm.recall.predicates.relations import relation_words, shipped_relations

SPEAKER = "I"
"""The subject "I" or "we"."""
SOMEBODY = "they"
"""The subject "he", "she" or "they"."""

_FIRST_PERSON = frozenset(("i", "we"))
_THIRD_PERSON = frozenset(("he", "she", "they"))
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_CONTRACTED = re.compile(r"'(?:m|s|re|ve)$")
_BETWEEN = re.compile(
    r"a|again|already|also|am|an|are|been|currently|finally|got|has|have|is|just|now|recently|since"
    r"|still|the|then"
)
"""Words that may stand between the subject and a phrasing: "Ada has just moved to Porto"."""
_NAME_REACH = 2
"""Only a name is a value, in capitals among the next 2 words: who "works at night" or "moved to the
next question" has no other employer and home."""


class StatedRelation(NamedTuple):
    """A relation, by its first phrasing in the table, and its subject: the subject's last word in
    lower case, ``SPEAKER`` or ``SOMEBODY``."""

    relation: str
    subject: str


@lru_cache(maxsize=16_384)
def stated_relations(text: str) -> frozenset[StatedRelation]:
    """The relations that a sentence states, with their subjects."""
    if _phrasings().keys().isdisjoint(text.lower().split()):
        return frozenset()
    spelled = _WORD.findall(text.replace("\u2019", "'"))
    words = [word.lower() for word in spelled]
    found = set()
    for place, (first, second) in enumerate(pairwise(words)):
        value = spelled[place + 2 : place + 2 + _NAME_REACH]
        relation = _phrasings().get(first, {}).get(second)
        if relation is not None and any(word[0].isupper() for word in value):
            subject = _subject(words, place)
            if subject is not None:
                found.add(StatedRelation(relation, subject))
    return frozenset(found)


def _subject(words: list[str], place: int) -> str | None:
    """The subject, by the words before the phrasing at ``place``: "Ada's based in Porto" tells of
    Ada, "Ada's boss works for BMW" of the boss."""
    before = (words[other] for other in range(place - 1, -1, -1))
    last = next((word for word in before if not _BETWEEN.fullmatch(word)), None)
    if last is None:
        return None
    last = _CONTRACTED.sub("", last)
    if last in _FIRST_PERSON:
        return SPEAKER
    return SOMEBODY if last in _THIRD_PERSON else last


@cache
def _phrasings() -> dict[str, dict[str, str]]:
    """The relations of phrasings of two words, by the forms of their first word that state the
    present, and by the second word. Longer phrasings are rare, and most begin with a frequent word;
    "has employer" stands in no sentence."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for table in shipped_relations():
        for phrasing in table["phrasings"] if table.get("in_sentences") else ():
            words, _ = relation_words(phrasing)
            if len(words) == 2 and words[0] != "has":
                first, second = words
                for form in _present_forms(first):
                    found[form][second] = table["phrasings"][0]
    return dict(found)


def _present_forms(word: str) -> set[str]:
    """The forms of a phrasing's first word by which it states what is true now: who "lived in" a
    place may have left it, who "is moving to" a place is not there yet."""
    if not word.endswith("s"):
        return {word}
    base = word.removesuffix("s")
    return {word, base, f"{base.removesuffix('e')}ing"}
