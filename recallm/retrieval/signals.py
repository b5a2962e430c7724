"""The named signals of a candidate, each on an absolute scale.

An overlap is a share of the best that a statement could reach for this question, never a rank
among the candidates: so a score means the same for every question and every memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from recallm.dating import statement_dates
from recallm.model import StoredStatement, Trait
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.cosines import cosines
from recallm.retrieval.dates import meeting, nearnesses
from recallm.retrieval.frequencies import Floats, Keys
from recallm.retrieval.meaning import meanings
from recallm.retrieval.overlap import overlaps
from recallm.retrieval.recency import newest, recencies

__all__ = ["SIGNALS", "measure"]

SIGNALS: Mapping[str, str] = MappingProxyType(
    {
        "passage": "rarity-weighted share of the stems near it and just before its passage",
        "session": "BM25 of the whole session that it belongs to",
        "answer": "it follows a question, times that question's own overlap",
        "meaning": "rarity-weighted share of the stems, words that mean alike counting in part",
        "meaning window": "the same of the statement together with the one before it",
        "gist": "cosine of the means of their words' vectors, rare words weighing more",
        "similar": "cosine of its embedding with the question's",
        "similar window": "the same of the mean of it and the one before it",
        "concepts": "rarity-weighted share of the essential concepts that it mentions",
        "named": "share of the names asked for that it or the statement before mentions, by rarity",
        "graph": "activation of its other concepts from the essential ones",
        "time": "a time is asked for, and it holds one",
        "number": "a number is asked for, and it holds one",
        "name": "a name is asked for, and it holds one",
        "entity": "a person, a place or an organisation is asked for, and it names such a one",
        "date": "it was said at, or soon after, a date that the question names",
        "told date": "it tells of a day at such a date",
        "speaker": "it was said by a speaker whom the question names",
        "first person": "and speaks of its speaker",
        "question": "it is a question itself",
        "after question": "the statement before it is a question",
        "length": "logarithm of its content words",
        "recency": "few later ones answer as well, as far as the question asks for the present",
        "newest": "few later ones tell of the same names, and the present is asked for",
        "superseded": "a later one that is like it answers as well, and the present is asked for",
        "succeeds": "it is like an earlier one that answers best, or tied to it by rare stems",
        "earliest": "few earlier ones answer as well, and the question asks for the first",
        "previous": "one later one answers as well, and the question asks for the state before",
        "alone gist": "gist, of a statement that stands alone: nothing is said around it",
        "alone similar": "similar, of such a one",
        "alone named": "named, of such a one",
        "alone recency": "recency, of such a one",
        "alone superseded": "superseded, of such a one",
    }
)
"""What each signal means, in the order of the columns."""

_ASKED = (
    ("time", Trait.TIME),
    ("number", Trait.NUMBER),
    ("name", Trait.NAME),
    ("entity", Trait.PERSON | Trait.PLACE | Trait.ORGANISATION),
)

_ELSEWHERE = 0.3
"""What is left of ``date`` where a statement tells of other days than that on which it was said."""

_REACH = 3
"""How many statements back a name may stand that pronouns go on with."""

_RARE = 4.0
"""Logarithm of how few statements mention a name that counts in full: one of about 50."""


def measure(candidates: Candidates, weights: Mapping[str, float]) -> Floats:
    """A row for each candidate, a column for each of ``SIGNALS``; ``weights`` say how well the
    others answer that are newer or older."""
    statements = candidates.statements
    columns, vectors = meanings(candidates)
    nearness, embedded = cosines(candidates)
    columns |= overlaps(candidates) | nearness
    traits = np.array([int(one.traits) for one in statements], dtype=np.int64)
    asks = candidates.question.asks
    for name, trait in _ASKED:
        columns[name] = _has(traits, asks & trait)
    columns["concepts"], columns["graph"] = _concepts(candidates)
    columns["named"] = _named(candidates)
    columns["date"] = nearnesses([one.timestamp for one in statements], candidates.dates)
    columns["told date"], elsewhere = _told(candidates, traits)
    columns["date"] *= np.where(elsewhere, _ELSEWHERE, 1.0)
    columns["speaker"] = _speaker(candidates)
    columns["first person"] = columns["speaker"] * _has(traits, Trait.FIRST_PERSON)
    columns["question"] = _has(traits, Trait.QUESTION)
    columns["after question"] = _after_question(candidates)
    columns["length"] = np.log1p(np.array([one.length for one in statements]))
    alone = np.array([float(one.previous is None and one.next is None) for one in statements])
    columns |= {f"alone {name}": alone * columns[name] for name in ("gist", "similar", "named")}
    match = sum(weights.get(name, 0.0) * column for name, column in columns.items())
    columns["newest"] = newest(candidates, columns["named"])
    columns |= recencies(candidates, np.asarray(match), vectors if embedded is None else embedded)
    columns |= {f"alone {name}": alone * columns[name] for name in ("recency", "superseded")}
    return np.column_stack([columns[name] for name in SIGNALS])


def _has(traits: Keys, trait: Trait) -> Floats:
    held: Floats = ((traits & int(trait)) != 0).astype(np.float64)
    return held


def _concepts(candidates: Candidates) -> tuple[Floats, Floats]:
    """The shares of the essential concepts, speakers apart, and the graph's activation."""
    total = candidates.corpus.statements
    weights = {
        name: float(np.log1p(total / (1 + candidates.mentioned.get(name, 0))))
        for name in candidates.essential
        if name not in candidates.speakers
    }
    best = sum(weights.values()) or 1.0
    activation = candidates.activation
    mentioned = np.zeros(len(candidates.statements))
    active = np.zeros(len(candidates.statements))
    for place, one in enumerate(candidates.statements):
        for mention in one.concepts:
            if mention.name in weights:
                mentioned[place] += weights[mention.name] / best
            elif mention.name in activation:
                active[place] += activation[mention.name].value
    return mentioned, np.minimum(active, 1.0)


