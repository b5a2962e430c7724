"""Nearness of statements to the dates that a question asks for."""

from __future__ import annotations

from datetime import UTC, date, datetime

from recallm import RecallM
from recallm.english.dating import Interval, asked_dates
from recallm.recall.ranking.dates import date_nearness, date_overlap, lies_in


def test_what_was_said_then_or_soon_after_is_near_but_does_not_lie_in_it() -> None:
    for day, asked, nearness, lies in (
        ((2023, 5, 3), "on 3 May 2023", 1.0, True),
        ((2023, 5, 3), "on 3 May", 1.0, True),
        ((2023, 5, 2), "on 3 May", 1.0, False),
        ((2023, 5, 4), "on 3 May 2023", 1.0, False),
        ((2023, 5, 9), "on 3 May 2023", 0.5, False),
        ((2023, 4, 28), "on 3 May 2023", 0.0, False),
        ((2022, 5, 3), "on 3 May 2023", 0.0, False),
        ((2023, 5, 30), "in May 2023", 1.0, True),
        ((2024, 5, 30), "in May", 1.0, True),
        ((2024, 1, 5), "in December 2023", 0.3, False),
        ((2023, 11, 5), "in December 2023", 0.0, False),
        ((2023, 2, 5), "on 31 February", 0.0, False),
        ((2023, 2, 5), "since 2022", 1.0, True),
        ((2021, 2, 5), "since 2022", 0.0, False),
        ((2021, 2, 5), "before 2022", 1.0, True),
        ((2022, 2, 5), "before 2022", 0.0, False),
        ((2022, 2, 5), "", 0.0, False),
    ):
        moment = datetime(*day, tzinfo=UTC)
        dates = asked_dates(asked)
        assert list(date_nearness([moment, None], dates)) == [nearness, 0.0], (day, asked)
        assert any(lies_in(moment.date(), date) for date in dates) == lies, (day, asked)


def test_what_is_told_of_a_date_meets_it() -> None:
    """The less, the longer it is beside what they share."""
    for first, end, overlap in ((7, 8, 1.0), (4, 8, 0.5), (8, 9, 0.0)):
        told = Interval(date(2023, 5, first), date(2023, 5, end))
        assert date_overlap([told], asked_dates("on 7 May 2023")) == overlap


def test_the_ends_of_the_calendar_are_near_to_what_is_asked() -> None:
    for day in (date.min, date.max):
        said = datetime(day.year, day.month, day.day, tzinfo=UTC)
        assert date_nearness([said], asked_dates("in June"))[0] == 0.0
        assert date_nearness([said], asked_dates("since 2022"))[0] == (day == date.max)
        assert date_nearness([said], asked_dates("until 2022"))[0] == (day == date.min)


def test_dates_stand_among_the_rules_that_fired() -> None:
    memory = RecallM()
    memory.update("Ann moved to Porto.", timestamp=datetime(2023, 3, 3, tzinfo=UTC))
    time = memory.recall("Where did Ann first move to in March 2023?").time
    assert time is not None
    assert time.rules[-1] == "in March 2023 → within 2023-03-01..2023-03-31"
    assert len(time.rules) > 1
