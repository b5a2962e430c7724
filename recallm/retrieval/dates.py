"""Dates that a question names, and how near to them something was said, or happened.

What happened is told on the day or soon after, seldom before: "in June 2023", "on 3 May".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recallm.dating import Interval, Named, Yearly, named_dates, speaks_of_future
from recallm.model import TemporalReading

__all__ = ["AskedDate", "asked_dates", "dated", "meeting", "nearness", "nearnesses"]

_SINCE = ("since", "after", "from", "starting")
_UNTIL = ("until", "till", "before", "by", "up to", "prior to", "as of")
_LEAD = re.compile(
    rf"\b(?P<lead>{'|'.join((*_SINCE, *_UNTIL))}|between|in|on|at|during|of)(?:\s+the)?\s+$",
    re.IGNORECASE,
)
_JOINS = re.compile(r"\s*(?:and|to|until|till|through|-|–)\s*(?:the\s+)?", re.IGNORECASE)
_NO_START = re.compile(r"\b(?:and|to|until|till|through|ago|back)\b|[-–]", re.IGNORECASE)
"""After "from": both ends of a range; or a moment ("where did she move from two years ago")."""
_MOST = 16
_WEEK = timedelta(days=7)
_SHORT = 9
"""Days: of what took no longer people say on which day it was."""
_SOON = 10
"""Days after such a date during which what happened then is still told."""
_SLACK = 31
"""The same for longer ones, at most as long as they are."""


@dataclass(frozen=True, slots=True)
class AskedDate:
    """What a question asks for by a date: what was ``since``, ``until`` or ``within`` it.

    ``means`` is an interval, for "since" and "until" one that ends or begins with the calendar; or
    what comes every year, where the question names none. ``name`` is how the question words it.
    """

    name: str
    kind: Literal["since", "until", "within"]
    means: Interval | Yearly

    def near(self, day: date) -> Interval | None:
        """The interval; of those of every year, the last that had begun by ``day``."""
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
    """The first 16 dates in ``text``, in its order; relative ones as asked at ``now``, not at all
    where it is None. A date without its year is one of any year."""
    said = None if now is None else now.date()
    text = " ".join(text.split())
    return tuple(islice(_asked(text, named_dates(text, said), said), _MOST))


def _asked(text: str, found: Sequence[Named], now: date | None) -> Iterator[AskedDate]:
    place = 0
    while place < len(found):
        one = found[place]
        lead = _LEAD.search(text, max(0, one.start - 30), one.start)
        word = lead["lead"].lower() if lead else ""
        place += 1
        if word in ("between", "from") and place < len(found):
            other = found[place]
            if _JOINS.fullmatch(text, one.end, other.start):
                place += 1
                name = text[lead.start() if lead else one.start : other.end]
                yield from _joined(name, one, other)
                continue
        name = text[lead.start() if lead else one.start : one.end]
        if word == "from" and _NO_START.search(text, one.start, one.end):
            word = ""
        yield from _led(name, word, one.means, text, now)


def _joined(name: str, first: Named, last: Named) -> Iterator[AskedDate]:
    """One date of two: in "between July and September 2022" the first takes the last's year."""
    begins, ends = first.means, last.means
    if isinstance(begins, Yearly) and isinstance(ends, Interval):
        begins = begins.begun(ends.start) or begins
    elif isinstance(begins, Interval) and isinstance(ends, Yearly):
        ends = ends.coming(begins.start) or ends
    if isinstance(begins, Interval) and isinstance(ends, Interval):
        if ends.end <= begins.start and ends.days == begins.days == 1:
            # From Monday to Friday, as said on a Wednesday.
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


def _led(
    name: str, word: str, means: Interval | Yearly, text: str, now: date | None
) -> Iterator[AskedDate]:
    kind: Literal["since", "until", "within"] = "within"
    if word in _SINCE:
        kind = "since"
    elif word in _UNTIL:
        kind = "until"
    if kind != "within":
        if isinstance(means, Yearly):
            # Every day is since some March.
            nearest = None
            if now is not None:
                ahead = speaks_of_future(text)
                nearest = means.coming(now) if ahead else means.begun(now)
            if nearest is None:
                return
            means = nearest
        if kind == "since":
            means = Interval(means.end if word == "after" else means.start, date.max)
        else:
            means = Interval(date.min, means.start if word in ("before", "prior to") else means.end)
    yield AskedDate(name, kind, means)


def dated(reading: TemporalReading, asked: Sequence[AskedDate]) -> TemporalReading:
    """The reading with the dates among its rules: "in 2022 → within 2022-01-01..2022-12-31"."""
    return replace(reading, rules=(*reading.rules, *map(str, asked))) if asked else reading


def nearness(said: datetime | None, asked: Sequence[AskedDate]) -> float:
    """1 where something was said at one of these dates, less where soon after, else 0."""
    return 0.0 if said is None else max((_near(said.date(), one) for one in asked), default=0.0)


def nearnesses(said: Sequence[datetime | None], asked: Sequence[AskedDate]) -> NDArray[np.float64]:
    """``nearness`` of each, in an array."""
    if not asked:
        return np.zeros(len(said))
    days = [None if one is None else one.date() for one in said]
    known = {day: max(_near(day, one) for one in asked) for day in set(days) if day is not None}
    return np.array([0.0 if day is None else known[day] for day in days])


def _near(day: date, asked: AskedDate) -> float:
    dates = asked.near(day)
    if dates is None:
        return 0.0
    early, late = (dates.start - day).days, (day - dates.last).days
    if early <= 0 and (late <= 0 or asked.kind == "since"):
        return 1.0
    if dates.days > _SHORT:
        return 0.3 if 0 < late <= min(_SLACK, dates.days) else 0.0
    if early == 1 or late == 1:
        return 1.0
    return 0.5 if 0 < late <= _SOON else 0.0


def meeting(told: Sequence[Interval], asked: Sequence[AskedDate]) -> float:
    """How well the best of the dates that a statement tells of meets one that is asked for: 1
    where it lies within it, less the longer it is beside what they share, 0 where they are
    apart."""
    return max((_meets(one, other) for one in told for other in asked), default=0.0)


def _meets(told: Interval, asked: AskedDate) -> float:
    dates = asked.near(told.last)
    if dates is None:
        return 0.0
    shared = (min(told.end, dates.end) - max(told.start, dates.start)).days
    return (shared / told.days) ** 0.5 if shared > 0 else 0.0
