"""Overlap in meaning between a question and what was said: words that mean alike count in part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats, rarity, shares
from recallm.retrieval.products import applied
from recallm.retrieval.relatedness import gist, gists, look_up, related

__all__ = ["meanings"]


def meanings(candidates: Candidates) -> tuple[dict[str, Floats], NDArray[Any]]:
    """The signals ``meaning``, ``meaning window`` and ``gist``, one value for each candidate, and
    the candidates' gists, a row each. In meaning, it is the rarity-weighted share of the question's
    stems, each by the word that comes nearest to it."""
    texts, terms = candidates.texts, candidates.terms
    number = len(candidates.statements)
    rarities = rarity(candidates.documents, candidates.corpus.statements)
    weights = shares(rarities)
    vectors = look_up(texts.stems)
    nearest = texts.greatest(related(texts.stems, terms, vectors))
    own = nearest[:number]
    before = candidates.befores[:number]
    window = np.where((before < 0)[:, None], own, np.maximum(own, nearest[before]))
    means = gists(texts.first(number), vectors)
    asked = gist([terms], rarities)[0]
    return {
        "meaning": applied(own, weights),
        "meaning window": applied(window, weights),
        "gist": np.maximum(applied(means, asked), 0.0),
    }, means
