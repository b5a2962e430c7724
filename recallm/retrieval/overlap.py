"""Word overlap between a question and what was said: shares of the best that could be reached.

Rare stems weigh more, as in BM25; a share of 1 holds all that the question asks with. Besides a
statement itself, the units are the statement with the one before it, its passage (no more than
``NEAR`` statements around it, for long ones) with the end of the passage before, and its session.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallm.model import StoredStatement, Trait, t_index_of
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats, Keys, count_stems, rarity, saturated

__all__ = ["overlaps"]

NEAR = 3
"""How many statements before and after count as the same place of a passage."""

_NOWHERE = -(NEAR + 1)
"""A key that no statement has, nor any within reach of it."""


def overlaps(candidates: Candidates) -> dict[str, Floats]:
    """The signals ``bm25``, ``window``, ``passage``, ``answer`` and ``session``, one value for
    each candidate."""
    statements = candidates.statements
    corpus = candidates.corpus
    columns = {term: place for place, term in enumerate(candidates.terms)}
    weights = _shares(rarity(candidates.documents, corpus.statements))
    keys = np.array([one.key for one in statements], dtype=np.int64)
    own = count_stems(statements, columns)
    lengths = _lengths(statements)
    before = [_row(candidates, one.previous) for one in statements]
    read_before = [one for one in before if one is not None]
    there = np.array([one is not None for one in before], dtype=bool)
    counts_before = np.zeros_like(own)
    counts_before[there] = count_stems(read_before, columns)
    lengths_before = np.zeros(len(statements))
    lengths_before[there] = _lengths(read_before)
    average = corpus.terms / max(corpus.statements, 1)
    passage_before, asked_before = _passages_before(candidates)
    held_before = candidates.hits.around(passage_before, -NEAR, 0)
    near = np.maximum(own, candidates.hits.around(keys, -NEAR, NEAR))
    return {
        "bm25": saturated(own, lengths, average) @ weights,
        "window": saturated(own + counts_before, lengths + lengths_before, 2 * average) @ weights,
        "passage": ((near + held_before) > 0) @ weights,
        "answer": asked_before * ((held_before > 0) @ weights),
        "session": _session_overlap(candidates),
    }


def _passages_before(candidates: Candidates) -> tuple[Keys, Floats]:
    """For each candidate the key of the last statement of the passage before its own, and
    whether a question stands in it. A statement further than ``2 * NEAR`` from the start of its
    passage has its own passage before it, and none is given."""
    lasts: dict[int, int] = {}
    asking: set[int] = set()
    for row in candidates.context.values():
        if row.previous is not None and t_index_of(row.previous) != row.t_index:
            lasts[row.t_index] = row.previous
        if row.traits & Trait.QUESTION:
            asking.add(row.t_index)
    keys = np.full(len(candidates.statements), _NOWHERE, dtype=np.int64)
    asked = np.zeros(len(keys))
    for place, one in enumerate(candidates.statements):
        last = lasts.get(one.t_index)
        if last is not None and one.position <= 2 * NEAR:
            keys[place] = last
            asked[place] = t_index_of(last) in asking
    return keys, asked


def _session_overlap(candidates: Candidates) -> Floats:
    """BM25 of whole sessions, rarity counted over sessions."""
    found = np.zeros(len(candidates.statements))
    names = list(candidates.sessions)
    if not names:
        return found
    corpus = candidates.corpus
    counts = np.vstack([candidates.sessions[name] for name in names])
    weights = _shares(rarity((counts > 0).sum(axis=0).astype(np.float64), corpus.sessions))
    sizes = candidates.session_sizes
    lengths = np.array(
        [sizes[name].terms if name in sizes else 0 for name in names], dtype=np.float64
    )
    average = corpus.terms / max(corpus.sessions, 1)
    scores = dict(zip(names, (saturated(counts, lengths, average) @ weights).tolist(), strict=True))
    for place, one in enumerate(candidates.statements):
        if one.session_key is not None:
            found[place] = scores.get(one.session_key, 0.0)
    return found


def _row(candidates: Candidates, key: int | None) -> StoredStatement | None:
    return None if key is None else candidates.context.get(key)


def _lengths(statements: Sequence[StoredStatement]) -> Floats:
    return np.array([len(one.terms) for one in statements], dtype=np.float64)


def _shares(weights: Floats) -> Floats:
    total = float(weights.sum())
    return weights / total if total else weights
