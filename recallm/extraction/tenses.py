"""Tense, person and negation by the forms of words.

Part-of-speech tags are needed, finer ones are not: what is said of a statement must not depend
on whether a spaCy pipeline also knows Penn tags or morphology.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spacy.symbols import AUX, VERB

from recallm.extraction.marks import Mark, listed
from recallm.model import Trait

__all__ = ["tense_marks", "tenses"]

_IRREGULAR_PAST = listed(
    "was were been had did done went gone said told got gotten made came became took taken gave "
    "given saw seen knew known thought found felt left kept met brought bought built sent "
    "spent lost held heard ran began begun wrote written read spoke spoken broke broken chose "
    "chosen drove driven ate eaten fell fallen flew flown forgot forgotten forgave froze frozen "
    "grew grown hid hidden rode ridden rose risen sang sung sank sunk sat slept sold shot shook "
    "shaken stood stole stolen stuck struck swam swum swept swore sworn taught threw thrown "
    "understood woke woken wore worn won dreamt burnt learnt meant paid led laid lay lain lit "
    "drew drawn drank drunk dug fed fought fled hung knelt lent caught blew blown bit "
    "bitten bled bred bent bound beaten awoke bore born borne agreed disagreed freed "
    "guaranteed refereed shone showed shown spun spat sprang tore torn wept wound withdrew "
    "withdrawn used"
)
_PRESENT = listed("am is are 'm 're 's ’m ’re ’s m re has have 've ’ve ve do does ai")
_FUTURE = listed("will 'll ’ll ll wo shall gonna gon finna")
_GOVERNS = listed(
    "to did do does can could may might must should would will 'll ’ll ll wo shall ca let lets "
    "cannot ought na 'd ’d"
)
_FIRST_PERSON = listed("i me my mine myself we us our ours ourselves im i'm i’m ive i've i’ve")
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
    if lowered in _IRREGULAR_PAST or (
        lowered.endswith("ed") and len(lowered) > 3 and not lowered.endswith(_NOT_PAST)
    ):
        marks |= Mark.PAST
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
    verb after "to", a modal or "do" says nothing: the word before it does.
    """
    found = 0
    governed = False
    for i, tag in enumerate(tags):
        mark = marks[i]
        if tag in (AUX, VERB):
            if mark & Mark.FUTURE or (mark & Mark.GOING and _goes_to_a_verb(i, tags, lowered)):
                found |= _FUTURE_TENSE
            elif mark & Mark.PAST:
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


def _goes_to_a_verb(i: int, tags: Sequence[int], lowered: Sequence[str]) -> bool:
    return i + 2 < len(tags) and lowered[i + 1] == "to" and tags[i + 2] in (AUX, VERB)
