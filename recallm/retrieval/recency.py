"""Newer and older statements that answer as well: what the temporal intent of a question weighs.

A later statement supersedes an earlier one as far as it answers the question as well as that one
(paper, Temporal Relations: what is said later is true over what was said before), the more so the
more alike the two are; and what is like an earlier answer, or goes on from what that one names,
succeeds it. How well a statement answers is what all other signals say, so that nothing is
superseded by what is merely newer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.model import StoredStatement, t_index_of
from recallm.retrieval.candidates import Candidates
from recallm.retrieval.frequencies import Floats, distinct
from recallm.retrieval.products import products

__all__ = ["newest", "recencies"]

_NAMES: tuple[str, ...] = ("recency", "superseded", "succeeds", "earliest", "previous")

_NEWEST = 15.0
"""Later statements after which about a third of being new is left: the paper's temporal window."""

_ROWS = 128
"""Candidates compared with all later ones at once: bounds the memory where many are wanted."""


def recencies(candidates: Candidates, match: Floats, vectors: NDArray[Any]) -> dict[str, Floats]:
    """The signals ``recency``, ``superseded``, ``succeeds``, ``earliest`` and ``previous``, one
    value for each candidate.

    ``match`` is the log-odds of each by all other signals; ``vectors`` are unit vectors (or zeros)
    whose products say how alike two candidates are.
    """
    reading = candidates.question.time
    statements = candidates.statements
    nothing = np.zeros(len(match))
    found = dict.fromkeys(_NAMES, nothing)
    ordered = reading.order == "earliest" or reading.recency or reading.previous
    if not ordered or not len(match):
        return found
    moments = _moments(statements)
    if reading.order == "earliest":
        return found | {"earliest": 1.0 / (1.0 + np.log1p(_as_good(match, -moments)))}
    if reading.previous:
        later = np.log2(1.0 + _as_good(match, moments))
        found["recency"] = reading.recency / (1.0 + later)
        return found | {"previous": later * np.exp(1.0 - later)}
    as_good, superseded, succeeds = _like(candidates, match, moments, vectors)
    found["recency"] = reading.recency / (1.0 + np.log1p(as_good))
    found["superseded"] = reading.recency * superseded
    found["succeeds"] = reading.recency * succeeds
    return found


def newest(candidates: Candidates, named: Floats) -> Floats:
    """The signal of that name: how few later statements tell of the same names (``named``), all
    others where the question names none."""
    reading = candidates.question.time
    if reading.order != "latest" or reading.previous or not len(named):
        return np.zeros(len(named))
    moments = _moments(candidates.statements)
    told = np.sort(moments[named >= named.max() / 2])
    later = len(told) - np.searchsorted(told, moments, side="right")
    return reading.recency * np.exp(-later / _NEWEST)


def _moments(statements: tuple[StoredStatement, ...]) -> Floats:
    """When each was said: by timestamp where all have one, else by t_index."""
    said = [one.timestamp for one in statements]
    if any(one is None for one in said):
        return np.array([t_index_of(one.key) for one in statements], dtype=np.float64)
    return np.array([one.timestamp() for one in said if one is not None])


def _as_good(match: Floats, moments: Floats) -> Floats:
    """How many later ones match as well as each; one that matches less counts in part."""
    order = np.argsort(moments, kind="stable")
    match, moments = match[order], moments[order]
    total = np.empty(len(match))
    for rows, onwards in _blocks(len(match)):
        total[order[rows]] = _shares(match, moments, rows, onwards).sum(axis=1)
    return total


def _like(
    candidates: Candidates, match: Floats, moments: Floats, vectors: NDArray[Any]
) -> tuple[Floats, Floats, Floats]:
    """For each: how many later ones match as well; how like it is to one of these; and how like,
    or tied by rare stems, to an earlier one that answers best."""
    order = np.argsort(moments, kind="stable")
    match, moments = match[order], moments[order]
    vectors = vectors[order].astype(np.float32, copy=False)
    stems = _rare_stems(candidates)[order]
    best = np.exp(match - match.max()).astype(np.float32)
    total, superseded = np.zeros(len(match)), np.zeros(len(match))
    succeeds = np.zeros(len(match), dtype=np.float32)
    for rows, onwards in _blocks(len(match)):
        alike = np.clip(products(vectors[rows], vectors[onwards]), 0.0, 1.0)
        alike *= alike
        tied = np.minimum(products(stems[rows], stems[onwards]), 1.0)
        as_good = _shares(match, moments, rows, onwards)
        total[order[rows]] = as_good.sum(axis=1)
        superseded[order[rows]] = (as_good * alike).max(axis=1)
        led = np.maximum(alike, tied) * best[rows, None]
        led *= moments[None, onwards] > moments[rows, None]
        np.maximum(succeeds[onwards], led.max(axis=0), out=succeeds[onwards])
    after = np.empty(len(match))
    after[order] = succeeds
    return total, superseded, after


def _blocks(number: int) -> Iterator[tuple[slice, slice]]:
    """Some rows of many, and these with all that come after them."""
    for start in range(0, number, _ROWS):
        yield slice(start, start + _ROWS), slice(start, number)


def _shares(match: Floats, moments: Floats, rows: slice, onwards: slice) -> Floats:
    """How well each of those ``onwards`` matches beside each of the ``rows``, at most 1; 0 where it
    is not later."""
    shares = np.exp(np.minimum(match[None, onwards] - match[rows, None], 0.0))
    shares *= moments[None, onwards] > moments[rows, None]
    return shares


def _rare_stems(candidates: Candidates) -> NDArray[np.float32]:
    """A row for each candidate: of the stems that the question does not hold, those that it shares
    with others, each with the root of its rarity among the candidates, so that a product sums the
    rarities of shared ones."""
    asked = {*candidates.question.terms}
    asked |= {word for one in candidates.question.concepts for word in one.name.split(" ")}
    number = len(candidates.statements)
    texts = candidates.texts.first(number)
    pairs = distinct(texts.held * number + texts.rows)
    stems, rows = np.divmod(pairs, number)
    counts = np.bincount(stems, minlength=len(texts.stems))
    shared = counts > 1
    shared[[place for place, stem in enumerate(texts.stems) if stem in asked]] = False
    counts = counts[shared]
    columns = np.cumsum(shared) - 1
    held = shared[stems]
    found = np.zeros((number, len(counts)), dtype=np.float32)
    weights = np.sqrt(np.log1p(number / counts) / np.log1p(number)).astype(np.float32)
    found[rows[held], columns[stems[held]]] = weights[columns[stems[held]]]
    return found
