"""Phrases whose date depends on the day on which they were spoken.

Weeks begin on Monday; quarters, terms (thirds of a year) and semesters in January; seasons in
March. A weekday alone is the latest one, or the next one where the text speaks of the future. "Next
Friday" is the first Friday that follows, "next weekend" the weekend after this week's.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from recallm.dating.periods import (
    Interval,
    Yearly,
    day_of,
    month_of,
    months_of,
    shifted,
    week_of,
    year_of,
    years_of,
)
from recallm.dating.vocabulary import NUMBERS, PAST, SEASONS, WEEKDAYS, DatePhrase


def today(phrase: DatePhrase) -> Interval:
    """The day itself."""
    return day_of(phrase.day)


def yesterday(phrase: DatePhrase) -> Interval:
    """The day before; the day before that."""
    return day_of(phrase.day - timedelta(days=2 if phrase["before"] else 1))


def tomorrow(phrase: DatePhrase) -> Interval:
    """The day after; the day after that."""
    return day_of(phrase.day + timedelta(days=2 if phrase["after"] else 1))


def ago(phrase: DatePhrase) -> Interval:
    """Three weeks ago."""
    return _away(phrase, -_count(phrase["n"]))


def ahead(phrase: DatePhrase) -> Interval | None:
    """In three weeks. "In a day" is a duration unless the text speaks of the future."""
    n = _count(phrase["n"])
    return _away(phrase, n) if n > 1 or phrase.future or phrase["from"] else None


_MONTHS_IN = {"quarter": 3, "term": 4, "semester": 6}


def seasons_ago(phrase: DatePhrase) -> Interval | None:
    """Two summers ago."""
    named = Yearly(SEASONS[phrase["season"]], months=3)
    latest = named.begun(phrase.day)
    return latest and named.of(latest.start.year - _count(phrase["n"]) + 1)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word]


def _away(phrase: DatePhrase, n: int) -> Interval:
    """The period ``n`` units away, as exact as the unit; "a few" and "several" reach one unit
    further on either side."""
    unit = phrase["unit"]
    vague = phrase["n"] in ("few", "several")
    if unit in ("day", "night"):
        day = phrase.day + timedelta(days=n)
        return day_of(day - timedelta(days=1), 3) if vague else day_of(day)
    if unit in ("week", "fortnight"):
        n *= 2 if unit == "fortnight" else 1
        return day_of(phrase.day + timedelta(days=7 * n - 3 - 4 * vague), 7 + 8 * vague)
    if unit == "weekend":
        return _weekend(phrase.day, n)
    if unit == "month":
        return month_of(phrase.day.year, phrase.day.month + n - vague, 1 + 2 * vague)
    if unit in _MONTHS_IN:
        return months_of(phrase.day, _MONTHS_IN[unit], n)
    if unit == "year":
        return years_of(phrase.day.year + n - vague, 1 + 2 * vague)
    return years_of((phrase.day.year // 10 + n) * 10, 10)


def _weekend(day: date, n: int) -> Interval:
    """The weekend ``n`` weeks after that of the day's own week."""
    saturday = day - timedelta(days=day.weekday() - 5)
    return day_of(saturday + timedelta(days=7 * n), 2)


def weekdays_ago(phrase: DatePhrase) -> Interval:
    """Two Fridays ago."""
    latest = _weekday_before(phrase.day, phrase["weekday"])
    return day_of(latest - timedelta(days=7 * (_count(phrase["n"]) - 1)))


def _weekday_number(name: str) -> int:
    return next(i for i, whole in enumerate(WEEKDAYS) if whole.startswith(name))


def _weekday_before(day: date, name: str) -> date:
    return day - timedelta(days=(day.weekday() - _weekday_number(name) - 1) % 7 + 1)


def _weekday_after(day: date, name: str) -> date:
    return day + timedelta(days=(_weekday_number(name) - day.weekday() - 1) % 7 + 1)


def weekday(phrase: DatePhrase) -> Interval:
    """Friday, last Friday, next Friday."""
    pick, name = phrase["pick"], phrase["weekday"]
    if pick in (*PAST, "this past"):
        return day_of(_weekday_before(phrase.day, name))
    if pick in ("this", "this coming", "next", "coming", "upcoming") or phrase.future:
        return day_of(_weekday_after(phrase.day, name))
    return day_of(_weekday_before(phrase.day, name))


