"""Texts as a store can keep them, and names for them."""

from __future__ import annotations

import hashlib

__all__ = ["digest", "storable"]


def storable(text: str) -> str:
    """``text`` with question marks for lone surrogates, which can be stored nowhere."""
    return text.encode("utf-8", "replace").decode("utf-8")


def digest(*parts: str) -> str:
    """A name for what depends on all these parts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
