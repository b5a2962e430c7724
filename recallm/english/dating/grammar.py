"""The grammar of dates: one table of patterns, and what a phrase that matches means.

The rules are tried from the top. A rule consumes the phrase that it reads, so that no later rule
sees it. By them: the dates that a question asks for, and those that a statement tells of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from recallm.english.dating import phrases
from recallm.english.dating.periods import Interval, Yearly
from recallm.english.dating.phrases import (
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
    beside,
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
_READERS = vars(phrases)


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

    __slots__ = ("hint", "mean", "pattern", "reads")

    def __init__(self, reads: str, phrases: Sequence[str], hint: str) -> None:
        self.reads = reads
        self.hint = hint
        self.pattern = _compiled(rf"(?<![\w$£€#.:/-])(?:{'|'.join(phrases)})(?!\w)")
        self.mean: Callable[[DatePhrase], Interval | Yearly | None] = _READERS[reads]


RULES = tuple(Rule(**row) for row in DATES["rules"])
"""Every rule, in the order in which they are tried."""

_BESIDE = _compiled(_PATTERNS["beside"])
_BESIDE_REACH = 40
"""How many characters before a date are searched for such words."""

_CERTAIN = ("yesterday", "tomorrow", "ago")
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
        if rule.hint not in hints:
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
    match = _BESIDE.search(text, max(0, start - _BESIDE_REACH), start)
    if match is None:
        return start, meant
    if isinstance(meant, Interval):
        return match.start(), beside(match, meant)
    nearest = None if spoken_on is None else meant.begun(spoken_on)
    return (start, meant) if nearest is None else (match.start(), beside(match, nearest))


# The dates of questions and of statements.

_SINCE = ("since", "after", "from", "starting")
_UNTIL = ("until", "till", "before", "by", "up to", "prior to", "as of")
_LEAD = re.compile(
    rf"\b(?P<lead>{'|'.join((*_SINCE, *_UNTIL))}|between|in|on|at|during|of)(?:\s+the)?\s+$",
    re.IGNORECASE,
)
_LEAD_REACH = 30
"""How many characters before a date are searched for the word that leads to it."""
_RANGE_WORD = re.compile(r"\s*(?:and|to|until|till|through|-|–)\s*(?:the\s+)?", re.IGNORECASE)
_NO_START = re.compile(r"\b(?:and|to|until|till|through|ago|back)\b|[-–]", re.IGNORECASE)
"""After "from" these mark a whole range, or a moment ("where did she move from two years ago")."""
_MOST_ASKED_DATES = 16
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class AskedDate:
    """A date in a question, and how the question limits time by it.

    ``name`` is the question's wording. ``kind``: what was so ``since`` the date, ``until`` it or
    ``within`` it. ``means`` is an interval, which reaches to the end of the calendar for "since"
    and from its beginning for "until"; or, where the question names no year, a ``Yearly``.
    """

    name: str
    kind: Literal["since", "until", "within"]
    means: Interval | Yearly

    def near(self, day: date) -> Interval | None:
        """The interval; of a ``Yearly`` the latest one that had begun by the day after ``day``."""
        if isinstance(self.means, Interval):
            return self.means
        return self.means.begun(day if day == date.max else day + timedelta(days=1))

    def __str__(self) -> str:
        if isinstance(self.means, Yearly):
            return f"{self.name} → {self.kind} it in any year"
        if self.kind == "since":
            return f"{self.name} → since {self.means.start}"
        if self.kind == "until":
            return f"{self.name} → until {self.means.last}"
        return f"{self.name} → within {self.means}"


def asked_dates(text: str, now: datetime | None = None) -> tuple[AskedDate, ...]:
    """The first 16 dates of a question, in textual order, as asked at ``now``.

    Where ``now`` is None, relative dates are left out. A date without its year is one of any year.
    """
    today = None if now is None else now.date()
    text = " ".join(text.split())
    return tuple(islice(_asked(text, named_dates(text, today), today), _MOST_ASKED_DATES))


@lru_cache(maxsize=1024)
def statement_dates(text: str, timestamp: datetime | None) -> tuple[Interval, ...]:
    """The dates that a statement tells of, in textual order, as said at ``timestamp``.

    A date without its year is the latest that has begun, or the next where the text speaks of the
    future. Where ``timestamp`` is None, only dates that name their year are found.
    """
    text = " ".join(text[:_LONGEST_TEXT].split())
    said_on = None if timestamp is None else timestamp.date()
    found: list[Interval] = []
    for named in named_dates(text, said_on):
        means = named.means
        if isinstance(means, Interval):
            found.append(means)
        elif said_on is not None:
            nearest = means.coming(said_on) if speaks_of_future(text) else means.begun(said_on)
            if nearest is not None:
                found.append(nearest)
    return tuple(found)


def _asked(text: str, dates: Sequence[NamedDate], today: date | None) -> Iterator[AskedDate]:
    place = 0
    while place < len(dates):
        first = dates[place]
        lead = _LEAD.search(text, max(0, first.start - _LEAD_REACH), first.start)
        word = lead["lead"].lower() if lead else ""
        start = lead.start() if lead else first.start
        place += 1
        if word in ("between", "from") and place < len(dates):
            last = dates[place]
            if _RANGE_WORD.fullmatch(text, first.end, last.start):
                place += 1
                yield from _range(text[start : last.end], first, last)
                continue
        if word == "from" and _NO_START.search(text, first.start, first.end):
            word = ""
        yield from _led_by(word, text[start : first.end], first.means, text, today)


def _range(name: str, first: NamedDate, last: NamedDate) -> Iterator[AskedDate]:
    """One range of two dates. In "between July and September 2022" the first takes the year of
    the last."""
    begins, ends = first.means, last.means
    if isinstance(begins, Yearly) and isinstance(ends, Interval):
        begins = begins.begun(ends.start) or begins
    elif isinstance(begins, Interval) and isinstance(ends, Yearly):
        ends = ends.coming(begins.start) or ends
    if isinstance(begins, Interval) and isinstance(ends, Interval):
        if ends.end <= begins.start and ends.days == begins.days == 1:
            # "From Monday to Friday", as asked on a Wednesday.
            begins = Interval(begins.start - _WEEK, begins.end - _WEEK)
        if begins.start < ends.end:
            yield AskedDate(name, "within", Interval(begins.start, ends.end))
    elif isinstance(begins, Yearly) and isinstance(ends, Yearly):
        months = (ends.month - begins.month) % 12 + ends.months
        if begins.day is None and ends.day is None:
            yield AskedDate(name, "within", Yearly(begins.month, months=months))
        else:
            yield AskedDate(name, "within", begins)
            yield AskedDate(name, "within", ends)


def _led_by(
    word: str, name: str, means: Interval | Yearly, text: str, today: date | None
) -> Iterator[AskedDate]:
    """The date behind a word that leads to it ("since", "by", "in"), or behind none."""
    if word not in _SINCE and word not in _UNTIL:
        yield AskedDate(name, "within", means)
        return
    if isinstance(means, Yearly):
        # Every day is since some March: the nearest one is meant.
        nearest = None
        if today is not None:
            nearest = means.coming(today) if speaks_of_future(text) else means.begun(today)
        if nearest is None:
            return
        means = nearest
    if word in _SINCE:
        since = means.end if word == "after" else means.start
        yield AskedDate(name, "since", Interval(since, date.max))
    else:
        until = means.start if word in ("before", "prior to") else means.end
        yield AskedDate(name, "until", Interval(date.min, until))
