"""The cache of texts that were read lately, so that no text runs through the pipeline twice: those
that wait for their update, and those that a discourse goes on from."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from recallm.forking import new_lock

__all__ = ["TextCache"]

_OVERHEAD = 200
"""Characters: the size of an entry beside its text."""

_T = TypeVar("_T")


class TextCache(Generic[_T]):
    """What was read out of texts, by text. Safe for several threads.

    The size of an entry is the length of its text and a constant overhead. The entries that were
    not used for longest are dropped when all together exceed ``max_characters``.
    """

    def __init__(self, max_characters: int) -> None:
        self._free = self._max_characters = max_characters
        self._entries: OrderedDict[str, _T] = OrderedDict()
        self._lock = new_lock()

    def add(self, text: str, value: _T) -> None:
        """Store what was read; a text that is larger than the cache is not stored."""
        if _size(text) > self._max_characters:
            return
        with self._lock:
            if text not in self._entries:
                self._free -= _size(text)
            self._entries[text] = value
            self._entries.move_to_end(text)
            while self._free < 0:
                oldest, _ = self._entries.popitem(last=False)
                self._free += _size(oldest)

    def get(self, text: str) -> _T | None:
        """What was read out of a text, None if it is not stored."""
        with self._lock:
            found = self._entries.get(text)
            if found is not None:
                self._entries.move_to_end(text)
            return found


def _size(text: str) -> int:
    return len(text) + _OVERHEAD
