"""Vectors of texts that are embedded again and again: names and predicates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from recallm.vectors.arrays import Rows

__all__ = ["RememberedVectors"]

_REMEMBERED = 1 << 13
"""Texts whose vectors are remembered: 12 MB at 384 dimensions."""


class RememberedVectors:
    """The vectors of texts by ``embed``, which is asked once for each text that it is not asked for
    again after thousands of others. Safe to use from several threads.

    >>> def lengths(texts: list[str]) -> Rows:
    ...     print("embeds", texts)
    ...     return np.array([[len(text), 1] for text in texts], np.float32)
    >>> vectors = RememberedVectors(lengths)
    >>> vectors.of(["one", "three"]).tolist()
    embeds ['one', 'three']
    [[3.0, 1.0], [5.0, 1.0]]
    >>> vectors.of(["three", "four"]).tolist()
    embeds ['four']
    [[5.0, 1.0], [4.0, 1.0]]
    """

    def __init__(self, embed: Callable[[list[str]], Rows]) -> None:
        self._embed = embed
        self._known: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}

    def of(self, texts: Sequence[str]) -> Rows:
        """The vector of each text, a row each.

        Raises:
            EmbeddingError: the model failed.

        """
        # The dict is never changed, so that threads need no lock.
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            embedded = dict(zip(new, self._embed(new), strict=True))
            if len(known) + len(new) > _REMEMBERED:
                known = {text: known[text] for text in texts if text in known}
            known = self._known = {**known, **embedded}
        return np.stack([known[text] for text in texts])
