"""Exact tokens: how words that are no content words can be found at all.

Extraction keeps the stems of content words. "of", "IT", "mmm", "🍕" and "..." are none; a question
of nothing else would find nothing. Such words become terms of their own kind, exact tokens, where
nothing else stands for what was said:

* an emoji, an interjection that is no stop word, and an acronym that is spelt like a function word
  ("IT", "WHO"), wherever they stand;
* all words of a part together (a statement's parts end at colons), where the part has no stem and
  none of these: "yes it is" is one token. A part without words is known by its punctuation.

Only a question without concepts and content words, or of one word, looks for exact tokens, and no
length of a statement counts them: what other questions find does not depend on them.
"""

from __future__ import annotations

__all__ = ["content", "exact", "is_exact", "spelt"]

_MARK = '"'
"""No stem begins with it."""


def exact(*words: str) -> str:
    """The term of an exact token of one word, or of several."""
    return "".join(_MARK + word for word in words)


def is_exact(term: str) -> bool:
    """Whether a term is an exact token."""
    return term.startswith(_MARK)


def content(terms: tuple[str, ...]) -> tuple[str, ...]:
    """The stems of content words among ``terms``, those of a statement or of several."""
    if _MARK not in "".join(terms):  # most have none: one look in place of one for each term
        return terms
    return tuple(term for term in terms if not term.startswith(_MARK))


def spelt(term: str) -> str:
    """A term for people to read: an exact token without its marks."""
    return term[len(_MARK) :].replace(_MARK, " ") if is_exact(term) else term
