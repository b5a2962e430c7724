"""Short English statements about invented people, places and things, without end.

Who and what a statement names is drawn by Zipf's law, as in real talk: a few people and towns turn
up everywhere (hubs), most hardly ever. The same seed gives the same statements.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate

from faker import Faker

_PEOPLE, _CITIES, _COMPANIES = 40_000, 8_000, 8_000

_THINGS = """
apartment backpack bakery balcony banjo bicycle blanket boat book bookcase boots bracelet bridge
bus camera candle canoe car carpet castle cello chair chimney clock coat compass couch cupboard
curtain desk diary dictionary door drawing dress drum engine fence fireplace flute fountain fridge
garage garden gate glove greenhouse guitar hammer harbour hat helmet house jacket kayak kettle key
kitchen ladder lamp laptop lantern letter library lighthouse map market mattress microscope mirror
motorbike museum necklace notebook novel orchard oven paddle painting passport pavilion pencil phone
photograph piano picture pillow pond poster printer puzzle quilt radio raincoat recipe ring roof
rowboat rucksack sail sandals scarf scooter sculpture sewing-machine shed shelf ship shirt shop
skateboard sketch skis sled sofa spade station stove suitcase sweater table tablet teapot telescope
tent theatre ticket tower toy tractor train tram tripod trumpet typewriter umbrella van vase violin
wagon wallet wardrobe watch wheelbarrow window workshop
""".split()
_FOODS = """
apples asparagus avocado bacon bananas beans beetroot blueberries bread broccoli burger cabbage cake
carrots cauliflower cheese cherries chicken chili chocolate coconut cookies couscous crackers curry
dumplings eggs figs fish garlic ginger grapes honey hummus lasagna lemons lentils mango melon
mushrooms noodles nuts oatmeal olives omelette oranges pancakes pasta peaches pears peas peppers pie
pineapple pizza plums popcorn porridge potatoes pudding pumpkin radishes ravioli rice risotto salad
salmon sandwiches sausages soup spinach steak stew strawberries sushi tacos toast tofu tomatoes tuna
waffles walnuts yogurt
""".split()
_HOBBIES = """
archery astronomy badminton baking baseball birdwatching bowling boxing calligraphy camping
carpentry chess climbing cooking cricket cycling dancing drawing embroidery fencing fishing football
gardening
golf hiking hockey judo juggling karate knitting origami painting photography pottery rowing rugby
running sailing sculpture singing skating skiing snorkelling squash surfing swimming tennis theatre
volleyball weaving woodwork wrestling yoga
""".split()
_RELATIVES = """
aunt boss brother colleague cousin daughter doctor father friend grandfather grandmother husband
landlord mother neighbour nephew niece partner roommate sister son teacher uncle wife
""".split()
_MONTHS = (
    "January February March April May June July August September October November December"
).split()

_TEMPLATES = (
    "{person} moved to {city} in {month}.",
    "{person} works as a {job} at {company}.",
    "{person} bought a {thing} for {other}.",
    "{person} and {other} visited {city} in {year}.",
    "{person}'s {relative} likes {food}.",
    "The {thing} of {person} was made in {city}.",
    "{person} quit the job at {company} after {number} months.",
    "{person} is learning {hobby} with {other}.",
    "{company} opened an office in {city}.",
    "{person} just ate some {food}.",
    "{person} lent the {thing} to {other}, who took it to {city}.",
    "{person} no longer works at {company} and is looking for a job as a {job}.",
    "Every {month}, {person} goes to {city} for the {hobby} competition.",
    "{person} found {number} {food} in the {thing}.",
    "{other} met {person} at a {hobby} class in {city}.",
    "{person} thinks that {company} should repair the {thing}.",
    "{person}'s {relative} is a {job} in {city}.",
    "{company} paid {number} dollars for the {thing} of {person}.",
    "{person} cancelled the trip to {city} and is going to {place} instead.",
    "After the {hobby} lesson, {person} cooked {food} for {other}.",
)
_QUESTIONS = (
    "Where does {person} live?",
    "What did {person} buy for {other}?",
    "Where does {person} work now?",
    "Who visited {city} in {year}?",
    "What does {person}'s {relative} like?",
    "Is {person} still a {job} at {company}?",
    "When did {person} move to {city}?",
    "Who is learning {hobby} with {person}?",
    "What was the last thing that {person} ate?",
    "Which company opened an office in {city}?",
)


class Talk:
    """A source of statements and of questions about them.

    Every talk names the same people and places; another ``seed`` draws other statements of them.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        fake = Faker("en_US")
        fake.seed_instance(7)
        self._pools = {
            "person": _distinct(lambda: f"{fake.first_name()} {fake.last_name()}", _PEOPLE),
            "city": _distinct(fake.city, _CITIES),
            "company": _distinct(lambda: fake.company().replace(",", ""), _COMPANIES),
            "job": sorted({fake.job().split(",")[0].lower() for _ in range(2_000)}),
            "thing": _THINGS,
            "food": _FOODS,
            "hobby": _HOBBIES,
            "relative": _RELATIVES,
        }
        self._weights = {
            name: list(accumulate((rank + 2) ** -0.8 for rank in range(len(pool))))
            for name, pool in self._pools.items()
        }

    def statements(self) -> Iterator[str]:
        """Statements, without end."""
        while True:
            yield self._fill(self._random.choice(_TEMPLATES))

    def questions(self, count: int) -> list[str]:
        """Questions whose people and places are drawn like those of the statements."""
        return [self._fill(_QUESTIONS[each % len(_QUESTIONS)]) for each in range(count)]

    def hub_questions(self, count: int) -> list[str]:
        """Questions about the people, cities and companies that are named most."""
        found = []
        for each in range(count):
            rank = each // len(_QUESTIONS) % 10
            hubs = {name: pool[rank] for name, pool in self._pools.items()}
            hubs |= {"other": self._pools["person"][rank + 1]}
            found.append(_QUESTIONS[each % len(_QUESTIONS)].format(**hubs, **self._numbers()))
        return found

    def _fill(self, template: str) -> str:
        drawn = {name: self._draw(name) for name in self._pools}
        drawn |= {"other": self._draw("person"), "place": self._draw("city")}
        return template.format(**drawn, **self._numbers())

    def _draw(self, pool: str) -> str:
        return self._random.choices(self._pools[pool], cum_weights=self._weights[pool])[0]

    def _numbers(self) -> dict[str, str | int]:
        return {
            "month": self._random.choice(_MONTHS),
            "year": self._random.randint(1990, 2026),
            "number": self._random.randint(2, 90),
        }


def _distinct(make: Callable[[], str], count: int) -> list[str]:
    found: dict[str, None] = {}
    # Names run out in time: what was found by then is enough.
    for _ in range(count * 4):
        found[make()] = None
        if len(found) == count:
            break
    return list(found)
