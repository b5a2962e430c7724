"""The dates that a question asks for, and those that a statement tells of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Literal

from recallm.english.dating.grammar import NamedDate, named_dates, speaks_of_future
from recallm.english.dating.periods import Interval, Yearly

_SINCE = ("since", "after", "from", "starting")
_UNTIL = ("until", "till", "before", "by", "up to", "prior to", "as of")
_LEAD = re.compile(
    rf"\b(?P<lead>{'|'.join((*_SINCE, *_UNTIL))}|between|in|on|at|during|of)(?:\s+the)?\s+$",
    re.IGNORECASE,
)
_LEAD_REACH = 30
"""How many characters before a date are searched for the word that leads to it."""
_RANGE_WORD = re.compile(r"\s*(?:and|to|until|till|through|-|–)\s*(?:the\s+)?", re.IGNORECASE)
_NO_START = re.compile(r"\b(?:and|to|until|till|through|ago|back)\b|[-–]", re.IGNORECASE)
"""After "from" these mark a whole range, or a moment ("where did she move from two years ago")."""
_MOST_ASKED_DATES = 16
_WEEK = timedelta(days=7)
_LONGEST_STATEMENT = 2_000
"""Characters; the rest of a longer statement is not read."""


@dataclass(frozen=True, slots=True)
class AskedDate:
    """A date in a question, and how the question limits time by it.

    ``name`` is the question's wording. ``kind``: what was so ``since`` the date, ``until`` it or
    ``within`` it. ``means`` is an interval, which reaches to the end of the calendar for "since"
    and from its beginning for "until"; or, where the question names no year, a ``Yearly``.
    """

    name: str
    kind: Literal["since", "until", "within"]
    means: Interval | Yearly

    def near(self, day: date) -> Interval | None:
        """The interval; of a ``Yearly`` the latest one that had begun by the day after ``day``."""
        if isinstance(self.means, Interval):
            return self.means
        return self.means.begun(day if day == date.max else day + timedelta(days=1))

    def __str__(self) -> str:
        if isinstance(self.means, Yearly):
            return f"{self.name} → {self.kind} it in any year"
        if self.kind == "since":
            return f"{self.name} → since {self.means.start}"
        if self.kind == "until":
            return f"{self.name} → until {self.means.last}"
        return f"{self.name} → within {self.means}"


def asked_dates(text: str, now: datetime | None = None) -> tuple[AskedDate, ...]:
    """The first 16 dates of a question, in textual order, as asked at ``now``.

    Where ``now`` is None, relative dates are left out. A date without its year is one of any year.
    """
    today = None if now is None else now.date()
    text = " ".join(text.split())
    return tuple(islice(_asked(text, named_dates(text, today), today), _MOST_ASKED_DATES))


@lru_cache(maxsize=1024)
def statement_dates(text: str, timestamp: datetime | None) -> tuple[Interval, ...]:
    """The dates that a statement tells of, in textual order, as said at ``timestamp``.

    A date without its year is the latest that has begun, or the next where the text speaks of the
    future. Where ``timestamp`` is None, only dates that name their year are found.
    """
    text = " ".join(text[:_LONGEST_STATEMENT].split())
    said_on = None if timestamp is None else timestamp.date()
    found: list[Interval] = []
    for named in named_dates(text, said_on):
        means = named.means
        if isinstance(means, Interval):
            found.append(means)
        elif said_on is not None:
            nearest = means.coming(said_on) if speaks_of_future(text) else means.begun(said_on)
            if nearest is not None:
                found.append(nearest)
    return tuple(found)


def _asked(text: str, dates: Sequence[NamedDate], today: date | None) -> Iterator[AskedDate]:
    place = 0
    while place < len(dates):
        first = dates[place]
        lead = _LEAD.search(text, max(0, first.start - _LEAD_REACH), first.start)
        word = lead["lead"].lower() if lead else ""
        start = lead.start() if lead else first.start
        place += 1
        if word in ("between", "from") and place < len(dates):
            last = dates[place]
            if _RANGE_WORD.fullmatch(text, first.end, last.start):
                place += 1
                yield from _range(text[start : last.end], first, last)
                continue
        if word == "from" and _NO_START.search(text, first.start, first.end):
            word = ""
        yield from _led_by(word, text[start : first.end], first.means, text, today)


def _range(name: str, first: NamedDate, last: NamedDate) -> Iterator[AskedDate]:
    """One range of two dates. In "between July and September 2022" the first takes the year of
    the last."""
    begins, ends = first.means, last.means
    if isinstance(begins, Yearly) and isinstance(ends, Interval):
        begins = begins.begun(ends.start) or begins
    elif isinstance(begins, Interval) and isinstance(ends, Yearly):
        ends = ends.coming(begins.start) or ends
    if isinstance(begins, Interval) and isinstance(ends, Interval):
        if ends.end <= begins.start and ends.days == begins.days == 1:
            # "From Monday to Friday", as asked on a Wednesday.
            begins = Interval(begins.start - _WEEK, begins.end - _WEEK)
        if begins.start < ends.end:
            yield AskedDate(name, "within", Interval(begins.start, ends.end))
    elif isinstance(begins, Yearly) and isinstance(ends, Yearly):
        months = (ends.month - begins.month) % 12 + ends.months
        if begins.day is None and ends.day is None:
            yield AskedDate(name, "within", Yearly(begins.month, months=months))
        else:
            yield AskedDate(name, "within", begins)
            yield AskedDate(name, "within", ends)


def _led_by(
    word: str, name: str, means: Interval | Yearly, text: str, today: date | None
) -> Iterator[AskedDate]:
    """The date behind a word that leads to it ("since", "by", "in"), or behind none."""
    if word not in _SINCE and word not in _UNTIL:
        yield AskedDate(name, "within", means)
        return
    if isinstance(means, Yearly):
        # Every day is since some March: the nearest one is meant.
        nearest = None
        if today is not None:
            nearest = means.coming(today) if speaks_of_future(text) else means.begun(today)
        if nearest is None:
            return
        means = nearest
    if word in _SINCE:
        since = means.end if word == "after" else means.start
        yield AskedDate(name, "since", Interval(since, date.max))
    else:
        until = means.start if word in ("before", "prior to") else means.end
        yield AskedDate(name, "until", Interval(date.min, until))
