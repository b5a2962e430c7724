"""Recalled texts that ``Memory`` truncates: whole statements go, the least relevant first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from recallm import RecalledContext, RecalledStatement
from recallm.adapting import CLOSING, PREFIXES, as_data, new_lock, statements_text

_MAX_TEXTS = 256
_HEAD, _, _TAIL = as_data("\0").partition("\0")
"""What stands before and after the recalled statements."""


class RecalledTexts:
    """The texts that were recalled last, with their statements; safe to use from several
    threads."""

    def __init__(self) -> None:
        self._statements: OrderedDict[str, tuple[RecalledStatement, ...]] = OrderedDict()
        self._lock = new_lock()

    def add(self, text: str, context: RecalledContext) -> None:
        """Keep the statements of ``text``, which shows ``context`` as data."""
        statements = context.statements
        if any(
            statement.score is None for statement in statements
        ) or context.text != statements_text(statements):
            return  # nothing says which are relevant, or the text is more than its statements
        with self._lock:
            self._statements[text] = statements
            self._statements.move_to_end(text)
            if len(self._statements) > _MAX_TEXTS:
                self._statements.popitem(last=False)

    def truncated(
        self,
        text: object,
        *,
        by_tokens: int,
        tokenizer: Callable[[str], Sequence[Any]],
        separator: str,
    ) -> str | None:
        """``text`` with its delimiters, without its least relevant statements (the first parts,
        where its statements are not kept), shorter by at least ``by_tokens``; None where no
        statement is left, or where ``text`` is no recalled text. ``separator`` stands between
        the parts: lines or paragraphs."""
        if not (isinstance(text, str) and text.startswith(_HEAD) and CLOSING in text):
            return None
        if by_tokens <= 0:
            return text
        with self._lock:
            statements = self._statements.get(text)
        if statements is None:
            shorter = _without_first(text.removeprefix(_HEAD).removesuffix(_TAIL), separator)
        else:
            shorter = _without_worst(statements)
        max_tokens = len(tokenizer(text)) - by_tokens
        return next(
            (shown for shown in map(as_data, shorter) if len(tokenizer(shown)) <= max_tokens), None
        )


def _without_worst(statements: Sequence[RecalledStatement]) -> Iterator[str]:
    """The text without the worst of the statements, without the two worst, and so on."""
    worst_first = sorted(range(len(statements)), key=lambda place: statements[place].score or 0.0)
    for dropped in range(1, len(statements)):
        yield statements_text([statements[place] for place in sorted(worst_first[dropped:])])


def _without_first(text: str, separator: str) -> Iterator[str]:
    """The text without its first part, without the first two, and so on; what stands above the
    statements stays."""
    parts = text.split(separator)
    above = [part for part in parts[:1] if part in PREFIXES]
    for first in range(len(above) + 1, len(parts)):
        yield separator.join((*above, *parts[first:]))
