"""Products of small matrices in one thread.

A BLAS library shares whatever it takes for large among all cores and lets the others wait for
more, busily: a recall would cost the machine twice what it takes. Products in tiles are small.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["applied", "products"]

_ALONE = 1 << 18
"""Multiplications of a product that no BLAS library shares among threads."""

_STEP = 8
"""Sides of tiles are multiples of it, where they can be."""


def applied(rows: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """``rows @ vector``: shapes (n, d) and (d,), the result (n,)."""
    return np.asarray(np.einsum("ij,j->i", rows, vector))


def products(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """``rows @ columns.T``: shapes (n, d) and (m, d), the result (n, m)."""
    if not (rows.size and columns.size):
        return np.zeros((len(rows), len(columns)), dtype=rows.dtype)
    side = max(1, math.isqrt(_ALONE // rows.shape[1]))
    side -= side % _STEP if side > _STEP else 0
    left, right = _tiles(rows, side), _tiles(columns, side)
    found = np.empty((len(left), left.shape[1], len(right), right.shape[1]), dtype=rows.dtype)
    np.matmul(left[:, None], right.transpose(0, 2, 1)[None], out=found.transpose(0, 2, 1, 3))
    whole = found.reshape(left.shape[0] * left.shape[1], -1)
    return np.asarray(whole[: len(rows), : len(columns)])


def _tiles(rows: NDArray[Any], side: int) -> NDArray[Any]:
    """Shape (tiles, side, d), the last one filled up with zeros."""
    side = min(side, len(rows))
    tiles = -(-len(rows) // side)
    if tiles * side == len(rows):
        return rows.reshape(tiles, side, -1)
    filled = np.zeros((tiles * side, rows.shape[1]), dtype=rows.dtype)
    filled[: len(rows)] = rows
    return filled.reshape(tiles, side, -1)
