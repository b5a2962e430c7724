"""Recalled text that ``Memory`` truncates: whole statements go, the oldest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from recallm.adapting import CLOSING, PREFIXES, as_data

_HEAD, _, _TAIL = as_data("\0").partition("\0")
"""What stands before and after the recalled statements."""


def truncated(
    text: str,
    *,
    by_tokens: int,
    tokenizer: Callable[[str], Sequence[Any]],
    separator: str,
) -> str | None:
    """``text`` with its delimiters, without its first statements, shorter by at least
    ``by_tokens``; None where no statement is left, or where ``text`` is no recalled text.
    ``separator`` stands between the statements: lines or paragraphs."""
    if not (text.startswith(_HEAD) and CLOSING in text):
        return None
    if by_tokens <= 0:
        return text
    shorter = _without_first(text.removeprefix(_HEAD).removesuffix(_TAIL), separator)
    max_tokens = len(tokenizer(text)) - by_tokens
    return next(
        (shown for shown in map(as_data, shorter) if len(tokenizer(shown)) <= max_tokens), None
    )


def _without_first(text: str, separator: str) -> Iterator[str]:
    """The text without its first part, without the first two, and so on; what stands above the
    statements stays."""
    parts = text.split(separator)
    above = [part for part in parts[:1] if part in PREFIXES]
    for first in range(len(above) + 1, len(parts)):
        yield separator.join((*above, *parts[first:]))
