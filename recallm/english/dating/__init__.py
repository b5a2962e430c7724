"""The one grammar of dates: a text and the day on which it was spoken give intervals of days."""

from __future__ import annotations

from recallm.english.dating.dates_of_texts import AskedDate, asked_dates, statement_dates
from recallm.english.dating.grammar import NamedDate, named_dates, speaks_of_future
from recallm.english.dating.periods import Interval, Yearly
from recallm.english.dating.vocabulary import DATE_WORDS

__all__ = [
    "DATE_WORDS",
    "AskedDate",
    "Interval",
    "NamedDate",
    "Yearly",
    "asked_dates",
    "named_dates",
    "speaks_of_future",
    "statement_dates",
]
