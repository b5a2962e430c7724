"""Names that the tagger missed, by their capital.

Small pipelines take unusual first names for adverbs or verbs, above all in questions ("What is
Elise doing?"), where the name is what matters.
"""

from __future__ import annotations

from dataclasses import replace

from spacy.symbols import ADJ, ADP, ADV, INTJ, PROPN, SCONJ, VERB, X

from recallm.extraction.marks import Mark
from recallm.extraction.pipeline import TaggedText

__all__ = ["with_names"]

_MISTAKEN = frozenset({ADP, ADV, INTJ, SCONJ, VERB, X})
_MISTAKEN_IN_QUESTIONS = _MISTAKEN | {ADJ}
_NEVER = Mark.PRONOUN | Mark.EDGE | Mark.ASKS | Mark.AUXILIARY


def with_names(tagged: TaggedText, *, asked: bool) -> TaggedText:
    """The block with proper nouns where the tagger missed them.

    A word is one if it has a capital first letter and others that are small, stands behind
    another word in its sentence, and was tagged an adverb, a verb or the like; in a question
    (``asked``) also an adjective: a concept too many does no harm there. Blocks in which most
    words have a capital, such as headlines, are left alone.
    """
    mistaken = _MISTAKEN_IN_QUESTIONS if asked else _MISTAKEN
    words, tags = tagged.words, tagged.tags
    found = [
        i
        for i in range(1, len(words))
        if words[i].capital
        and tags[i] in mistaken
        and not words[i].marks & _NEVER
        and not tagged.begins[i]
        and words[i - 1].is_word
        and words[i].text[1:].islower()
    ]
    if not found:
        return tagged
    capitals = sum(word.capital for word in words)
    if 2 * capitals > sum(word.is_word for word in words) + 1:
        return tagged
    corrected = list(tags)
    for i in found:
        corrected[i] = PROPN
    return replace(tagged, tags=corrected)
