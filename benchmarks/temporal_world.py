"""People whose circumstances change, told statement by statement; and what is asked of them.

After the paper's temporal experiment: facts are given once, at the start, and never repeated;
beliefs are then updated, confirmed and given up over repetitions, among statements that have
nothing to do with them. Everything is drawn with a seed from one of three sets of phrases, names
and values that share nothing: ``temporal_dev.toml``, on which a ranking may be developed,
``temporal_check.toml``, on which rules are checked that were made on the first, and
``temporal_test.toml``, on which a ranking is measured.

A **topic** is a subject and an attribute ("Ingrid", "home"); its **states** are numbered from 0.
Some questions name the value of a state: they ask for the state before or after it, or for the
state of another topic of the same subject that held as long as it did.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

CURRENT = "current"
PREVIOUS = "previous"
FIRST = "first"
LONG_RANGE = "long-range"
BEFORE = "before"
AFTER = "after"
AT = "at the time"

Topic = tuple[str, str]

_TOPICS = 3
"""Attributes of each person that have states."""

_FACTS = 2
"""Facts about each person, told once."""

# Of each repetition. With these the nearest vectors, and the newest statements of a person, do
# about as well as in trials on other statements of this kind.
_CHANGES = 11
_CONFIRMATIONS = 14
_NEAR = 8
_EVENTS = 22

_OF_OTHER_ATTRIBUTES = 0.5
"""Share of what comes near an attribute and is about one that may have no states."""

_ENDED = 0.12
"""Share of changes by which a state is given up, where that can be said."""

_DRAWS = 200
"""Until something that was not told yet must be found."""

_ARTICLE = re.compile(r"^an? ")
_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeio]|u(?!kulele|ni))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement, and the ``states`` of its ``topic`` that it tells, the newest last.

    None where it has nothing to do with any topic.
    """

    text: str
    subject: str
    topic: Topic | None = None
    states: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``kind``, and the ``state`` of the ``topic`` that answers it."""

    text: str
    kind: str
    subject: str
    topic: Topic
    state: int


@dataclass(frozen=True, slots=True)
class World:
    """What was told, in order; ``ends`` counts the statements at the end of each repetition, and
    ``questions`` are those that can be asked then."""

    statements: tuple[Statement, ...]
    ends: tuple[int, ...]
    questions: tuple[tuple[Question, ...], ...]


def tell(split: str, *, seed: int = 1, repetitions: int = 25) -> World:
    """The world of a ``split``, "dev", "check" or "test": the same for the same seed.

    Of ``repetitions`` repetitions a shorter world tells the first.

    Raises:
        ValueError: there are not enough phrases for so many repetitions.

    """
    path = Path(__file__).with_name(f"temporal_{split}.toml")
    teller = _Teller(tomllib.loads(path.read_text(encoding="utf-8")), Random(seed))
    teller.begin()
    ends = []
    questions = []
    for repetition in range(repetitions):
        teller.repeat()
        ends.append(len(teller.statements))
        questions.append(tuple(teller.questions(Random(f"{seed} {repetition}"))))
    return World(tuple(teller.statements), tuple(ends), tuple(questions))


@dataclass(slots=True)
class _Story:
    """A topic as it goes: the values of its ``states`` (None: given up), how many statements of the
    world stood before each (``begins``), and how it is asked about."""

    attribute: Mapping[str, Any]
    unused: list[str]
    asked: Mapping[str, str]
    states: list[str | None] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)

    def held(self, state: int) -> tuple[int, float]:
        """The first and the last place in the world at which a state held."""
        end = self.begins[state + 1] if state + 1 < len(self.begins) else math.inf
        return self.begins[state], end

    def constant(self, first: int, last: float) -> int | None:
        """The state that held from ``first`` to ``last``; None where there was none or several."""
        states = [
            state
            for state in range(len(self.states))
            for begin, end in [self.held(state)]
            if begin <= first and last <= end
        ]
        return states[0] if states and self.states[states[0]] is not None else None


class _AllToldError(ValueError):
    """Everything that the phrases can say has been told."""


class _Teller:
    def __init__(self, phrases: Mapping[str, Any], random: Random) -> None:
        self.statements: list[Statement] = []
        self._texts: set[str] = set()
        self._phrases = phrases
        self._random = random
        self._people = [*phrases["women"], *phrases["men"]]
        self._stories: dict[Topic, _Story] = {}
        self._facts: list[Question] = []

    def begin(self) -> None:
        """Tell the facts, which are never told again, and the first state of each topic."""
        facts = [(person, fact) for person in self._people for fact in self._sample("fact", _FACTS)]
        self._random.shuffle(facts)
        for person, fact in facts:
            told_once = (person, fact["question"])
            self._tell(
                person, [fact["statement"]], told_once, (0,), value=self._one(fact["values"])
            )
            self._facts.append(
                Question(
                    text=self._filled(fact["question"], person),
                    kind=LONG_RANGE,
                    subject=person,
                    topic=told_once,
                    state=0,
                )
            )
        topics = [
            (person, attribute)
            for person in self._people
            for attribute in self._sample("attribute", _TOPICS)
        ]
        self._random.shuffle(topics)
        for person, attribute in topics:
            unused = list(attribute["values"])
            self._random.shuffle(unused)
            asked = {
                kind: self._filled(self._one(attribute[kind]), person)
                for kind in (CURRENT, PREVIOUS, FIRST)
            }
            topic = (person, attribute["name"])
            self._stories[topic] = _Story(attribute, unused, asked)
            self._change(topic, first=True)

    def repeat(self) -> None:
        """One repetition: changes, confirmations, and what has nothing to do with either."""
        turns = [
            *[self._change] * _CHANGES,
            *[self._confirm] * _CONFIRMATIONS,
            *[self._come_near] * _NEAR,
            *[self._happen] * _EVENTS,
        ]
        self._random.shuffle(turns)
        for turn in turns:
            turn(self._one(list(self._stories)))

    def questions(self, random: Random) -> Iterator[Question]:
        """What can be asked now: of a topic with one state only how it is. ``random`` draws the
        values that are named."""
        yield from self._facts
        for topic, story in self._stories.items():
            latest = len(story.states) - 1
            wanted = {CURRENT: latest}
            if latest >= 1:
                wanted[PREVIOUS] = latest - 1
            if latest >= 2:
                wanted[FIRST] = 0
            for kind, state in wanted.items():
                if story.states[state] is not None or kind == CURRENT:
                    yield Question(
                        text=story.asked[kind],
                        kind=kind,
                        subject=topic[0],
                        topic=topic,
                        state=state,
                    )
            yield from self._beside_named_values(topic, story, random)

    def _beside_named_values(
        self, topic: Topic, story: _Story, random: Random
    ) -> Iterator[Question]:
        """At most one question each for the state before, after and at the time of a named value.
        None where a state is given up: its value cannot be named."""
        changes = [
            (state, values)
            for state, values in enumerate(pairwise(story.states))
            if None not in values
        ]
        for kind, step in ((BEFORE, 0), (AFTER, 1)):
            if changes:
                state, values = random.choice(changes)
                phrase = random.choice(story.attribute[kind])
                yield self._beside(kind, topic, phrase, values[1 - step], state + step)
        others = [
            (other.attribute, value, held)
            for (subject, _), other in self._stories.items()
            if subject == topic[0] and other is not story
            for place, value in enumerate(other.states)
            if value is not None and (held := story.constant(*other.held(place))) is not None
        ]
        if others and len(story.states) > 1:
            attribute, value, held = random.choice(others)
            phrase = f"{story.attribute['past']} {random.choice(attribute['during'])}?"
            yield self._beside(AT, topic, phrase, value, held)

    def _beside(
        self, kind: str, topic: Topic, phrase: str, value: str | None, state: int
    ) -> Question:
        text = _capitalised(
            phrase.format(
                **self._pronouns(topic[0]), value=value, the=_ARTICLE.sub("the ", value or "")
            )
        )
        return Question(text=text, kind=kind, subject=topic[0], topic=topic, state=state)

    def _change(self, topic: Topic, *, first: bool = False) -> None:
        story = self._stories[topic]
        old = story.states[-1] if story.states else None
        ends = story.attribute.get("ends", ())
        if old is not None and ends and self._random.random() < _ENDED:
            value, ways = None, ends
        elif not story.unused:
            self._confirm(topic)
            return
        else:
            value = story.unused.pop()
            ways = [*story.attribute["begins"], *(() if first else story.attribute["changes"])]
            if old is None:
                ways = [way for way in ways if "{old}" not in way]
        way = self._one(ways)
        story.states.append(value)
        story.begins.append(len(self.statements))
        state = len(story.states) - 1
        states = (state - 1, state) if "{old}" in way else (state,)
        self._tell(topic[0], [way], topic, states, value=value, old=old)

    def _confirm(self, topic: Topic) -> None:
        story = self._stories[topic]
        value = story.states[-1]
        if value is None:
            self._happen(topic)
        else:
            state = len(story.states) - 1
            try:
                self._tell(topic[0], story.attribute["keeps"], topic, (state,), value=value)
            except _AllToldError:
                self._happen(topic)

    def _come_near(self, topic: Topic) -> None:
        """What sounds like a state of an attribute and is none, with a value that is none either:
        of ``topic``, or of an attribute of which nothing else is told."""
        subject = topic[0]
        attribute = self._stories[topic].attribute
        if self._random.random() < _OF_OTHER_ATTRIBUTES:
            attribute = self._one(self._phrases["attribute"])
        story = self._stories.get((subject, attribute["name"]))
        states = story.states if story else ()
        free = [value for value in attribute["values"] if value not in states]
        try:
            self._tell(subject, attribute["near"], value=self._one(free or attribute["values"]))
        except _AllToldError:
            self._happen(topic)

    def _happen(self, topic: Topic) -> None:
        self._tell(topic[0], self._phrases["events"]["statements"])

    def _tell(
        self,
        subject: str,
        ways: Sequence[str],
        topic: Topic | None = None,
        states: tuple[int, ...] = (),
        **values: str | None,
    ) -> None:
        """Tell one of ``ways`` in words that were not told before."""
        for _ in range(_DRAWS):
            text = self._filled(self._one(ways), subject, **values)
            if text not in self._texts:
                break
        else:
            raise _AllToldError(f"nothing new is left to tell of {subject}: ask for less")
        self._texts.add(text)
        self.statements.append(Statement(text=text, subject=subject, topic=topic, states=states))

    def _filled(self, phrase: str, subject: str, **values: str | None) -> str:
        slots = self._phrases["events"]["slots"]
        text = phrase.format(
            **self._pronouns(subject),
            other=self._one([person for person in self._people if person != subject]),
            **values,
            **{name: self._one(choices) for name, choices in slots.items()},
        )
        return _capitalised(text)

    def _pronouns(self, subject: str) -> dict[str, str]:
        woman = subject in self._phrases["women"]
        return {
            "name": subject,
            "she": "she" if woman else "he",
            "her": "her" if woman else "his",
            "them": "her" if woman else "him",
        }

    def _sample(self, kind: str, count: int) -> list[Any]:
        return self._random.sample(self._phrases[kind], count)

    def _one(self, choices: Sequence[Any]) -> Any:
        return self._random.choice(choices)


def _capitalised(text: str) -> str:
    """The sentence with a capital and the right articles."""
    text = _BEFORE_VOWEL.sub(r"\1n ", text)
    return text[0].upper() + text[1:]
