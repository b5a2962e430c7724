"""How often units of text hold the stems of a question, as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Keys", "StemCounts", "distinct", "rarity", "rarity_of", "saturated", "shares"]

Floats = NDArray[np.float64]
Keys = NDArray[np.int64]

_FREQUENCY_SATURATION = 1.2
_LENGTH_NORMALISATION = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class StemCounts:
    """``counts[i, j]``: how often the unit ``units[i]`` (ascending) holds the question's stem j."""

    units: Keys
    counts: Floats

    @classmethod
    def summed(cls, units: Keys, counts: Floats) -> StemCounts:
        """From rows that may name a unit several times."""
        order = np.argsort(units, kind="stable")
        ascending = units[order]
        starts = np.flatnonzero(np.diff(ascending, prepend=ascending[:1] - 1))
        total = np.zeros((len(starts), counts.shape[1]))
        if total.size:
            np.add.reduceat(counts[order], starts, out=total)
        return cls(units=ascending[starts], counts=total)

    def around(self, wanted: Keys, first: int, last: int) -> Floats:
        """The sums over the units from ``first`` to ``last`` places away from each of ``wanted``.

        Keys of different passages lie too far apart for it to cross into another one.
        """
        total = np.zeros((len(wanted), self.counts.shape[1]))
        for offset in range(first, last + 1):
            total += self.of(wanted + offset)
        return total

    def of(self, wanted: Keys) -> Floats:
        """The rows of ``wanted``; zeros for a unit that holds none of the stems."""
        if not len(self.units):
            return np.zeros((len(wanted), self.counts.shape[1]))
        places = np.minimum(np.searchsorted(self.units, wanted), len(self.units) - 1)
        found: Floats = self.counts[places] * (self.units[places] == wanted)[:, None]
        return found


def distinct(values: Keys) -> Keys:
    """Each of ``values`` once, ascending."""
    ascending = np.sort(values)
    return ascending[np.diff(ascending, prepend=ascending[:1] - 1) > 0]


def rarity(documents: Floats, total: int) -> Floats:
    """BM25's inverse document frequency, positive for every frequency."""
    rest = np.maximum(total - documents, 0.0)
    weights: Floats = np.log1p((rest + 0.5) / (documents + 0.5))
    return weights


def shares(weights: Floats) -> Floats:
    """``weights`` as shares of their sum; zeros stay zeros."""
    total = float(weights.sum())
    return weights / total if total else weights


def rarity_of(documents: int, total: int) -> float:
    """The same of one stem."""
    return math.log1p((max(total - documents, 0) + 0.5) / (documents + 0.5))


def saturated(counts: Floats, lengths: Floats | Keys, average: float) -> Floats:
    """BM25's weight of each frequency in a unit of this length, as a share of the greatest."""
    norm = 1 - _LENGTH_NORMALISATION + _LENGTH_NORMALISATION * lengths / max(average, 1.0)
    weights: Floats = counts / (counts + _FREQUENCY_SATURATION * norm[:, None])
    return weights
