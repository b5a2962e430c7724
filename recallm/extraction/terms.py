"""Terms: the stems of a statement's content words, as the ranking counts them."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.symbols import ADJ, ADP, ADV, AUX, CCONJ, DET, NOUN, NUM, PART, PRON, PROPN, VERB, X

from recallm.extraction.blocks import Span
from recallm.extraction.concepts import Entities
from recallm.extraction.marks import Mark
from recallm.extraction.words import Word

__all__ = ["terms"]

_CONTENT = frozenset({NOUN, PROPN, VERB, ADJ, ADV, NUM, X})
_NAMES = frozenset({NOUN, PROPN, NUM, X})
_NEVER = frozenset({ADP, AUX, CCONJ, DET, PART, PRON})
_NUMBER = Mark.DIGITS | Mark.TIME_NUMBER


def terms(
    words: Sequence[Word], tags: Sequence[int], span: Span, found: Entities, *, shouted: bool
) -> list[str]:
    """The stems of nouns, names, verbs, adjectives, adverbs and numbers, in textual order.

    Words that say nothing by themselves ("be", "very") are left out, unless they are names
    ("Will"); "not" is no content word.
    Words of entities (``found``: those within the sentence) count whatever the tagger says, but
    for "of", "the" and the like.
    """
    start, end = span
    stems: list[str] = []
    named = {i for first, last, _ in found for i in range(first, last)} if found else ()
    for i in range(start, end):
        word, tag = words[i], tags[i]
        if not word.is_word or (word.stops and tag != PROPN):
            continue
        if (
            tag in _CONTENT
            or word.beyond_latin
            or word.marks & _NUMBER
            or (i in named and tag not in _NEVER)
        ):
            if word.marks & Mark.PRONOUN:
                continue
            if word.terms is not None:
                stems.extend(word.terms)
            else:
                stems.append(_stem(word, tag, shouted))
    return stems


def _stem(word: Word, tag: int, shouted: bool) -> str:
    """The stem that a word has by its tag: "saw" is see as a verb and a saw as a noun."""
    if tag == VERB:
        return word.verb
    if tag in _NAMES and not shouted and word.acronym != word.stem:
        return word.acronym
    return word.noun if tag == NOUN else word.stem
