"""Dates that a question names."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallm.dating import Interval
from recallm.model import TemporalReading
from recallm.retrieval.dates import asked_dates, dated, meeting, nearness, nearnesses

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did he eat on May 3, 2023?", ["within 2023-05-03"]),
        ("the 3rd of May 2023", ["within 2023-05-03"]),
        ("on 2023-05-03", ["within 2023-05-03"]),
        ("in June 2023", ["within 2023-06-01..2023-06-30"]),
        ("in 2022", ["within 2022-01-01..2022-12-31"]),
        ("in the 1990s", ["within 1990-01-01..1999-12-31"]),
        ("last august", ["within it in any year"]),
        ("in May", ["within it in any year"]),
        ("on May 3", ["within it in any year"]),
        ("between July and September 2022", ["within 2022-07-01..2022-09-30"]),
        ("from 2019 to 2021", ["within 2019-01-01..2021-12-31"]),
        ("between 3 and 7 May 2023", ["within 2023-05-03..2023-05-07"]),
        ("from the 3rd to the 7th of May 2023", ["within 2023-05-03..2023-05-07"]),
        ("on May 3-7, 2023", ["within 2023-05-03..2023-05-07"]),
        ("at the end of 2022", ["within 2022-09-02..2022-12-31"]),
        ("by the end of May 2022", ["until 2022-05-31"]),
        ("the week before 9 June 2023", ["within 2023-06-02..2023-06-08"]),
        ("two days after May 3, 2023", ["within 2023-05-05"]),
        ("from July to September", ["within it in any year"]),
        ("moved from there in 2021", ["within 2021-01-01..2021-12-31"]),
        ("since March 2022", ["since 2022-03-01"]),
        ("after 5 May 2023", ["since 2023-05-06"]),
        ("before 2023", ["until 2022-12-31"]),
        ("until 2023", ["until 2023-12-31"]),
        ("in June 2022 and on 3 May 2023", ["within 2022-06-01..2022-06-30", "within 2023-05-03"]),
        ("since March", []),
        ("yesterday", []),
        ("last week", []),
        ("from March to May 2022", ["within 2022-03-01..2022-05-31"]),
        ("between April and June", ["within it in any year"]),
        ("in April", ["within it in any year"]),
        ("Where does April live?", []),
        ("What did he give to June?", []),
        ("What is the job of May?", []),
        ("May I march along?", []),
        ("2023-13-03", []),
        ("She has 3 cats and 2023 fish", []),
        ("", []),
    ],
)
def test_dates_are_read(text: str, expected: list[str]) -> None:
    """Without the present, relative dates are none; a date without its year is one of any."""
    assert [str(one).split(" → ")[1] for one in asked_dates(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since March", ["since 2023-03-01"]),
        ("yesterday", ["within 2023-05-09"]),
        ("last week", ["within 2023-05-01..2023-05-07"]),
        ("move from four years ago", ["within 2019-01-01..2019-12-31"]),
        ("from last week on", ["since 2023-05-01"]),
        ("in the past week", ["within 2023-05-03..2023-05-10"]),
        ("two weeks ago", ["within 2023-04-23..2023-04-29"]),
        ("last summer", ["within 2022-06-01..2022-08-31"]),
        ("on Friday", ["within 2023-05-05"]),
        ("from Monday to Friday", ["within 2023-05-01..2023-05-05"]),
        ("this weekend", ["within 2023-05-13..2023-05-14"]),
    ],
)
def test_relative_dates_are_read_as_asked_at_present(text: str, expected: list[str]) -> None:
    assert [str(one).split(" → ")[1] for one in asked_dates(text, NOW)] == expected


@pytest.mark.parametrize(
    ("said", "asked", "expected"),
    [
        ((2023, 5, 3), "on 3 May 2023", 1.0),
        ((2023, 5, 3), "on 3 May", 1.0),
        ((2023, 5, 2), "on 3 May", 1.0),
        ((2023, 5, 9), "on 3 May 2023", 0.5),
        ((2023, 4, 28), "on 3 May 2023", 0.0),
        ((2022, 5, 3), "on 3 May 2023", 0.0),
        ((2023, 5, 30), "in May 2023", 1.0),
        ((2024, 5, 30), "in May", 1.0),
        ((2024, 1, 5), "in December 2023", 0.3),
        ((2023, 11, 5), "in December 2023", 0.0),
        ((2023, 2, 5), "on 31 February", 0.0),
        ((2023, 2, 5), "since 2022", 1.0),
        ((2021, 2, 5), "since 2022", 0.0),
        ((2021, 2, 5), "before 2022", 1.0),
        ((2022, 2, 5), "before 2022", 0.0),
        ((2022, 2, 5), "", 0.0),
    ],
)
def test_what_was_said_then_or_soon_after_is_near(
    said: tuple[int, int, int], asked: str, expected: float
) -> None:
    moment = datetime(*said, tzinfo=UTC)
    assert nearness(moment, asked_dates(asked)) == expected
    assert list(nearnesses([moment, None], asked_dates(asked))) == [expected, 0.0]


def test_what_has_no_time_is_near_to_nothing() -> None:
    assert nearness(None, asked_dates("in May")) == 0.0


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ((date(2023, 5, 7), date(2023, 5, 8)), 1.0),
        ((date(2023, 5, 4), date(2023, 5, 8)), 0.5),
        ((date(2023, 5, 8), date(2023, 5, 9)), 0.0),
    ],
)
def test_what_is_told_of_a_date_meets_it(told: tuple[date, date], expected: float) -> None:
    """The less, the longer it is beside what they share."""
    assert meeting([Interval(*told)], asked_dates("on 7 May 2023")) == expected


@pytest.mark.parametrize("day", [date.min, date.max])
def test_the_ends_of_the_calendar_are_near_to_what_is_asked(day: date) -> None:
    said = datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert nearness(said, asked_dates("in June")) == 0.0
    assert nearness(said, asked_dates("since 2022")) == (day == date.max)
    assert nearness(said, asked_dates("until 2022")) == (day == date.min)


def test_of_many_dates_the_first_are_read() -> None:
    years = range(2000, 2050)
    asked = asked_dates(" and ".join(f"in {year}" for year in years))
    assert [one.name for one in asked] == [f"in {year}" for year in years[:16]]


WORDS = (
    "since until between from to and before after in on the end of March may 7 2023 2023-05-07 "
    "last week weeks two ago Friday summer 1990s 31 february tomorrow , ? will"
)


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS.split(" ")), max_size=20).map(" ".join)),
    st.one_of(st.none(), st.datetimes(timezones=st.just(UTC))),
    st.datetimes(timezones=st.just(UTC)),
)
def test_any_question_is_read_and_always_alike(
    text: str, now: datetime | None, said: datetime
) -> None:
    asked = asked_dates(text, now)
    assert asked == asked_dates(text, now)
    assert 0.0 <= nearness(said, asked) <= 1.0
    assert 0.0 <= meeting([Interval(date(2023, 5, 1), date(2023, 5, 9))], asked) <= 1.0
    assert all(str(one).startswith(one.name) for one in asked)


def test_dates_stand_among_the_rules_that_fired() -> None:
    reading = dated(TemporalReading(rules=("now → recency 1",)), asked_dates("in March 2023"))
    assert reading.rules == ("now → recency 1", "in March 2023 → within 2023-03-01..2023-03-31")
