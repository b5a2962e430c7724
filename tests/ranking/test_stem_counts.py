"""Stems in arrays count what the statements hold, and products in tiles are products."""

from __future__ import annotations

import numpy as np

from recallm.recall.ranking.stem_counts import matrix_product, weighted_sums

RANDOM = np.random.default_rng(3)


def test_a_product_in_tiles_of_any_size_is_the_product() -> None:
    shapes = [
        (rows, columns, dimension)
        for rows, columns in ((1, 1), (3, 130), (130, 3), (24, 48), (65, 25))
        for dimension in (1, 64, 384, 5_000)
    ]
    for rows, columns, dimension in (*shapes, (3, 4, 300_000)):
        left, right = (RANDOM.normal(size=(n, dimension)) for n in (rows, columns))
        product = matrix_product(left, right)
        assert np.allclose(product, left @ right.T, rtol=1e-9, atol=1e-9), (rows, columns)
    for shape in ((0, 4), (4, 0), (0, 0)):
        other = np.ones((3, shape[1]))
        assert matrix_product(np.ones(shape), other).shape == (shape[0], 3)
        assert not matrix_product(other, np.ones(shape)).any()
        assert weighted_sums(np.ones(shape), np.ones(shape[1])).tolist() == [0.0] * shape[0]
    rows32 = np.ones((70, 9), dtype=np.float32)
    assert matrix_product(rows32, rows32).dtype == np.float32
    assert weighted_sums(rows32, rows32[0]).dtype == np.float32
