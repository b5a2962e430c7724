"""The one grammar of dates: a text and the day on which it was spoken give intervals of days."""

from __future__ import annotations

from recallm.english.dating.grammar import AskedDate, asked_dates, named_dates, statement_dates
from recallm.english.dating.periods import Interval, Yearly
from recallm.english.dating.phrases import DATE_WORDS

__all__ = [
    "DATE_WORDS",
    "AskedDate",
    "Interval",
    "Yearly",
    "asked_dates",
    "named_dates",
    "statement_dates",
]
