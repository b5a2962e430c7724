"""What the words that name a date mean, as said on a day.

What is relative ("last Friday") needs the day on which it was said. Weeks begin on Monday. A
weekday is the latest that has come, or where the text speaks of the future the next; "next Friday"
is the first that follows, "next weekend" the one after that of this week.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from recallm.retrieval.periods import (
    Interval,
    Yearly,
    day_of,
    month_of,
    shifted,
    week_of,
    year_of,
    years_of,
)

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_SHORT = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {
    **{name: number for number, name in enumerate(_MONTHS, 1)},
    **{name: number for number, name in enumerate(_SHORT, 1)},
    "sept": 9,
}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
HOLIDAYS = {
    "christmas eve": Yearly(12, 24),
    "christmas": Yearly(12, 24, days=3),
    "christmas day": Yearly(12, 25),
    "boxing day": Yearly(12, 26),
    "new year's eve": Yearly(12, 31),
    "new year's day": Yearly(1, 1),
    "new year's": Yearly(12, 31, days=2),
    "halloween": Yearly(10, 31),
    "valentine's day": Yearly(2, 14),
    "thanksgiving": Yearly(11, 22, days=7),
    "easter": Yearly(3, 22, days=36),
}
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20,
    "thirty": 30, "couple": 2, "few": 3, "several": 4,
}  # fmt: skip

_LEAP_YEAR = 2000
_LEAD = re.compile(
    r"\b(?:in|on|of|since|until|till|by|during|before|after|from|between|through|over|around|to|"
    r"at|for|(?:between|from) \S+ and|year|back in)(?: the)? $"
)
_LEAD_TO_YEAR = re.compile(
    r"\b(?:in|since|until|till|by|of|during|before|after|from|between|year|"
    r"(?:between|from) \S+ (?:and|to))(?: the)? $"
)
_REACH = 30
"""Characters before a date in which the words stand that lead to it."""
_ALSO_WORDS = ("march", "may", "april", "june", "august", "mar", "jan", "jun", "dec", "sep", "apr")
"""Words and names of people that are months too: only after a word that leads to a time."""

_PAST = ("last", "past", "previous")


class NoSuchDateError(ValueError):
    """The words are those of a date, but there is none such: 31 February."""


class UnknownDayError(LookupError):
    """What words mean depends on the day on which they were said, and it is unknown."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words that may name a date; the ``day`` on which they were said, None where it is unknown;
    whether the text speaks of the future."""

    match: re.Match[str]
    day: date | None
    future: bool

    def __getitem__(self, group: str) -> str:
        """The words of a group of the pattern, empty where it has none."""
        return self.match.groupdict().get(group) or ""

    @property
    def said(self) -> date:
        """The day on which they were said."""
        if self.day is None:
            raise UnknownDayError
        return self.day

    @property
    def led(self) -> bool:
        """Whether the word before leads to a time."""
        return self.follows(_LEAD)

    def follows(self, lead: re.Pattern[str]) -> bool:
        """Whether they stand just after a lead."""
        start = self.match.start()
        return lead.search(self.match.string, max(0, start - _REACH), start) is not None


def iso(it: Said) -> Interval | None:
    """2023-05-03, or 2023-05."""
    year, month = int(it["year"]), int(it["month"])
    if it["day"]:
        return _date(year, month, int(it["day"]))
    return month_of(year, month) if 1 <= month <= 12 and year else None


def numeric(it: Said) -> Interval | None:
    """5/3/2023, the month first as in America, and 3.5.2023; the other way round where only that
    is a date."""
    first, second, year = int(it["a"]), int(it["b"]), int(it["year"])
    if year < 100:
        year += 1900 if year > 40 else 2000
    return _date(year, first, second) or _date(year, second, first)


def _date(year: int, month: int, day: int) -> Interval | None:
    return Yearly(month, day).of(year) if 1 <= month <= 12 and year else None


def month_and_day(it: Said) -> Interval | Yearly | None:
    """3 May, with or without its year."""
    named = Yearly(MONTHS[it["month"]], int(it["day"]))
    found = named.of(int(it["year"] or _LEAP_YEAR))
    if found is None:
        raise NoSuchDateError
    return found if it["year"] else named


def month(it: Said) -> Interval | Yearly | None:
    """May, of a year, picked ("last May"), or of any year."""
    dated = it["year"] or it["pick"] or it["part"] or it.led
    if it["month"] in _ALSO_WORDS and not dated:
        return None
    named = Yearly(MONTHS[it["month"]], which=it["part"] or "")
    return _of_a_year(it, named)


def season(it: Said) -> Interval | Yearly | None:
    """Summer, as months are."""
    if not (it["year"] or it["pick"] or it["part"] or it.led):
        return None
    named = Yearly(SEASONS[it["season"]], months=3, which=it["part"] or "")
    return _of_a_year(it, named)


def holiday(it: Said) -> Interval | Yearly | None:
    """Christmas, as months are."""
    return _of_a_year(it, HOLIDAYS[it["holiday"]])


def _of_a_year(it: Said, named: Yearly) -> Interval | Yearly | None:
    pick = it["pick"]
    if it["year"]:
        return named.of(int(it["year"]))
    if not pick or it.day is None:
        return named
    if pick in _PAST:
        return named.before(it.said)
    if pick == "this past":
        return named.begun(it.said)
    return named.of(it.said.year) if pick == "this" else named.after(it.said)


def year(it: Said) -> Interval | None:
    """2023."""
    if not (it["part"] or it.follows(_LEAD_TO_YEAR)):
        return None
    return year_of(int(it["year"])).part(it["part"] or "")


def decade(it: Said) -> Interval:
    """The 1990s, the 90s."""
    year = int(it["decade"])
    if year < 100:
        year += 1900 if year > 20 else 2000
    return years_of(year, 10).part(it["part"] or "")


def today(it: Said) -> Interval:
    """The day itself."""
    return day_of(it.said)


def yesterday(it: Said) -> Interval:
    """The day before; the day before that."""
    return day_of(it.said - timedelta(days=2 if it["before"] else 1))


def tomorrow(it: Said) -> Interval:
    """The day after; the day after that."""
    return day_of(it.said + timedelta(days=2 if it["after"] else 1))


def ago(it: Said) -> Interval | None:
    """Three weeks ago."""
    return _away(it, -_count(it["n"]))


def ahead(it: Said) -> Interval | None:
    """In three weeks."""
    return _away(it, _count(it["n"]))


def _count(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word]


def _away(it: Said, n: int) -> Interval | None:
    """As exact as the unit is; "a few" and "several" take in one more on either side."""
    unit = it["unit"]
    vague = it["n"] in ("few", "several")
    if unit in ("day", "night"):
        day = it.said + timedelta(days=n)
        return day_of(day - timedelta(days=1), 3) if vague else day_of(day)
    if unit == "week":
        return day_of(it.said + timedelta(days=7 * n - 3 - 4 * vague), 7 + 8 * vague)
    if unit == "weekend":
        return _weekend(it.said, n)
    if unit == "month":
        return month_of(it.said.year, it.said.month + n - vague, 1 + 2 * vague)
    if unit == "year":
        return years_of(it.said.year + n - vague, 1 + 2 * vague)
    return years_of((it.said.year // 10 + n) * 10, 10)


def _weekend(said: date, n: int) -> Interval:
    """The weekend so many after (before) the one that is or comes (is or was)."""
    saturday = said - timedelta(days=said.weekday() - 5)
    return day_of(saturday + timedelta(days=7 * n), 2)


def weekdays_ago(it: Said) -> Interval:
    """Two Fridays ago."""
    latest = _weekday_before(it.said, it["weekday"])
    return day_of(latest - timedelta(days=7 * (_count(it["n"]) - 1)))


def _weekday_before(said: date, name: str) -> date:
    return said - timedelta(days=(said.weekday() - WEEKDAYS.index(name) - 1) % 7 + 1)


def _weekday_after(said: date, name: str) -> date:
    return said + timedelta(days=(WEEKDAYS.index(name) - said.weekday() - 1) % 7 + 1)


def weekday(it: Said) -> Interval:
    """Friday, last Friday, next Friday."""
    pick, name = it["pick"], it["weekday"]
    if pick in (*_PAST, "this past"):
        return day_of(_weekday_before(it.said, name))
    if pick in ("this", "this coming", "next", "coming", "upcoming") or it.future:
        return day_of(_weekday_after(it.said, name))
    return day_of(_weekday_before(it.said, name))


def some(it: Said) -> Interval:
    """The last two weeks, the next few days: with the day itself."""
    n, unit, back = _count(it["n"]), it["unit"], it["way"] in _PAST
    sign = -1 if back else 1
    if unit in ("year", "decade", "month"):
        there = shifted(it.said, sign * n * {"month": 1, "year": 12, "decade": 120}[unit])
    else:
        there = it.said + timedelta(days=sign * n * (7 if unit.startswith("week") else 1))
    first, last = sorted((it.said, there))
    return Interval(first, last + timedelta(days=1))


def period(it: Said) -> Interval:
    """Last week, this month, next year."""
    pick, unit = it["pick"], it["unit"]
    if unit == "weekend":
        return _one_weekend(pick, it.said, future=it.future)
    n = -1 if pick in _PAST else 0 if pick.startswith("this") else 1
    if unit in ("day", "night"):
        return day_of(it.said + timedelta(days=n))
    found = {
        "week": week_of(it.said + timedelta(days=7 * n)),
        "month": month_of(it.said.year, it.said.month + n),
        "year": year_of(it.said.year + n),
        "decade": years_of((it.said.year // 10 + n) * 10, 10),
    }[unit]
    return found.part(it["part"] or "")


def _one_weekend(pick: str, said: date, *, future: bool) -> Interval:
    if pick in (*_PAST, "this past"):
        return _weekend(said, -1)
    if pick == "this" and not future and said.weekday() < 2:
        return _weekend(said, -1)
    return _weekend(said, 1 if pick == "next" else 0)


def the_weekend(it: Said) -> Interval:
    """The weekend that is or was; where the text speaks of the future, will be."""
    return _weekend(it.said, 0 if it.future or it.said.weekday() >= 5 else -1)


def other_day(it: Said) -> Interval:
    """The other day: within the week before."""
    return Interval(it.said - timedelta(days=7), it.said)


def day_of_month(it: Said) -> Interval | None:
    """The 3rd of the latest month that has come to it, or of the next that will."""
    picked = {"last": (-1,), "this": (0,), "next": (1,)}.get(it["which"])
    for months in picked or ((0, 1, 2) if it.future else (0, -1, -2)):
        month = month_of(it.said.year, it.said.month + months).start
        found = _date(month.year, month.month, int(it["day"] or it["plain"]))
        if found and (picked or (found.start >= it.said if it.future else found.start <= it.said)):
            return found
    return None


def beside(match: re.Match[str], around: Interval) -> Interval:
    """The week before a date, two days after it, the Friday before it."""
    before = match["side"] in ("before", "prior to")
    it = Said(match, around.start if before else around.last, not before)
    sign = -1 if before else 1
    if it["weekday"]:
        beside = _weekday_before if before else _weekday_after
        return day_of(beside(it.said, it["weekday"]))
    n = _count(it["n"] or "one")
    if it["unit"] == "week" and n == 1:
        return day_of(around.start - timedelta(days=7) if before else around.end, 7)
    return _away(it, sign * n)
