"""How near to the dates that a question asks for something was said, or happened.

What happened is told on the day or soon after, seldom before: "in June 2023", "on 3 May".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from recallm.dating import AskedDate, Interval
from recallm.model import TemporalReading

__all__ = ["dated", "meeting", "nearness", "nearnesses"]

_SHORT = 9
"""Days: of what took no longer people say on which day it was."""
_SOON = 10
"""Days after such a date during which what happened then is still told."""
_SLACK = 31
"""The same for longer ones, at most as long as they are."""


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
