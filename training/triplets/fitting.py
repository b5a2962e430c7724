"""The fit: boosted regression trees, and their measure on sentences left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingRegressor

from benchmarks.carb import Curve, Extraction, score
from recallm.english.syntax.confidence import Node, TreeModel
from training.cards import table
from training.triplets.examples import Example

_TREES = 100
_DEPTH = 3
_RATE = 0.07
_LEAF = 15
"""The fewest examples of a leaf."""

_RARE = 5
"""A feature that fewer examples have is left out."""

_BINS = 5

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Scores of all triplets, each with a confidence by trees that its sentence had no part in.
    ``constant``: all with the same confidence. ``bins``: (mean confidence, mean agreement, number
    of triplets) by confidence."""

    constant: Curve
    fitted: Curve
    bins: Sequence[tuple[float, float, int]]

    def tables(self) -> str:
        """The two curves' best points, and the calibration."""
        curves = {"the same for all": self.constant, "fitted": self.fitted}
        points = table(
            ("confidence", "precision", "recall", "F1", "AUC"),
            [
                (name, *(f"{x:.3f}" for x in (curve.precision, curve.recall, curve.f1, curve.auc)))
                for name, curve in curves.items()
            ],
        )
        calibration = table(
            ("mean confidence", "mean agreement", "triplets"),
            [(f"{mean:.2f}", f"{value:.2f}", str(count)) for mean, value, count in self.bins],
        )
        return f"{points}\n\n{calibration}"


def fit(examples: Sequence[Example]) -> TreeModel:
    """The trees that predict the agreement of a triplet."""
    counts: defaultdict[str, int] = defaultdict(int)
    for example in examples:
        for name, value in example.features.items():
            counts[name] += bool(value)
    names = sorted(name for name, count in counts.items() if count >= _RARE)
    model = GradientBoostingRegressor(
        n_estimators=_TREES,
        max_depth=_DEPTH,
        learning_rate=_RATE,
        min_samples_leaf=_LEAF,
        subsample=0.6,
        max_features=0.3,
        random_state=0,
    )
    targets = np.array([example.agreement for example in examples])
    model.fit(_table(examples, names), targets)
    trees = [_node(stage[0].tree_, 0) for stage in model.estimators_]
    return TreeModel(round(float(targets.mean()), 5), names, trees)


def _node(tree: Any, place: int) -> Node:
    """A node of a fitted tree and those below it."""
    below, above = int(tree.children_left[place]), int(tree.children_right[place])
    if below < 0:
        return round(_RATE * float(tree.value[place][0][0]), 5)
    return [
        int(tree.feature[place]),
        round(float(tree.threshold[place]), 4),
        _node(tree, below),
        _node(tree, above),
    ]


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
        model = fit([e for e, own in zip(examples, fold, strict=True) if own != i])
        for j in np.flatnonzero(fold == i).tolist():
            confidences[j] = model.value(examples[j].features)
    agreements = np.array([example.agreement for example in examples])
    order = np.argsort(confidences)
    return Measured(
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
