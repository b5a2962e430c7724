"""A rule of the table in ``recallm.extraction.intents``: when it fires, and what it sets."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from recallm.model import TemporalIntent, TemporalOrder, TemporalWindow, Trait

__all__ = ["Rule", "Sets", "effect"]

_TAKEN = "|"
_TENSES = Trait.PAST | Trait.PRESENT | Trait.FUTURE
_DID = re.compile(r"\bdid\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets:
    """What a rule sets of a ``TemporalReading``; None: nothing."""

    intent: TemporalIntent | None = None
    recency: float | None = None
    order: TemporalOrder | None = None
    window: TemporalWindow | None = None
    previous: bool | None = None
    spread: bool | None = None

    def but(self, found: Collection[str]) -> dict[str, Any]:
        """The fields that it sets, with their values, but for those that are found already."""
        pairs = ((name, getattr(self, name)) for name in self.__slots__ if name not in found)
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True, slots=True)
class Rule:
    """``fires`` on phrases (a regular expression over the words in lower case, one space apart,
    contractions and hyphens split), provided that the question also holds ``given`` and does not
    hold ``unless``; or, where ``tense`` is given, on a question in that tense alone."""

    name: str
    fires: str
    sets: Sets
    given: str = ""
    unless: str = ""
    tense: Trait | None = None
    _patterns: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        patterns = tuple(map(_phrase, (self.fires, self.given, self.unless)))
        object.__setattr__(self, "_patterns", patterns)

    def apply(self, left: str, whole: str, tenses: Trait) -> str | None:
        """``left`` without what it fired on; None where it does not fire."""
        fires, given, unless = self._patterns
        if self.tense is not None:
            past = Trait.PAST if _DID.search(whole) else Trait(0)
            return left if (tenses | past) & _TENSES == self.tense else None
        taken, count = fires.subn(_TAKEN, left)
        if not count or (self.given and not given.search(whole)):
            return None
        return None if self.unless and unless.search(whole) else taken


def _phrase(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'@])(?:{pattern})(?!\w)")


def effect(new: Mapping[str, Any]) -> str:
    """What a rule set, in words: "recency 1, latest first"."""
    parts = [f"recency {new['recency']:g}"] if "recency" in new else []
    if new.get("order", "any") != "any":
        parts.append(f"{new['order']} first")
    if "window" in new:
        parts.append(f"window {new['window']}")
    if "previous" in new:
        parts.append("the state before")
    if "spread" in new:
        parts.append("all of them")
    return ", ".join(parts) or new["intent"]
