"""What embeddings say of a question: its vector, and which statements lie nearest to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recallm.retrieval.frequencies import Floats

__all__ = ["AskedVector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedVector:
    """A question under an embedding model.

    ``vector`` is a unit vector of shape (dimension,). ``nearest(n)`` gives the keys of the ``n``
    statements of greatest cosine with it, with their cosines, greatest first; fewer where there
    are fewer. Among them may be statements that the view hides: they are read by key before
    anything is made of them.
    """

    model: str
    vector: Floats
    nearest: Callable[[int], Sequence[tuple[int, float]]]
