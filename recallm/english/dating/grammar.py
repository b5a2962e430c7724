"""The grammar of dates: one table of patterns, and what a phrase that matches means.

The rules are tried from the top. A rule consumes the phrase that it reads, so that no later rule
sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from recallm.english.dating import absolute, relative
from recallm.english.dating.periods import Interval, Yearly
from recallm.english.dating.vocabulary import (
    DATES,
    DECADES,
    HOLIDAYS,
    MONTHS,
    NUMBERS,
    PAST,
    QUARTERS,
    SEASONS,
    WEEKDAYS,
    DatePhrase,
    UnknownDayError,
)
from recallm.english.word_lists import filled


def _any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first."""
    return "|".join(sorted(words, key=len, reverse=True))


_PATTERNS: dict[str, str] = DATES["patterns"] | {
    "month": _any_of(MONTHS),
    "weekday": _any_of(WEEKDAYS),
    "season": _any_of(SEASONS),
    "holiday": _any_of(HOLIDAYS).replace("'s ", "(?:'s|s'?) "),
    "decade": _any_of(DECADES),
    "quarter": _any_of(QUARTERS),
    "number_word": "|".join(NUMBERS),
}
_READERS = vars(absolute) | vars(relative)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(filled(pattern, _PATTERNS))


class NamedDate(NamedTuple):
    """A date in a text: its first character, the one behind it, and what it means: an interval, or
    a day or period of every year. ``is_relative``: only the day on which the text was spoken says
    which days are meant, and leaves no doubt ("last week", but not "on Friday")."""

    start: int
    end: int
    means: Interval | Yearly
    is_relative: bool = False


class Rule:
    """A rule of ``data/dates.toml``. ``mean`` gives the meaning of a match of ``pattern``."""

    __slots__ = ("hint", "mark", "mean", "pattern", "reads")

    def __init__(self, reads: str, phrases: Sequence[str], hint: str, mark: str = "") -> None:
        self.reads = reads
        self.hint = hint
        self.mark = mark
        self.pattern = _compiled(rf"(?<![\w$£€#.:/-])(?:{'|'.join(phrases)})(?!\w)")
        self.mean: Callable[[DatePhrase], Interval | Yearly | None] = _READERS[reads]


RULES = tuple(Rule(**row) for row in DATES["rules"])
"""Every rule, in the order in which they are tried."""

_BESIDE = _compiled(_PATTERNS["beside"])
_BESIDE_ENDS = ("before ", "prior to ", "after ", "following ", " the ")
"""How every match of it ends: a quick test."""
_BESIDE_REACH = 40
"""How many characters before a date are searched for such words."""

_CERTAIN = ("yesterday", "tomorrow", "ago", "weekdays_ago", "seasons_ago")
"""What reads the phrases that can mean only one day or period."""
_REPEATED = re.compile(r"\b(?:every|each|any|most|per|the) \Z")
"""Before a date these tell of habits, or of a time in a tale: "every Friday", "the next day"."""

_HINTS = _compiled("|".join(f"(?P<{name}>{hint})" for name, hint in DATES["hints"].items()))
_DIGIT = re.compile(r"\d")
_LONGEST_TEXT = 10_000
"""Characters; the rest of a longer text is not read."""

_FUTURE = _compiled(_PATTERNS["future"])


def speaks_of_future(text: str) -> bool:
    """Whether words such as "will", "plan" or "next" stand in it."""
    return _FUTURE.search(text.lower().replace("’", "'")) is not None


def named_dates(text: str, spoken_on: date | None) -> list[NamedDate]:
    """The dates in ``text``, in textual order, as spoken on a day.

    Where the day is unknown (None), relative dates are left out. A date without its year is
    ``Yearly``.
    """
    text = text[:_LONGEST_TEXT]
    lowered = text.lower().replace("’", "'")
    if len(lowered) != len(text):
        lowered = text.replace("’", "'")
    hints = {match.lastgroup for match in _HINTS.finditer(lowered)}
    if _DIGIT.search(lowered):
        hints.add("digit")
    if not hints:
        return []
    found: list[NamedDate] = []
    future = speaks_of_future(lowered)
    for rule in RULES:
        if rule.hint not in hints or rule.mark not in lowered:
            continue
        for match in rule.pattern.finditer(lowered):  # of this text, whatever ``lowered`` becomes
            start, end = match.span()
            phrase = DatePhrase(match, spoken_on, future)
            try:
                meant = rule.mean(phrase)
                if meant is None:
                    continue
                start, meant = _moved(start, meant, lowered, spoken_on)
            except UnknownDayError:
                continue
            except (ValueError, OverflowError):  # no such date, or beyond the calendar
                pass
            else:
                found.append(NamedDate(start, end, meant, _is_relative(rule, phrase, meant)))
            lowered = lowered[:start] + "|" * (end - start) + lowered[end:]
    return sorted(found, key=lambda named: named.start)


def _is_relative(rule: Rule, phrase: DatePhrase, meant: Interval | Yearly) -> bool:
    """Whether the day on which a phrase was spoken says, without doubt, which days are meant:
    "in two days" may be how long something took, "this weekend" the last one or the next."""
    if isinstance(meant, Yearly) or _REPEATED.search(phrase.match.string, 0, phrase.match.start()):
        return False
    if rule.reads in ("ahead", "weekday"):
        return phrase.future if rule.reads == "ahead" else phrase["pick"] in PAST
    return phrase["pick"] not in ("", "this") or rule.reads in _CERTAIN


def _moved(
    start: int, meant: Interval | Yearly, text: str, spoken_on: date | None
) -> tuple[int, Interval | Yearly]:
    """The start and the meaning of a date, moved where "the week before" or such precedes it."""
    match = None
    if text.endswith(_BESIDE_ENDS, 0, start):
        match = _BESIDE.search(text, max(0, start - _BESIDE_REACH), start)
    if match is None:
        return start, meant
    if isinstance(meant, Interval):
        return match.start(), relative.beside(match, meant)
    nearest = None if spoken_on is None else meant.begun(spoken_on)
    return (start, meant) if nearest is None else (match.start(), relative.beside(match, nearest))
