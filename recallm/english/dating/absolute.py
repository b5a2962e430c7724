"""Phrases that name a date without a day to count from, though perhaps without its year."""

from __future__ import annotations

import re

from recallm.english.dating.periods import Interval, Yearly, month_of, year_of
from recallm.english.dating.vocabulary import (
    DECADES,
    HOLIDAYS,
    MONTHS,
    PAST,
    QUARTERS,
    SEASONS,
    DatePhrase,
)

_LEAP_YEAR = 2000
_LEAD_TO_MONTH = re.compile(
    r"\b(?:in|since|until|till|during|before|after|between|"
    r"(?:between|from) \S+ (?:and|to|until|through))(?: the)? $"
)
_VERB_FOLLOWS = re.compile(r" (?:be|have|not|i|you|he|she|it|we|they)\b")
"""Behind "may" these words make it a verb: "before may I"."""
_LEAD_TO_YEAR = re.compile(
    r"\b(?:in|since|until|till|by|of|during|before|after|from|between|year|"
    r"(?:between|from) \S+ (?:and|to))(?: the)? $"
)
_LEAD_TO_SEASON = re.compile(
    r"\b(?:(?:in|during|over|since|until|till|by)(?: the)?|(?:for|of|before|after) the) $"
)
_ALSO_WORDS = frozenset(
    ("march", "may", "april", "june", "august", "mar", "jan", "jun", "dec", "sep", "apr", "aug")
)
"""Months that are also common words or names, read only behind words that lead to a date."""


def iso(phrase: DatePhrase) -> Interval | None:
    """2023-05-03, or 2023-05."""
    year, month = int(phrase["year"]), int(phrase["month"])
    if phrase["day"]:
        return _date(year, month, int(phrase["day"]))
    return month_of(year, month) if 1 <= month <= 12 and year else None


def numeric(phrase: DatePhrase) -> Interval | None:
    """5/3/2023 with the month first, as in America, and 3.5.2023 with the day first; the other
    order where only that is a date."""
    first, second, year = int(phrase["a"]), int(phrase["b"]), int(phrase["year"])
    if year < 100:
        year += 1900 if year > 40 else 2000
    return _date(year, first, second) or _date(year, second, first)


def _date(year: int, month: int, day: int) -> Interval | None:
    return Yearly(month, day).of(year) if 1 <= month <= 12 and year else None


def month_and_day(phrase: DatePhrase) -> Interval | Yearly:
    """3 May, or 3 to 7 May, with or without the year."""
    day = int(phrase["day"])
    last = int(phrase["last"] or day)
    if phrase["last"] and last <= day:  # "Chapter 7 - 3 May": only the number beside the month
        day = last = last if phrase.match.end("last") < phrase.match.start("month") else day
    named = Yearly(MONTHS[phrase["month"]], day, days=last - day + 1)
    found = named.of(int(phrase["year"] or _LEAP_YEAR))
    if found is None:
        raise ValueError("31 February")
    return found if phrase["year"] else named


def month(phrase: DatePhrase) -> Interval | Yearly | None:
    """May, of a year, picked ("last May"), or of any year."""
    dated = (
        phrase["year"]
        or phrase["pick"]
        or phrase.part
        or phrase.follows(_LEAD_TO_MONTH)
        or phrase["range"]
    )
    if phrase["month"] in _ALSO_WORDS and not dated:
        return None
    if (
        phrase["month"] == "may"
        and not phrase["year"]
        and _VERB_FOLLOWS.match(phrase.match.string, phrase.end)
    ):
        return None
    named = Yearly(MONTHS[phrase["month"]], which=phrase.part)
    return _of_a_year(phrase, named)


def season(phrase: DatePhrase) -> Interval | Yearly | None:
    """Summer, by the same rules as ``month``."""
    if not (phrase["year"] or phrase["pick"] or phrase.part or phrase.follows(_LEAD_TO_SEASON)):
        return None
    named = Yearly(SEASONS[phrase["season"]], months=3, which=phrase.part)
    return _of_a_year(phrase, named)


def holiday(phrase: DatePhrase) -> Interval | Yearly | None:
    """Christmas, by the same rules as ``month``."""
    name = phrase["holiday"].replace("s' ", "'s ")
    return _of_a_year(phrase, HOLIDAYS.get(name) or HOLIDAYS[name.replace("s ", "'s ", 1)])


def quarter(phrase: DatePhrase) -> Interval | Yearly | None:
    """Q3, the third quarter of 2022."""
    number = int(phrase["number"]) if phrase["number"] else QUARTERS[phrase["ordinal"]]
    return _of_a_year(phrase, Yearly(3 * number - 2, months=3))


def _of_a_year(phrase: DatePhrase, named: Yearly) -> Interval | Yearly | None:
    pick = phrase["pick"]
    if phrase["year"]:
        return named.of(int(phrase["year"]))
    if not pick or phrase.spoken_on is None:
        return named
    if pick == "this past":
        return named.begun(phrase.day)
    if pick in PAST:
        return named.before(phrase.day)
    return named.of(phrase.day.year) if pick == "this" else named.after(phrase.day)


def year(phrase: DatePhrase) -> Interval | None:
    """2023."""
    if not (phrase.part or phrase["the"] or phrase.follows(_LEAD_TO_YEAR)):
        return None
    return year_of(int(phrase["year"])).part(phrase.part)


def decade(phrase: DatePhrase) -> Interval:
    """The 1990s, the 90s, the nineties."""
    year = DECADES[phrase["word"]] if phrase["word"] else int(phrase["decade"])
    if year < 100:
        year += 1900 if year > 20 else 2000
    return year_of(year, 10).part(phrase.part)
