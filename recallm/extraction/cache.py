"""The cache of extractions that wait for their update, so that no text is extracted twice."""

from __future__ import annotations

from collections import OrderedDict

from recallm.forking import new_lock
from recallm.model import Extraction

__all__ = ["ExtractionCache"]

_OVERHEAD = 200
"""Characters: the size of an extraction beside its text."""


class ExtractionCache:
    """Extractions by text and speaker. Safe for several threads.

    The size of an entry is the length of its text and a constant overhead. The oldest entries are
    dropped when all together exceed ``max_characters``.
    """

    def __init__(self, max_characters: int) -> None:
        self._free = self._max_characters = max_characters
        self._entries: OrderedDict[tuple[str, str | None], Extraction] = OrderedDict()
        self._lock = new_lock()

    def add(self, text: str, speaker: str | None, extraction: Extraction) -> None:
        """Store an extraction; one that is larger than the whole cache is not stored."""
        if _size(text) > self._max_characters:
            return
        with self._lock:
            if (text, speaker) not in self._entries:
                self._entries[text, speaker] = extraction
                self._free -= _size(text)
            while self._free < 0:
                (oldest, _), _ = self._entries.popitem(last=False)
                self._free += _size(oldest)

    def get(self, text: str, speaker: str | None) -> Extraction | None:
        """The extraction of a text, None if it is not stored."""
        with self._lock:
            return self._entries.get((text, speaker))

    def pop(self, text: str, speaker: str | None) -> Extraction | None:
        """Remove and return the extraction of a text, None if it is not stored."""
        with self._lock:
            found = self._entries.pop((text, speaker), None)
            if found is not None:
                self._free += _size(text)
            return found


def _size(text: str) -> int:
    return len(text) + _OVERHEAD
