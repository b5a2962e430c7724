"""The dates that a question asks for."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recallm.english.dating import asked_dates
from tests.tables import each_row

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)
"""A Wednesday."""
CASES = tomllib.loads(Path(__file__).with_name("dates.toml").read_text(encoding="utf-8"))


@each_row(CASES["asked"].items())
def test_dates_without_a_present(text: str, expected: list[str]) -> None:
    """Relative dates are left out; a date without its year is one of any year."""
    assert [str(date).split(" → ")[1] for date in asked_dates(text)] == expected


@each_row(CASES["asked_then"].items())
def test_relative_dates_count_from_the_present(text: str, expected: list[str]) -> None:
    assert [str(date).split(" → ")[1] for date in asked_dates(text, NOW)] == expected


def test_the_first_16_dates_are_read() -> None:
    years = range(2000, 2050)
    asked = asked_dates(" and ".join(f"in {year}" for year in years))
    assert [date.name for date in asked] == [f"in {year}" for year in years[:16]]


WORDS = (
    "since until between from to and before after in on the end of March may 7 2023 2023-05-07 "
    "last week weeks two ago Friday summer 1990s 31 february tomorrow , ? will"
)


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS.split(" ")), max_size=20).map(" ".join)),
    st.one_of(st.none(), st.datetimes(timezones=st.just(UTC))),
)
def test_any_question_is_read_deterministically(text: str, now: datetime | None) -> None:
    asked = asked_dates(text, now)
    assert asked == asked_dates(text, now)
    assert all(str(date).startswith(date.name) for date in asked)
