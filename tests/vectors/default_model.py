"""Whether the default embedding model can be had: no package registry holds it."""

from __future__ import annotations

from functools import cache

from recallm import EmbeddingError
from recallm.vectors.minilm import mini_lm

__all__ = ["why_absent"]


@cache
def why_absent() -> str | None:
    """Why the model is not here; None where it is. Fetches it where that is possible."""
    try:
        mini_lm().question("Is it there?")
    except EmbeddingError as error:
        return f"the default embedding model is not here and cannot be fetched: {error}"
    return None
