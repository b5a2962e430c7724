"""Words that may name a date, as said on a day, and the vocabulary of dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from recallm.retrieval.dating.periods import Yearly

__all__ = [
    "HOLIDAYS",
    "MONTHS",
    "NUMBERS",
    "PAST",
    "SEASONS",
    "WEEKDAYS",
    "NoSuchDateError",
    "Said",
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

PAST = ("last", "past", "previous")

_PARTS = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
_REACH = 30
"""Characters before a date in which the words stand that lead to it."""


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
    def part(self) -> str:
        """The part of a period that is meant, empty where all of it is."""
        return self["part"] or _PARTS.get(self["end"], "")

    def follows(self, lead: re.Pattern[str]) -> bool:
        """Whether they stand just after a lead."""
        start = self.match.start()
        return lead.search(self.match.string, max(0, start - _REACH), start) is not None
