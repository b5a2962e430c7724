"""The words of dates, and what phrases of the grammar mean: those that name a date, though perhaps
without its year, and those whose date depends on the day on which they were spoken.

Weeks begin on Monday; quarters, terms (thirds of a year) and semesters in January; seasons in
March. A weekday alone is the latest one, or the next one where the text speaks of the future. "Next
Friday" is the first Friday that follows, "next weekend" the weekend after this week's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
    year_of,
)
from recallm.english.word_lists import read_table, word_set

DATES = read_table("dating/data/dates.toml")
WEEKDAYS: tuple[str, ...] = tuple(DATES["weekdays"])
MONTHS: dict[str, int] = DATES["months"]
SEASONS: dict[str, int] = DATES["seasons"]
HOLIDAYS = {name: Yearly(**days) for name, days in DATES["holidays"].items()}
DECADES: dict[str, int] = DATES["decades"]
QUARTERS: dict[str, int] = DATES["quarters"]
NUMBERS: dict[str, int] = DATES["numbers"]
DATE_WORDS = frozenset({*WEEKDAYS, *MONTHS, *SEASONS, *HOLIDAYS})
"""The names of days and of parts of the year, in lower case."""

PAST = ("last", "past", "previous", "this past")

_PARTS: dict[str, str] = DATES["parts"]
_LEAD_REACH = 30
"""How many characters before a date are searched for the words that lead to it."""


class UnknownDayError(LookupError):
    """The phrase is relative ("last week") and the day on which it was spoken is unknown."""


@dataclass(frozen=True, slots=True)
class DatePhrase:
    """A phrase that matches a rule's pattern and may name a date.

    ``spoken_on`` is the day on which it was spoken or asked, None where that is unknown;
    ``future`` says whether the text speaks of the future.
    """

    match: re.Match[str]
    spoken_on: date | None
    future: bool

    def __getitem__(self, group: str) -> str:
        """The text that a group of the pattern matched, empty where it matched none."""
        return (group in self.match.re.groupindex and self.match[group]) or ""

    @property
    def day(self) -> date:
        """The day on which the phrase was spoken.

        Raises:
            UnknownDayError: that day is unknown.
        """
        if self.spoken_on is None:
            raise UnknownDayError
        return self.spoken_on

    @property
    def part(self) -> str:
        """The part of a period that is meant ("early"), empty for the whole of it."""
        part = self["part"] or self["end"]
        return _PARTS.get(part, part)

    def follows(self, lead: str) -> bool:
        """Whether words of that kind, which lead to a date, stand just before the phrase."""
        start = self.match.start()
        reach = max(0, start - _LEAD_REACH)
        return _LEADS[lead].search(self.match.string, reach, start) is not None


# Dates of their own.

_LEAP_YEAR = 2000
_VERB_FOLLOWS = re.compile(r" (?:be|have|not|i|you|he|she|it|we|they)\b")
"""Behind "may" these words make it a verb: "before may I"."""
_LEADS = {name: re.compile(rf"\b(?:{lead}) $") for name, lead in DATES["leads"].items()}
"""What leads to a month, a year or a season."""
_ALSO_WORDS = word_set(DATES["also_words"])
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
        or phrase.follows("month")
        or phrase["range"]
    )
    if phrase["month"] in _ALSO_WORDS and not dated:
        return None
    if (
        phrase["month"] == "may"
        and not phrase["year"]
        and _VERB_FOLLOWS.match(phrase.match.string, phrase.match.end())
    ):
        return None
    named = Yearly(MONTHS[phrase["month"]], which=phrase.part)
    return _of_a_year(phrase, named)


def season(phrase: DatePhrase) -> Interval | Yearly | None:
    """Summer, by the same rules as ``month``."""
    if not (phrase["year"] or phrase["pick"] or phrase.part or phrase.follows("season")):
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
    if not (phrase.part or phrase["the"] or phrase.follows("year")):
        return None
    return year_of(int(phrase["year"])).part(phrase.part)


def decade(phrase: DatePhrase) -> Interval:
    """The 1990s, the 90s, the nineties."""
    year = DECADES[phrase["word"]] if phrase["word"] else int(phrase["decade"])
    if year < 100:
        year += 1900 if year > 20 else 2000
    return year_of(year, 10).part(phrase.part)


# Dates beside the day on which they were spoken.

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


def ago(phrase: DatePhrase) -> Interval | None:
    """Three weeks ago, two Fridays ago, two summers ago."""
    n = _count(phrase["n"])
    if phrase["weekday"]:
        return _weekday(phrase.day, phrase["weekday"], -n)
    if phrase["season"]:
        named = Yearly(SEASONS[phrase["season"]], months=3)
        latest = named.begun(phrase.day)
        return latest and named.of(latest.start.year - n + 1)
    return _away(phrase, -n)


def ahead(phrase: DatePhrase) -> Interval | None:
    """In three weeks. "In a day" is a duration unless the text speaks of the future."""
    n = _count(phrase["n"])
    return _away(phrase, n) if n > 1 or phrase.future or phrase["from"] else None


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
