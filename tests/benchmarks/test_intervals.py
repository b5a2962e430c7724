"""Means and paired bootstrap intervals."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.intervals import Scores, resamples


def _scores(units: list[str], **rows: list[float]) -> Scores:
    scores = Scores()
    for place, unit in enumerate(units):
        question = scores.question(unit, "odd" if place % 2 else "even")
        for row, values in rows.items():
            scores.add(row, "hit", question, values[place])
    return scores


def test_means_are_over_all_questions_or_those_of_a_kind() -> None:
    scores = _scores(["a", "a", "b", "b"], mine=[1, 0, 1, 1])
    assert scores.means("mine") == {"hit": 0.75}
    assert scores.mean("mine", "hit", "odd") == 0.5
    assert scores.mean("mine", "hit", "other") is None


def test_a_constant_difference_is_certain() -> None:
    mine = [0.1 * place for place in range(10)]
    scores = _scores(["a"] * 5 + ["b"] * 5, mine=mine, other=[value - 0.25 for value in mine])
    difference = scores.difference("mine", "other", "hit")
    assert (difference.mean, difference.low, difference.high) == pytest.approx((0.25,) * 3)
    assert str(difference) == "+0.250 [+0.250, +0.250]"


def test_the_interval_of_a_mean_of_coins_is_as_wide_as_theory_has_it() -> None:
    mine = [float(place % 2) for place in range(400)]
    scores = _scores(["a"] * 400, mine=mine, other=[0.0] * 400)
    difference = scores.difference("mine", "other", "hit")
    half = 1.96 * 0.5 / 400**0.5
    assert difference.mean == 0.5
    assert difference.high - difference.low == pytest.approx(2 * half, rel=0.1)


def test_many_units_are_resampled_themselves() -> None:
    # all questions of a unit agree: 40 units say as much as 40 questions
    units = [f"unit {place // 10}" for place in range(400)]
    mine = [float(place // 10 % 2) for place in range(400)]
    scores = _scores(units, mine=mine, other=[0.0] * 400)
    difference = scores.difference("mine", "other", "hit")
    assert difference.high - difference.low == pytest.approx(2 * 1.96 * 0.5 / 40**0.5, rel=0.1)


def test_few_units_stay_and_their_questions_are_resampled() -> None:
    units = ("a",) * 3 + ("b",) * 5 + ("a",) * 2
    for places in resamples(units, draws=20):
        assert sorted(units[place] for place in places) == sorted(units)


def test_the_same_seed_draws_the_same() -> None:
    units = tuple(f"unit {place % 30}" for place in range(90))
    one, again = resamples(units, draws=5, seed=3), resamples(units, draws=5, seed=3)
    other = resamples(units, draws=5, seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=False))


def test_rows_that_were_asked_different_questions_are_not_compared() -> None:
    scores = _scores(["a", "b"], mine=[1, 0], other=[0, 0])
    scores.add("mine", "hit", scores.question("c"), 1.0)
    with pytest.raises(ValueError, match="same questions"):
        scores.difference("mine", "other", "hit")
