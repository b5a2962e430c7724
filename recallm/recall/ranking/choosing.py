"""What of an order is handed over: what earns its place, and nothing where nothing is known.

A reader who gets ten lines reads ten lines. Three rules end the list earlier:

* **Confidence** is the probability that the candidates hold an answer. Confidence grows with what
  the question's words, their meaning and its dates add to the score of a candidate, and falls with
  the share of the asked names that the memory does not know. Who speaks and when says little:
  everybody has said something. With little confidence nothing is handed over where a name is
  unknown: that nothing is known is an answer too. Where no name is unknown, the answer may use
  another word than the question, and the reader gets what is there with the confidence.
* **About others**: where the best statement is about a name in the question, a statement has no
  place if nothing in its session mentions such a name.
* **A statement's odds**, as a share of those of the best statement, decide whether the statement
  earns its place. Later places need more: the tenth line seldom says what the first nine do not.
  What another speaker says of himself or herself ("I started a new job.") does not outshine what is
  known of a speaker for whom the question asks ("What is Tom's job?").

A question for every answer ("Which bands …?") or about the past ("at first", "before") keeps more
lines. A question whose matches are all determined ("How many …?") keeps all, and so does a message
of several sentences: each may ask for something else.
``RecallConfig(fill=True)`` turns all of these rules off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from string import digits
from typing import NamedTuple, Self

import numpy as np

from recallm.model import StoredStatement, Trait, readable_term
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.concepts import about_others, labels_of_names, of_other_speakers
from recallm.recall.ranking.stem_counts import Floats
from recallm.recall.request import ROLES_OF_PERSONS

LEAST_CONFIDENCE, _OF_UNSURE = 0.2, 5
"""A context with less confidence is empty where a name is unknown. Else it has at most 5 statements
where one thing is asked for and no name: all are about as unlikely."""

_ADVICE = re.compile(r"\b(?:can|could|may|might|must|shall|should|would)\b", re.IGNORECASE)
"""Asks for advice, to which many statements may help: "What should I cook?"."""

_LEAST_WITHOUT_NAMES = 0.05
"""The same where a question has no name and is not about whoever asks."""

_LEAST_SHARE = 0.0095
"""The share of the best statement's odds that a statement needs, multiplied by the square of its
rank less one: 2.9 % for the second, 23 % for the fifth. The best is not always the answer, and
three lines are soon read. ``python -m benchmarks.choosing`` shows what this keeps of the
evidence."""

_OF_SEVERAL = 0.25
"""What a question for several answers, or about the past, asks of each statement, as a share of
``_LEAST_SHARE``."""

_LAST_RANK = 8
"""Statements behind the eighth need no more than the eighth: 0.6 of the best one's odds."""

_OF_SPEAKER = 3
"""Statements that are kept of the speaker for whom the question asks, at most, where the best
statement is what another speaker says of himself or herself."""

OF_TIME = ("newest", "superseded", "earliest", "like anchor", "neighbour state")
"""The signals that compare a statement with earlier and later ones."""

_SURELY_SUPERSEDED = -3.0
"""Log-odds of "superseded" from which on a statement is no further answer."""

_FURTHER_SENTENCE = re.compile(r"[.!?…]+[\"'”’)\]]*\s+\w")
"""The end of a sentence with another one behind."""

_LOOKED_AT = 10
"""Statements that may show that somebody with a role speaks of himself or herself."""

OF_MATTER = ("passage", "answer", "meaning", "similar", "date")
"""The signals that say how well a statement meets the matter of the question."""

_CONSTANT, _OF_MATTER, _OF_UNKNOWN = -3.27, 2.19, -3.92
"""The log-odds that the candidates hold an answer: a constant, a factor on what the signals
``OF_MATTER`` add for the statement that meets the matter best, and a factor on the share of unknown
names. ``python -m training.ranking.confidence`` fits them."""


class Odds(NamedTuple):
    """Log-odds of statements, by their places: the ``whole``, what "superseded" and the signals
    ``OF_MATTER`` add to them, and the ``timeless`` rest without the signals ``OF_TIME``."""

    whole: Floats
    superseded: Floats
    matter: Floats
    timeless: Floats


class AskedNames(NamedTuple):
    """The names in a question, as the question spells them: ``known`` are those that something
    stored mentions or holds."""

    known: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def unknown_share(self) -> float:
        """The share of the names that are unknown; 0 where the question has no name."""
        return len(self.unknown) / max(1, len(self.known) + len(self.unknown))

    @classmethod
    def of(cls, candidates: Candidates) -> Self:
        """The names in the question of these candidates.

        A name of several words is known where one of its words is.
        """
        labels = labels_of_names(candidates.question)
        parts = {word for name in labels if " " in name for word in name.split(" ")}
        stored = _stored_words(candidates)
        facts = " ".join(candidates.stated.values()).casefold()
        known: list[str] = []
        unknown: list[str] = []
        for name in labels.keys() - parts:
            words = {name, *name.split(" ")}
            is_known = not stored.isdisjoint(words) or labels[name].casefold() in facts
            (known if is_known else unknown).append(labels[name])
        return cls(known=tuple(sorted(known)), unknown=tuple(sorted(unknown)))


