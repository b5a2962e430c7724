"""The days that a statement tells of: "last Friday", as said on a Tuesday."""

from __future__ import annotations

from datetime import date, datetime

from recallm.dating import Interval, named_dates, speaks_of_future

__all__ = ["told_dates"]


def told_dates(text: str, timestamp: datetime | None) -> tuple[Interval, ...]:
    """The dates in ``text``, in its order, as said at ``timestamp``; where that is None, those
    that name their year. A date without its year is the latest that has begun, or where the text
    speaks of the future the next."""
    return _told(" ".join(text[:_MOST].split()), None if timestamp is None else timestamp.date())


_MOST = 2_000
"""Characters of a statement that are read."""


def _told(text: str, said: date | None) -> tuple[Interval, ...]:
    found: list[Interval] = []
    for named in named_dates(text, said):
        means = named.means
        if not isinstance(means, Interval):
            if said is None:
                continue
            nearest = means.coming(said) if speaks_of_future(text) else means.begun(said)
            if nearest is None:
                continue
            means = nearest
        found.append(means)
    return tuple(found)
