"""Newer and older statements that answer as well: what the temporal intent of a question weighs.

A later statement supersedes an earlier one as far as it answers the question as well as that one
(paper, Temporal Relations: what is said later is true over what was said before), the more so the
more alike the two are; and what is like an earlier answer, or goes on from what that one names,
succeeds it. How well a statement answers is what all other signals say, so that nothing is
superseded by what is merely newer.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.model import StoredStatement, t_index_of
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats

__all__ = ["recencies"]

_ROWS = 512
"""Candidates compared with all others at once: bounds the memory where many are wanted."""


def recencies(candidates: Candidates, match: Floats, vectors: NDArray[Any]) -> dict[str, Floats]:
    """The signals ``recency``, ``superseded``, ``succeeds``, ``earliest`` and ``previous``, one
    value for each candidate.

    ``match`` is the log-odds of each by all other signals; ``vectors`` are unit vectors (or zeros)
    whose products say how alike two candidates are.
    """
    reading = candidates.question.time
    statements = candidates.statements
    nothing = np.zeros(len(match))
    found = dict.fromkeys(("recency", "superseded", "succeeds", "earliest", "previous"), nothing)
    if reading.order == "any" or not len(match):
        return found
    moments = _moments(statements)
    if reading.order == "earliest":
        return found | {"earliest": 1.0 / (1.0 + np.log1p(_as_good(match, -moments)))}
    later = np.log1p(_as_good(match, moments))
    found["recency"] = reading.recency / (1.0 + later)
    if reading.previous:
        return found | {"previous": later * np.exp(1.0 - later)}
    superseded, succeeds = _like(candidates, match, moments, vectors)
    found["superseded"] = reading.recency * superseded
    found["succeeds"] = reading.recency * succeeds
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


def _like(
    candidates: Candidates, match: Floats, moments: Floats, vectors: NDArray[Any]
) -> tuple[Floats, Floats]:
    """For each: how like it is to a later one that answers as well; and how like, or tied by rare
    stems, to an earlier one that answers best."""
    vectors = vectors.astype(np.float32)
    stems = _rare_stems(candidates)
    best = np.exp(match - match.max())
    superseded, succeeds = np.zeros(len(match)), np.zeros(len(match))
    for start in range(0, len(match), _ROWS):
        rows = slice(start, start + _ROWS)
        alike = np.clip(vectors[rows] @ vectors.T, 0.0, 1.0) ** 2
        tied = np.minimum(stems[rows] @ stems.T, 1.0)
        as_good = np.exp(np.minimum(match[None, :] - match[rows, None], 0.0))
        after = moments[None, :] > moments[rows, None]
        before = moments[None, :] < moments[rows, None]
        superseded[rows] = (as_good * alike * after).max(axis=1, initial=0.0)
        succeeds[rows] = (best[None, :] * np.maximum(alike, tied) * before).max(axis=1, initial=0.0)
    return superseded, succeeds


def _rare_stems(candidates: Candidates) -> NDArray[Any]:
    """A row for each candidate: the stems that it holds and the question does not, each with the
    root of its rarity among the candidates, so that a product sums the rarities of shared ones."""
    asked = {*candidates.question.terms}
    asked |= {word for one in candidates.question.concepts for word in one.name.split(" ")}
    held = [sorted(set(one.terms) - asked) for one in candidates.statements]
    stems = {stem: place for place, stem in enumerate(dict.fromkeys(chain.from_iterable(held)))}
    found = np.zeros((len(held), len(stems)), dtype=np.float32)
    for row, one in enumerate(held):
        found[row, [stems[stem] for stem in one]] = 1.0
    counts = found.sum(axis=0)
    found *= np.sqrt(np.log1p(len(held) / counts) / np.log1p(len(held)))
    return found
