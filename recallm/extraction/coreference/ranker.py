"""The ranker: how probable each candidate is the antecedent, and how probable none of them is.

A small network scores every candidate, and "no antecedent", by its features; a softmax over the
scores gives probabilities. ``python -m training.coreference`` fits it and writes its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recallm.extraction.coreference.features import FEATURES, KINDS

__all__ = ["WEIGHTS", "Floats", "Ranker", "shipped_ranker"]

Floats = NDArray[np.float32]

WEIGHTS: Final = "ranker.npz"
"""The file of the weights in ``recallm/extraction/data/coreference``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranker:
    """The weights: ``hidden`` has shape (features, units), ``hidden_bias`` and ``output`` (units,),
    ``direct`` (features,).

    ``thresholds`` are the least probabilities of an antecedent, one for each
    kind of anaphor (``KINDS``)."""

    hidden: Floats
    hidden_bias: Floats
    output: Floats
    direct: Floats
    thresholds: Floats

    def probabilities(self, rows: Sequence[Sequence[float]] | Floats) -> Floats:
        """The probability of each row of features (the first is "no antecedent")."""
        features = np.array(rows, dtype=np.float32)
        units = np.maximum(features @ self.hidden + self.hidden_bias, 0.0)
        scores = units @ self.output + features @ self.direct
        shares = np.exp(scores - scores.max())
        probabilities: Floats = shares / shares.sum()
        return probabilities

    @classmethod
    def load(cls, path: Any) -> Ranker:
        """Read the weights of a file.

        Raises:
            ValueError: they belong to other features.
        """
        with path.open("rb") as file, np.load(file) as arrays:
            if tuple(arrays["features"]) != FEATURES:
                raise ValueError(f"{path} was fitted on other features: fit it again")
            return cls(
                **{
                    name: arrays[name].astype(np.float32)
                    for name in ("hidden", "hidden_bias", "output", "direct", "thresholds")
                }
            )

    def threshold(self, kind: str) -> float:
        """The least probability with which a candidate is the antecedent of a kind of anaphor."""
        return float(self.thresholds[KINDS.index(kind)])


@cache
def shipped_ranker() -> Ranker:
    """The ranker inside the package, loaded once."""
    return Ranker.load(files("recallm.extraction").joinpath("data", "coreference", WEIGHTS))
