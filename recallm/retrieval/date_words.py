"""Words that name dates: one table of patterns, and what each means.

Rules are tried from the top; one takes the words that it reads, so that none below sees them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from recallm.retrieval import date_meanings as mean
from recallm.retrieval.date_meanings import Said, UnknownDayError
from recallm.retrieval.periods import Interval, Yearly

__all__ = ["Named", "named_dates", "speaks_of_future"]

_MONTH = "|".join(sorted(mean.MONTHS, key=len, reverse=True))
_WEEKDAY = "|".join(mean.WEEKDAYS)
_SEASON = "|".join(mean.SEASONS)
_HOLIDAY = "|".join(sorted(mean.HOLIDAYS, key=len, reverse=True))
_NUMBER = rf"(?:a |the )?(?P<n>\d{{1,3}}|{'|'.join(mean.NUMBERS)})(?: of)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)(?![\d%])"
_PICK = r"(?P<pick>this past|this coming|last|past|previous|this|next|coming|upcoming)"
_PART = r"(?P<part>early|earlier|mid|late)[ -](?:in )?"
_UNIT = r"(?P<unit>day|night|weekend|week|month|year|decade)s?"


class Named(NamedTuple):
    """Where in a text a date stands, and what it means: an interval, or what comes every year."""

    start: int
    end: int
    means: Interval | Yearly


_Read = Callable[[Said], Interval | Yearly | None]


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$£€#.:/-])(?:{pattern})(?!\w)")


RULES: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_words(r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:t[\d:.z+-]*)?)?"), mean.iso),
    (_words(r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>\d{4}|\d\d)"), mean.numeric),
    (_words(r"(?P<b>\d{1,2})\.(?P<a>\d{1,2})\.(?P<year>\d{4})"), mean.numeric),
    (_words(rf"{_DAY} (?:of )?(?P<month>{_MONTH})\.?(?:,? (?:of )?{_YEAR})?"), mean.month_and_day),
    (
        _words(
            rf"(?P<month>{_MONTH})\.? (?:the )?{_DAY}(?!\d|[:/]\d| ?[ap]\.?m)"
            rf"(?:,? (?:of )?{_YEAR})?"
        ),
        mean.month_and_day,
    ),
    (
        _words(rf"(?:{_PICK} |{_PART})?(?P<month>{_MONTH})(?:\.?,? (?:of )?{_YEAR})?(?!'s)"),
        mean.month,
    ),
    (_words(rf"(?:{_PICK} |{_PART})?(?P<season>{_SEASON})(?:,? (?:of )?{_YEAR})?"), mean.season),
    (_words(rf"(?:{_PICK} )?(?P<holiday>{_HOLIDAY})(?:,? (?:of )?{_YEAR})?"), mean.holiday),
    (_words(rf"(?:the )?(?:{_PART})?{_YEAR}(?! ?(?:%|\w+s\b))"), mean.year),
    (_words(rf"the (?:{_PART})?'?(?P<decade>(?:1[5-9]|20)\d0|\d0)'?s"), mean.decade),
    # Only as said on a day:
    (_words(r"(?P<before>the day before )?yesterday|(?:last|yester) ?night"), mean.yesterday),
    (_words(r"(?P<after>the day after )?tomorrow"), mean.tomorrow),
    (_words(r"(?:earlier |later )?today|tonight|this (?:morning|afternoon|evening)"), mean.today),
    (_words(rf"{_NUMBER} (?P<weekday>{_WEEKDAY})s? (?:ago|back)"), mean.weekdays_ago),
    (_words(rf"{_NUMBER} {_UNIT} (?:ago|back)"), mean.ago),
    (_words(rf"(?:in|within) {_NUMBER} (?:more )?{_UNIT}(?:'|'s)?(?: time)?"), mean.ahead),
    (_words(rf"{_NUMBER} {_UNIT} from (?:now|today)"), mean.ahead),
    (
        _words(
            rf"(?:the |these )?(?P<way>last|past|previous|next|coming) {_NUMBER} {_UNIT}",
        ),
        mean.some,
    ),
    (
        _words(
            rf"(?:on )?the {_DAY} of (?P<which>last|this|next) month"
            r"|on the (?P<plain>\d{1,2})(?:st|nd|rd|th)(?=[.,;:!?)]|$| (?:at|we|i|and|to|of|for)\b)"
        ),
        mean.day_of_month,
    ),
    (_words(rf"(?:{_PART})?{_PICK} {_UNIT}"), mean.period),
    (_words(r"the other (?:day|night|evening|morning)"), mean.other_day),
    (_words(r"(?:over|on|at|during|for) the weekend"), mean.the_weekend),
    (_words(rf"(?:{_PICK} )?(?P<weekday>{_WEEKDAY})"), mean.weekday),
)
"""What names a date: the pattern, in lower case, and what it means."""

_BESIDE = re.compile(
    rf"\b(?:{_NUMBER} |the |last )?(?:{_UNIT}|(?P<weekday>{_WEEKDAY})s?) "
    r"(?P<side>before|prior to|after|following)(?: the)? $"
)
"""What stands before a date that only leads to the one that is meant: "the week before"."""
_REACH = 40
"""Characters before a date in which it stands."""

_HINT = re.compile(
    r"\d|ago\b|day|night|tomorrow|week|month|year|decade|morning|afternoon|evening|"
    rf"{_SEASON}|{_MONTH}|christmas|new year|halloween|thanksgiving|easter|weekend"
)
_FUTURE = re.compile(
    r"\b(?:will|going to|gonna|'ll|won't|shall|plan(?:s|ning|ned)?|hop(?:e|es|ing)|upcoming|"
    r"looking forward|can't wait|next|soon|let's|see you|scheduled)\b"
)


def speaks_of_future(text: str) -> bool:
    """Whether words such as "will", "plan" or "next" stand in it."""
    return _FUTURE.search(text.lower().replace("’", "'")) is not None


def named_dates(text: str, said: date | None) -> list[Named]:
    """The dates that ``text`` names, in its order, as said on a day; where the day is unknown,
    those that need none. A date without its year stays one of every year."""
    lowered = text.lower().replace("’", "'")
    if len(lowered) != len(text):
        lowered = text.replace("’", "'")
    if not _HINT.search(lowered):
        return []
    found: list[Named] = []
    future = speaks_of_future(lowered)
    for pattern, means in RULES:
        for match in list(pattern.finditer(lowered)):
            start, end = match.span()
            try:
                meant = means(Said(match, said, future))
                if meant is None:
                    continue
                start, meant = _moved(start, meant, lowered, said)
            except UnknownDayError:
                continue
            except (ValueError, OverflowError):  # no such date, or beyond the calendar
                pass
            else:
                found.append(Named(start, end, meant))
            lowered = lowered[:start] + "|" * (end - start) + lowered[end:]
    return sorted(found, key=lambda one: one.start)


def _moved(
    start: int, meant: Interval | Yearly, text: str, said: date | None
) -> tuple[int, Interval | Yearly]:
    """What is meant, and where it starts, where words such as "the week before" lead to a date."""
    match = _BESIDE.search(text, max(0, start - _REACH), start)
    if match is None:
        return start, meant
    if isinstance(meant, Interval):
        return match.start(), mean.beside(match, meant)
    nearest = None if said is None else meant.begun(said)
    return (start, meant) if nearest is None else (match.start(), mean.beside(match, nearest))
