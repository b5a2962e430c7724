"""What a question asks of time: one table of rules (paper, Future Work: a dynamic temporal window).

``RULES``, from ``data/temporal_rules.toml``, are tried from the top. A rule that fires consumes the
words on which it fired, so that no later rule sees them ("last week" is a date, not "last"). It
sets the fields that no earlier rule has set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from recallm.english.word_lists import filled, read_table
from recallm.model import Trait

_TAKEN = "|"
_TENSES = Trait.PAST | Trait.PRESENT | Trait.FUTURE
_DID = re.compile(r"\bdid\b")

_TABLE = read_table("data/temporal_rules.toml")
_PATTERNS: dict[str, str] = _TABLE["patterns"] | {
    name: "|".join(words.split()) for name, words in _TABLE["words"].items()
}


def _phrases(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'@])(?:{filled('|'.join(patterns), _PATTERNS)})(?!\w)")


class Rule:
    """A rule of the table. ``effect`` has the fields of a ``TemporalReading`` that it sets."""

    def __init__(
        self,
        name: str,
        fires: Sequence[str] = (),
        given: Sequence[str] = (),
        unless: Sequence[str] = (),
        tense: str = "",
        sets: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.effect = sets or {}
        self.tense = Trait[tense] if tense else None
        self._fires = _phrases(fires)
        self._given = _phrases(given) if given else None
        self._unless = _phrases(unless) if unless else None

    def apply(self, remaining: str, question: str, tenses: Trait) -> str | None:
        """``remaining`` without the phrases that it fired on; None if it does not fire."""
        if self.tense is not None:
            past = Trait.PAST if _DID.search(question) else Trait(0)
            return remaining if (tenses | past) & _TENSES == self.tense else None
        rest, count = self._fires.subn(_TAKEN, remaining)
        if not count or (self._given and not self._given.search(question)):
            return None
        return None if self._unless and self._unless.search(question) else rest


RULES = tuple(Rule(**row) for row in _TABLE["rules"])
"""Every rule, in the order in which they are tried."""
