"""Traits: what a statement holds that an answer may need: times, numbers, names, tenses.

Part-of-speech tags are read, but no finer ones: what a statement holds must not depend on whether a
spaCy pipeline also knows Penn tags or morphology.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from spacy.symbols import ADV, AUX, NOUN, NUM, PART, PROPN, VERB

from recallm.english.names import ENTITY_TRAITS, Entity
from recallm.english.pipeline import TaggedText
from recallm.english.sentences import Span
from recallm.english.word_lists import ENGLISH, word_set
from recallm.english.words import Word
from recallm.model import Mark, Trait

_MAY_BE_TIME = Mark.TIME | Mark.MAYBE_TIME | Mark.UNIT | Mark.CLOCK
_HOW = word_set(ENGLISH["traits"]["behind_how"])
_WITH_NOUN = word_set(ENGLISH["traits"]["asks_with_noun"])
_HAVE = word_set(ENGLISH["traits"]["have"])
_BE = word_set(ENGLISH["traits"]["be"])
_READ = word_set(ENGLISH["traits"]["read"])
_SINGULAR = word_set(ENGLISH["traits"]["singular_subjects"])
_REQUEST = re.compile(
    r"\W*(?:(?:please|now|so|ok|okay|and)\W+)*"
    r"(?:(?:tell|show|give)\s+(?:me|us)\s+(?:again\s+)?(?:{telling})"
    r"|remind\s+(?:me|us)\s+(?:again\s+)?(?:{asking})"
    r"|(?:list|summari[sz]e)\s+(?:{listing}))\b".format_map(
        {name: "|".join(words.split()) for name, words in ENGLISH["requests"].items()}
    ),
    re.IGNORECASE,
)
"""What asks for an answer like a question: "Tell me about my trip", "List all bands". "Remind me to
call Ann" has content."""
# Plain integers, since they are combined for every verb and every sentence.
_PAST, _PRESENT, _FUTURE = int(Trait.PAST), int(Trait.PRESENT), int(Trait.FUTURE)
_OF_ENTITIES: Final = {kind: int(trait | Trait.NAME) for kind, trait in ENTITY_TRAITS.items()}
_NAME: Final = int(Trait.NAME)
_VERBS: Final = frozenset((AUX, VERB))


def traits(tagged: TaggedText, span: Span, entities: Sequence[Entity], text: str) -> Trait:
    """The traits of a sentence: the tokens ``span`` of a block, with the entities within it and its
    text."""
    start, end = span
    words = tagged.words[start:end]
    tags = tagged.tags[start:end]
    marks = [word.marks for word in words]
    seen = 0
    for mark in marks:
        seen |= mark
    result = int(tenses(marks, tags, [word.lowered for word in words]))
    if seen & Mark.FIRST_PERSON:
        result |= Trait.FIRST_PERSON.value
    if seen & Mark.NEGATION:
        result |= Trait.NEGATION.value
    if seen & _MAY_BE_TIME and mentions_time(marks, tags, [word.is_capitalised for word in words]):
        result |= Trait.TIME.value
    if (seen & Mark.DIGITS or NUM in tags) and any(
        (tag == NUM or mark & Mark.DIGITS)
        and not mark & Mark.TIME_NUMBER
        and word.is_word
        and word.lowered not in ("one", "ones")
        for word, tag, mark in zip(words, tags, marks, strict=True)
    ):
        result |= Trait.NUMBER.value
    if PROPN in tags:
        result |= _NAME
    for first, last, kind in entities:
        if first >= start and last <= end:
            result |= _OF_ENTITIES.get(kind, _NAME)
    if is_question(text, words):
        result |= Trait.QUESTION.value
    return Trait(result)


