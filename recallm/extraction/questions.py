"""What a question asks for, by rule tables."""

from __future__ import annotations

from collections.abc import Sequence

from recallm.extraction.marks import Mark, listed
from recallm.extraction.words import Word
from recallm.model import Trait

__all__ = ["asked_traits"]

_PERSON = Trait.PERSON | Trait.NAME
_PLACE = Trait.PLACE | Trait.NAME
_ORGANISATION = Trait.ORGANISATION | Trait.NAME
_EXTENT = Trait.TIME | Trait.NUMBER

_BY_WORD = {
    "when": Trait.TIME,
    "whens": Trait.TIME,
    "who": _PERSON,
    "whos": _PERSON,
    "whom": _PERSON,
    "whose": _PERSON,
    "where": _PLACE,
    "wheres": _PLACE,
    "which": Trait.NAME,
}
_BY_HOW = {
    "long": _EXTENT,
    "often": _EXTENT,
    "frequently": _EXTENT,
    "soon": Trait.TIME,
    "recently": Trait.TIME,
    "early": Trait.TIME,
    "late": Trait.TIME,
    **dict.fromkeys(
        listed(
            "many much few old far tall big high heavy deep wide large fast expensive young "
            "small short thick cold hot warm"
        ),
        Trait.NUMBER,
    ),
}
_BY_NOUN = {
    **dict.fromkeys(
        listed(
            "time times year years day days date dates month months week weeks weekend decade "
            "century season hour weekday period era birthday anniversary"
        ),
        Trait.TIME,
    ),
    **dict.fromkeys(
        listed(
            "city cities country countries town towns state states place places village street "
            "continent island location room county region province neighborhood neighbourhood "
            "park beach lake river mountain address venue airport district area"
        ),
        _PLACE,
    ),
    **dict.fromkeys(
        listed(
            "person people man woman men women friend friends actor actress author artist singer "
            "musician writer boy girl child brother sister cousin uncle aunt colleague coworker "
            "teacher doctor character player guy neighbor neighbour family"
        ),
        _PERSON,
    ),
    **dict.fromkeys(
        listed(
            "company companies organization organizations organisation organisations team teams "
            "band bands school university college club agency group employer church brand "
            "business firm store shop"
        ),
        _ORGANISATION,
    ),
    **dict.fromkeys(
        listed(
            "number percentage percent amount price score age size height distance temperature "
            "cost quantity weight length"
        ),
        Trait.NUMBER,
    ),
    **dict.fromkeys(
        listed(
            "name names book books movie movies film films song songs title show shows series game "
            "games album nickname"
        ),
        Trait.NAME,
    ),
}
_CALLED = frozenset({"called", "named", "name", "names"})
_ASKED_INDIRECTLY = listed(
    "know tell remember remind recall say wonder wondering guess explain find check"
)
_REACH = 3
"""How far after "what" or "which" the noun may stand: "what other big cities"."""


def asked_traits(words: Sequence[Word]) -> Trait:
    """The traits that an answer to a question would have; none for a question of yes or no.

    ``words`` are one sentence's, punctuation left out. The first question word decides; after an
    auxiliary at the start ("does the man who …") only one that a verb of telling introduces.
    """
    indirect = bool(words) and bool(words[0].marks & Mark.AUXILIARY)
    for i, word in enumerate(words):
        if word.lowered in _ASKED_INDIRECTLY:
            indirect = False
        if indirect or not word.marks & Mark.ASKS:
            continue
        rest = words[i + 1 :]
        following = [other.lowered for other in rest[:_REACH]]
        if word.lowered in ("how", "hows"):
            return _BY_HOW.get(following[0], Trait(0)) if following else Trait(0)
        if word.lowered in ("what", "whats", "which"):
            return _asked_by_noun(rest) or (
                Trait.NAME
                if word.lowered == "which" or any(o.lowered in _CALLED for o in rest)
                else Trait(0)
            )
        return _BY_WORD.get(word.lowered, Trait(0))
    return Trait(0)


def _asked_by_noun(rest: Sequence[Word]) -> Trait:
    """What the noun after "what" or "which" asks for; an auxiliary ends the search, but "what is
    the date" asks for the date."""
    words = list(rest)
    if words and words[0].marks & Mark.AUXILIARY:
        words = words[1:]
        if not (words and words[0].marks & Mark.EDGE):
            return Trait(0)
        words = words[1:]
    for word in words[:_REACH]:
        if word.marks & Mark.AUXILIARY:
            break
        if found := _BY_NOUN.get(word.lowered):
            return found
    return Trait(0)
