"""Dates that a question names, and how near to them something was said.

What happened is told on the day or soon after, seldom before: "in June 2023", "on 3 May".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

__all__ = ["AskedDate", "asked_dates", "nearness"]

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WORDS_TOO = ("march", "may")
_MONTH = "|".join(_MONTHS)
_NAMED = re.compile(
    rf"(?:\b(?P<lead>in|on|of|since|by|until|during|before|after|last|this|next)\s+)?"
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>{_MONTH})\b"
    r"(?:\s+(?P<after>\d{1,2})(?:st|nd|rd|th)?\b)?"
    r"(?:,?\s+(?:of\s+)?(?P<year>\d{4})\b)?",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b")
_SOON = 10
"""Days after a date during which what happened then is still told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedDate:
    """A month, perhaps with its year or its day."""

    month: int
    year: int | None = None
    day: int | None = None


def asked_dates(text: str) -> list[AskedDate]:
    """The dates in ``text`` that name a month. "May" alone is a date only with a day or a year,
    or after a word that leads to a time; so is "march"."""
    found = [
        AskedDate(month=int(match["month"]), year=int(match["year"]), day=int(match["day"]))
        for match in _ISO.finditer(text)
        if 1 <= int(match["month"]) <= 12
    ]
    for match in _NAMED.finditer(text):
        day = match["before"] or match["after"]
        month = match["month"]
        if month.lower() in _WORDS_TOO and not (day or match["year"] or match["lead"]):
            continue
        found.append(
            AskedDate(
                month=_MONTHS.index(month.lower()) + 1,
                year=int(match["year"]) if match["year"] else None,
                day=int(day) if day else None,
            )
        )
    return found


def nearness(said: datetime | None, asked: Sequence[AskedDate]) -> float:
    """1 where something was said at one of these dates, less where soon after, else 0."""
    return 0.0 if said is None else max((_near(said.date(), one) for one in asked), default=0.0)


def _near(said: date, asked: AskedDate) -> float:
    year = said.year if asked.year is None else asked.year
    if asked.day is None:
        months = (said.year - year) * 12 + said.month - asked.month
        return {0: 1.0, 1: 0.3}.get(months, 0.0)
    try:
        days = (said - date(year, asked.month, asked.day)).days
    except ValueError:
        return 0.0
    if abs(days) <= 1:
        return 1.0
    return 0.5 if 0 < days <= _SOON else 0.0
