"""Word overlap between a question and what was said: shares of the best that could be reached.

Rare stems weigh more, as in BM25; a share of 1 holds all that the question asks with. The units
are a statement's passage (no more than ``NEAR`` statements around it, for long ones) with the end
of the passage before, and its session; the statement itself, and the one before it, are looked at
by what their words mean (``recallm.retrieval.meaning``).
"""

from __future__ import annotations

import numpy as np

from recallm.model import Trait, t_index_of
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats, Keys, rarity, saturated, shares
from recallm.retrieval.products import applied

__all__ = ["overlaps"]

NEAR = 3
"""How many statements before and after count as the same place of a passage."""

_NOWHERE = -(NEAR + 1)
"""A key that no statement has, nor any within reach of it."""

_QUESTION = int(Trait.QUESTION)


def overlaps(candidates: Candidates) -> dict[str, Floats]:
    """The signals ``passage``, ``answer`` and ``session``, one value for each candidate."""
    statements = candidates.statements
    corpus = candidates.corpus
    weights = shares(rarity(candidates.documents, corpus.statements))
    keys = np.array([one.key for one in statements], dtype=np.int64)
    passage_before, asked_before = _passages_before(candidates)
    hits = candidates.hits
    held_before = hits.around(passage_before, -NEAR, 0)
    near = hits.around(keys, -NEAR, NEAR)
    return {
        "passage": applied((near + held_before) > 0, weights),
        "answer": asked_before * applied(held_before > 0, weights),
        "session": _session_overlap(candidates),
    }


def _passages_before(candidates: Candidates) -> tuple[Keys, Floats]:
    """For each candidate the key of the last statement of the passage before its own, and
    whether a question stands in it. A statement further than ``2 * NEAR`` from the start of its
    passage has its own passage before it, and none is given."""
    lasts: dict[int, int] = {}
    asking: set[int] = set()
    for key, row in candidates.context.items():
        t_index = t_index_of(key)
        if row.previous is not None and t_index_of(row.previous) != t_index:
            lasts[t_index] = row.previous
        if int(row.traits) & _QUESTION:
            asking.add(t_index)
    keys = np.full(len(candidates.statements), _NOWHERE, dtype=np.int64)
    asked = np.zeros(len(keys))
    for place, one in enumerate(candidates.statements):
        last = lasts.get(t_index_of(one.key))
        if last is not None and one.position <= 2 * NEAR:
            keys[place] = last
            asked[place] = t_index_of(last) in asking
    return keys, asked


def _session_overlap(candidates: Candidates) -> Floats:
    """BM25 of whole sessions, rarity counted over sessions."""
    names = list(candidates.sessions)
    if not names:
        return np.zeros(len(candidates.statements))
    corpus = candidates.corpus
    counts = np.vstack([candidates.sessions[name] for name in names])
    weights = shares(rarity((counts > 0).sum(axis=0).astype(np.float64), corpus.sessions))
    sizes = candidates.session_sizes
    lengths = np.array(
        [sizes[name].terms if name in sizes else 0 for name in names], dtype=np.int64
    )
    average = corpus.terms / max(corpus.sessions, 1)
    matched = applied(saturated(counts, lengths, average), weights)
    scores = dict(zip(names, matched.tolist(), strict=True))
    return np.array([scores.get(one.session_key or "", 0.0) for one in candidates.statements])
