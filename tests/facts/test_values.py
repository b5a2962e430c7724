"""Which texts are numbers, dates and booleans."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallm import InvalidInputError
from recallm.facts.values import Value, text_of, value_of

NUMBERS: dict[str, int | float] = {
    "0": 0, "2019": 2019, "-5": -5, "−5": -5, "-0.5": -0.5, "52,000": 52000, "52,000.5": 52000.5,
    "52.000": 52.0, "$52,000": 52000, "-$5": -5, "US$ 5": 5, "€3.50": 3.5, "52,000 USD": 52000,
    "EUR 52,000.50": 52000.5, "12 €": 12, "$1.2 billion": 1200000000,
    "1.2 million EUR": 1200000, "8 billion": 8000000000, "3 million years": 3000000, "12 %": 12,
    "12%": 12, "3.5 km": 3.5, "3.5km": 3.5, "36 years old": 36, "900 m": 900, "1e+16": 1e16,
    "1.5e-07": 1.5e-07, " 7 ": 7,
}  # fmt: skip

DATES = {
    "2024-05-01": date(2024, 5, 1),
    "0999-12-31": date(999, 12, 31),
    "1 May 2024": date(2024, 5, 1),
    "1st of May 2024": date(2024, 5, 1),
    "May 1, 2024": date(2024, 5, 1),
    "MAY 1, 2024": date(2024, 5, 1),
    "3 Sept 1999": date(1999, 9, 3),
    "1.5.2024": date(2024, 5, 1),
    "2024-05-01T10:30:00Z": datetime(2024, 5, 1, 10, 30, tzinfo=UTC),
    "2024-05-01 10:30": datetime(2024, 5, 1, 10, 30),  # noqa: DTZ001
}

NO_VALUES = (
    "", " ", "Ada", "BMW", "007", "01234", "+47", "+4722334455", "030 123 456", "52 000", "1,5",
    "52.000,5", "52'000", "$52k", "$1.2M",
    "1,00", "12,34,567", "1.2.3", "192.168.1.1", "1e5", "6E23", "0x10", "1_000", "1/2", "½",
    "3-4", "~52", "5k", "5 M", "NaN", "nan", "inf", "Infinity", "-", "$", "%", "km", ".", ".5",
    "5.", "50 Cent", "12 Years", "12 Monkeys", "42nd", "12A", "12m", "221b", "5 K", "3 apples",
    "747-400", "٥", "²", "1\n2", "5 5", "May", "May 1", "1 May", "today", "last Friday",
    "summer 2019", "Q3 2022", "the 1990s", "3 to 7 May 2024", "early May 2024", "4/5/2024",
    "25/12/2023", "May 2024",
    "25/12/23", "2010-11", "2024-05", "2024-02-30", "2024-13-01", "30 February 2024",
    "2024-05-01T25:00", "Easter 2024", "in 2019", "met Ada on 1 May 2024",
    "1 May 2024, 2 May 2024", "2023/05/03", "yes", "No", "t", "None",
    "9" * 1025, "1" * 400 + ".5", "\ud800", "\x00", "5\x00",
)  # fmt: skip


def test_values() -> None:
    known = {**NUMBERS, **DATES, **dict.fromkeys(("true", "True", "TRUE"), True), "False": False}
    wrong = []
    for text, expected in known.items():
        value = value_of(text)
        if value != expected or type(value) is not type(expected):
            wrong.append((text, value))
    assert wrong == []


def test_what_may_mean_something_else_has_no_value() -> None:
    assert [text for text in NO_VALUES if value_of(text) is not None] == []


@given(
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.dates()
    | st.datetimes(timezones=st.none() | st.just(UTC))
)
def test_the_text_of_a_value_has_that_value(value: Value) -> None:
    assert value_of(text_of(value)) == value


@given(st.text(max_size=60) | st.from_regex(r"[-$]?[\d.,' ]{1,12}[a-zA-Z%/ ]{0,6}", fullmatch=True))
def test_any_text_has_a_value_with_a_text_or_none(text: str) -> None:
    value = value_of(text)
    if value is not None:
        assert value_of(text_of(value)) == value


def test_equal_numbers_have_one_text() -> None:
    assert text_of(52000.0) == text_of(52000) == "52000"
    assert text_of(-0.0) == text_of(0) == "0"
    assert text_of(1e16) == "1e+16"
    assert text_of(10**20) == "1" + 20 * "0"


def test_what_has_no_text_is_refused() -> None:
    without: list[Any] = [float("nan"), float("inf"), 10**1023, -(10**5000), "5", None, [], 1j]
    for value in without:
        with pytest.raises(InvalidInputError, match="must be a bool"):
            text_of(value)
