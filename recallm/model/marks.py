"""What a word can be by its text alone, whatever the sentence."""

from __future__ import annotations

from typing import Final


class Mark:
    """Marks of a word, combined by ``|``. Plain integers, since they are read for every token.

    ``recallm/english/data/english.toml`` has the words of most marks.
    """

    TIME: Final = 1 << 0
    """A time by itself: "yesterday", "Monday", "10:30", "1999"."""
    TIME_NUMBER: Final = 1 << 1
    """A year, date or clock time in digits: a number as a concept, a time as a trait."""
    MAYBE_TIME: Final = 1 << 2
    """A time if it is written as a name or beside a number: "may", "fall"."""
    UNIT: Final = 1 << 3
    """A unit of time: "weeks"."""
    PICKS: Final = 1 << 4
    """Makes the unit behind it a time: "last", "every"."""
    COUNT: Final = 1 << 5
    """Counts: digits, "three", "several"."""
    CLOCK: Final = 1 << 6
    """Makes the number before it a time: "pm", "o'clock", "January"."""
    DIGITS: Final = 1 << 7
    """Begins with a digit."""
    PAST: Final = 1 << 8
    PRESENT: Final = 1 << 9
    FUTURE: Final = 1 << 10
    """Forms of verbs by tense."""
    GOVERNS: Final = 1 << 11
    """The verb behind it is not the finite one: "to", "did", "can"."""
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
    NUMERAL: Final = 1 << 19
    """A number in digits: a number whatever its tag."""
    BARE_PAST: Final = 1 << 20
    BARE_PARTICIPLE: Final = 1 << 21
    """The base of a verb that is also its past or its participle: "put"."""
    FIRST_PLURAL: Final = 1 << 22
    SECOND_PERSON: Final = 1 << 23
