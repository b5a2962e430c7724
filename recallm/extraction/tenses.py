"""Tense, person and negation by the forms of words.

Part-of-speech tags are needed, finer ones are not: what is said of a statement must not depend
on whether a spaCy pipeline also knows Penn tags or morphology.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spacy.symbols import ADV, AUX, NOUN, PART, PROPN, VERB

from recallm.extraction.irregular import BARE_PARTICIPLES, BARE_PASTS, PASTS, without_prefix
from recallm.extraction.marks import Mark, listed
from recallm.model import Trait

__all__ = ["tense_marks", "tenses"]

_PRESENT = listed("am is are 'm 're 's ’m ’re ’s m re has have 've ’ve ve do does ai")
_FUTURE = listed("will 'll ’ll ll wo shall gonna gon finna")
_GOVERNS = listed(
    "to did do does can could may might must should would will 'll ’ll ll wo shall ca let lets "
    "cannot ought na 'd ’d"
)
_FIRST_PERSON = listed("i me my mine myself we us our ours ourselves im i'm i’m ive i've i’ve")
_HAVE = listed("have has had having 've ’ve")
_BE = listed("am is are was were be been being 's ’s 're ’re 'm ’m")
_READ = listed("read reread misread")
_SINGULAR = listed("he she it who somebody someone everybody everyone nobody")
_NEGATIONS = listed(
    "not n't n’t nt no never none nobody nothing nowhere neither nor without cannot"
)
_PAST_TENSE: Final = int(Trait.PAST)
_PRESENT_TENSE: Final = int(Trait.PRESENT)
_FUTURE_TENSE: Final = int(Trait.FUTURE)
_NOT_PAST: Final = ("eed", "embed", "shred")


def tense_marks(lowered: str) -> int:
    """What a word in lower case says of tense, person and negation."""
    marks = 0
    form = without_prefix(lowered)
    if form in PASTS or (
        lowered.endswith("ed") and len(lowered) > 3 and not lowered.endswith(_NOT_PAST)
    ):
        marks |= Mark.PAST
    if form in BARE_PASTS:
        marks |= Mark.BARE_PAST
    if form in BARE_PARTICIPLES:
        marks |= Mark.BARE_PARTICIPLE
    if lowered in _PRESENT:
        marks |= Mark.PRESENT
    if lowered in _FUTURE:
        marks |= Mark.FUTURE
    if lowered in _GOVERNS:
        marks |= Mark.GOVERNS
    if lowered == "going":
        marks |= Mark.GOING
    if lowered in _FIRST_PERSON:
        marks |= Mark.FIRST_PERSON
    if lowered in _NEGATIONS:
        marks |= Mark.NEGATION
    return marks


def tenses(marks: Sequence[int], tags: Sequence[int], lowered: Sequence[str]) -> Trait:
    """The tenses of a statement's verbs.

    A perfect counts as past (what it tells has happened), "going to" with a verb as future. A
    verb after "to", a modal or "do" says nothing: the word before it does. A base that is its own
    past ("put") is past behind "have" and "be", and behind a subject that would have it end in "s".
    """
    found = 0
    governed = False
    for i, tag in enumerate(tags):
        mark = marks[i]
        if tag in (AUX, VERB):
            if mark & Mark.FUTURE or (mark & Mark.GOING and _goes_to_a_verb(i, tags, lowered)):
                found |= _FUTURE_TENSE
            elif (
                mark & Mark.PAST
                or (mark & Mark.BARE_PARTICIPLE and _is_participle(i, tags, lowered))
                or (mark & Mark.BARE_PAST and not governed and _is_past(i, tags, lowered))
            ):
                found |= _PAST_TENSE
            elif not governed and (
                mark & Mark.PRESENT or (tag == VERB and not lowered[i].endswith("ing"))
            ):
                found |= _PRESENT_TENSE
            if tag == VERB:
                governed = False
        if mark & Mark.GOVERNS:
            governed = True
    return Trait(found)


def _is_participle(i: int, tags: Sequence[int], lowered: Sequence[str]) -> bool:
    """Whether a verb stands behind a form of "have", or just behind one of "be"."""
    before = i - 1
    while before >= 0 and tags[before] not in (AUX, VERB):
        before -= 1
    return before >= 0 and (
        lowered[before] in _HAVE
        or (lowered[before] in _BE and all(tag in (ADV, PART) for tag in tags[before + 1 : i]))
    )


def _is_past(i: int, tags: Sequence[int], lowered: Sequence[str]) -> bool:
    """Whether a base that is its own past is meant as that: nearly always where it is "read"."""
    if lowered[i] in _READ:
        return True
    before = i - 1
    while before >= 0 and tags[before] == ADV:
        before -= 1
    return before >= 0 and (
        lowered[before] in _SINGULAR
        or tags[before] == PROPN
        or (tags[before] == NOUN and not lowered[before].endswith("s"))
    )


def _goes_to_a_verb(i: int, tags: Sequence[int], lowered: Sequence[str]) -> bool:
    return i + 2 < len(tags) and lowered[i + 1] == "to" and tags[i + 2] in (AUX, VERB)
