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
    from recallm.model import ConceptRow, Relation
    from recallm.results import RecalledContext, RecalledStatement

__all__ = ["context_html", "graph_html"]

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


# Recalled contexts.


def context_html(context: RecalledContext) -> str:
    """The recalled statements, each with its score, its strongest signals and its path."""
    question = f"<p><strong>{_text(context.question)}</strong></p>"
    if not context.statements:
        return f'<div class="recallm">{question}<p style="{_QUIET}">Nothing recalled.</p></div>'
    greatest = max(
        (abs(part) for it in context.statements for part in it.contributions.values()), default=0.0
    )
    items = "".join(_statement(it, greatest) for it in context.statements)
    time = "" if context.time is None else "; ".join(context.time.rules)
    read = f'<p style="{_QUIET}">{_text(time)}</p>' if time else ""
    style = "padding-left:0;list-style:none;max-width:60em"
    return f'<div class="recallm">{question}{read}<ol style="{style}">{items}</ol></div>'


def _statement(statement: RecalledStatement, greatest: float) -> str:
    about = [f"t={statement.t_index}"]
    if statement.timestamp is not None:
        about.append(statement.timestamp.isoformat(" ", "minutes"))
    if statement.speaker is not None:
        about.append(statement.speaker)
    if statement.score is not None:
        about.append(f"p={statement.score:.2f}")
    reasons = "".join(_bars(statement.contributions, greatest)) + "".join(
        f'<div style="{_QUIET}">{_text(step)}</div>' for step in statement.path
    )
    why = f'<summary style="{_QUIET}">why</summary>'
    details = f"<details>{why}{reasons}</details>" if reasons else ""
    return (
        '<li style="margin:0 0 .8em;padding-left:.8em;border-left:3px solid rgba(128,128,128,.35)">'
        f"<div>{_text(statement.text)}</div>"
        f'<div style="{_QUIET}">{" · ".join(map(_text, about))}</div>{details}</li>'
    )


def _bars(contributions: Mapping[str, float], greatest: float) -> Iterator[str]:
    ordered = sorted(contributions.items(), key=lambda item: (-abs(item[1]), item[0]))
    for name, part in ordered[:_SHOWN_SIGNALS]:
        if part:
            width = 12 * abs(part) / greatest
            look = f"background:{_ACCENT}" if part > 0 else "border:1px solid currentColor"
            bar = f"display:inline-block;height:.6em;width:{width:.2f}em;{look}"
            yield (
                '<div style="font-size:.85em"><span style="display:inline-block;width:12em">'
                f'{_plain(name)} {part:+.2f}</span><span style="{bar}"></span></div>'
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
