"""How the ranker is fitted: several small networks by gradient descent, put together into one.

The loss of an example is minus the logarithm of the probability of its right rows together. The
mean of the networks' scores is a network again, with the units of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recallm.english.coreference.resolving import PARAMETERS, Ranker
from training.coreference.examples import Example

_UNITS = 32
_EPOCHS = 30
_BATCH = 32
_RATE = 3e-3
_WARM_UP = 50
_DECAY = 1e-3
_DROPPED_UNITS = 0.2
_DROPPED_FEATURES = 0.05

Array = NDArray[np.float64]
Labelled = tuple[Array, NDArray[np.bool_]]
"""The rows of an example, one feature a column, and which of them are right."""


def fit(examples: Sequence[Example], *, networks: int, seed: int, threshold: float = 0.0) -> Ranker:
    """Fit ``networks`` networks on the features that some example has, and put them together."""
    features = sorted({name for example in examples for row in example.rows for name in row})
    known: list[Labelled] = []
    for example in examples:
        rows = np.array([[row.get(name, 0.0) for name in features] for row in example.rows])
        known.append((rows, example.right))
    fitted = [_fit_one(known, np.random.default_rng((seed, n))) for n in range(networks)]
    hidden, bias, output, direct = zip(*fitted, strict=True)

    def single(array: Array) -> NDArray[np.float32]:
        return array.astype(np.float32)

    return Ranker(
        features={name: place for place, name in enumerate(features)},
        hidden=single(np.concatenate(hidden, axis=1)),
        hidden_bias=single(np.concatenate(bias)),
        output=single(np.concatenate(output) / networks),
        direct=single(np.mean(direct, axis=0)),
        threshold=np.array(threshold, dtype=np.float32),
    )


def _fit_one(
    examples: Sequence[Labelled], chance: np.random.Generator
) -> tuple[Array, Array, Array, Array]:
    """One network by Adam: weights of the hidden units, their biases, the output's weights, and the
    direct weights of the features."""
    features = examples[0][0].shape[1]
    parameters: list[Array] = [
        chance.normal(0, features**-0.5, (features, _UNITS)),
        np.zeros(_UNITS),
        chance.normal(0, _UNITS**-0.5, _UNITS),
        np.zeros(features),
    ]
    means = [np.zeros_like(parameter) for parameter in parameters]
    squares = [np.zeros_like(parameter) for parameter in parameters]
    steps = _EPOCHS * -(-len(examples) // _BATCH)
    step = 0
    for _ in range(_EPOCHS):
        order = chance.permutation(len(examples))
        for first in range(0, len(order), _BATCH):
            batch = [examples[i] for i in order[first : first + _BATCH]]
            gradients = _gradients(parameters, batch, chance)
            step += 1
            rate = _RATE * min(1.0, step / _WARM_UP) * (1 - step / (steps + 1))
            for i, gradient in enumerate(gradients):
                means[i] = 0.9 * means[i] + 0.1 * gradient
                squares[i] = 0.999 * squares[i] + 0.001 * gradient**2
                direction = means[i] / (1 - 0.9**step)
                scale = np.sqrt(squares[i] / (1 - 0.999**step)) + 1e-8
                parameters[i] = parameters[i] - rate * direction / scale
    hidden, bias, output, direct = parameters
    return hidden, bias, output, direct


def _gradients(
    parameters: Sequence[Array], batch: Sequence[Labelled], chance: np.random.Generator
) -> list[Array]:
    hidden, bias, output, direct = parameters
    sizes = [len(right) for _, right in batch]
    starts = np.cumsum([0, *sizes[:-1]])
    example_of_row = np.repeat(np.arange(len(batch)), sizes)
    right = np.concatenate([right for _, right in batch])
    rows = np.concatenate([values for values, _ in batch])
    rows *= chance.random(rows.shape) > _DROPPED_FEATURES
    inputs = rows @ hidden + bias
    kept = (chance.random(inputs.shape) > _DROPPED_UNITS) / (1 - _DROPPED_UNITS)
    units = np.maximum(inputs, 0) * kept
    scores = units @ output + rows @ direct
    shares = np.exp(scores - np.maximum.reduceat(scores, starts)[example_of_row])
    shares /= np.add.reduceat(shares, starts)[example_of_row]
    of_right = np.add.reduceat(shares * right, starts)[example_of_row]
    errors = (shares - shares * right / np.maximum(of_right, 1e-9)) / len(batch)
    into_units = np.outer(errors, output) * kept * (inputs > 0)
    return [
        rows.T @ into_units + _DECAY * hidden,
        into_units.sum(axis=0),
        units.T @ errors + _DECAY * output,
        rows.T @ errors + _DECAY * direct,
    ]


def save(ranker: Ranker, path: Path) -> None:
    """Write the weights of a ranker in half precision."""
    halves = {name: getattr(ranker, name).astype(np.float16) for name in PARAMETERS}
    np.savez_compressed(path, features=np.array([*ranker.features]), **halves)
