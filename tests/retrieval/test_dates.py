"""Dates that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recallm.retrieval.dates import AskedDate, asked_dates, nearness


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did he eat on May 3, 2023?", [AskedDate(month=5, day=3, year=2023)]),
        ("the 3rd of May 2023", [AskedDate(month=5, day=3, year=2023)]),
        ("on 2023-05-03", [AskedDate(month=5, day=3, year=2023)]),
        ("in June 2023", [AskedDate(month=6, year=2023)]),
        ("last august", [AskedDate(month=8)]),
        ("in May", [AskedDate(month=5)]),
        ("between July and September 2022", [AskedDate(month=7), AskedDate(month=9, year=2022)]),
        ("May I march along?", []),
        ("2023-13-03", []),
        ("She has 3 cats and 2023 fish", []),
        ("", []),
    ],
)
def test_dates_are_read(text: str, expected: list[AskedDate]) -> None:
    assert asked_dates(text) == expected


@pytest.mark.parametrize(
    ("said", "asked", "expected"),
    [
        ((2023, 5, 3), AskedDate(month=5, day=3, year=2023), 1.0),
        ((2023, 5, 3), AskedDate(month=5, day=3), 1.0),
        ((2023, 5, 9), AskedDate(month=5, day=3, year=2023), 0.5),
        ((2023, 4, 28), AskedDate(month=5, day=3, year=2023), 0.0),
        ((2022, 5, 3), AskedDate(month=5, day=3, year=2023), 0.0),
        ((2023, 5, 30), AskedDate(month=5, year=2023), 1.0),
        ((2024, 1, 5), AskedDate(month=12, year=2023), 0.3),
        ((2023, 11, 5), AskedDate(month=12, year=2023), 0.0),
        ((2023, 2, 5), AskedDate(month=2, day=31, year=2023), 0.0),
    ],
)
def test_what_was_said_then_or_soon_after_is_near(
    said: tuple[int, int, int], asked: AskedDate, expected: float
) -> None:
    assert nearness(datetime(*said, tzinfo=UTC), [asked]) == expected


def test_what_has_no_time_is_near_to_nothing() -> None:
    assert nearness(None, [AskedDate(month=5)]) == 0.0
