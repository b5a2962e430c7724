"""What notebooks show: HTML without scripts and without references to anything outside of it.

Every text is escaped and isolated from the writing direction of what stands around it. Colours are
those of the notebook, so that light and dark themes stay readable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from recallm.untrusted_text import one_line

if TYPE_CHECKING:
    from recallm.model import ConceptRow, Passage, Relation
    from recallm.results import RecalledContext, RecalledStatement

__all__ = ["context_html", "graph_html", "listed_html"]

_ACCENT = "#2f6fdd"
_QUIET = "opacity:.65;font-size:.85em"
_WIDTH, _HEIGHT = 720, 460
_LABEL = 22
"""Characters of a label that a drawing shows."""
_IN_A_RING = 14
"""Neighbours on one ring; more stand on two."""
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


class _Place(NamedTuple):
    x: float
    y: float


def graph_html(
    concepts: Sequence[ConceptRow], relations: Sequence[Relation], *, t_index: int, more: bool
) -> str:
    """A drawing of the first concept with its neighbours around it, as inline SVG. The width of a
    line is the strength of its relation, its opacity how new it is."""
    if not concepts:
        return f'<p class="recallm">No such concept at t={t_index}.</p>'
    places = dict(zip((it.name for it in concepts), _places(len(concepts)), strict=True))
    oldest = min((it.t_index for it in relations), default=t_index)
    lines = "".join(
        _line(it, places[it.a], places[it.b], _newness(it.t_index, oldest, t_index))
        for it in relations
    )
    nodes = "".join(
        _node(it, places[it.name], is_centre=place == 0) for place, it in enumerate(concepts)
    )
    left_out = ", and it has more" if more else ""
    caption = (
        f"{concepts[0].label}: {len(concepts) - 1} neighbours, {len(relations)} relations "
        f"at t={t_index}{left_out}"
    )
    return (
        f'<figure class="recallm" style="margin:0;max-width:{_WIDTH}px">'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" style="width:100%;height:auto">'
        f"<title>{_plain(caption)}</title>{lines}{nodes}</svg>"
        f'<figcaption style="{_QUIET}">{_text(caption)}</figcaption></figure>'
    )


def _places(number: int) -> Iterator[_Place]:
    """The centre, then the places of the others on one ring or two."""
    yield _Place(_WIDTH / 2, _HEIGHT / 2)
    others = number - 1
    for place in range(others):
        angle = 2 * math.pi * place / others - math.pi / 2
        reach = 0.62 if others > _IN_A_RING and place % 2 else 1.0
        yield _Place(
            _WIDTH / 2 + math.cos(angle) * reach * (_WIDTH / 2 - 80),
            _HEIGHT / 2 + math.sin(angle) * reach * (_HEIGHT / 2 - 40),
        )


def _newness(t_index: int, oldest: int, newest: int) -> float:
    """From 0 (the oldest shown) to 1 (now)."""
    return 1.0 if newest <= oldest else (t_index - oldest) / (newest - oldest)


def _line(relation: Relation, one: _Place, other: _Place, newness: float) -> str:
    width = min(_WIDEST, 1 + 1.1 * math.log2(relation.strength))
    ends = f'x1="{one.x:.0f}" y1="{one.y:.0f}" x2="{other.x:.0f}" y2="{other.y:.0f}"'
    look = f'stroke="currentColor" stroke-width="{width:.1f}" opacity="{0.1 + 0.3 * newness:.2f}"'
    about = f"{relation.a} — {relation.b}: strength {relation.strength}, t={relation.t_index}"
    return f"<line {ends} {look}><title>{_plain(about)}</title></line>"


def _node(concept: ConceptRow, place: _Place, *, is_centre: bool) -> str:
    label = one_line(concept.label)
    shown = label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"
    about = f"{label}: {concept.statements} statements, t={concept.t_index}"
    fill = _ACCENT if is_centre else "#8a94a3"
    below = place.y + (24 if is_centre else 20)
    look = 'fill="currentColor" font-size="13" text-anchor="middle"'
    weight = ' font-weight="bold"' if is_centre else ""
    return (
        f'<g><title>{_plain(about)}</title><circle cx="{place.x:.0f}" cy="{place.y:.0f}" '
        f'r="{9 if is_centre else 6}" fill="{fill}"/><text x="{place.x:.0f}" y="{below:.0f}" '
        f'{look}{weight} style="unicode-bidi:isolate">{_plain(shown)}</text></g>'
    )


def _plain(text: str) -> str:
    """``text`` on one line, escaped, without characters that change the direction of writing."""
    return escape(one_line(text).translate(_DIRECTIONS))


_DIRECTIONS = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{REPLACEMENT CHARACTER}"
)


def _text(text: str) -> str:
    return f"<bdi>{_plain(text)}</bdi>"
