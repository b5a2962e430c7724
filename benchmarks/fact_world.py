"""Generated facts about invented people, companies and cities.

There are twenty relations, each in five phrasings (``fact_world.toml``). A third of the facts of
relations that have one object at a time get another object later.

The same seed gives the same facts. The phrasings were written before any answer was looked at, and
nothing in recallm was fitted on them.
"""

from __future__ import annotations

import random
import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from faker import Faker

_CHANGED = 1 / 3
"""This share of the facts with one object at a time gets another object later."""

_OF_EACH_PERSON = 8
"""Of the relations of a person, on average so many are known."""

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class Triplet(NamedTuple):
    """⟨subject, relation, object⟩ in the words in which it is stored."""

    subject: str
    relation: str
    object: str

    @property
    def sentence(self) -> str:
        """The triplet as a sentence."""
        return " ".join(self) + "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A subject and a relation: the objects that hold now, and those that held before ``changed``,
    the number of triplets written when the change was (None: no change). ``stored`` is the phrasing
    in which the fact is stored, ``others`` are the other four."""

    subject: str
    stored: str
    others: tuple[str, ...]
    now: frozenset[str]
    before: frozenset[str] = frozenset()
    changed: int | None = None
    restated: str | None = None
    """The phrasing in which the change is stored."""

    @property
    def phrasing(self) -> str:
        """The phrasing in which what holds now is stored."""
        return self.restated or self.stored


@dataclass(slots=True)
class FactWorld:
    """``number`` triplets in the order in which they become true, and questions about them.

    ``change_words``: a change is stored in another phrasing than the fact that it changes.
    """

    number: int
    seed: int = 1
    change_words: bool = False
    triplets: list[Triplet] = field(init=False)
    questions: list[Question] = field(init=False)

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        relations = _relations()
        things = _things(self.number, self.seed)
        slots = list(self._slots(chance, relations, things))
        chance.shuffle(slots)
        first: list[tuple[int, Triplet]] = []
        later: list[tuple[int, Triplet]] = []
        room = self.number
        kept: list[_Slot] = []
        for place, slot in enumerate(slots):
            room -= len(slot.objects) + (slot.new is not None)
            if room < 0:
                break
            kept.append(slot)
            first += [(place, Triplet(slot.subject, slot.phrasing, name)) for name in slot.objects]
            if slot.new is not None:
                later.append((place, Triplet(slot.subject, slot.restated, slot.new)))
        chance.shuffle(first)
        chance.shuffle(later)
        self.triplets = [triplet for _, triplet in (*first, *later)]
        when = {place: len(first) + index for index, (place, _) in enumerate(later)}
        self.questions = [
            Question(
                subject=slot.subject,
                stored=slot.phrasing,
                others=tuple(phrasing for phrasing in slot.phrasings if phrasing != slot.phrasing),
                now=frozenset(slot.objects if slot.new is None else [slot.new]),
                before=frozenset(() if slot.new is None else slot.objects),
                changed=when.get(place),
                restated=None if slot.new is None else slot.restated,
            )
            for place, slot in enumerate(kept)
        ]
        chance.shuffle(self.questions)

    def _slots(
        self,
        chance: random.Random,
        relations: Sequence[_Relation],
        things: dict[str, list[str]],
    ) -> Iterator[_Slot]:
        by_subject: dict[str, list[_Relation]] = defaultdict(list)
        for relation in relations:
            by_subject[relation.subject].append(relation)
        for kind, own in by_subject.items():
            for subject in things[kind]:
                known = own
                if kind == "person":
                    known = chance.sample(own, chance.randint(_OF_EACH_PERSON - 4, len(own)))
                for relation in known:
                    values = things[relation.object]
                    wanted = chance.randint(1, 3) if relation.several else 1
                    objects = _drawn(chance, values, wanted, {subject})
                    phrasing = chance.choice(relation.phrasings)
                    new = None
                    if not relation.several and chance.random() < _CHANGED:
                        (new,) = _drawn(chance, values, 1, {subject, *objects})
                    others = [other for other in relation.phrasings if other != phrasing]
                    restated = chance.choice(others) if self.change_words else phrasing
                    yield _Slot(subject, relation.phrasings, phrasing, objects, new, restated)


class _Relation(NamedTuple):
    subject: str
    object: str
    phrasings: tuple[str, ...]
    several: bool


class _Slot(NamedTuple):
    subject: str
    phrasings: tuple[str, ...]
    phrasing: str
    objects: list[str]
    new: str | None
    restated: str


def _drawn(
    chance: random.Random, values: Sequence[str], number: int, avoided: Collection[str]
) -> list[str]:
    """``number`` different values, none of them ``avoided``."""
    found: list[str] = []
    while len(found) < number:
        value = chance.choice(values)
        if value not in avoided and value not in found:
            found.append(value)
    return found


def _different(number: int, make: Callable[[], str]) -> list[str]:
    """``number`` different names that ``make`` gives."""
    found: dict[str, None] = {}
    while len(found) < number:
        found.setdefault(make())
    return list(found)


def _relations() -> list[_Relation]:
    return [
        _Relation(row["subject"], row["object"], tuple(row["phrasings"]), row.get("several", False))
        for row in _TABLES["relation"]
    ]


def _things(number: int, seed: int) -> dict[str, list[str]]:
    """The names of each kind, different from one another: enough subjects for ``number``
    triplets."""
    faker = Faker("en_GB")
    faker.seed_instance(seed)
    people = max(20, number // 12)
    names = {kind: " ".join(text.split()).split(", ") for kind, text in _TABLES["things"].items()}
    names["person"] = _different(people, lambda: f"{faker.first_name()} {faker.last_name()}")
    names["company"] = _different(max(10, people // 8), faker.company)
    names["city"] = _different(max(10, people // 16), faker.city)
    names["country"] = _different(60, faker.country)
    towns = names["city"][:200]
    names["university"] = [f"University of {town}" for town in towns]
    names["club"] = [f"{town} {kind}" for town, kind in zip(towns, cycle(names["club"]))]
    names["car"] = [f"{make} {model}" for make in names["car_make"] for model in names["car_model"]]
    return names
