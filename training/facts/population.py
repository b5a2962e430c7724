"""Made-up people, organisations, and what each person is to one of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from faker import Faker

Split: TypeAlias = Literal["train", "validation", "test"]

SPLITS: Final[Mapping[Split, float]] = {"train": 0.8, "validation": 0.1, "test": 0.1}
"""The splits, and the share of people, organisations and groups that each has of its own."""

_LOCALES: Final = (
    "en_US", "en_GB", "en_IN", "de_DE", "fr_FR", "es_ES", "it_IT", "nl_NL", "pl_PL", "pt_PT",
)  # fmt: skip

ORGANISATIONS: Final = (
    "Accenture", "Adidas", "Airbus", "Aldi", "Allianz", "Amazon", "Apple", "AstraZeneca",
    "Audi", "BASF", "Bayer", "BMW", "Boeing", "Bosch", "Canon", "Carrefour", "Chevron", "Cisco",
    "Continental", "Danone", "Dell", "Disney", "Ericsson", "ExxonMobil", "Ferrari", "Fiat", "Ford",
    "Google", "Heineken", "Henkel", "Hitachi", "Honda", "Huawei", "Hyundai", "IBM", "Ikea", "Intel",
    "Kia", "Lego", "Lenovo", "Lufthansa", "Mastercard", "Merck", "Michelin", "Microsoft",
    "Mitsubishi", "Nestlé", "Netflix", "Nike", "Nintendo", "Nissan", "Nokia", "Novartis", "Oracle",
    "Panasonic", "Pepsi", "Pfizer", "Philips", "Pirelli", "Porsche", "Puma", "Qualcomm", "Renault",
    "Roche", "Rolex", "Ryanair", "Samsung", "Sanofi", "Santander", "Shell", "Siemens", "Sony",
    "Spotify", "Starbucks", "Tesla", "Toshiba", "Toyota", "Uber", "Unilever", "Visa", "Vodafone",
    "Volvo", "Walmart", "Xerox", "Yamaha", "Zara",
)  # fmt: skip
"""Names of companies. What the corpus says of them is made up."""

_PEOPLE_OF_GROUP: Final = (3, 12)
_ORGANISATIONS_OF_GROUP: Final = 4


class Fact(NamedTuple):
    """What a person is to an organisation, as a triplet."""

    person: str
    relation: str
    organisation: str


class Population(NamedTuple):
    """The people and the organisations of one split."""

    people: Sequence[str]
    organisations: Sequence[str]


def populations(seed: int, people: int) -> dict[Split, Population]:
    """The population of each split; no two share a person or an organisation."""
    chance = random.Random(f"population {seed}")
    names = _names(seed, people)
    organisations = list(ORGANISATIONS)
    chance.shuffle(organisations)
    return {
        split: Population(own_names, own_organisations)
        for (split, own_names), own_organisations in zip(
            zip(SPLITS, _parts(names), strict=True), _parts(organisations), strict=True
        )
    }


def _names(seed: int, number: int) -> list[str]:
    """Different names of people. First names and last names recur, whole names do not."""
    fakers = [Faker(locale) for locale in _LOCALES]
    for i, faker in enumerate(fakers):
        faker.seed_instance(f"{seed} {i}")
    found: dict[str, None] = {}
    place = 0
    while len(found) < number:
        faker = fakers[place % len(fakers)]
        first, last = faker.first_name(), faker.last_name()
        place += 1
        if not last.isupper():  # Dutch emperors: "Giel VI"
            found[f"{first} {last}"] = None
    return list(found)


def _parts(values: Sequence[str]) -> list[Sequence[str]]:
    parts: list[Sequence[str]] = []
    begin, share = 0, 0.0
    for own in SPLITS.values():
        share += own
        end = round(share * len(values))
        parts.append(values[begin:end])
        begin = end
    return parts


def facts_of_group(
    population: Population, relations: Sequence[str], chance: random.Random
) -> list[Fact]:
    """What a few people are to a few organisations: one relation for each person, as in the
    paper. It is the memory that the questions of a group are asked of."""
    number = min(chance.randint(*_PEOPLE_OF_GROUP), len(population.people))
    people = chance.sample(population.people, number)
    organisations = chance.sample(
        population.organisations, min(_ORGANISATIONS_OF_GROUP, len(population.organisations))
    )
    return list(_related(people, organisations, relations, chance))


def _related(
    people: Sequence[str],
    organisations: Sequence[str],
    relations: Sequence[str],
    chance: random.Random,
) -> Iterator[Fact]:
    relation, organisation = chance.choice(relations), chance.choice(organisations)
    for i, person in enumerate(people):
        # Half of the people share relation and organisation with the one before.
        if i and chance.random() < 0.5:
            relation, organisation = chance.choice(relations), chance.choice(organisations)
        yield Fact(person, relation, organisation)
