"""Overlap in meaning between a question and what was said: words that mean alike count in part."""

from __future__ import annotations

from itertools import chain

import numpy as np

from recallm.model import StoredStatement
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats, rarity, shares
from recallm.retrieval.relatedness import gist, related

__all__ = ["meanings"]


def meanings(candidates: Candidates) -> tuple[dict[str, Floats], Floats]:
    """The signals ``meaning`` and ``meaning window``, one value for each candidate: the
    rarity-weighted share of the question's stems, each by the word that comes nearest to it."""
    rows = [*candidates.statements, *map(candidates.before, candidates.statements)]
    nearest = _nearest(rows, candidates.terms)
    own, before = nearest[: len(candidates.statements)], nearest[len(candidates.statements) :]
    weights = shares(rarity(candidates.documents, candidates.corpus.statements))
    gists = gist([one.terms for one in candidates.statements])
    raw = rarity(candidates.documents, candidates.corpus.statements)
    of_question = gist([candidates.terms], raw)[0] if candidates.terms else np.zeros(gists.shape[1])
    return {
        "meaning": own @ weights,
        "meaning window": np.maximum(own, before) @ weights,
        "gist": np.maximum(gists @ of_question, 0.0),
    }, gists


def _nearest(rows: list[StoredStatement | None], terms: tuple[str, ...]) -> Floats:
    """For each row and each of ``terms``: how much the row's nearest word means the same."""
    held = [row.terms if row is not None else () for row in rows]
    lengths = np.array([len(one) for one in held])
    nearest = np.zeros((len(rows), len(terms)))
    stems = {stem: place for place, stem in enumerate(dict.fromkeys(chain.from_iterable(held)))}
    if not stems or not terms:
        return nearest
    table = related(list(stems), terms)
    places = np.array([stems[stem] for stem in chain.from_iterable(held)])
    starts = np.cumsum(lengths) - lengths
    filled = lengths > 0
    nearest[filled] = np.maximum.reduceat(table[places], starts[filled])
    return nearest
