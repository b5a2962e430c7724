"""Phrases whose date depends on the day on which they were spoken.

Weeks begin on Monday; quarters, terms (thirds of a year) and semesters in January; seasons in
March. A weekday alone is the latest one, or the next one where the text speaks of the future. "Next
Friday" is the first Friday that follows, "next weekend" the weekend after this week's.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from recallm.english.dating.periods import (
    MONTHS_IN,
    Interval,
    Yearly,
    day_of,
    month_of,
    period_of,
    shifted,
    week_of,
)
from recallm.english.dating.vocabulary import NUMBERS, PAST, SEASONS, WEEKDAYS, DatePhrase

_DAYS_IN = {"day": 1, "night": 1, "week": 7, "weekend": 7, "fortnight": 14}


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
    if unit in MONTHS_IN:
        return period_of(phrase.day, unit, n, around=int(vague))
    if unit == "weekend":
        return _weekend(phrase.day, n)
    there = phrase.day + timedelta(days=n * _DAYS_IN[unit])
    if unit in ("day", "night"):
        return day_of(there - timedelta(days=vague), 1 + 2 * vague)
    return day_of(there - timedelta(days=3 + 4 * vague), 7 + 8 * vague)


def _weekend(day: date, n: int) -> Interval:
    """The weekend ``n`` weeks after that of the day's own week."""
    return day_of(week_of(day).start + timedelta(days=5 + 7 * n), 2)


def weekdays_ago(phrase: DatePhrase) -> Interval:
    """Two Fridays ago."""
    return _weekday(phrase.day, phrase["weekday"], -_count(phrase["n"]))


def _weekday(day: date, name: str, n: int) -> Interval:
    """The ``n``-th weekday of a name after a day; before it where ``n`` is negative."""
    number = next(i for i, full in enumerate(WEEKDAYS) if full.startswith(name))
    days = (number - day.weekday() - 1) % 7 + 1 if n > 0 else (number - day.weekday()) % 7
    return day_of(day + timedelta(days=days + 7 * (n - 1 if n > 0 else n)))


def weekday(phrase: DatePhrase) -> Interval:
    """Friday, last Friday, next Friday."""
    pick = phrase["pick"]
    past = pick in PAST or (pick in ("", "on") and not phrase.future)
    return _weekday(phrase.day, phrase["weekday"], -1 if past else 1)


def several(phrase: DatePhrase) -> Interval:
    """The last two weeks, the next few days, the past months, including the day itself."""
    n = _count(phrase["n"] or "few")
    return _through(phrase.day, -n if phrase["way"] in PAST else n, phrase["unit"])


def _through(day: date, n: int, unit: str) -> Interval:
    """From ``day`` up to ``n`` units later, or earlier where ``n`` is negative."""
    if unit in MONTHS_IN:
        there = shifted(day, n * MONTHS_IN[unit])
    else:
        there = day + timedelta(days=n * _DAYS_IN[unit])
    first, last = sorted((day, there))
    return Interval(first, last + timedelta(days=1))


def period(phrase: DatePhrase) -> Interval:
    """Last week, this month, next year; the past week is the seven days until now."""
    pick, unit = phrase["pick"], phrase["unit"]
    n = -1 if pick in PAST else 0 if pick == "this" else 1
    if unit == "weekend":
        early_in_week = pick == "this" and not phrase.future and phrase.day.weekday() < 2
        return _weekend(phrase.day, -1 if early_in_week else n if pick == "next" else min(n, 0))
    if pick in ("past", "this past") or unit == "fortnight":
        return _through(phrase.day, n or 1, unit)
    if unit == "week":
        return week_of(phrase.day + timedelta(days=7 * n)).part(phrase.part)
    return period_of(phrase.day, unit, n).part(phrase.part)


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
    n = _count(phrase["n"] or "one") * (-1 if before else 1)
    if phrase["weekday"]:
        return _weekday(phrase.day, phrase["weekday"], -1 if before else 1)
    if phrase["unit"] == "week" and abs(n) == 1:
        return day_of(around.start - timedelta(days=7) if before else around.end, 7)
    return _away(phrase, n)
