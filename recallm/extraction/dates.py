"""Words of dates and times in a statement; what a date means is read in ``recallm.dating``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spacy.symbols import NOUN, NUM, PROPN

from recallm.extraction.marks import Mark, listed

__all__ = ["holds_time", "time_marks"]

_MONTHS = listed(
    "january february april june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec."
)
_AMBIGUOUS = listed("may march spring fall sun sat")
_TIMES = listed(
    "monday tuesday wednesday thursday friday saturday sunday "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays "
    "mon tue tues wed thu thur thurs fri "
    "today yesterday tomorrow tonight tonite midnight noon midday dawn dusk "
    "morning mornings afternoon afternoons evening evenings night nights overnight weekend "
    "weekends summer winter autumn recently lately ago nowadays "
    "christmas easter halloween thanksgiving ramadan hanukkah diwali passover "
    "annually yearly monthly weekly daily nightly hourly "
    "o'clock oclock a.m. p.m. a.m p.m bc bce"
)
_CLOCK = listed("am pm a.m. p.m. a.m p.m o'clock oclock bc bce")
_UNITS = listed(
    "second seconds sec secs minute minutes min mins hour hours hr hrs day days night nights "
    "week weeks weekend weekends fortnight month months quarter quarters season seasons "
    "semester semesters term year years yr yrs decade decades century centuries millennium times"
)
_PICKS = listed(
    "last next past previous coming following every each upcoming recent early late mid all "
    "that this these those earlier later same first whole entire once twice"
)
_COUNTS = listed(
    "a an few several couple many some half two three four five six seven eight nine ten eleven "
    "twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty "
    "fifty sixty seventy eighty ninety hundred thousand million"
)
_NUMERAL = re.compile(r"\d[\d.,:/]*")
_YEAR = re.compile(r"[12]\d{3}s?|['’]?\d0s|['’]\d\d")
_DATE = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{2,4}|\d{1,2}/\d{1,2}|\d{4}-\d\d-\d\dt[\d:.z+-]*")
# "3.50" is a price or a measure far more often than a time: only a colon or am/pm tells.
_CLOCK_TIME = re.compile(
    r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?(?:[ap]\.?m\.?)?|\d{1,2}(?:\.[0-5]\d)?[ap]\.?m\.?"
)
_TIME_NUMBERS = (_YEAR, _DATE, _CLOCK_TIME)


def time_marks(lowered: str) -> int:
    """What a word in lower case can be in a date or time."""
    marks = 0
    if lowered in _MONTHS:
        marks |= Mark.TIME | Mark.CLOCK
    if lowered in _TIMES:
        marks |= Mark.TIME
    if lowered in _AMBIGUOUS:
        marks |= Mark.MAYBE_TIME
    if lowered in _CLOCK:
        marks |= Mark.CLOCK
    if lowered in _UNITS:
        marks |= Mark.UNIT
    if lowered in _PICKS:
        marks |= Mark.PICKS
    if lowered in _COUNTS:
        marks |= Mark.COUNT
    if lowered[:1].isdigit():
        marks |= Mark.DIGITS | Mark.COUNT
        if _NUMERAL.fullmatch(lowered):
            marks |= Mark.NUMERAL
    if any(pattern.fullmatch(lowered) for pattern in _TIME_NUMBERS):
        marks |= Mark.TIME | Mark.TIME_NUMBER
    return marks


def holds_time(marks: Sequence[int], tags: Sequence[int], capital: Sequence[bool]) -> bool:
    """Whether the words of a statement hold a date or a time.

    ``marks``, ``tags`` (spaCy's part-of-speech symbols) and ``capital`` run in parallel.
    """
    for i, mark in enumerate(marks):
        if mark & Mark.TIME:
            return True
        before = marks[i - 1] if i else 0
        if mark & Mark.MAYBE_TIME:
            after = marks[i + 1] if i + 1 < len(marks) else 0
            if (before | after) & Mark.DIGITS or before & Mark.PICKS:
                return True
            if tags[i] == PROPN and capital[i] and i:
                return True
        if mark & Mark.UNIT and i:
            if before & Mark.DIGITS or (before & Mark.PICKS and tags[i] in (NOUN, PROPN)):
                return True
            if before & Mark.COUNT and (tags[i] in (NOUN, PROPN) or tags[i - 1] == NUM):
                return True
        if mark & Mark.CLOCK and before & Mark.DIGITS:
            return True
    return False
