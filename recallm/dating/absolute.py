"""What words mean that name a date by themselves, though perhaps not its year."""

from __future__ import annotations

import re

from recallm.dating.periods import Interval, Yearly, month_of, year_of, years_of
from recallm.dating.said import (
    DECADES,
    HOLIDAYS,
    MONTHS,
    PAST,
    QUARTERS,
    SEASONS,
    NoSuchDateError,
    Said,
)

_LEAP_YEAR = 2000
_LEAD_TO_MONTH = re.compile(
    r"\b(?:in|since|until|till|during|before|after|between|"
    r"(?:between|from) \S+ (?:and|to|until|through))(?: the)? $"
)
_VERB_FOLLOWS = re.compile(r" (?:be|have|not|i|you|he|she|it|we|they)\b")
"""After "this may" and "before may": a verb."""
_LEAD_TO_YEAR = re.compile(
    r"\b(?:in|since|until|till|by|of|during|before|after|from|between|year|"
    r"(?:between|from) \S+ (?:and|to))(?: the)? $"
)
_LEAD_TO_SEASON = re.compile(
    r"\b(?:(?:in|during|over|since|until|till|by)(?: the)?|(?:for|of|before|after) the) $"
)
_ALSO_WORDS = (
    "march",
    "may",
    "april",
    "june",
    "august",
    "mar",
    "jan",
    "jun",
    "dec",
    "sep",
    "apr",
    "aug",
)
"""Words and names of people that are months too: only after a word that leads to a time."""


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


def days(it: Said) -> Interval | Yearly | None:
    """3 to 7 May, with or without its year."""
    day, last = int(it["day"]), int(it["last"])
    if day >= last:
        return None
    named = Yearly(MONTHS[it["month"]], day, days=last - day + 1)
    return named.of(int(it["year"])) if it["year"] else named


def month(it: Said) -> Interval | Yearly | None:
    """May, of a year, picked ("last May"), or of any year."""
    dated = it["year"] or it["pick"] or it.part or it.follows(_LEAD_TO_MONTH) or it["range"]
    if it["month"] in _ALSO_WORDS and not dated:
        return None
    if it["month"] == "may" and not it["year"] and _VERB_FOLLOWS.match(it.match.string, it.end):
        return None
    named = Yearly(MONTHS[it["month"]], which=it.part)
    return _of_a_year(it, named)


def season(it: Said) -> Interval | Yearly | None:
    """Summer, as months are."""
    if not (it["year"] or it["pick"] or it.part or it.follows(_LEAD_TO_SEASON)):
        return None
    named = Yearly(SEASONS[it["season"]], months=3, which=it.part)
    return _of_a_year(it, named)


def holiday(it: Said) -> Interval | Yearly | None:
    """Christmas, as months are."""
    name = it["holiday"].replace("s' ", "'s ")
    return _of_a_year(it, HOLIDAYS.get(name) or HOLIDAYS[name.replace("s ", "'s ", 1)])


def quarter(it: Said) -> Interval | Yearly | None:
    """Q3, the third quarter of 2022."""
    number = int(it["number"]) if it["number"] else QUARTERS[it["ordinal"]]
    return _of_a_year(it, Yearly(3 * number - 2, months=3))


def _of_a_year(it: Said, named: Yearly) -> Interval | Yearly | None:
    pick = it["pick"]
    if it["year"]:
        return named.of(int(it["year"]))
    if not pick or it.day is None:
        return named
    if pick in PAST:
        return named.before(it.said)
    if pick == "this past":
        return named.begun(it.said)
    return named.of(it.said.year) if pick == "this" else named.after(it.said)


def year(it: Said) -> Interval | None:
    """2023."""
    if not (it.part or it["the"] or it.follows(_LEAD_TO_YEAR)):
        return None
    return year_of(int(it["year"])).part(it.part)


def decade(it: Said) -> Interval:
    """The 1990s, the 90s, the nineties."""
    year = DECADES[it["word"]] if it["word"] else int(it["decade"])
    if year < 100:
        year += 1900 if year > 20 else 2000
    return years_of(year, 10).part(it.part)
