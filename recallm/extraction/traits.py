"""Traits: what a statement holds that an answer may need."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.symbols import NUM, PROPN

from recallm.extraction.blocks import Span
from recallm.extraction.concepts import ENTITY_TRAITS, Entities
from recallm.extraction.dates import holds_time
from recallm.extraction.marks import Mark, listed
from recallm.extraction.pipeline import TaggedText
from recallm.extraction.tenses import tenses
from recallm.extraction.words import Word
from recallm.model import Trait

__all__ = ["is_question", "traits"]

_MAY_BE_TIME = Mark.TIME | Mark.MAYBE_TIME | Mark.UNIT | Mark.CLOCK
_HOW = listed("many much long often old far tall big about come")
_WITH_NOUN = listed("what which whose")


def traits(tagged: TaggedText, span: Span, found: Entities, text: str) -> Trait:
    """The traits of the sentence ``span`` of a block; ``found`` are the entities within it,
    ``text`` is the sentence's."""
    start, end = span
    words = tagged.words[start:end]
    tags = tagged.tags[start:end]
    marks = [word.marks for word in words]
    seen = 0
    for mark in marks:
        seen |= mark
    result = tenses(marks, tags, [word.lowered for word in words])
    if seen & Mark.FIRST_PERSON:
        result |= Trait.FIRST_PERSON
    if seen & Mark.NEGATION:
        result |= Trait.NEGATION
    if seen & _MAY_BE_TIME and holds_time(marks, tags, [word.capital for word in words]):
        result |= Trait.TIME
    if any(
        (tag == NUM or mark & Mark.DIGITS)
        and not mark & Mark.TIME_NUMBER
        and word.is_word
        and word.lowered not in ("one", "ones")
        for word, tag, mark in zip(words, tags, marks, strict=True)
    ):
        result |= Trait.NUMBER
    if PROPN in tags:
        result |= Trait.NAME
    for first, last, kind in found:
        if first >= start and last <= end:
            result |= ENTITY_TRAITS.get(kind, Trait(0)) | Trait.NAME
    if is_question(text, words):
        result |= Trait.QUESTION
    return result


def is_question(text: str, words: Sequence[Word]) -> bool:
    """Whether a sentence ends in a question mark, or starts like a question and does not end in
    a full stop: a question word with an auxiliary ("what is", "which dog did"), "how many" and
    the like, or an auxiliary with a pronoun ("do you")."""
    if "?" in text and not any(c.isalnum() for c in text[text.rindex("?") :]):
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