def several(phrase: DatePhrase) -> Interval:
    """The last two weeks, the next few days, the past months, including the day itself."""
    n = _count(phrase["n"] or "few")
    return _through(phrase.day, -n if phrase["way"] in PAST else n, phrase["unit"])


def _through(day: date, n: int, unit: str) -> Interval:
    """From ``day`` up to ``n`` units later, or earlier where ``n`` is negative."""
    months = {"month": 1, "year": 12, "decade": 120, "season": 3, **_MONTHS_IN}.get(unit)
    if months is not None:
        there = shifted(day, n * months)
    else:
        days = {"week": 7, "weekend": 7, "fortnight": 14}.get(unit, 1)
        there = day + timedelta(days=n * days)
    first, last = sorted((day, there))
    return Interval(first, last + timedelta(days=1))


def period(phrase: DatePhrase) -> Interval:
    """Last week, this month, next year; the past week is the seven days until now."""
    pick, unit = phrase["pick"], phrase["unit"]
    if unit == "weekend":
        return _one_weekend(pick, phrase.day, future=phrase.future)
    if pick in ("past", "this past"):
        return _through(phrase.day, -1, unit)
    n = -1 if pick in PAST else 0 if pick == "this" else 1
    if unit in _MONTHS_IN:
        return months_of(phrase.day, _MONTHS_IN[unit], n).part(phrase.part)
    if unit == "season":
        # December belongs to the winter of the year that follows.
        return month_of(phrase.day.year, phrase.day.month // 3 * 3 + 3 * n, 3).part(phrase.part)
    if unit == "fortnight":
        return _through(phrase.day, -1 if pick in PAST else 1, unit)
    found = {
        "week": week_of(phrase.day + timedelta(days=7 * n)),
        "month": month_of(phrase.day.year, phrase.day.month + n),
        "year": year_of(phrase.day.year + n),
        "decade": years_of((phrase.day.year // 10 + n) * 10, 10),
    }[unit]
    return found.part(phrase.part)


def _one_weekend(pick: str, day: date, *, future: bool) -> Interval:
    if pick in (*PAST, "this past"):
        return _weekend(day, -1)
    if pick == "this" and not future and day.weekday() < 2:
        return _weekend(day, -1)
    return _weekend(day, 1 if pick == "next" else 0)


def the_weekend(phrase: DatePhrase) -> Interval:
    """This weekend where it is or will be weekend, else the last one."""
    return _weekend(phrase.day, 0 if phrase.future or phrase.day.weekday() >= 5 else -1)


def other_day(phrase: DatePhrase) -> Interval:
    """The other day: within the week before."""
    return Interval(phrase.day - timedelta(days=7), phrase.day)


def day_of_month(phrase: DatePhrase) -> Interval | None:
    """The latest 3rd of a month, or the next one where the text speaks of the future."""
    picked = {"last": (-1,), "this": (0,), "next": (1,)}.get(phrase["which"])
    for months in picked or ((0, 1, 2) if phrase.future else (0, -1, -2)):
        month = month_of(phrase.day.year, phrase.day.month + months).start
        found = Yearly(month.month, int(phrase["day"] or phrase["plain"])).of(month.year)
        if found and (
            picked or (found.start >= phrase.day if phrase.future else found.start <= phrase.day)
        ):
            return found
    return None


def beside(match: re.Match[str], around: Interval) -> Interval:
    """The week before a date, two days after it, the Friday before it."""
    before = match["side"] in ("before", "prior to")
    phrase = DatePhrase(match, around.start if before else around.last, not before)
    sign = -1 if before else 1
    if phrase["weekday"]:
        beside = _weekday_before if before else _weekday_after
        return day_of(beside(phrase.day, phrase["weekday"]))
    n = _count(phrase["n"] or "one")
    if phrase["unit"] == "week" and n == 1:
        return day_of(around.start - timedelta(days=7) if before else around.end, 7)
    return _away(phrase, sign * n)
