"""The dates that a statement tells of."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recallm.english.dating import statement_dates
from tests.tables import each_row

SAID = datetime(2023, 5, 10, 12, tzinfo=UTC)
"""A Wednesday."""

CASES = tomllib.loads(Path(__file__).with_name("dates.toml").read_text(encoding="utf-8"))
RELATIVE: dict[str, str] = CASES["relative"]
ABSOLUTE: dict[str, str] = CASES["absolute"]


@each_row([*RELATIVE.items(), *ABSOLUTE.items()])
def test_a_date_counts_from_the_day_on_which_it_was_said(text: str, expected: str) -> None:
    assert [str(date) for date in statement_dates(text, SAID)] == [expected]


@each_row(CASES["no_dates"])
def test_words_that_only_look_like_a_date(text: str) -> None:
    assert statement_dates(text, SAID) == ()


@each_row(ABSOLUTE.items())
def test_a_date_with_its_year_needs_no_timestamp(text: str, expected: str) -> None:
    assert [str(date) for date in statement_dates(text, None)] == [expected]


@each_row(RELATIVE)
def test_other_dates_need_a_timestamp(text: str) -> None:
    assert statement_dates(text, None) == ()


def test_dates_stand_in_textual_order() -> None:
    found = statement_dates("In June we moved, and yesterday, unlike in 2019, we rested.", SAID)
    assert [str(date.start) for date in found] == ["2022-06-01", "2023-05-09", "2019-01-01"]


def test_the_day_is_that_of_the_timestamps_own_zone() -> None:
    east = datetime(2023, 5, 10, 1, tzinfo=timezone(timedelta(hours=9)))
    assert [str(date) for date in statement_dates("Yesterday.", east)] == ["2023-05-09"]


@each_row(
    [
        *RELATIVE,
        "999 years ago",
        "in 999 decades",
        "999 decades from now",
        "the last 999 years",
    ]
)
def test_dates_beyond_the_calendar_are_left_out(text: str) -> None:
    for said in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)):
        assert all(date.start < date.end for date in statement_dates(text, said))


WORDS = (
    "last next this past two 3 a few couple of days weeks week weekend month years year ago from "
    "now in on the early late mid may March june Friday fridays 3rd 31 2023 0 99 1990s '90s "
    "2023-05-03 12/31/99 31.2.2024 christmas new year's eve summer yesterday tomorrow before after "
    "will , . ’ İ \x00"
)


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS.split(" ")), max_size=20).map(" ".join)),
    st.one_of(st.none(), st.datetimes(timezones=st.just(UTC))),
)
def test_any_text_is_read_deterministically(text: str, said: datetime | None) -> None:
    found = statement_dates(text, said)
    assert found == statement_dates(text, said)
    assert all(date.start < date.end for date in found)
