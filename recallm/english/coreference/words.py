"""The word lists of coreference, and what a first name says of its bearer's gender."""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache
from typing import Any, Final

from recallm.english.word_lists import read_table, word_set

UNKNOWN_SHARE: Final = 0.5


WORDS: Final[dict[str, dict[str, frozenset[str]]]] = {
    table: {key: word_set(words) for key, words in lists.items()}
    for table, lists in read_table("data/coreference/words.toml").items()
}
"""The lists of ``data/coreference/words.toml``; comments there say what each holds."""


def by_word(table: str) -> dict[str, Any]:
    """The words of a table, each with the name of the list in which it stands."""
    return {word: name for name, words in WORDS[table].items() for word in words}


GENDER_OF_WORD: Final[dict[str, float]] = {
    **dict.fromkeys(WORDS["beside_names"]["female"], 1.0),
    **dict.fromkeys(WORDS["beside_names"]["male"], 0.0),
}
"""The share of women among those whom a title or a relation can describe: 1 or 0."""

_ENDING: Final = 3
_PRIOR: Final = 4.0
"""How many unknown names an ending's share is mixed with."""


@cache
def _shares() -> dict[str, float]:
    return {
        name: int(tenths) / 10
        for tenths, names in read_table("data/coreference/name_genders.toml")["names"].items()
        for name in names.split()
    }


@cache
def _ending_shares() -> dict[str, float]:
    """The share of women among the names of the table that end in the same letters."""
    women: defaultdict[str, float] = defaultdict(float)
    bearers: defaultdict[str, int] = defaultdict(int)
    for name, share in _shares().items():
        for length in range(1, _ENDING + 1):
            women[name[-length:]] += share
            bearers[name[-length:]] += 1
    return {
        ending: (women[ending] + _PRIOR * UNKNOWN_SHARE) / (bearers[ending] + _PRIOR)
        for ending in bearers
    }


def has_gender(name: str) -> bool:
    """Whether the table of first names has a name (in lower case)."""
    return name in _shares()


@lru_cache(maxsize=20_000)
def female_share(name: str) -> float:
    """The share of women among the bearers of a first name (in lower case): from the table, else
    from the names with the same ending; a half where nothing is known."""
    if (share := _shares().get(name)) is not None:
        return share
    endings = _ending_shares()
    for length in range(_ENDING, 0, -1):
        if (share := endings.get(name[-length:])) is not None:
            return share
    return UNKNOWN_SHARE
