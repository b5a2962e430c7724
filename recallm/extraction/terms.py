"""Terms: the stems of a statement's content words, as the ranking counts them, and its exact
tokens (``recallm.exact``)."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.symbols import (
    ADJ,
    ADP,
    ADV,
    AUX,
    CCONJ,
    DET,
    INTJ,
    NOUN,
    NUM,
    PART,
    PRON,
    PROPN,
    VERB,
    X,
)

from recallm.exact import exact
from recallm.extraction.blocks import Span
from recallm.extraction.concepts import Entities
from recallm.extraction.marks import Mark
from recallm.extraction.words import LONGEST_WORD, Word

__all__ = ["terms"]

_CONTENT = frozenset({NOUN, PROPN, VERB, ADJ, ADV, NUM, X})
_NAMES = frozenset({NOUN, PROPN, NUM, X})
_NEVER = frozenset({ADP, AUX, CCONJ, DET, PART, PRON})
_NUMBER = Mark.DIGITS | Mark.TIME_NUMBER
_ENDS_PART = ":"
_MOST_WORDS = 16
"""Of a part without content words, so many of the first make its exact token."""


def terms(
    words: Sequence[Word], tags: Sequence[int], span: Span, found: Entities, *, shouted: bool
) -> list[str]:
    """The stems of nouns, names, verbs, adjectives, adverbs and numbers, in textual order, then
    the exact tokens, each once.

    Words that say nothing by themselves ("be", "very") are left out, unless they are names
    ("Will"); "not" is no content word.
    Words of entities (``found``: those within the sentence) count whatever the tagger says, but
    for "of", "the" and the like.
    """
    start, end = span
    stems: list[str] = []
    tokens: list[str] = []
    dropped: list[Word] = []
    known = False
    named = {i for first, last, _ in found for i in range(first, last)} if found else ()
    for i in range(start, end):
        word, tag = words[i], tags[i]
        if (
            word.is_word
            and not (word.stops and tag != PROPN)
            and not word.marks & Mark.PRONOUN
            and (
                tag in _CONTENT
                or word.beyond_latin
                or word.marks & _NUMBER
                or (i in named and tag not in _NEVER)
            )
        ):
            known = True
            if word.terms is not None:
                stems.extend(word.terms)
            else:
                stems.append(_stem(word, tag, shouted))
        elif word.text == _ENDS_PART:
            tokens += () if known else _together(dropped)
            dropped, known = [], False
        elif word.is_symbol or (
            word.is_word and not word.stops and (tag == INTJ or (word.capitals and not shouted))
        ):
            known = True
            tokens.append(exact(word.stem or word.lowered))
        else:
            dropped.append(word)
    tokens += () if known else _together(dropped)
    return stems + list(dict.fromkeys(tokens)) if tokens else stems


def _together(words: Sequence[Word]) -> tuple[str, ...]:
    """The exact token of a part of which nothing else is known; none of an empty one."""
    read = [word.stem for word in words if word.is_word] or [
        word.lowered[:LONGEST_WORD] for word in words if not word.lowered.isspace()
    ]
    return (exact(*read[:_MOST_WORDS]),) if read else ()


def _stem(word: Word, tag: int, shouted: bool) -> str:
    """The stem that a word has by its tag: "saw" is see as a verb and a saw as a noun."""
    if tag == VERB:
        return word.verb
    if tag in _NAMES and not shouted and word.acronym != word.stem:
        return word.acronym
    return word.noun if tag == NOUN else word.stem
