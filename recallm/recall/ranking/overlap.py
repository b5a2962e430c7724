"""Signals of word overlap between a question and statements: shares of the best possible.

Rare stems weigh more, as in BM25; a share of 1 holds all the stems of the question. The units are
the statements near a candidate in its passage, with the end of the passage before; the session.
``recallm.recall.ranking.meaning`` measures the statement itself.
"""

from __future__ import annotations

import numpy as np

from recallm.model import POSITION_BITS, Trait
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.stem_counts import (
    Floats,
    Keys,
    as_shares,
    rarity,
    session_rarity,
    session_scores,
    weighted_sums,
)

_REACH = 3
"""How many statements before and after count as near in a passage."""

_NOWHERE = -(_REACH + 1)
"""A key that is out of reach of every statement's key."""


def overlap_signals(candidates: Candidates) -> dict[str, Floats]:
    """The signals ``passage``, ``answer`` and ``session``."""
    weights = as_shares(rarity(candidates.documents, candidates.corpus.statements))
    passage_before, follows_question = _passages_before(candidates)
    counts = candidates.stem_counts
    before = counts.around(passage_before, -_REACH, 0)
    near = counts.around(candidates.keys, -_REACH, _REACH)
    return {
        "passage": weighted_sums((near + before) > 0, weights),
        "answer": follows_question * weighted_sums(before > 0, weights),
        "session": _session_overlap(candidates),
    }


def _passages_before(candidates: Candidates) -> tuple[Keys, Floats]:
    """For each candidate the key of the last statement of the passage before its own, and whether
    a question stands in that passage. Statements further than ``2 * _REACH`` from
    the start of their passage have none: the statements before them are of their own passage."""
    last_before: dict[int, int] = {}
    asking: set[int] = set()
    for key, row in candidates.context.items():
        previous = row.previous
        if previous is not None and previous >> POSITION_BITS != key >> POSITION_BITS:
            last_before[key >> POSITION_BITS] = previous
        if Trait.QUESTION in row.traits:
            asking.add(key >> POSITION_BITS)
    keys = np.full(len(candidates.statements), _NOWHERE, dtype=np.int64)
    follows_question = np.zeros(len(keys))
    near = candidates.keys & ((1 << POSITION_BITS) - 1) <= 2 * _REACH
    for place in np.flatnonzero(near).tolist() if last_before else ():
        last = last_before.get(candidates.statements[place].key >> POSITION_BITS)
        if last is not None:
            keys[place] = last
            follows_question[place] = last >> POSITION_BITS in asking
    return keys, follows_question


def _session_overlap(candidates: Candidates) -> Floats:
    """BM25 of sessions as documents, rarity counted over sessions, as a share of the best."""
    names = [*candidates.session_counts]
    if not names:
        return np.zeros(len(candidates.statements))
    counts = np.vstack([*candidates.session_counts.values()])
    weights = as_shares(session_rarity(counts, candidates.corpus))
    matched = session_scores(names, counts, weights, candidates.leads.sizes)
    shares = matched / (matched.max() or 1.0)
    scores = dict(zip(names, shares.tolist(), strict=True))
    return np.array([scores.get(each.session_key or "", 0.0) for each in candidates.statements])
