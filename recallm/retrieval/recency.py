"""Newer and older statements that answer as well: what the temporal intent of a question weighs.

A later statement supersedes an earlier one as far as it answers the question as well as that one
(paper, Temporal Relations: what is said later is true over what was said before). How well is what
all other signals say, so that nothing is superseded by what is merely newer.
"""

from __future__ import annotations

import numpy as np

from recallm.model import StoredStatement, t_index_of
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats

__all__ = ["recencies"]

_ROWS = 512
"""Candidates compared with all others at once: bounds the memory where many are wanted."""


def recencies(candidates: Candidates, match: Floats) -> dict[str, Floats]:
    """The signals ``recency``, ``earliest`` and ``previous``, one value for each candidate;
    ``match`` is the log-odds of each by all other signals."""
    reading = candidates.question.time
    nothing = np.zeros(len(match))
    found = {"recency": nothing, "earliest": nothing, "previous": nothing}
    if reading.order == "earliest":
        earlier = _as_good(match, -_moments(candidates.statements))
        return found | {"earliest": 1.0 / (1.0 + np.log1p(earlier))}
    if not reading.recency and not reading.previous:
        return found
    later = np.log1p(_as_good(match, _moments(candidates.statements)))
    found["recency"] = reading.recency / (1.0 + later)
    if reading.previous:
        found["previous"] = later * np.exp(1.0 - later)
    return found


def _moments(statements: tuple[StoredStatement, ...]) -> Floats:
    """When each was said: by timestamp where all have one, else by t_index."""
    said = [one.timestamp for one in statements]
    if any(one is None for one in said):
        return np.array([t_index_of(one.key) for one in statements], dtype=np.float64)
    return np.array([one.timestamp() for one in said if one is not None])


def _as_good(match: Floats, moments: Floats) -> Floats:
    """How many later ones match as well as each; one that matches less counts in part."""
    total = np.empty(len(match))
    for start in range(0, len(match), _ROWS):
        rows = slice(start, start + _ROWS)
        shares = np.exp(np.minimum(match[None, :] - match[rows, None], 0.0))
        total[rows] = (shares * (moments[None, :] > moments[rows, None])).sum(axis=1)
    return total
