"""Signals of concepts, names and speakers, and of the kind of answer that is asked for."""

from __future__ import annotations

import numpy as np

from recallm.model import Trait
from recallm.ranking.candidates import Candidates
from recallm.ranking.stem_counts import Floats, Keys, weighted_sums

__all__ = ["NAME_KINDS", "concept_signals", "has_trait", "trait_signals"]

NAME_KINDS = ("name", "entity")
"""The kinds of concepts that are names."""

_ANSWER_TRAITS = (
    ("time", Trait.TIME),
    ("number", Trait.NUMBER),
    ("name", Trait.NAME),
    ("entity", Trait.PERSON | Trait.PLACE | Trait.ORGANISATION),
)
"""Signals of the kind of answer: the trait that the question asks for and the statement has."""

_NAME_REACH = 3
"""How many statements back a name may stand to which pronouns refer."""

_RARE = 4.0
"""Logarithm of how few statements mention a name that counts in full: one of about 50."""


def concept_signals(candidates: Candidates) -> dict[str, Floats]:
    """The signals ``concepts``, ``graph``, ``named`` and ``speaker``."""
    number = len(candidates.statements)
    weights = _essential_weights(candidates)
    active = {name: one.value for name, one in candidates.activation.items() if name not in weights}
    rarities = _name_rarities(candidates)
    mentions = _mentions(candidates, (*weights, *active, *rarities))
    split = len(weights), len(weights) + len(active)
    return {
        "concepts": weighted_sums(mentions[:number, : split[0]], np.array([*weights.values()])),
        "graph": np.minimum(
            weighted_sums(mentions[:number, split[0] : split[1]], np.array([*active.values()])), 1.0
        ),
        "named": _named(candidates, mentions[:, split[1] :], np.array([*rarities.values()])),
        "speaker": _speaker(candidates),
    }


def _essential_weights(candidates: Candidates) -> dict[str, float]:
    """The rarity of each essential concept, speakers apart, as a share of their sum."""
    total = candidates.corpus.statements
    weights = {
        name: float(np.log1p(total / (1 + candidates.mention_counts.get(name, 0))))
        for name in candidates.essential
        if name not in candidates.speakers
    }
    best = sum(weights.values()) or 1.0
    return {name: weight / best for name, weight in weights.items()}


def _name_rarities(candidates: Candidates) -> dict[str, float]:
    """The rarity (at most 1) of each name that is asked for, speakers apart. A part of a name that
    the question gives in full does not count by itself."""
    asked = [one for one in candidates.question.concepts if one.kind in NAME_KINDS]
    parts = {word for one in asked if " " in one.name for word in one.name.split(" ")}
    excluded = parts | candidates.speakers
    total = candidates.corpus.statements
    return {
        one.name: min(
            1.0,
            float(np.log1p(total / (1 + candidates.mention_counts.get(one.name, 0)))) / _RARE,
        )
        for one in asked
        if one.name in candidates.essential and one.name not in excluded
    }


def _mentions(candidates: Candidates, names: tuple[str, ...]) -> Floats:
    """1 where a statement that was read mentions a concept: shape (read, names). A name may stand
    in ``names`` twice."""
    columns: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        columns.setdefault(name, []).append(column)
    found = np.zeros((len(candidates.read), len(names)))
    cells = [
        (row, column)
        for row, statement in enumerate(candidates.read)
        for mention in statement.concepts
        if mention.name in columns
        for column in columns[mention.name]
    ]
    if cells:
        found[tuple(np.array(cells).T)] = 1.0
    return found


def _named(candidates: Candidates, mentions: Floats, rarities: Floats) -> Floats:
    """The share of the names asked for that each candidate, or what was said just before it,
    mentions, by rarity: what is told of another is no answer, the more so the more others there
    are, that is the rarer the name."""
    number = len(candidates.statements)
    if not len(rarities):
        return np.zeros(number)
    near = mentions[:number]
    places = candidates.previous_places[:number]
    for _ in range(_NAME_REACH):
        before = np.where((places < 0)[:, None], 0.0, mentions[places])
        near = np.maximum(near, before)
        places = np.where(places < 0, -1, candidates.previous_places[places])
    return weighted_sums(near, rarities) / len(rarities)


def _speaker(candidates: Candidates) -> Floats:
    """1 where the speaker, or a part of the speaker's name, is one whom the question names."""
    named = candidates.speakers
    speakers = {one.speaker_concept for one in candidates.statements}
    asked_for = {
        speaker
        for speaker in speakers
        if speaker is not None and not named.isdisjoint((speaker, *speaker.split(" ")))
    }
    return np.array([float(one.speaker_concept in asked_for) for one in candidates.statements])


def trait_signals(candidates: Candidates, traits: Keys) -> dict[str, Floats]:
    """The signals of the kind of answer (``time``, ``number``, ``name``, ``entity``), ``question``,
    ``after question`` and ``length``."""
    number = len(candidates.statements)
    asks = candidates.question.asks
    columns = {name: has_trait(traits, asks & trait) for name, trait in _ANSWER_TRAITS}
    before = candidates.previous_places[:number]
    asking = np.array([bool(one.traits & Trait.QUESTION) for one in candidates.read])
    columns["question"] = has_trait(traits, Trait.QUESTION)
    columns["after question"] = np.where(before < 0, 0.0, asking[before])
    columns["length"] = np.log1p(np.array([one.length for one in candidates.statements]))
    return columns


def has_trait(traits: Keys, trait: Trait) -> Floats:
    """1 where any bit of ``trait`` is set."""
    found: Floats = ((traits & int(trait)) != 0).astype(np.float64)
    return found
