"""The examples of the corpus, after Tables 1 and 2 of the paper.

An example is a text in segments. The loss is on those that the model is to write: its calls and its
answers. What stands between them comes from the user and from the memory.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from recallm.facts.calls import Call, read_call, results_text, write_call
from training.facts.phrasings import Phrasings
from training.facts.population import SPLITS, Fact, Population, Split, facts_of_group


class Segment(NamedTuple):
    """A part of an example's text; ``is_learned``: the loss is on it."""

    text: str
    is_learned: bool


@dataclass(frozen=True, slots=True)
class Example:
    """One text to learn from. ``kind`` is the form of its question, or "write" for a statement."""

    kind: str
    segments: tuple[Segment, ...]


def examples(
    split: Split,
    population: Population,
    *,
    groups: int,
    seed: int,
) -> Iterator[Example]:
    """The examples of one split: for each group of facts its statements, and one question of each
    form. ``groups`` counts those of all splits."""
    for number in range(max(1, round(groups * SPLITS[split]))):
        chance = random.Random(f"{split} {number} {seed}")
        words = Phrasings(split, chance)
        group = _Group(facts_of_group(population, words.relations, chance), words, chance)
        yield from group.statements()
        yield from group.questions()
        yield group.unknown(population)


class _Group:
    """Makes the examples of one group of facts."""

    def __init__(self, facts: Sequence[Fact], words: Phrasings, chance: random.Random) -> None:
        self._facts = facts
        self._words = words
        self._chance = chance

    def statements(self) -> Iterator[Example]:
        """Table 2: a sentence for the people with the same relation to the same organisation."""
        for (relation, organisation), same in groupby(self._facts, key=lambda fact: fact[1:]):
            facts = list(same)
            people = [fact.person for fact in facts]
            said = self._words.statement("states", people, relation, organisation=organisation)
            calls = "".join(str(write_call(*fact)) for fact in facts)
            yield Example("write", (Segment(said, False), Segment(calls, True)))

    def questions(self) -> Iterator[Example]:
        """Table 1: one question of each of the six forms. Results stand in the order in which they
        were written, as in Figure 5."""
        words = self._words
        fact = self._chance.choice(self._facts)
        person, relation, organisation = fact
        names = {"person": person, "organisation": organisation}
        at_company = [it for it in self._facts if it.organisation == organisation]
        in_relation = [it for it in self._facts if it.relation == relation]
        in_both = [it for it in in_relation if it.organisation == organisation]
        for kind, form, asks_relation, pattern, found, answer in (
            ("person", "person", None, (person,), [fact], "states"),
            (
                "person, organisation",
                "person_organisation",
                None,
                (person, None, organisation),
                [fact],
                "states",
            ),
            ("person, relation", "which", relation, (person, relation), [fact], "states"),
            ("organisation", "organisation", None, (None, None, organisation), at_company, None),
            ("relation", "group", relation, (None, relation), in_relation, "members"),
            (
                "relation, organisation",
                "who",
                relation,
                (None, relation, organisation),
                in_both,
                "states",
            ),
        ):
            question = words.question(form, asks_relation, **names)
            told = words.statement(
                answer or "related",
                _people(found),
                relation if answer else None,
                organisation=organisation,
            )
            yield self._read(kind, question, read_call(*pattern), found, told)

    def unknown(self, population: Population) -> Example:
        """A question that the memory has no answer to. The paper has none of these."""
        known = set(_people(self._facts))
        person = self._chance.choice([it for it in population.people if it not in known])
        question = self._words.question("person", person=person)
        return self._read("unknown", question, read_call(person), [], self._words.unknown())

    def _read(
        self, kind: str, question: str, call: Call, found: Sequence[Fact], answer: str
    ) -> Example:
        return Example(
            kind,
            (
                Segment(question, False),
                Segment(call.opening, True),
                Segment(f"{results_text(found)}]", False),
                Segment(answer, True),
            ),
        )


def _people(facts: Sequence[Fact]) -> list[str]:
    return [fact.person for fact in facts]
