"""The fit: a logistic regression on soft targets, and its measure on sentences left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.carb import Curve, Extraction, score
from training.triplets.examples import Example

__all__ = ["Measured", "fit", "measured"]

_STRENGTH = 0.03
"""The inverse of the regularization, on standardized features."""

_RARE = 5
"""A feature that fewer examples have gets no weight."""

_BINS = 5

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Scores of all triplets, each with a confidence by weights that its sentence had no part in.
    ``constant``: all with the same confidence. ``bins``: (mean confidence, mean agreement, number
    of triplets) by confidence."""

    sentences: int
    triplets: int
    folds: int
    constant: Curve
    fitted: Curve
    bins: Sequence[tuple[float, float, int]]

    def table(self) -> str:
        """The two curves' best points, and the calibration."""
        lines = ["| confidence | precision | recall | F1 | AUC |", "|---|---|---|---|---|"]
        for name, curve in (("the same for all", self.constant), ("fitted", self.fitted)):
            figures = (curve.precision, curve.recall, curve.f1, curve.auc)
            lines.append(f"| {name} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")
        lines += ["", "| mean confidence | mean agreement | triplets |", "|---|---|---|"]
        lines += [f"| {mean:.2f} | {value:.2f} | {count} |" for mean, value, count in self.bins]
        return "\n".join(lines)


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """The weights of the features, and the ``intercept``."""
    counts: defaultdict[str, int] = defaultdict(int)
    for example in examples:
        for name, value in example.features.items():
            counts[name] += bool(value)
    names = sorted(name for name, count in counts.items() if count >= _RARE)
    table = _table(examples, names)
    mean, deviation = table.mean(axis=0), table.std(axis=0)
    deviation[deviation == 0] = 1
    scaled = (table - mean) / deviation
    targets = np.array([example.agreement for example in examples])
    model = LogisticRegression(C=_STRENGTH, max_iter=2_000)
    # A soft target is two examples, one of each class, weighed by it.
    classes = np.repeat([1, 0], len(examples))
    model.fit(
        np.vstack([scaled, scaled]), classes, sample_weight=np.concatenate([targets, 1 - targets])
    )
    weights = model.coef_[0] / deviation
    intercept = float(model.intercept_[0] - weights @ mean)
    return {"intercept": intercept} | dict(zip(names, weights.tolist(), strict=True))


def _table(examples: Sequence[Example], names: Sequence[str]) -> Vector:
    return np.array(
        [[float(example.features.get(name, 0)) for name in names] for example in examples]
    )


def measured(
    examples: Sequence[Example], gold: Mapping[str, Sequence[Extraction]], *, folds: int
) -> Measured:
    """The scores of the triplets of each fold of sentences by weights fitted on the others."""
    fold = np.array([_fold(example.sentence, folds) for example in examples])
    confidences = np.zeros(len(examples))
    for i in range(folds):
        weights = fit([e for e, own in zip(examples, fold, strict=True) if own != i])
        names = [name for name in weights if name != "intercept"]
        own = np.flatnonzero(fold == i)
        scores = _table([examples[j] for j in own.tolist()], names) @ [
            weights[name] for name in names
        ]
        confidences[own] = 1 / (1 + np.exp(-scores - weights["intercept"]))
    agreements = np.array([example.agreement for example in examples])
    order = np.argsort(confidences)
    return Measured(
        sentences=len(gold),
        triplets=len(examples),
        folds=folds,
        constant=_scored(examples, np.ones(len(examples)), gold),
        fitted=_scored(examples, confidences.round(3), gold),
        bins=[
            (float(confidences[part].mean()), float(agreements[part].mean()), len(part))
            for part in np.array_split(order, _BINS)
        ],
    )


def _fold(sentence: str, folds: int) -> int:
    """The fold of a sentence, the same in every run."""
    return int.from_bytes(sha256(sentence.encode()).digest()[:4]) % folds


def _scored(
    examples: Sequence[Example], confidences: Vector, gold: Mapping[str, Sequence[Extraction]]
) -> Curve:
    predicted: defaultdict[str, list[Extraction]] = defaultdict(list)
    for example, confidence in zip(examples, confidences.tolist(), strict=True):
        predicted[example.sentence].append(example.extraction._replace(confidence=confidence))
    return score(gold, predicted)
