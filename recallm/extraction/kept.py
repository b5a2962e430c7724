"""Extractions that were asked for and not written yet, so that no text is read twice."""

from __future__ import annotations

from collections import OrderedDict

from recallm.forking import new_lock
from recallm.model import Extraction

__all__ = ["KeptExtractions"]

_EACH = 200
"""Characters that an extraction weighs beside those of its text."""


class KeptExtractions:
    """Extractions by their text and speaker; the oldest go once they weigh more than
    ``characters``, each as much as its text has and ``_EACH`` more. Safe to use from several
    threads."""

    def __init__(self, characters: int) -> None:
        self._room = self._limit = characters
        self._kept: OrderedDict[tuple[str, str | None], Extraction] = OrderedDict()
        self._lock = new_lock()

    def keep(self, text: str, speaker: str | None, extraction: Extraction) -> None:
        """Keep one until it is taken, or forced out."""
        if _weight(text) > self._limit:
            return
        with self._lock:
            if (text, speaker) not in self._kept:
                self._kept[text, speaker] = extraction
                self._room -= _weight(text)
            while self._room < 0:
                (oldest, _), _ = self._kept.popitem(last=False)
                self._room += _weight(oldest)

    def get(self, text: str, speaker: str | None) -> Extraction | None:
        """The extraction of this text, which stays kept; None if there is none."""
        with self._lock:
            return self._kept.get((text, speaker))

    def take(self, text: str, speaker: str | None) -> Extraction | None:
        """The extraction of this text, which is kept no longer; None if there is none."""
        with self._lock:
            found = self._kept.pop((text, speaker), None)
            if found is not None:
                self._room += _weight(text)
            return found


def _weight(text: str) -> int:
    return len(text) + _EACH