def mentions_time(marks: Sequence[int], tags: Sequence[int], capitalised: Sequence[bool]) -> bool:
    """Whether a statement mentions any time: a date, a clock time, a duration or a repetition.

    The grammar of ``english.dating`` does not decide this: "at 3 pm", "for ten years" and "every
    day" answer "when" and "how long", but name no day. It is not asked which time is meant.
    ``marks``, ``tags`` (spaCy's part-of-speech symbols) and ``capitalised`` run in parallel.
    """
    for i, mark in enumerate(marks):
        if mark & Mark.TIME:
            return True
        before = marks[i - 1] if i else 0
        if mark & Mark.MAYBE_TIME:
            after = marks[i + 1] if i + 1 < len(marks) else 0
            if (before | after) & Mark.DIGITS or before & Mark.PICKS:
                return True
            if tags[i] == PROPN and capitalised[i] and i:
                return True
        if mark & Mark.UNIT and i:
            if before & Mark.DIGITS or (before & Mark.PICKS and tags[i] in (NOUN, PROPN)):
                return True
            if before & Mark.COUNT and (tags[i] in (NOUN, PROPN) or tags[i - 1] == NUM):
                return True
        if mark & Mark.CLOCK and before & Mark.DIGITS:
            return True
    return False


def tenses(marks: Sequence[int], tags: Sequence[int], lowered: Sequence[str]) -> Trait:
    """The tenses of a statement's verbs.

    A perfect counts as past, since what it tells has happened; "going to" with a verb as future. A
    verb behind "to", a modal or "do" has no tense: the word before it has. A base that is also its
    own past ("put") is past behind "have" and "be", and behind a subject that would need an "s".
    """
    found = 0
    governed = False
    for i, tag in enumerate(tags):
        mark = marks[i]
        if tag in _VERBS:
            is_future = mark & Mark.GOING and lowered[i + 1 : i + 2] == ["to"]
            if mark & Mark.FUTURE or (is_future and not _VERBS.isdisjoint(tags[i + 2 : i + 3])):
                found |= _FUTURE
            elif (
                mark & Mark.PAST
                or (mark & Mark.BARE_PARTICIPLE and _is_participle(i, tags, lowered))
                or (mark & Mark.BARE_PAST and not governed and _is_past(i, tags, lowered))
            ):
                found |= _PAST
            elif not governed and (
                mark & Mark.PRESENT or (tag == VERB and not lowered[i].endswith("ing"))
            ):
                found |= _PRESENT
            if tag == VERB:
                governed = False
        if mark & Mark.GOVERNS:
            governed = True
    return Trait(found)


def _is_participle(i: int, tags: Sequence[int], lowered: Sequence[str]) -> bool:
    """Whether a verb stands behind a form of "have", or just behind one of "be"."""
    before = i - 1
    while before >= 0 and tags[before] not in _VERBS:
        before -= 1
    return before >= 0 and (
        lowered[before] in _HAVE
        or (lowered[before] in _BE and all(tag in (ADV, PART) for tag in tags[before + 1 : i]))
    )


def _is_past(i: int, tags: Sequence[int], lowered: Sequence[str]) -> bool:
    """Whether a base that is also its own past stands in the past; "read" nearly always does."""
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


def is_question(text: str, words: Sequence[Word]) -> bool:
    """Whether a sentence is a question: it ends in a question mark, or it requests an answer ("Tell
    me about …"), or it begins like a question and does not end in a full stop.

    It begins like one with a question word and an auxiliary ("what is", "which dog did"), with
    "how many" and the like, or with an auxiliary and a pronoun ("do you").
    """
    if "?" in text and not any(c.isalnum() for c in text[text.rindex("?") :]):
        return True
    if _REQUEST.match(text):
        return True
    if text.endswith("."):
        return False
    start = [word for word in words[:6] if word.is_word or word.marks & Mark.AUXILIARY]
    if len(start) < 2:
        return False
    first, second = start[0], start[1]
    if not first.marks & Mark.ASKS:
        return bool(first.marks & Mark.AUXILIARY and second.marks & Mark.PRONOUN)
    if second.marks & Mark.AUXILIARY or (first.lowered == "how" and second.lowered in _HOW):
        return True
    third_asks = len(start) > 2 and start[2].marks & Mark.AUXILIARY
    return first.lowered in _WITH_NOUN and bool(third_asks)
