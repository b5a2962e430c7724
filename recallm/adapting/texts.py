"""Texts as a store can keep them, and names for them."""

from __future__ import annotations

import hashlib

__all__ = ["digest", "shortened", "storable"]

_LONGEST_QUESTION = 4000
"""Characters of what the user says that recall asks with."""


def storable(text: str) -> str:
    """``text`` with question marks for lone surrogates, which can be stored nowhere."""
    return text.encode("utf-8", "replace").decode("utf-8")


def digest(*parts: str) -> str:
    """A name for what depends on all these parts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def shortened(question: str) -> str:
    """The beginning and the end of a long question: what is asked about a document that a user
    hands in stands before it or after it."""
    if len(question) <= _LONGEST_QUESTION:
        return question
    half = _LONGEST_QUESTION // 2
    return f"{question[:half]}\n{question[-half:]}"
