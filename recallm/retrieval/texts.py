"""The stems of many texts as arrays, read once for all that is asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.retrieval.frequencies import Floats, Keys

__all__ = ["Texts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """``held`` holds the stems of one text after those of another, each as its place in ``stems``;
    text i has ``lengths[i]`` of them."""

    stems: tuple[str, ...]
    held: Keys
    lengths: Keys

    @classmethod
    def of(cls, texts: Sequence[Sequence[str]]) -> Texts:
        """The stems of each text, in its order."""
        every = list(chain.from_iterable(texts))
        places = {stem: place for place, stem in enumerate(dict.fromkeys(every))}
        return cls(
            stems=tuple(places),
            held=np.fromiter(map(places.__getitem__, every), np.int64, len(every)),
            lengths=np.fromiter(map(len, texts), np.int64, len(texts)),
        )

    def first(self, number: int) -> Texts:
        """The first texts only."""
        lengths = self.lengths[:number]
        return Texts(stems=self.stems, held=self.held[: lengths.sum()], lengths=lengths)

    @property
    def rows(self) -> Keys:
        """Of each one ``held``, which text holds it."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def counts(self, terms: Mapping[str, int]) -> Floats:
        """How often each text holds each of ``terms`` (stem → column)."""
        columns = np.array([terms.get(stem, -1) for stem in self.stems], dtype=np.int64)
        found = columns[self.held]
        there = found >= 0
        cells = self.rows[there] * len(terms) + found[there]
        counts = np.bincount(cells, minlength=len(self.lengths) * len(terms))
        return counts.astype(np.float64).reshape(len(self.lengths), len(terms))

    def summed(self, values: NDArray[Any], weights: Floats | None = None) -> NDArray[Any]:
        """For each text the sum of the rows of ``values``, one for each of ``stems``; ``weights``:
        one for each of ``held``."""
        found = values[self.held]
        return self._reduced(np.add, found if weights is None else found * weights[:, None])

    def greatest(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each text the greatest in each column of these rows; zeros for one of no stems."""
        return self._reduced(np.maximum, values[self.held])

    def _reduced(self, together: np.ufunc, found: NDArray[Any]) -> NDArray[Any]:
        reduced = np.zeros((len(self.lengths), found.shape[1]), dtype=found.dtype)
        filled = self.lengths > 0
        starts = (np.cumsum(self.lengths) - self.lengths)[filled]
        if found.size:
            reduced[filled] = together.reduceat(found, starts)
        return reduced
