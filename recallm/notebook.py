"""What notebooks show: HTML without scripts and without references to anything outside of it.

Every text is escaped and isolated from the writing direction of what stands around it. Colours are
those of the notebook, so that light and dark themes stay readable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from recallm.untrusted_text import one_line

if TYPE_CHECKING:
    from recallm.model import ConceptRow, Passage, Relation
    from recallm.results import RecalledContext, RecalledStatement

__all__ = ["context_html", "graph_html", "listed_html"]

_QUIET = "opacity:.65;font-size:.85em"
_WIDTH, _HEIGHT = 720, 460
_LABEL = 22
"""Characters of a label that a drawing shows."""
_WIDEST = 6.0
"""Width of the line of a strong relation."""
_SHOWN_SIGNALS = 5
"""Contributions of a statement that are shown, the greatest first."""


# Recalled contexts, and lists of statements.


def context_html(context: RecalledContext) -> str:
    """The question, what it asks about time, and the recalled statements."""
    time = "" if context.time is None else "; ".join(context.time.rules)
    read = f'<p style="{_QUIET}">{_text(time)}</p>' if time else ""
    head = f"<p><strong>{_text(context.question)}</strong></p>{read}"
    return listed_html(context.statements, head=head, otherwise="Nothing recalled.")


def listed_html(
    shown: Sequence[RecalledStatement | Passage], *, head: str = "", otherwise: str = "Nothing."
) -> str:
    """Statements, or passages, each with what is known about it. Those that were recalled also have
    a score, their strongest signals and the path. ``otherwise`` stands where there is none."""
    if not shown:
        return f'<div class="recallm">{head}<p style="{_QUIET}">{otherwise}</p></div>'
    items = "".join(map(_item, shown))
    style = "padding-left:0;list-style:none;max-width:60em"
    return f'<div class="recallm">{head}<ol style="{style}">{items}</ol></div>'


def _item(shown: RecalledStatement | Passage) -> str:
    about = [f"t={shown.t_index}"]
    if shown.timestamp is not None:
        about.append(shown.timestamp.isoformat(" ", "minutes"))
    if shown.speaker is not None:
        about.append(shown.speaker)
    score: float | None = getattr(shown, "score", None)
    if score is not None:
        about.append(f"p={score:.2f}")
    signals: Mapping[str, float] = getattr(shown, "contributions", {})
    strongest = sorted(signals.items(), key=lambda item: (-abs(item[1]), item[0]))
    reasons = [f"{name} {part:+.2f}" for name, part in strongest[:_SHOWN_SIGNALS] if part]
    reasons += getattr(shown, "path", ()) if signals else ()
    lines = "".join(f'<div style="{_QUIET}">{_text(reason)}</div>' for reason in reasons)
    why = f'<summary style="{_QUIET}">why</summary>'
    return (
        '<li style="margin:0 0 .8em;padding-left:.8em;border-left:3px solid rgba(128,128,128,.35)">'
        f"<div>{_text(shown.text)}</div>"
        f'<div style="{_QUIET}">{" · ".join(map(_text, about))}</div>'
        f"{f'<details>{why}{lines}</details>' if lines else ''}</li>"
    )


# Graphs.


def graph_html(
    concepts: Sequence[ConceptRow], relations: Sequence[Relation], *, t_index: int, more: bool
) -> str:
    """A drawing of the first concept with its neighbours in a ring around it, as inline SVG. The
    width of a line is the strength of its relation."""
    if not concepts:
        return f'<p class="recallm">No such concept at t={t_index}.</p>'
    middle, ring = (_WIDTH / 2, _HEIGHT / 2), len(concepts) - 1
    angles = [2 * math.pi * place / ring - math.pi / 2 for place in range(ring)]
    around = ((middle[0] + 280 * math.cos(it), middle[1] + 190 * math.sin(it)) for it in angles)
    places = dict(zip((it.name for it in concepts), (middle, *around), strict=True))
    lines = "".join(_line(it, places[it.a], places[it.b]) for it in relations)
    nodes = "".join(_node(it, *places[it.name], is_centre=it is concepts[0]) for it in concepts)
    left_out = ", and it has more" if more else ""
    caption = (
        f"{concepts[0].label}: {ring} neighbours, {len(relations)} relations at t={t_index}"
        f"{left_out}"
    )
    return (
        f'<figure class="recallm" style="margin:0;max-width:{_WIDTH}px">'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" style="width:100%;height:auto">'
        f"<title>{_plain(caption)}</title>{lines}{nodes}</svg>"
        f'<figcaption style="{_QUIET}">{_text(caption)}</figcaption></figure>'
    )


def _line(relation: Relation, one: tuple[float, float], other: tuple[float, float]) -> str:
    width = min(_WIDEST, 1 + 1.1 * math.log2(relation.strength))
    ends = f'x1="{one[0]:.0f}" y1="{one[1]:.0f}" x2="{other[0]:.0f}" y2="{other[1]:.0f}"'
    about = f"{relation.a} — {relation.b}: strength {relation.strength}, t={relation.t_index}"
    return (
        f'<line {ends} stroke="currentColor" stroke-width="{width:.1f}" opacity="0.3">'
        f"<title>{_plain(about)}</title></line>"
    )


def _node(concept: ConceptRow, x: float, y: float, *, is_centre: bool) -> str:
    label = one_line(concept.label)
    shown = label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"
    about = f"{label}: {concept.statements} statements, t={concept.t_index}"
    look = 'fill="currentColor" font-size="13" text-anchor="middle"'
    fill = "#2f6fdd" if is_centre else "#8a94a3"
    return (
        f'<g><title>{_plain(about)}</title><circle cx="{x:.0f}" cy="{y:.0f}" r="7" '
        f'fill="{fill}"/><text x="{x:.0f}" y="{y + 22:.0f}" {look} '
        f'style="unicode-bidi:isolate">{_plain(shown)}</text></g>'
    )


def _plain(text: str) -> str:
    """``text`` on one line, escaped, without characters that change the direction of writing."""
    return escape(one_line(text).translate(_DIRECTIONS))


_DIRECTIONS = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{REPLACEMENT CHARACTER}"
)


def _text(text: str) -> str:
    return f"<bdi>{_plain(text)}</bdi>"
