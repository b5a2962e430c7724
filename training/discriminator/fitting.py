"""Fitting: a logistic regression on differences, without an intercept, over films apart.

A pair whose grades differ is an example, weighted by how much. Seen from the other side it says
the same, so that neither branch is the better one by itself. Beside the answers as they are stand
the same ones in other manners, at half the weight each, alike and mixed; and answers with full
marks beside evasions, of which the data hold few, at a tenth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recallm.hybrid.features import Floats
from training.discriminator.pairs import (
    GradedPair,
    against_evasions,
    differences,
    grades,
    retold,
)
from training.discriminator.styles import LEARNT

_PENALTY = 16.0
"""Half of this times the squares of the weights is added to the loss. From 1 to 50 the accuracy
over films differs by about 0.2 points."""
_STEPS = 50
_EVASIONS_WEIGHT = 0.1
_MANNERS_WEIGHT = 0.5
_BINS = 10

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Examples:
    """Differences, shape (views, pairs, features), with the weight of each view; the first view is
    the answers as they are. ``leads``, shape (views, pairs), is RecallM's grade less the vector
    branch's."""

    views: Floats
    weights: tuple[float, ...]
    leads: Floats
    films: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Sequence[GradedPair], *, seed: int) -> Examples:
        """The examples of ``pairs``."""
        views = [
            differences(pairs),
            differences(retold(pairs, LEARNT, seed=seed)),
            differences(retold(pairs, (*LEARNT, None), alike=False, seed=seed + 1)),
        ]
        evaded, lead_of_evaded = against_evasions(pairs, seed=seed + 2)
        views.append(differences(evaded))
        known: dict[str, int] = {}
        films = [known.setdefault(pair.film, len(known)) for pair in pairs]
        graded = grades(pairs)
        lead = graded[:, 0] - graded[:, 1]
        return cls(
            views=np.stack(views),
            weights=(1.0, _MANNERS_WEIGHT, _MANNERS_WEIGHT, _EVASIONS_WEIGHT),
            leads=np.stack([lead, lead, lead, lead_of_evaded]),
            films=np.array(films, dtype=np.int64),
        )

    @property
    def lead(self) -> Floats:
        """How much better RecallM's answer is, as they are, shape (pairs,)."""
        lead: Floats = self.leads[0]
        return lead


def fit(examples: Examples, among: Flags) -> Floats:
    """The weights learnt from the pairs ``among``, shape (features,)."""
    chosen = among & (examples.leads != 0)
    rows = examples.views[chosen]
    lead = examples.leads[chosen]
    counts = (np.abs(examples.leads) * np.array(examples.weights)[:, None])[chosen]
    learnt: Floats = np.zeros(rows.shape[1])
    for _ in range(_STEPS):  # Newton's
        shares = 1 / (1 + np.exp(-(rows @ learnt)))
        slope = rows.T @ (counts * (shares - (lead > 0))) + _PENALTY * learnt
        bend = (rows * (counts * shares * (1 - shares))[:, None]).T @ rows
        step = np.linalg.solve(bend + _PENALTY * np.eye(len(learnt)), slope)
        learnt = learnt - step
        if np.abs(step).max() < 1e-9:
            break
    return learnt


def out_of_fold(
    examples: Examples, others: Sequence[Floats] = (), *, folds: int, seed: int
) -> list[Floats]:
    """The log-odds that RecallM's answer is the better one, by weights that no pair of the same
    film had a part in: for the answers as they are, and for each of ``others``, differences of the
    same pairs."""
    films = np.random.default_rng(seed).permutation(int(examples.films.max()) + 1)
    fold = np.empty(len(films), dtype=np.int64)
    fold[films] = np.arange(len(films)) % folds
    of_pair = fold[examples.films]
    asked = [examples.views[0], *others]
    found = [np.zeros(len(examples.lead)) for _ in asked]
    for held in range(min(folds, len(films))):
        weights = fit(examples, of_pair != held)
        for rows, odds in zip(asked, found, strict=True):
            odds[of_pair == held] = rows[of_pair == held] @ weights
    return found


@dataclass(frozen=True, slots=True)
class Calibration:
    """``scale``: what the log-odds are multiplied with. ``brier``: the mean square of how far the
    probability is from the truth; ``error``: by how much it is off on the mean of ten bins."""

    scale: float
    brier: float
    error: float


def calibration(odds: Floats, lead: Floats) -> Calibration:
    """How the probability that RecallM's answer is the better one agrees with the grades, over the
    pairs whose grades differ, and the scale that makes it agree best."""
    apart = lead != 0
    odds, better = odds[apart], lead[apart] > 0
    scales = np.geomspace(0.25, 4.0, 161)
    losses = [
        float(np.logaddexp(0, np.where(better, -scale, scale) * odds).mean()) for scale in scales
    ]
    scale = float(scales[int(np.argmin(losses))])
    shares = 1 / (1 + np.exp(-scale * odds))
    # The chosen one's probability, as users see it.
    right = np.where(shares >= 0.5, better, ~better)
    shown = np.maximum(shares, 1 - shares)
    bins = np.minimum(((shown - 0.5) * 2 * _BINS).astype(int), _BINS - 1)
    error = sum(
        abs(float(shown[bins == one_bin].mean() - right[bins == one_bin].mean()))
        * float((bins == one_bin).mean())
        for one_bin in np.unique(bins)
    )
    return Calibration(scale, float(((shares - better) ** 2).mean()), error)


def choose(odds: Floats, graded: Floats) -> Floats:
    """The grade of the answer that the log-odds choose, shape (pairs,); half of both where they are
    0."""
    recallm, vectors = graded[:, 0], graded[:, 1]
    tied = (recallm + vectors) / 2
    return np.where(odds > 0, recallm, np.where(odds < 0, vectors, tied))


def accuracy(chosen: Floats) -> float:
    """The sum of grades over twice the questions, in per cent (as the data's authors count)."""
    return 100 * float(chosen.sum()) / (2 * len(chosen))
