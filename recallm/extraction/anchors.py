"""The anchor of a question: the value before, after or at the time of which it asks for a state.

"Where did Ingrid live before Porto?" asks for the state before ``Porto``; "Which job did she have
when she lived in Oslo?" for the state at the time of ``she lived in Oslo``. What the question asks
for is the rest: its words are searched, the anchor only fixes a place in the history. A question
that asks when something happened has no anchor, and a date is none (``temporal_rules``).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from recallm.extraction.english import ENGLISH
from recallm.extraction.stems import stem
from recallm.model import AnchorRelation, TemporalAnchor, TemporalReading

__all__ = ["temporal_anchor", "with_anchor"]

_WORDS = ENGLISH["anchors"]


def _one_of(key: str) -> str:
    return "|".join(re.escape(phrase.strip()) for phrase in _WORDS[key].split(","))


_ASKING = rf"(?:(?:in|at|on|for|with|by|to|from) )?(?:{_one_of('asking')})\b"
_RELATIONS: dict[AnchorRelation, str] = {
    "before": _one_of("before"),
    "after": _one_of("after"),
    "at": _one_of("at"),
}
_RELATION = "|".join(rf"(?P<{relation}>{phrases})" for relation, phrases in _RELATIONS.items())
_NOTHING = rf"(?:{_one_of('no_anchor')})(?:\W|$)"
"""What behind "before" or "after" names no value: "before that", "after lunch"."""
_BEHIND = re.compile(
    rf"(?:^|(?<=[.!?] ))(?P<asked>(?i:{_ASKING}).{{3,200}}?)\s"
    rf"(?:(?:{_one_of('nearness')})\s)?(?:{_RELATION})\s(?!{_NOTHING})"
    rf"(?P<anchor>.{{2,100}}?)"
    rf"(?P<person>\sfor\s[A-Z][\w'’-]*|\s(?:in|at)\s[A-Z]\w*['’]s(?: \w+)?)?$"
)
_IN_FRONT = re.compile(
    rf"(?:^|(?<=[.!?] ))(?:(?:{_one_of('nearness')})\s)?(?:{_RELATION})\s(?!{_NOTHING})"
    rf"(?P<anchor>.{{2,100}}?),\s(?P<asked>{_ASKING}.{{3,200}})$",
    re.IGNORECASE,
)
_PAST = re.compile(rf"\b(?:{_one_of('past')})\b")
_PRESENT = re.compile(rf"\b(?:{_one_of('present')})\b")
"""With one of these alone a question asks for no history: "What does she do when it rains?"."""
_MOST_CHARACTERS = 400
"""Only the last characters of a long text are read: a question stands at its end."""
_AMOUNT = re.compile(r"\bhow (?:many|much|long|often|old)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def temporal_anchor(text: str, terms: Collection[str]) -> TemporalAnchor | None:
    """The anchor of a question whose content stems are ``terms``; None where it has none."""
    plain = " ".join(text.split())[-_MOST_CHARACTERS:].rstrip(" ?.!")
    found = _BEHIND.search(plain) or _IN_FRONT.search(plain)
    if found is None:
        return None
    parts = found.groupdict()
    relation: AnchorRelation = next(relation for relation in _RELATIONS if parts[relation])
    asked = f"{parts['asked']}{parts.get('person') or ''}"
    if _AMOUNT.search(asked) or (_PRESENT.search(asked) and not _PAST.search(asked)):
        return None
    stems = _stems(asked)
    own = tuple(term for term in terms if term in _stems(parts["anchor"]) and term not in stems)
    if not own:
        return None
    return TemporalAnchor(relation=relation, asked=asked, text=parts["anchor"], terms=own)


def with_anchor(reading: TemporalReading, anchor: TemporalAnchor | None) -> TemporalReading:
    """The reading with its anchor, which takes the place of every other order in time. Dates come
    first: a question that names one has no anchor."""
    if anchor is None or reading.window != "none":
        return reading
    state = "then" if anchor.relation == "at" else f"{anchor.relation} it"
    return replace(
        reading,
        intent="historical",
        recency=0.0,
        order="any",
        previous=False,
        anchor=anchor,
        rules=(f"{anchor.relation} <{anchor.text}> → the state {state}",),
    )


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text.lower().replace("'s", ""))}
