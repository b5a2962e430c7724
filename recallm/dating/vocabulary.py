"""The words of dates, and the phrase that a rule of the grammar reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from recallm.dating.periods import Yearly

__all__ = [
    "DECADES",
    "HOLIDAYS",
    "MONTHS",
    "NUMBERS",
    "PAST",
    "QUARTERS",
    "SEASONS",
    "WEEKDAYS",
    "DatePhrase",
    "NoSuchDateError",
    "UnknownDayError",
]

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
    "new year": Yearly(12, 31, days=2),
    "halloween": Yearly(10, 31),
    "valentine's day": Yearly(2, 14),
    "thanksgiving": Yearly(11, 22, days=7),
    "easter": Yearly(3, 22, days=36),
    "easter sunday": Yearly(3, 22, days=36),
    "easter monday": Yearly(3, 23, days=36),
    "good friday": Yearly(3, 20, days=36),
    "passover": Yearly(3, 22, days=45),
    "st patrick's day": Yearly(3, 17),
    "mother's day": Yearly(5, 8, days=7),
    "memorial day": Yearly(5, 25, days=7),
    "father's day": Yearly(6, 15, days=7),
    "independence day": Yearly(7, 4),
    "fourth of july": Yearly(7, 4),
    "labor day": Yearly(9, 1, days=7),
    "diwali": Yearly(10, 14, days=32),
    "black friday": Yearly(11, 23, days=7),
    "hanukkah": Yearly(11, 27, days=40),
}
"""Days of every year. A movable feast is the whole range of days on which it may fall."""
DECADES = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60,
    "seventies": 70, "eighties": 80, "nineties": 90, "noughties": 0,
}  # fmt: skip
QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4, "final": 4}
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20,
    "thirty": 30, "couple": 2, "few": 3, "several": 4,
}  # fmt: skip

PAST = ("last", "past", "previous")

_PARTS = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
_LEAD_REACH = 30
"""How many characters before a date are searched for the words that lead to it."""


class NoSuchDateError(ValueError):
    """The phrase names a date that does not exist: 31 February."""


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
        return self["part"] or _PARTS.get(self["end"], "")

    @property
    def end(self) -> int:
        """The character just behind the phrase."""
        return self.match.end()

    def follows(self, lead: re.Pattern[str]) -> bool:
        """Whether words that match ``lead`` stand just before the phrase."""
        start = self.match.start()
        return lead.search(self.match.string, max(0, start - _LEAD_REACH), start) is not None
