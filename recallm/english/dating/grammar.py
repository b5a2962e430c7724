"""The grammar of dates: one table of patterns, and what a phrase that matches means.

The rules are tried from the top. A rule consumes the phrase that it reads, so that no later rule
sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from recallm.english.dating import absolute, relative
from recallm.english.dating.periods import Interval, Yearly
from recallm.english.dating.vocabulary import (
    DECADES,
    HOLIDAYS,
    MONTHS,
    NUMBERS,
    QUARTERS,
    SEASONS,
    WEEKDAYS,
    DatePhrase,
    UnknownDayError,
)

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WEEKDAY = "|".join(WEEKDAYS)
_SHORT = "mon|tues?|wed|thu(?:rs?)?|fri|sat"
_SEASON = "|".join(SEASONS)
_HOLIDAY = "|".join(
    name.replace("'s ", "(?:'s|s'?) ") for name in sorted(HOLIDAYS, key=len, reverse=True)
)
_TIME_OF_DAY = "(?:night|morning|afternoon|evening)"
_NUMBER = rf"(?:a |the )?(?P<n>\d{{1,3}}|{'|'.join(NUMBERS)})(?: of)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DAYS = (
    rf"{_DAY}(?:(?: ?[-–] ?|(?: and| to| until| through) (?:the )?)"
    r"(?P<last>\d{1,2})(?:st|nd|rd|th)?)?"
)
_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)(?![\d%])"
_OF_YEAR = rf"(?:,? (?:of )?{_YEAR})?"
_COUNTED = (
    "people|men|women|children|miles|kilomet(?:er|re)s|met(?:er|re)s|feet|steps|dollars|euros|pounds|"
    "words|pages|calories|times|years|days|hours|minutes|pieces|copies|followers|points|tons|bricks|"
    "books|photos|items|square|or|more|percent"
)
_PICK = r"(?P<pick>this past|this coming|last|past|previous|this|next|coming|upcoming)"
_PART = (
    r"(?:(?P<part>early|earlier|mid|late)[ -](?:in )?|"
    r"(?:the )?(?P<end>beginning|start|middle|end) of (?:the )?)"
)
_PERIOD = "weekend|week|fortnight|month|quarter|season|semester|term|year|decade"
_UNIT = rf"(?P<unit>day|night|{_PERIOD})s?"


class NamedDate(NamedTuple):
    """A date in a text: its first character, the one behind it, and what it means: an interval, or
    a day or period of every year."""

    start: int
    end: int
    means: Interval | Yearly


class Rule:
    """A ``pattern`` for text in lower case; ``mean``, which gives the meaning of a match; and what
    every text with such a phrase has: a hint (a group of ``_HINTS``) and the character ``mark``."""

    __slots__ = ("hint", "mark", "mean", "pattern")

    def __init__(
        self,
        hint: str,
        pattern: str,
        mean: Callable[[DatePhrase], Interval | Yearly | None],
        mark: str = "",
    ) -> None:
        self.hint = hint
        self.mark = mark
        self.pattern = re.compile(rf"(?<![\w$£€#.:/-])(?:{pattern})(?!\w)")
        self.mean = mean


RULES: tuple[Rule, ...] = (
    Rule(
        "digit",
        r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:t[\d:.z+-]*)?)?",
        absolute.iso,
        mark="-",
    ),
    Rule(
        "digit", r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>\d{4}|\d\d)", absolute.numeric, mark="/"
    ),
    Rule("digit", r"(?P<b>\d{1,2})\.(?P<a>\d{1,2})\.(?P<year>\d{4})", absolute.numeric, mark="."),
    Rule("holiday", rf"(?:{_PICK} )?(?P<holiday>{_HOLIDAY}){_OF_YEAR}", absolute.holiday),
    Rule("month", rf"{_DAYS} (?:of )?(?P<month>{_MONTH})\.?{_OF_YEAR}", absolute.month_and_day),
    Rule(
        "month",
        rf"(?P<month>{_MONTH})\.? (?:the )?{_DAYS}(?!\d|[:/]\d| ?[ap]\.?m){_OF_YEAR}",
        absolute.month_and_day,
    ),
    Rule(
        "month",
        rf"(?:{_PICK} |{_PART})?(?P<month>{_MONTH})(?:\.?,? (?:of )?{_YEAR})?(?!'s)"
        rf"(?:(?=(?P<range> (?:to|until|through) (?:{_MONTH})\b)))?",
        absolute.month,
    ),
    Rule(
        "season",
        rf"(?:{_PICK} |{_PART})?(?P<season>{_SEASON}){_OF_YEAR}",
        absolute.season,
    ),
    Rule(
        "unit",
        rf"(?:the )?(?P<ordinal>{'|'.join(QUARTERS)}) quarter of (?:the year )?{_YEAR}",
        absolute.quarter,
    ),
    Rule("digit", rf"q(?P<number>[1-4]){_OF_YEAR}", absolute.quarter, mark="q"),
    Rule("digit", rf"(?P<the>the )?(?:{_PART})?{_YEAR}(?! ?%| (?:{_COUNTED})\b)", absolute.year),
    Rule(
        "decade",
        rf"(?:the )?(?:{_PART})?(?P<decade>(?:1[5-9]|20)\d0)'?s",
        absolute.decade,
    ),
    Rule(
        "decade",
        rf"the (?:{_PART})?(?:'?(?P<decade>\d0)'?s|(?P<word>{'|'.join(DECADES)}))",
        absolute.decade,
    ),
    # These depend on the day on which they were spoken:
    Rule(
        "unit",
        rf"(?P<before>the day before )?yesterday(?: {_TIME_OF_DAY})?|yesternight|"
        rf"last {_TIME_OF_DAY}",
        relative.yesterday,
    ),
    Rule(
        "unit",
        rf"(?P<after>the day after )?tomorrow(?: {_TIME_OF_DAY})?|(?<!the )next {_TIME_OF_DAY}",
        relative.tomorrow,
    ),
    Rule(
        "unit",
        rf"(?:earlier |later )?today|tonight|this {_TIME_OF_DAY}",
        relative.today,
    ),
    Rule("weekday", rf"{_NUMBER} (?P<weekday>{_WEEKDAY})s? (?:ago|back)", relative.weekdays_ago),
    Rule("season", rf"{_NUMBER} (?P<season>{_SEASON})s? (?:ago|back)", relative.seasons_ago),
    Rule("unit", rf"{_NUMBER} {_UNIT} (?:ago|back)", relative.ago),
    Rule(
        "unit",
        rf"(?:{_NUMBER}|half an|some) (?:second|minute|hour)s? (?:ago|back)",
        relative.today,
    ),
    Rule("unit", rf"(?:in|within) {_NUMBER} (?:more )?{_UNIT}(?:'|'s)?(?: time)?", relative.ahead),
    Rule("unit", rf"{_NUMBER} {_UNIT} (?P<from>from) (?:now|today)", relative.ahead),
    Rule(
        "unit",
        rf"(?:the |these )?(?P<way>last|past|previous|next|coming) {_NUMBER} {_UNIT}",
        relative.several,
    ),
    Rule("unit", rf"(?:the )?(?P<way>last|past|next) (?P<unit>{_PERIOD})s", relative.several),
    Rule(
        "digit",
        rf"(?:on )?the {_DAY} of (?P<which>last|this|next) month"
        r"|on the (?P<plain>\d{1,2})(?:st|nd|rd|th)(?=[.,;:!?)]|$| (?:at|we|i|and|to|of|for)\b)",
        relative.day_of_month,
    ),
    Rule(
        "unit",
        rf"(?:{_PART})?{_PICK} (?P<unit>{_PERIOD})(?! of\b)",
        relative.period,
    ),
    Rule("unit", r"the other (?:day|night|evening|morning)", relative.other_day),
    Rule("unit", r"(?:over|on|at|during|for|spen[dt]s?) the weekend", relative.the_weekend),
    Rule("weekday", rf"(?:{_PICK} )?(?P<weekday>{_WEEKDAY})(?: {_TIME_OF_DAY})?", relative.weekday),
    Rule(
        "weekday",
        rf"(?P<pick>last|next|on) (?P<weekday>{_SHORT})\.?",
        relative.weekday,
    ),
)
"""Every rule, in the order in which they are tried."""

_BESIDE = re.compile(
    rf"\b(?:{_NUMBER} |the |last )?(?:{_UNIT}|(?P<weekday>{_WEEKDAY})s?) "
    r"(?P<side>before|prior to|after|following)(?: the)? $"
)
"""Words that move the meaning away from the date that follows them: "the week before"."""
_BESIDE_ENDS = ("before ", "prior to ", "after ", "following ", " the ")
"""How every match of it ends: a quick test."""
_BESIDE_REACH = 40
"""How many characters before a date are searched for such words."""

_HINTS = re.compile(
    rf"\b(?P<month>{_MONTH})\b|\b(?P<season>{_SEASON})s?\b|(?P<holiday>{_HOLIDAY})|"
    rf"(?P<weekday>{_WEEKDAY}|\b(?:last|next|on) (?:{_SHORT})\b)|"
    rf"(?P<decade>{'|'.join(DECADES)}|0'?s)|"
    r"(?P<unit>day|night|tomorrow|morning|afternoon|evening|second|minute|hour|"
    rf"{_PERIOD})"
)
"""A quick test: every date holds one of these, or a digit. The groups are named as in
``Rule.hint``."""
_DIGIT = re.compile(r"\d")
_LONGEST_TEXT = 10_000
"""Characters; the rest of a longer text is not read."""

_FUTURE = re.compile(
    r"\b(?:will|going to|gonna|'ll|won't|shall|plan(?:s|ning|ned)?|hop(?:e|es|ing)|upcoming|"
    r"looking forward|can't wait|next|soon|let's|see you|scheduled)\b"
)


def speaks_of_future(text: str) -> bool:
    """Whether words such as "will", "plan" or "next" stand in it."""
    return _FUTURE.search(text.lower().replace("’", "'")) is not None


def named_dates(text: str, spoken_on: date | None) -> list[NamedDate]:
    """The dates in ``text``, in textual order, as spoken on a day.

    Where the day is unknown (None), relative dates are left out. A date without its year is
    ``Yearly``.
    """
    text = text[:_LONGEST_TEXT]
    lowered = text.lower().replace("’", "'")
    if len(lowered) != len(text):
        lowered = text.replace("’", "'")
    hints = {match.lastgroup for match in _HINTS.finditer(lowered)}
    if _DIGIT.search(lowered):
        hints.add("digit")
    if not hints:
        return []
    found: list[NamedDate] = []
    future = speaks_of_future(lowered)
    for rule in RULES:
        if rule.hint not in hints or rule.mark not in lowered:
            continue
        for match in rule.pattern.finditer(lowered):  # of this text, whatever ``lowered`` becomes
            start, end = match.span()
            try:
                meant = rule.mean(DatePhrase(match, spoken_on, future))
                if meant is None:
                    continue
                start, meant = _moved(start, meant, lowered, spoken_on)
            except UnknownDayError:
                continue
            except (ValueError, OverflowError):  # no such date, or beyond the calendar
                pass
            else:
                found.append(NamedDate(start, end, meant))
            lowered = lowered[:start] + "|" * (end - start) + lowered[end:]
    return sorted(found, key=lambda named: named.start)


def _moved(
    start: int, meant: Interval | Yearly, text: str, spoken_on: date | None
) -> tuple[int, Interval | Yearly]:
    """The start and the meaning of a date, moved where "the week before" or such precedes it."""
    match = None
    if text.endswith(_BESIDE_ENDS, 0, start):
        match = _BESIDE.search(text, max(0, start - _BESIDE_REACH), start)
    if match is None:
        return start, meant
    if isinstance(meant, Interval):
        return match.start(), relative.beside(match, meant)
    nearest = None if spoken_on is None else meant.begun(spoken_on)
    return (start, meant) if nearest is None else (match.start(), relative.beside(match, nearest))
