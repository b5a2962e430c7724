"""Dates in English text, and the days that they mean as said on a day."""

from __future__ import annotations

from recallm.dating.periods import Interval, Yearly
from recallm.dating.words import Named, named_dates, speaks_of_future

__all__ = ["Interval", "Named", "Yearly", "named_dates", "speaks_of_future"]
