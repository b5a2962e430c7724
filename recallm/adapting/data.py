"""Recalled text as data in the prompt of a framework, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable

from recallm.memory import RecallM
from recallm.results import RecalledContext
from recallm.untrusted_text import as_data

__all__ = ["bounded", "overhead"]

_TRIES = 8


def overhead(memory: RecallM) -> int:
    """The tokens that the delimiters take by themselves, by the memory's counter."""
    return memory.count_tokens(as_data("\n"))


def bounded(
    memory: RecallM,
    recall: Callable[[int | None], RecalledContext],
    max_tokens: int | None,
) -> str:
    """What ``recall`` (of so many tokens) gives, as data of at most ``max_tokens`` with delimiters
    and all, by the memory's counter; '' where nothing fits."""
    if max_tokens is None:
        return as_data(recall(None).text)
    room = max_tokens - overhead(memory)
    for _ in range(_TRIES):
        if room <= 0:
            break
        text = as_data(recall(room).text)
        over = memory.count_tokens(text) - max_tokens
        if over <= 0:
            return text
        # A counter of its own may count the marks, or their neighbours, otherwise.
        room -= max(over, room // 8)
    return ""
