"""What words mean that name a date only as said on a day.

Weeks begin on Monday; quarters, terms (thirds of a year) and semesters in January; seasons in
March. A weekday is the latest that has come, or where the text speaks of the future the next; "next
Friday" is the first that follows, "next weekend" the one after that of this week.
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
from recallm.dating.said import NUMBERS, PAST, SEASONS, WEEKDAYS, Said


def today(it: Said) -> Interval:
    """The day itself."""
    return day_of(it.said)


def yesterday(it: Said) -> Interval:
    """The day before; the day before that."""
    return day_of(it.said - timedelta(days=2 if it["before"] else 1))


def tomorrow(it: Said) -> Interval:
    """The day after; the day after that."""
    return day_of(it.said + timedelta(days=2 if it["after"] else 1))


def ago(it: Said) -> Interval:
    """Three weeks ago."""
    return _away(it, -_count(it["n"]))


def ahead(it: Said) -> Interval | None:
    """In three weeks; "in a day" is how long something takes, unless the text speaks of the
    future."""
    n = _count(it["n"])
    return _away(it, n) if n > 1 or it.future or it["from"] else None


_MONTHS = {"quarter": 3, "term": 4, "semester": 6}


def seasons_ago(it: Said) -> Interval | None:
    """Two summers ago."""
    named = Yearly(SEASONS[it["season"]], months=3)
    latest = named.begun(it.said)
    return latest and named.of(latest.start.year - _count(it["n"]) + 1)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word]


def _away(it: Said, n: int) -> Interval:
    """As exact as the unit is; "a few" and "several" take in one more on either side."""
    unit = it["unit"]
    vague = it["n"] in ("few", "several")
    if unit in ("day", "night"):
        day = it.said + timedelta(days=n)
        return day_of(day - timedelta(days=1), 3) if vague else day_of(day)
    if unit in ("week", "fortnight"):
        n *= 2 if unit == "fortnight" else 1
        return day_of(it.said + timedelta(days=7 * n - 3 - 4 * vague), 7 + 8 * vague)
    if unit == "weekend":
        return _weekend(it.said, n)
    if unit == "month":
        return month_of(it.said.year, it.said.month + n - vague, 1 + 2 * vague)
    if unit in _MONTHS:
        return months_of(it.said, _MONTHS[unit], n)
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


def _weekday_number(name: str) -> int:
    return next(i for i, whole in enumerate(WEEKDAYS) if whole.startswith(name))


def _weekday_before(said: date, name: str) -> date:
    return said - timedelta(days=(said.weekday() - _weekday_number(name) - 1) % 7 + 1)


def _weekday_after(said: date, name: str) -> date:
    return said + timedelta(days=(_weekday_number(name) - said.weekday() - 1) % 7 + 1)


def weekday(it: Said) -> Interval:
    """Friday, last Friday, next Friday."""
    pick, name = it["pick"], it["weekday"]
    if pick in (*PAST, "this past"):
        return day_of(_weekday_before(it.said, name))
    if pick in ("this", "this coming", "next", "coming", "upcoming") or it.future:
        return day_of(_weekday_after(it.said, name))
    return day_of(_weekday_before(it.said, name))


def some(it: Said) -> Interval:
    """The last two weeks, the next few days, the past months: with the day itself."""
    n = _count(it["n"] or "few")
    return _through(it.said, -n if it["way"] in PAST else n, it["unit"])


def _through(said: date, n: int, unit: str) -> Interval:
    """From the day itself so far on, or back."""
    months = {"month": 1, "year": 12, "decade": 120, "season": 3, **_MONTHS}.get(unit)
    if months is not None:
        there = shifted(said, n * months)
    else:
        days = {"week": 7, "weekend": 7, "fortnight": 14}.get(unit, 1)
        there = said + timedelta(days=n * days)
    first, last = sorted((said, there))
    return Interval(first, last + timedelta(days=1))


def period(it: Said) -> Interval:
    """Last week, this month, next year; the past week is the seven days until now."""
    pick, unit = it["pick"], it["unit"]
    if unit == "weekend":
        return _one_weekend(pick, it.said, future=it.future)
    if pick in ("past", "this past"):
        return _through(it.said, -1, unit)
    n = -1 if pick in PAST else 0 if pick == "this" else 1
    if unit in _MONTHS:
        return months_of(it.said, _MONTHS[unit], n).part(it.part)
    if unit == "season":
        # December belongs to the winter of the year that follows.
        return month_of(it.said.year, it.said.month // 3 * 3 + 3 * n, 3).part(it.part)
    if unit == "fortnight":
        return _through(it.said, -1 if pick in PAST else 1, unit)
    found = {
        "week": week_of(it.said + timedelta(days=7 * n)),
        "month": month_of(it.said.year, it.said.month + n),
        "year": year_of(it.said.year + n),
        "decade": years_of((it.said.year // 10 + n) * 10, 10),
    }[unit]
    return found.part(it.part)


def _one_weekend(pick: str, said: date, *, future: bool) -> Interval:
    if pick in (*PAST, "this past"):
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
        found = Yearly(month.month, int(it["day"] or it["plain"])).of(month.year)
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
