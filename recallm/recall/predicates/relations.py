"""Which relation a predicate phrases, in any spelling, and whether a relation has one value."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.recall.predicates.holding import Side

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


class Endings(NamedTuple):
    """What ends the facts of a relation without denying it: the keys of ``events``, and
    ``qualities`` of a subject or an object ("divorced")."""

    events: frozenset[str] = frozenset()
    qualities: frozenset[str] = frozenset()


_NO_ENDINGS = Endings()


class Relations:
    """The relations that predicates phrase.

    A relation's key is the name of its first phrasing in the table, or the name of the predicate
    itself where the table has none. ``single_valued``: predicates → the end of which their relation
    has one, None for the end that the table gives, else "subject". ``multi_valued``: predicates
    whose relation has many values. Both count more than the table.

    >>> relations = Relations(PredicateNames(str.lower), multi_valued=["speaks"])
    >>> relations.of("IS_EMPLOYED_BY"), relations.of("no longer employed by").negative
    (PredicateName(name='works for', negative=False), True)
    >>> [relations.side(relations.of(text).name) for text in ("works for", "capital of", "speaks")]
    ['subject', 'object', None]

    Raises:
        InvalidInputError: a relation is declared both.

    """

    def __init__(
        self,
        names: PredicateNames,
        *,
        single_valued: Mapping[str, Side | None] = MappingProxyType({}),
        multi_valued: Iterable[str] = (),
    ) -> None:
        self._names = names
        self._keys: dict[str, str] = {}
        """Names of predicates in the table → the keys of their relations."""
        self._sides: dict[str, Side | None] = {}
        self._phrasings: dict[str, tuple[str, ...]] = {}
        tables = shipped_relations()
        for table in tables:
            key = self._add(table["phrasings"], table.get("single"))
            self._phrasings[key] = tuple(table["phrasings"])
        for table in tables:
            if table.get("single") == "subject":  # "favourite band": ⟨Blur, favourite band of, Ada⟩
                self._add([f"{phrasing} of" for phrasing in table["phrasings"]], "object")
        self._of_either: set[str] = set()
        self._ruled_out: defaultdict[str, set[str]] = defaultdict(set)
        self._endings = {key: Endings(*map(frozenset, both)) for key, both in self._find_endings()}
        declared: set[str] = set()
        for predicate, side in single_valued.items():
            key = self.of(predicate).name
            self._sides[key] = side or self._sides.get(key) or "subject"
            declared.add(key)
        for predicate in multi_valued:
            key = self.of(predicate).name
            if key in declared:
                raise InvalidInputError(
                    f"{checks.shown(predicate)} is declared single-valued and multi-valued; give "
                    "one of the two",
                    argument="multi_valued",
                )
            self._sides[key] = None

    def _add(self, phrasings: Sequence[str], side: Side | None) -> str:
        """Add a relation that has one of the end ``side``; its key. A known phrasing stays that of
        its first relation."""
        names = [self._names.of(phrasing).name for phrasing in phrasings]
        for name in names:
            if name not in self._keys:
                self._keys[name] = names[0]
                self._sides[names[0]] = side
        return names[0]

    def _find_endings(self) -> Iterable[tuple[str, tuple[set[str], set[str]]]]:
        """What ends relations by the shipped table: keys of events and qualities."""
        found: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for event in shipped_endings("events"):
            names = {self.of(phrasing).name for phrasing in event["phrasings"]}
            for name in names:  # so that no other relation is taken for the event
                self._phrasings.setdefault(name, (name,))
            if event.get("either"):
                self._of_either |= names
            for relation in event["ends"]:
                found[self.of(relation).name][0].update(names)
        for state in shipped_endings("states"):
            for relation in state.get("ends", ()):
                found[self.of(relation).name][1].update(state["qualities"])
                for quality in () if state.get("forever") else state["qualities"]:
                    self._ruled_out[quality].add(self.of(relation).name)
        return found.items()

    def endings(self, key: str) -> Endings:
        """What ends the facts of a relation without denying it."""
        return self._endings.get(key, _NO_ENDINGS)

    def ruled_out(self, quality: str) -> Collection[str]:
        """The keys of the relations that end a quality: whoever marries is divorced no more."""
        return self._ruled_out.get(quality, ())

    def is_of_either(self, event: str) -> bool:
        """Whether an event ends facts whichever of the two is their subject."""
        return event in self._of_either

    def of(self, predicate: str) -> PredicateName:
        """The key of the relation that ``predicate`` phrases, and whether the predicate denies
        it."""
        name, negative = self._names.of(predicate)
        return PredicateName(self._keys.get(name, name), negative)

    def phrasings(self, key: str) -> tuple[str, ...]:
        """The phrasings of the relation in the table; none where the table does not have it."""
        return self._phrasings.get(key, ())

    def name(self, predicate: str) -> PredicateName:
        """The name of ``predicate`` itself."""
        return self._names.of(predicate)

    def side(self, key: str) -> Side | None:
        """The end of which the relation has one; None for a relation with many values, and for one
        that is not known."""
        return self._sides.get(key)

    def is_role(self, label: str) -> bool:
        """Whether a thing has one value by its name: "rent", "the laptop's password"."""
        words = label.split()
        return any(self.side(self.of(role).name) == "subject" for role in (label, *words[-1:]))


# The shipped table.


_DATA = Path(__file__).parent / "data" / "english.toml"
_EVENTS = Path(__file__).parent / "data" / "events.toml"


def shipped_relations() -> list[dict[str, Any]]:
    """Each relation of the table: its ``phrasings``, the end of which it has one (``single``), and
    the stems by which it is also read in sentences (``in_sentences``)."""
    tables: list[dict[str, Any]] = _data()["relations"]
    return tables


@cache
def stems_of_states() -> list[frozenset[str]]:
    """The stems that phrase each relation that is also read in sentences."""
    stems = (str(table.get("in_sentences", "")).split() for table in shipped_relations())
    return [frozenset(each) for each in stems if each]


@cache
def shipped_endings(kind: Literal["events", "states"]) -> list[dict[str, Any]]:
    """The events that end relations, or the states that do."""
    tables: dict[str, list[dict[str, Any]]] = tomllib.loads(_EVENTS.read_text(encoding="utf-8"))
    return tables[kind]


@cache
def opposed_qualities() -> dict[str, frozenset[str]]:
    """Qualities, each with those that cannot hold beside it: "fixed": "broken" and its like."""
    found: dict[str, frozenset[str]] = {}
    for state in shipped_endings("states"):
        one, other = frozenset(state["qualities"]), frozenset(state.get("than", ()))
        for qualities, opposed in ((one, other), (other, one)):
            for quality in qualities:
                found[quality] = found.get(quality, frozenset()) | opposed
    return found


@cache
def shipped_words() -> dict[str, frozenset[str]]:
    """Words that tell nothing apart: in predicates ("function"), behind the names of companies
    ("company_forms"), before names ("titles"), and within them ("glue"). All with their stems."""
    return {kind: frozenset(listed.split()) for kind, listed in _data()["words"].items()}


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(_DATA.read_text(encoding="utf-8"))
