"""The named signals of a candidate, each on an absolute scale.

An overlap is a share of the best that a statement could reach for this question, never a rank
among the candidates: so a score means the same for every question and every memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from recallm.model import StoredStatement, Trait, t_index_of
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.dates import asked_dates, nearness
from recallm.retrieval.frequencies import Floats, Keys
from recallm.retrieval.overlap import overlaps

__all__ = ["SIGNALS", "measure"]

SIGNALS: Mapping[str, str] = MappingProxyType(
    {
        "bm25": "rarity-weighted overlap of the question's stems with the statement",
        "window": "the same of the statement together with the one before it",
        "passage": "rarity-weighted share of the stems near it and just before its passage",
        "session": "BM25 of the whole session that it belongs to",
        "answer": "it follows a question, times that question's own overlap",
        "concepts": "rarity-weighted share of the essential concepts that it mentions",
        "named": "share of the names asked for that it or the statement before mentions, by rarity",
        "graph": "activation of its other concepts from the essential ones",
        "time": "a time is asked for, and it holds one",
        "number": "a number is asked for, and it holds one",
        "name": "a name is asked for, and it holds one",
        "entity": "a person, a place or an organisation is asked for, and it names such a one",
        "date": "it was said at, or soon after, a date that the question names",
        "speaker": "it was said by a speaker whom the question names",
        "first person": "and speaks of its speaker",
        "question": "it is a question itself",
        "after question": "the statement before it is a question",
        "length": "logarithm of its content words",
        "recency": "few later statements hold as much, as far as the question asks for the present",
    }
)
"""What each signal means, in the order of the columns."""

_ASKED = (
    ("time", Trait.TIME),
    ("number", Trait.NUMBER),
    ("name", Trait.NAME),
    ("entity", Trait.PERSON | Trait.PLACE | Trait.ORGANISATION),
)

_RARE = 4.0
"""Logarithm of how few statements mention a name that counts in full: one of about 50."""

_PRESENT = {"current": 1.0, "neutral": 0.3, "historical": 0.0}
"""How much recency counts, by the question's temporal intent."""


_ROWS = 512
"""Candidates compared with all others at once: bounds the memory where many are wanted."""


def measure(candidates: Candidates) -> Floats:
    """A row for each candidate, a column for each of ``SIGNALS``."""
    statements = candidates.statements
    columns = overlaps(candidates)
    traits = np.array([int(one.traits) for one in statements], dtype=np.int64)
    asks = candidates.question.asks
    for name, trait in _ASKED:
        columns[name] = _has(traits, asks & trait)
    columns["concepts"], columns["graph"] = _concepts(candidates)
    columns["named"] = _named(candidates)
    columns["date"] = _date(candidates)
    columns["speaker"] = _speaker(candidates)
    columns["first person"] = columns["speaker"] * _has(traits, Trait.FIRST_PERSON)
    columns["question"] = _has(traits, Trait.QUESTION)
    columns["after question"] = _after_question(candidates)
    columns["length"] = np.log1p(np.array([len(one.terms) for one in statements]))
    columns["recency"] = _recency(candidates, columns["passage"] + columns["speaker"])
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
    none: frozenset[str] = frozenset()
    return np.array(
        [
            sum(rarities[name] for name in held.get(one.key, none) | held.get(_before(one), none))
            / len(names)
            for one in candidates.statements
        ]
    )


def _before(statement: StoredStatement) -> int:
    return -1 if statement.previous is None else statement.previous


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


def _date(candidates: Candidates) -> Floats:
    asked = asked_dates(candidates.question.text)
    if not asked:
        return np.zeros(len(candidates.statements))
    return np.array([nearness(one.timestamp, asked) for one in candidates.statements])


def _recency(candidates: Candidates, match: Floats) -> Floats:
    """1 where nothing later matches as well, falling with the number of later ones that do."""
    share = _PRESENT[candidates.question.intent]
    if not share:
        return np.zeros(len(match))
    moments = np.array([t_index_of(one.key) for one in candidates.statements], dtype=np.int64)
    later = np.empty(len(match))
    for start in range(0, len(match), _ROWS):
        rows = slice(start, start + _ROWS)
        as_good = match[None, :] >= match[rows, None] - 1e-9
        later[rows] = (as_good & (moments[None, :] > moments[rows, None])).sum(axis=1)
    fallen: Floats = share / (1.0 + np.log1p(later))
    return fallen
