"""Stored vectors, and the nearest of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recallm import InvalidInputError
from recallm.vectors import decode, encode, nearest


def test_a_vector_is_stored_as_a_unit_vector_of_two_bytes_a_dimension() -> None:
    blob = encode([3, 4])
    assert len(blob) == 4
    assert decode(blob) == pytest.approx([0.6, 0.8], abs=1e-3)
    assert encode(np.array([30, 40], np.int32)) == blob
    assert encode([3e-300, 4e-300]) == encode([3e300, 4e300]) == blob
    assert decode(encode([0.0, 0.0])).tolist() == [0.0, 0.0]
    bad: Any
    for bad in (
        [], [[1.0]], 1.0, ["a"], None, [1.0, float("nan")], [float("inf")], [1.0, [2.0]],
    ):  # fmt: skip
        with pytest.raises(InvalidInputError, match="an embedding must"):
            encode(bad)


def test_the_nearest_come_first_and_equal_cosines_keep_their_order() -> None:
    vectors = {"x": [1.0, 0.0], "y": [0.0, 1.0], "z": [1.0, 1.0], "again": [2.0, 0.0]}
    kept = {name: encode(vector) for name, vector in vectors.items()}
    found = nearest([5.0, 0.1], kept, 3)
    assert [name for name, _ in found] == ["x", "again", "z"]
    assert found[0][1] == pytest.approx(1.0, abs=1e-3)
    assert [name for name, _ in nearest([-1.0, 0.0], kept, 9)][-2:] == ["x", "again"]
    assert nearest([1.0, 0.0], {}, 3) == []
    assert nearest([1.0, 0.0], kept, 0) == []


def test_cosines_are_those_of_numpy() -> None:
    random = np.random.default_rng(7)
    rows = random.normal(size=(1000, 16))
    wanted = random.normal(size=16)
    exact = rows @ wanted / np.linalg.norm(rows, axis=1) / np.linalg.norm(wanted)
    found = nearest(wanted, {n: encode(row) for n, row in enumerate(rows)}, 1000)
    assert len(found) == 1000
    assert max(abs(cosine - exact[n]) for n, cosine in found) < 1e-3
    assert [cosine for _, cosine in found] == sorted((c for _, c in found), reverse=True)
