"""Products in tiles are products."""

from __future__ import annotations

import numpy as np
import pytest

from recallm.retrieval.products import applied, products

RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("dimension", [1, 64, 384, 5_000, 300_000])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 130), (130, 3), (24, 48), (65, 25)])
def test_tiles_of_any_size_make_the_whole(rows: int, columns: int, dimension: int) -> None:
    if dimension > 10_000:
        rows, columns = min(rows, 3), min(columns, 4)
    left, right = (RANDOM.normal(size=(n, dimension)) for n in (rows, columns))
    assert products(left, right) == pytest.approx(left @ right.T, rel=1e-9, abs=1e-9)
    assert products(left, left) == pytest.approx(left @ left.T, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_of_nothing_there_are_zeros(shape: tuple[int, int]) -> None:
    other = np.ones((3, shape[1]))
    assert products(np.ones(shape), other).shape == (shape[0], 3)
    assert not products(other, np.ones(shape)).any()
    assert applied(np.ones(shape), np.ones(shape[1])).tolist() == [0.0] * shape[0]


def test_the_type_of_the_numbers_stays() -> None:
    rows = np.ones((70, 9), dtype=np.float32)
    assert products(rows, rows).dtype == applied(rows, rows[0]).dtype == np.float32