def _named(candidates: Candidates) -> Floats:
    """What is told of another is no answer: the more so, the more others there are, that is the
    rarer the name. Speakers apart; a part of a name that the question gives whole does not count
    by itself."""
    asked = [one for one in candidates.question.concepts if one.kind in ("name", "entity")]
    parts = {word for one in asked if " " in one.name for word in one.name.split(" ")}
    names = frozenset(
        one.name
        for one in asked
        if one.name in candidates.essential
        and one.name not in parts
        and one.name not in candidates.speakers
    )
    if not names:
        return np.zeros(len(candidates.statements))
    total = candidates.corpus.statements
    rarities = {
        name: min(1.0, float(np.log1p(total / (1 + candidates.mentioned.get(name, 0)))) / _RARE)
        for name in names
    }
    held = {
        key: names.intersection([mention.name for mention in row.concepts])
        for key, row in candidates.context.items()
    }

    def near(statement: StoredStatement) -> frozenset[str]:
        """The names that it holds, or what was said just before it."""
        found = held.get(statement.key, frozenset())
        before = candidates.before(statement)
        for _ in range(_REACH):
            if before is None:
                break
            found |= held[before.key]
            before = candidates.before(before)
        return found

    return np.array(
        [
            sum(rarities[name] for name in sorted(near(one))) / len(names)
            for one in candidates.statements
        ]
    )


def _speaker(candidates: Candidates) -> Floats:
    """1 where the speaker, or a part of the speaker's name, is one whom the question names."""
    named = candidates.speakers
    speakers = {one.speaker_concept for one in candidates.statements}
    meant = {
        speaker
        for speaker in speakers
        if speaker is not None and not named.isdisjoint((speaker, *speaker.split(" ")))
    }
    return np.array([float(one.speaker_concept in meant) for one in candidates.statements])


def _after_question(candidates: Candidates) -> Floats:
    before = map(candidates.before, candidates.statements)
    traits = np.array([int(one.traits) if one else 0 for one in before], dtype=np.int64)
    return _has(traits, Trait.QUESTION)


def _told(candidates: Candidates, traits: Keys) -> tuple[Floats, NDArray[np.bool_]]:
    """How well the days that each statement tells of meet a date that is asked for, and whether
    it tells of days none of which does."""
    meets = np.zeros(len(traits))
    elsewhere = np.zeros(len(traits), dtype=bool)
    if candidates.dates:
        for place in np.flatnonzero(traits & int(Trait.TIME)).tolist():
            one = candidates.statements[place]
            told = statement_dates(one.text, one.timestamp)
            meets[place] = meeting(told, candidates.dates)
            elsewhere[place] = bool(told) and not meets[place]
    return meets, elsewhere
