"""The days that a statement tells of."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recallm.retrieval.told import told_dates

SAID = datetime(2023, 5, 10, 12, tzinfo=UTC)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went there yesterday.", ["2023-05-09"]),
        ("Last Friday we met.", ["2023-05-05"]),
        ("It was two weekends ago.", ["2023-04-29..2023-04-30"]),
        ("It starts next month.", ["2023-06-01..2023-06-30"]),
        ("We met on the 3rd.", ["2023-05-03"]),
        ("Last summer was fun.", ["2022-06-01..2022-08-31"]),
        ("On 7 May 2022 she left.", ["2022-05-07"]),
        ("I'll go on Friday.", ["2023-05-12"]),
        ("She may march on.", []),
        ("She has 3 cats and 2023 fish.", []),
    ],
)
def test_dates_are_told(text: str, expected: list[str]) -> None:
    assert [str(one) for one in told_dates(text, SAID)] == expected
