"""Nearness of statements to the dates that a question asks for."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallm.dating import Interval, asked_dates
from recallm.model import TemporalReading
from recallm.ranking.dates import date_nearness, date_overlap, lies_in, with_date_rules


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
    assert list(date_nearness([moment, None], asked_dates(asked))) == [expected, 0.0]


@pytest.mark.parametrize(
    ("day", "asked", "expected"),
    [
        (date(2023, 5, 3), "on 3 May 2023", True),
        (date(2023, 5, 3), "on 3 May", True),
        (date(2023, 5, 2), "on 3 May 2023", False),
        (date(2023, 5, 4), "on 3 May 2023", False),
        (date(2023, 5, 2), "on 3 May", False),
        (date(2023, 5, 2), "since 2022", True),
        (date(2021, 5, 2), "since 2022", False),
        (date(2021, 5, 2), "before 2022", True),
        (date(2022, 5, 2), "before 2022", False),
        (date(2023, 2, 5), "on 31 February", False),
    ],
)
def test_a_day_beside_the_date_does_not_lie_in_it(day: date, asked: str, expected: bool) -> None:
    assert any(lies_in(day, each) for each in asked_dates(asked)) == expected


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
    assert date_overlap([Interval(*told)], asked_dates("on 7 May 2023")) == expected


@pytest.mark.parametrize("day", [date.min, date.max])
def test_the_ends_of_the_calendar_are_near_to_what_is_asked(day: date) -> None:
    said = datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert date_nearness([said], asked_dates("in June"))[0] == 0.0
    assert date_nearness([said], asked_dates("since 2022"))[0] == (day == date.max)
    assert date_nearness([said], asked_dates("until 2022"))[0] == (day == date.min)


WORDS = (
    "since until between from to and before after in on the end of March may 7 2023 2023-05-07 "
    "last week weeks two ago Friday summer 1990s 31 february tomorrow , ? will"
)


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS.split(" ")), max_size=20).map(" ".join)),
    st.one_of(st.none(), st.datetimes(timezones=st.just(UTC))),
    st.datetimes(timezones=st.just(UTC)),
)
def test_nearness_lies_between_0_and_1(text: str, now: datetime | None, said: datetime) -> None:
    asked = asked_dates(text, now)
    assert 0.0 <= date_nearness([said], asked)[0] <= 1.0
    assert 0.0 <= date_overlap([Interval(date(2023, 5, 1), date(2023, 5, 9))], asked) <= 1.0


def test_dates_stand_among_the_rules_that_fired() -> None:
    reading = with_date_rules(
        TemporalReading(rules=("now → recency 1",)), asked_dates("in March 2023")
    )
    assert reading.rules == ("now → recency 1", "in March 2023 → within 2023-03-01..2023-03-31")
