"""The signal ``date``: how well a statement's dates meet the dates that a question names.

People mention an event on its day or soon after, seldom before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

import numpy as np

from recallm.english.dating import AskedDate, Interval, Yearly, statement_dates
from recallm.model import StoredStatement, Trait
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.stem_counts import Floats

_ELSEWHERE = 0.3
"""Factor on ``date`` if a statement mentions dates, but none that the question names."""

_SHORT_PERIOD = 9
"""The most days of a short period, such as a day or a week."""
_DAYS_AFTER_SHORT = 10
"""Days after a short period in which people still mention its events."""
_DAYS_AFTER_LONG = 31
"""The same for longer periods, at most as long as the period."""
_AFTER_SHORT, _AFTER_LONG = 0.5, 0.3
"""How near these days are to a short period and to a longer one; the period itself is 1."""


def date_signal(candidates: Candidates) -> Floats:
    """The signal ``date``: how well a statement's timestamp, or a date that it mentions, meets a
    date in the question. Values lie between 0 and 1."""
    if not candidates.dates:
        return np.zeros(len(candidates.statements))
    nearness = date_nearness(
        [statement.timestamp for statement in candidates.statements], candidates.dates
    )
    for place in np.flatnonzero(candidates.traits & int(Trait.TIME)).tolist():
        statement = candidates.statements[place]
        dates = statement_dates(statement.text, statement.timestamp)
        overlap = date_overlap(dates, candidates.dates)
        if dates and not overlap:
            nearness[place] *= _ELSEWHERE
        nearness[place] = max(nearness[place], overlap)
    return nearness


def date_nearness(timestamps: Sequence[datetime | None], asked: Sequence[AskedDate]) -> Floats:
    """For each timestamp 1 within one of the dates asked for, less soon after it, else 0."""
    days = [None if timestamp is None else timestamp.date() for timestamp in timestamps]
    values = {
        day: max((_nearness(day, asked_date) for asked_date in asked), default=0.0)
        for day in set(days)
        if day is not None
    }
    return np.array([0.0 if day is None else values[day] for day in days])


def _nearness(day: date, asked: AskedDate) -> float:
    dates = asked.near(day)
    if dates is None:
        return 0.0
    early, late = (dates.start - day).days, (day - dates.last).days
    if early <= 0 and (late <= 0 or asked.kind == "since"):
        return 1.0
    if dates.days > _SHORT_PERIOD:
        return _AFTER_LONG if 0 < late <= min(_DAYS_AFTER_LONG, dates.days) else 0.0
    if early == 1 or late == 1:
        return 1.0
    return _AFTER_SHORT if 0 < late <= _DAYS_AFTER_SHORT else 0.0


def lies_in(day: date, asked: AskedDate) -> bool:
    """Whether a day lies in a date that a question names, and not just near it."""
    dates = asked.near(day)
    if dates is None or day < dates.start:
        return False
    return day <= dates.last or asked.kind == "since"


def within_dates(order: Sequence[int], candidates: Candidates) -> Sequence[int]:
    """``order`` without what is of other times than the question's dates: what was said later, and
    what was told of the past before; a state told before may still hold. All of ``order`` where
    nothing of it was said at such a time or tells of it."""
    asked = candidates.dates
    if not asked:
        return order
    rows = candidates.statements
    within = {place for place in order if _is_within(rows[place], asked)}
    if not within:
        return order
    return [place for place in order if place in within or not _is_elsewhere(rows[place], asked)]


def _is_within(statement: StoredStatement, asked: Sequence[AskedDate]) -> bool:
    said = statement.timestamp
    if said is not None and any(lies_in(said.date(), each) for each in asked):
        return True
    is_dated = Trait.TIME in statement.traits
    return is_dated and date_overlap(statement_dates(statement.text, said), asked) > 0


def _is_elsewhere(statement: StoredStatement, asked: Sequence[AskedDate]) -> bool:
    """Whether a statement was said after the times asked for, later than on the day after, or tells
    of the past before them. Nobody knows of what time a later tale of a time "before May" is."""
    if statement.timestamp is None:
        return False
    day = statement.timestamp.date()
    tells_past = Trait.PAST in statement.traits
    for each in asked:
        dates = each.near(day)
        if each.kind != "within" or dates is None or dates.start <= day <= dates.last:
            return False
        if (day - dates.last).days == 1 and Trait.TIME not in statement.traits:
            return False
        if not tells_past and (day < dates.start or isinstance(each.means, Yearly)):
            return False
        if isinstance(each.means, Yearly) and each.means.day is not None:
            coming = each.means.coming(day)
            if coming is not None and (coming.start - day).days <= _DAYS_AFTER_LONG:
                return False  # a plan for it
    return True


def date_overlap(dates: Sequence[Interval], asked: Sequence[AskedDate]) -> float:
    """The best overlap of a statement's ``dates`` with those asked for: the root of the share of
    the statement's period that lies within the period asked for; 1 if all of it does, 0 if none."""
    return max(
        (_overlap(period, asked_date) for period in dates for asked_date in asked), default=0.0
    )


def _overlap(dates: Interval, asked: AskedDate) -> float:
    wanted = asked.near(dates.last)
    if wanted is None:
        return 0.0
    shared = (min(dates.end, wanted.end) - max(dates.start, wanted.start)).days
    return (shared / dates.days) ** 0.5 if shared > 0 else 0.0
