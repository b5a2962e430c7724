"""Which relation a predicate phrases, and whether a relation has one value at a time."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.recall.predicates.holding import Side
from recallm.recall.predicates.normal_form import PredicateName, PredicateNames


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
