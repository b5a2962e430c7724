"""The words of dates, and the phrase that a rule of the grammar reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from recallm.english.dating.periods import Yearly
from recallm.english.word_lists import read_table

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

_PARTS = {
    "earlier": "early",
    "beginning": "early",
    "start": "early",
    "middle": "mid",
    "end": "late",
}
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

    @property
    def end(self) -> int:
        """The character just behind the phrase."""
        return self.match.end()

    def follows(self, lead: re.Pattern[str]) -> bool:
        """Whether words that match ``lead`` stand just before the phrase."""
        start = self.match.start()
        return lead.search(self.match.string, max(0, start - _LEAD_REACH), start) is not None
