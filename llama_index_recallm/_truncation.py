"""Recalled texts that ``Memory`` truncates: whole statements go, the least relevant first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from recallm import RecalledContext
from recallm.adapting import CLOSING, as_data, new_lock

__all__ = ["RecalledTexts"]

_MAX_TEXTS = 256
_HEAD, _, _TAIL = as_data("\0").partition("\0")
"""What stands before and after the recalled statements."""


class RecalledTexts:
    """The texts that were recalled last, with the score of each line; safe to use from several
    threads."""

    def __init__(self) -> None:
        self._scores: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = new_lock()

    def add(self, text: str, context: RecalledContext) -> None:
        """Keep the scores of the lines of ``text``, which shows ``context`` as data."""
        scores = [it.score for it in context.statements if it.score is not None]
        if len(scores) != context.text.count("\n"):
            return  # the lines after the first one are not a statement each
        with self._lock:
            self._scores[text] = scores
            self._scores.move_to_end(text)
            if len(self._scores) > _MAX_TEXTS:
                self._scores.popitem(last=False)

    def truncated(
        self,
        text: object,
        *,
        by_tokens: int,
        tokenizer: Callable[[str], Sequence[Any]],
        separator: str,
    ) -> str | None:
        """``text`` with its delimiters, without its least relevant statements (the first ones,
        where their scores are not kept), shorter by at least ``by_tokens``; None where no
        statement is left, or where ``text`` is no recalled text. ``separator`` stands between
        statements."""
        if not (isinstance(text, str) and text.startswith(_HEAD) and CLOSING in text):
            return None
        if by_tokens <= 0:
            return text
        first, *lines = text.removeprefix(_HEAD).removesuffix(_TAIL).split(separator)
        with self._lock:
            scores = self._scores.get(text)
        places = range(len(lines))
        worst_first = sorted(places, key=scores.__getitem__) if scores else list(places)
        max_tokens = len(tokenizer(text)) - by_tokens
        for dropped in range(1, len(lines)):
            rest = [lines[place] for place in sorted(worst_first[dropped:])]
            shorter = _HEAD + separator.join((first, *rest)) + _TAIL
            if len(tokenizer(shorter)) <= max_tokens:
                return shorter
        return None