def _stored_words(candidates: Candidates) -> set[str]:
    """The concepts and stems of the question that a statement or fact within the filter holds; of a
    code ("pol358") its letters, too."""
    leads = candidates.leads
    held = {stem for stem, found in leads.postings.items() if len(found.keys)}
    held.update(chain.from_iterable(fact.statement.terms for fact in candidates.facts.values()))
    mentioned = {
        name
        for name in leads.essential
        if name not in leads.mentions or len(leads.mentions[name].keys)
    }
    held.update(list(map(readable_term, held)))
    return {*mentioned, *held, *(term.rstrip(digits) for term in held)}


def confidence(
    order: Sequence[int], odds: Odds, candidates: Candidates, names: AskedNames
) -> float:
    """The probability (0 to 1) that the statements of an order hold an answer; 1 where facts match
    the question."""
    if candidates.matches is not None:
        return 1.0
    if not order:
        return 0.0
    return answer_probability(float(odds.matter[list(order)].max()), names.unknown_share)


def answer_probability(matter: float, unknown: float) -> float:
    """The probability (0 to 1) that statements hold an answer: ``matter`` is the most that the
    signals ``OF_MATTER`` add for one of them, ``unknown`` is the share (0 to 1) of the asked names
    that are unknown."""
    odds = _CONSTANT + _OF_MATTER * matter + _OF_UNKNOWN * unknown
    return float(np.exp(-np.logaddexp(0.0, -odds)))


def chosen(
    order: Sequence[int], odds: Odds, candidates: Candidates, sure: float, names: AskedNames
) -> Sequence[int]:
    """What of an order earns its place. ``sure`` is the confidence that the order holds an
    answer."""
    question = candidates.question
    if _FURTHER_SENTENCE.search(question.text) or not order:
        return order
    if _is_unknown(order, candidates, sure, names):
        # The words of a text say little of the facts that a caller gave with the text.
        stated = [each for each in order if candidates.statements[each].key in candidates.stated]
        return () if names.unknown else stated
    if question.asks_all:
        return order
    others = about_others(candidates)
    if not others[max(order, key=odds.whole.__getitem__)]:
        order = [place for place in order if not others[place]]
    time = question.time
    is_history = time.previous or time.anchor is not None or time.order == "earliest"
    several = time.spread or is_history
    kept = {*earning_their_place(order, odds.whole, several=several)}
    own = of_other_speakers(candidates, candidates.speakers) if candidates.speakers else set()
    if max(order, key=odds.whole.__getitem__) in own:
        about = [place for place in order if place not in own]
        kept.update(earning_their_place(about, odds.whole, several=several)[:_OF_SPEAKER])
    # What is new, or first, outshines all else. Whatever answers as well without its time stays,
    # but for what is surely superseded.
    current = sorted(
        (place for place in order if odds.superseded[place] > _SURELY_SUPERSEDED),
        key=odds.timeless.__getitem__,
        reverse=True,
    )
    kept.update(earning_their_place(current, odds.timeless, several=several))
    earning = [place for place in order if place in kept]
    asks_one_thing = (
        not (several or names.known)
        and question.terms
        and question.text.rstrip().endswith("?")
        and not _ADVICE.search(question.text)
    )
    return earning[:_OF_UNSURE] if asks_one_thing and sure < LEAST_CONFIDENCE else earning


def _is_unknown(
    order: Sequence[int], candidates: Candidates, sure: float, names: AskedNames
) -> bool:
    """Whether nothing is known of what a question is about."""
    if not names.unknown and (names.known or candidates.question.asks_of_asker):
        return False
    if sure >= (LEAST_CONFIDENCE if names.unknown else _LEAST_WITHOUT_NAMES):
        return False
    return not any(_is_of_a_role(candidates.statements[place]) for place in order[:_LOOKED_AT])


def _is_of_a_role(statement: StoredStatement) -> bool:
    """Whether somebody who has no name but a role speaks of himself or herself: of whoever uses an
    agent any name may be asked for."""
    speaks = (statement.speaker or "").casefold() in ROLES_OF_PERSONS
    return speaks and Trait.FIRST_PERSON in statement.traits


def earning_their_place(order: Sequence[int], odds: Floats, *, several: bool = False) -> list[int]:
    """The places of ``order`` whose statements have a great enough share of the odds of the best
    of them, in their order. ``odds[place]`` are the log-odds of a statement. With ``several``
    answers a smaller share is enough."""
    if not order:
        return []
    ranked = odds[list(order)]
    ranks = np.arange(1, len(order) + 1)
    shares = _LEAST_SHARE * (np.minimum(ranks, _LAST_RANK) ** 2 - 1)
    earns = np.exp(ranked - ranked.max()) >= shares * (_OF_SEVERAL if several else 1.0)
    return [place for place, stays in zip(order, earns, strict=True) if stays]
