"""Signals of concepts, names and speakers, and of the kind of answer that is asked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from recallm.model import StoredStatement, Trait
from recallm.ranking.candidates import Candidates
from recallm.ranking.stem_counts import Floats, Keys, weighted_sums

__all__ = ["NAME_KINDS", "concept_signals", "named_share", "trait_signals"]

NAME_KINDS = ("name", "entity")
"""The kinds of concepts that are names."""

_ANSWER_KINDS = (
    Trait.TIME,
    Trait.NUMBER,
    Trait.NAME,
    Trait.PERSON | Trait.PLACE | Trait.ORGANISATION,
)
"""Kinds of answers: traits that a question asks for and a statement has."""

_NAME_REACH = 3
"""How many statements back a name may stand to which pronouns refer."""

_RARE = 4.0
"""Logarithm of how few statements mention a name that counts in full: one of about 50."""


def concept_signals(candidates: Candidates) -> dict[str, Floats]:
    """The signals ``concepts`` and ``graph``."""
    statements = candidates.statements
    weights = _essential_weights(candidates)
    active = {name: one.value for name, one in candidates.activation.items() if name not in weights}
    activation = weighted_sums(_mentions(statements, active), np.array([*active.values()]))
    return {
        "concepts": weighted_sums(_mentions(statements, weights), np.array([*weights.values()])),
        "graph": np.minimum(activation, 1.0),
    }


def named_share(candidates: Candidates) -> Floats:
    """The share of the names asked for that each candidate, or what was said just before it,
    mentions, by rarity: what is told of another is no answer, the more so the more others there
    are, that is the rarer the name."""
    rarities = _name_rarities(candidates)
    number = len(candidates.statements)
    if not rarities:
        return np.zeros(number)
    mentions = _mentions(candidates.read, rarities)
    near = mentions[:number]
    places = candidates.previous_places[:number]
    for _ in range(_NAME_REACH):
        before = np.where((places < 0)[:, None], 0.0, mentions[places])
        near = np.maximum(near, before)
        places = np.where(places < 0, -1, candidates.previous_places[places])
    return weighted_sums(near, np.array([*rarities.values()])) / len(rarities)


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


def _mentions(statements: Sequence[StoredStatement], names: Collection[str]) -> Floats:
    """1 where a statement mentions a concept: shape (statements, names)."""
    columns = {name: column for column, name in enumerate(names)}
    found = np.zeros((len(statements), len(columns)))
    for row, statement in enumerate(statements):
        for mention in statement.concepts:
            if mention.name in columns:
                found[row, columns[mention.name]] = 1.0
    return found


def trait_signals(candidates: Candidates) -> dict[str, Floats]:
    """The signals ``kind``, ``speaker``, ``first person``, ``question`` and ``length``."""
    traits = candidates.traits
    asked = [candidates.question.asks & kind for kind in _ANSWER_KINDS]
    speaker = _speaker(candidates)
    return {
        "kind": np.sum([_has_trait(traits, kind) for kind in asked], axis=0),
        "speaker": speaker,
        "first person": speaker * _has_trait(traits, Trait.FIRST_PERSON),
        "question": _has_trait(traits, Trait.QUESTION),
        "length": np.log1p(np.array([one.length for one in candidates.statements])),
    }


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


def _has_trait(traits: Keys, trait: Trait) -> Floats:
    """1 where any bit of ``trait`` is set."""
    found: Floats = ((traits & int(trait)) != 0).astype(np.float64)
    return found
