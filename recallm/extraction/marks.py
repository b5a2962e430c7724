"""What can be said of a word by its form alone.

The rule tables of ``dates``, ``tenses`` and ``concepts`` give marks; a word is looked up in them
once, when it is first met (``recallm.extraction.words``).
"""

from __future__ import annotations

from typing import Final

__all__ = ["Mark", "listed"]


class Mark:
    """Marks of a word, combined by ``|``: plain numbers, since they are read for every token."""

    TIME: Final = 1 << 0
    """By itself a time: "yesterday", "Monday", "10:30", "1999"."""
    TIME_NUMBER: Final = 1 << 1
    """A year, date or clock time in digits: a number as a concept, a time as a trait."""
    MAYBE_TIME: Final = 1 << 2
    """A time where it is written as a name or stands by a number: "may", "fall"."""
    UNIT: Final = 1 << 3
    """A unit of time: "weeks"."""
    PICKS: Final = 1 << 4
    """Makes a time of the unit that follows: "last", "every"."""
    COUNT: Final = 1 << 5
    """Counts: digits, "three", "several"."""
    CLOCK: Final = 1 << 6
    """Makes a time of the number before: "pm", "o'clock", "January"."""
    DIGITS: Final = 1 << 7
    """Begins with a digit."""
    NUMERAL: Final = 1 << 19
    """A number in digits: a number whatever its tag."""
    PAST: Final = 1 << 8
    BARE_PAST: Final = 1 << 20
    BARE_PARTICIPLE: Final = 1 << 21
    """The base of a verb, and its past or participle as well: "put"."""
    PRESENT: Final = 1 << 9
    FUTURE: Final = 1 << 10
    """Forms of verbs."""
    GOVERNS: Final = 1 << 11
    """The verb that follows is not the finite one: "to", "did", "can"."""
    GOING: Final = 1 << 12
    FIRST_PERSON: Final = 1 << 13
    NEGATION: Final = 1 << 14
    PRONOUN: Final = 1 << 15
    """Never a concept."""
    EDGE: Final = 1 << 16
    """Cut off the edges of names: "the", "my", "'s"."""
    ASKS: Final = 1 << 17
    """A question word."""
    AUXILIARY: Final = 1 << 18
    """A verb that a question may begin with."""


def listed(words: str) -> frozenset[str]:
    """A rule table's words, written with spaces between them."""
    return frozenset(words.split())
