"""What notebooks show: HTML without scripts and without references to anything outside of it.

Every text is escaped and isolated from the writing direction of what stands around it. Colours are
those of the notebook, so that light and dark themes stay readable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from recallm.ground.untrusted_text import one_line

_QUIET = "opacity:.65;font-size:.85em"
_DIRECTIONS = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{REPLACEMENT CHARACTER}"
)
"""Characters that change the direction of writing."""


def listed_html(
    rows: Iterable[tuple[str, Sequence[str]]],
    *,
    title: str = "",
    note: str = "",
    otherwise: str = "Nothing.",
) -> str:
    """A list of texts, each with what is known about it in small print below. ``otherwise`` stands
    in place of an empty list."""
    items = "".join(f"<li>{_text(text)}{''.join(map(_small, about))}</li>" for text, about in rows)
    head = f"<strong>{_text(title)}</strong>" if title else ""
    listed = f"<ul>{items}</ul>" if items else _small(otherwise)
    return f'<div class="recallm">{head}{_small(note) if note else ""}{listed}</div>'


def _small(text: str) -> str:
    return f'<div style="{_QUIET}">{_text(text)}</div>'


def _text(text: str) -> str:
    return f"<bdi>{escape(one_line(text).translate(_DIRECTIONS))}</bdi>"
