"""Cutting forgotten statements out of a passage's text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["redact"]


def redact(
    text: str, spans: Sequence[tuple[int, int]], drop: Collection[int]
) -> tuple[str, list[tuple[int, int]]]:
    """Cut the spans with the indexes ``drop`` out of ``text``.

    ``spans`` are ascending (start, end) character offsets that do not overlap; what stands between
    two spans goes with the one before it, what stands before the first goes with the first, and
    what is left at the end is stripped of trailing white space.
    Returns the remaining text and the new spans of the kept statements, in order.
    """
    kept: list[str] = []
    moved: list[tuple[int, int]] = []
    length = 0
    for index, (start, end) in enumerate(spans):
        if index in drop:
            continue
        begin = 0 if index == 0 else start
        stop = spans[index + 1][0] if index + 1 < len(spans) else len(text)
        moved.append((length + start - begin, length + end - begin))
        kept.append(text[begin:stop])
        length += stop - begin
    remaining = "".join(kept)
    tail = moved[-1][1] if moved else 0
    return remaining[:tail] + remaining[tail:].rstrip(), moved
