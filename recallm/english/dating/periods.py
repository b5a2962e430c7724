"""Periods of the calendar: half-open intervals of days, and those that return every year."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

_DAY = timedelta(days=1)

MONTHS_IN = {
    "month": 1, "quarter": 3, "season": 3, "term": 4, "semester": 6, "year": 12, "decade": 120,
}  # fmt: skip
"""Periods of the calendar, in months."""


class Interval(NamedTuple):
    """The days from ``start`` up to, not including, ``end``."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.end - self.start).days

    @property
    def last(self) -> date:
        """Its last day."""
        return self.end - _DAY

    def part(self, which: str) -> Interval:
        """Its "early", "mid" or "late" third; the whole interval for any other word."""
        third = timedelta(days=max(1, self.days // 3))
        if which == "early":
            return Interval(self.start, self.start + third)
        if which == "mid":
            return Interval(self.start + third, self.end - third)
        return Interval(self.end - third, self.end) if which == "late" else self

    def shown(self) -> str:
        """The days for a reader: "2024-03-01", "2024-02-19 to 25", "2024-02", "2020 to 2023"."""
        first, last = str(self.start), str(self.last)
        if self.start.day == self.end.day == 1:
            size = 4 if self.start.month == self.end.month == 1 else 7
            first, last = first[:size], last[:size]
        shared = next((size for size in (8, 5) if first[:size] == last[:size]), 0)
        return first if first == last else f"{first} to {last[shared:]}"

    def __str__(self) -> str:
        return str(self.start) if self.days == 1 else f"{self.start}..{self.last}"


def day_of(day: date, days: int = 1) -> Interval:
    """``days`` days, beginning with ``day``."""
    return Interval(day, day + timedelta(days=days))


def week_of(day: date) -> Interval:
    """The week of a day, Monday to Sunday."""
    return day_of(day - timedelta(days=day.weekday()), 7)


def month_of(year: int, month: int, months: int = 1) -> Interval:
    """``months`` months, beginning with ``month``; a month above 12 or below 1 belongs to another
    year."""
    return Interval(_first(year, month), _first(year, month + months))


def period_of(day: date, unit: str, later: int = 0, around: int = 0) -> Interval:
    """The month, quarter, term, semester, year or decade that holds a day, or the one ``later``
    periods after it, with ``around`` periods before and after."""
    months = MONTHS_IN[unit]
    # December belongs to the winter of the year that follows.
    ahead = 1 if unit == "season" else 0
    place = (12 * day.year + day.month - 1 + ahead) // months + later
    return month_of(0, (place - around) * months + 1 - ahead, (1 + 2 * around) * months)


def year_of(year: int, years: int = 1) -> Interval:
    """``years`` whole years, beginning with ``year``."""
    return month_of(year, 1, 12 * years)


def shifted(day: date, months: int) -> date:
    """The same day of the month ``months`` later, or the last day of that month."""
    found = month_of(day.year, day.month + months)
    return min(found.start + timedelta(days=day.day - 1), found.last)


def _first(year: int, month: int) -> date:
    years, months = divmod(month - 1, 12)
    return date(year + years, months + 1, 1)


@dataclass(frozen=True, slots=True)
class Yearly:
    """A period of every year.

    It has ``months`` months from ``month`` on or, where ``day`` is set, ``days`` days from that day
    on. ``which`` is the part of it that is meant ("early").
    """

    month: int
    day: int | None = None
    months: int = 1
    days: int = 1
    which: str = ""

    def of(self, year: int) -> Interval | None:
        """The one that begins in ``year``; None where that year has none (29 February)."""
        if self.day is None:
            return month_of(year, self.month, self.months).part(self.which)
        try:
            return day_of(date(year, self.month, self.day), self.days)
        except ValueError:
            return None

    def before(self, day: date) -> Interval | None:
        """The latest that had ended by ``day``."""
        return self._nearest(day, lambda period: period.end <= day, latest=True)

    def begun(self, day: date) -> Interval | None:
        """The latest that had begun by ``day``."""
        return self._nearest(day, lambda period: period.start <= day, latest=True)

    def after(self, day: date) -> Interval | None:
        """The first that begins after ``day``."""
        return self._nearest(day, lambda period: period.start > day, latest=False)

    def coming(self, day: date) -> Interval | None:
        """The first that has not ended on ``day``."""
        return self._nearest(day, lambda period: period.end > day, latest=False)

    def _nearest(
        self, day: date, fits: Callable[[Interval], bool], *, latest: bool
    ) -> Interval | None:
        years = range(max(2, day.year - 4), min(9997, day.year + 4) + 1)
        for year in reversed(years) if latest else years:
            found = self.of(year)
            if found is not None and fits(found):
                return found
        return None
