"""How the inputs of the matrix products are rounded: fitted to what texts make of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.minilm.graph import MIN_FACTOR, Floats, Product, Rounding, rounded

_POWERS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_CUTS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
"""Factors are (greatest input)^p / (greatest weight)^(1 - p); inputs beyond a share of the greatest
are cut off. The best p and share are searched here for each product."""

_OUTLIER = 40
"""A column is multiplied exactly if its greatest input times its greatest weight is 40 times the
median of all columns: of the wide layers, some have one such neuron or two."""


@dataclass(slots=True)
class Inputs:
    """The inputs of a product: the ``least`` and ``greatest`` of each column, of shape (columns,),
    and a ``sample`` of its rows, of shape (rows, columns)."""

    least: Floats
    greatest: Floats
    sample: Floats

    @classmethod
    def of(cls, batches: list[tuple[Floats, Floats, Floats]]) -> Inputs:
        """The inputs of all batches: of each the least, the greatest and a sample."""
        least, greatest, sample = zip(*batches, strict=True)
        return cls(np.min(least, axis=0), np.max(greatest, axis=0), np.concatenate(sample))


def fitted(inputs: Inputs, matrix: Floats, *, may_be_exact: bool) -> tuple[Rounding, float]:
    """The rounding with the least square error, and this error as a share of the variance of the
    products. ``matrix``: all matrices of the product, side by side."""
    peaks = np.maximum(-inputs.least, inputs.greatest) + 1e-6
    heights = np.abs(matrix).max(axis=1) + 1e-6
    strengths = peaks * heights
    kept = ~(may_be_exact & (strengths > _OUTLIER * np.median(strengths)))
    exact = tuple(np.flatnonzero(~kept).tolist())
    rows = inputs.sample * kept
    products = rows @ matrix
    best: tuple[float, Rounding] | None = None
    for power, cut in itertools.product(_POWERS, _CUTS):
        factors = peaks**power / heights ** (1 - power)
        factors = factors / np.exp(np.log(factors[kept]).mean()) * kept
        rounding = _rounding(inputs, factors.astype(np.float16), cut, exact)
        error = float(np.square(products - _rounded_products(rows, matrix, rounding)).sum())
        if best is None or error < best[0]:
            best = error, rounding
    assert best is not None
    return best[1], best[0] / float(np.square(products - products.mean(axis=0)).sum())


def _rounding(
    inputs: Inputs, factors: NDArray[np.float16], cut: float, exact: tuple[int, ...]
) -> Rounding:
    used = factors > 0
    divisors = factors[used].astype(np.float32)
    low = cut * float((inputs.least[used] / divisors).min())
    high = cut * float((inputs.greatest[used] / divisors).max())
    scale = (high - low) / 255
    return Rounding(factors, scale, round(-low / scale), exact)


def _rounded_products(rows: Floats, matrix: Floats, rounding: Rounding) -> Floats:
    factors = rounding.factors.astype(np.float32)
    steps = np.round(rows / np.maximum(factors, MIN_FACTOR) / rounding.scale) + rounding.zero
    values = (np.clip(steps, 0, 255) - rounding.zero) * np.float32(rounding.scale)
    weights, scales = rounded(matrix * factors[:, None], axis=0)
    return np.asarray(values @ (weights * scales), np.float32)


def all_fitted(
    inputs: Mapping[Product, Inputs], matrices: Mapping[Product, Floats]
) -> dict[Product, Rounding]:
    """The rounding of each product; prints the errors."""
    found = {}
    for (layer, kind), each in inputs.items():
        is_wide = kind == "contraction"
        rounding, error = fitted(each, matrices[layer, kind], may_be_exact=is_wide)
        found[layer, kind] = rounding
        print(f"layer {layer}, {kind}: error {error:.5f}, exact {list(rounding.exact)}", flush=True)
    return found
