"""Which statement vectors of a namespace are nearest to a question's.

What the store holds is the truth. An index over it is caught up from the store whenever it is
asked: with the vectors of new statements, and, where the revision of the vectors says that others
came or went, with the difference of the keys. So it never matters which process wrote what, nor
when one was cut short.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from recallm.model import VectorState
from recallm.stores.base import GraphReader

__all__ = ["Found", "Vector", "VectorIndex", "VectorView"]

Vector: TypeAlias = npt.NDArray[np.float32]
"""A unit vector, of shape (dimension,)."""

Found: TypeAlias = list[tuple[int, float]]
"""Keys of statements with their cosines, greatest first, of equal ones the latest statement."""


class VectorView(Protocol):
    """The statement vectors of a namespace as they stood when the index was caught up."""

    def nearest(
        self, vector: Vector, limit: int, *, moments: Collection[int] | None = None
    ) -> Found:
        """The ``limit`` nearest statements, of the knowledge updates ``moments`` alone where they
        are given."""
        ...


class VectorIndex(Protocol):
    """Finds the nearest statement vectors of any namespace of one store. Safe for threads.

    ``is_durable``: it keeps vectors where they outlive it, so that it is told at once of those that
    are forgotten.
    """

    is_durable: bool

    def caught_up(self, namespace: str, state: VectorState, reader: GraphReader) -> VectorView:
        """What there is by now; ``reader`` sees everything, ``state`` is what it says."""
        ...

    def emptied(self, namespace: str, state: VectorState | None) -> None:
        """Let go of what is held of a namespace in which everything was forgotten; ``state`` is
        what was said of its vectors before, where that is known."""
        ...

    def close(self) -> None:
        """Let go of what is open; a second call does nothing."""
        ...
