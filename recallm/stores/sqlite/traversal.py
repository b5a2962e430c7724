"""What is linked to a concept, within a view.

The search starts from the window's side, since a window is small and a hub is not: a concept of
the window is asked whether it is related to the start, or shares a neighbour with it. Where a wide
window holds little that is linked, the search goes out from the start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import LiteralString

from recallm.model import ConceptRow, statement_key
from recallm.stores.sqlite.codec import unpack_mentions
from recallm.stores.sqlite.lookup import fetch_by
from recallm.stores.sqlite.totals import concept_rows
from recallm.stores.sqlite.view import View

__all__ = ["linked_to"]

_PAGE = 256
"""Concepts of the window that are tested at a time."""

_FEW_NEIGHBOURS = 4096
"""Up to so many, the neighbours of the start are read at once."""

_FEW_AT_LEAST = 64
"""Neighbours that are always looked through from a concept of the window."""

_SMALL_BALL = 20_000
"""Relations looked through at most when going out from the start."""

_SHORT_SPAN = 1_000
"""Updates whose statements are read to find what a past window holds."""

_RELATED: LiteralString = (
    "EXISTS (SELECT 1 FROM evidence WHERE ns = ? AND a = min({one}, {other})"
    " AND b = max({one}, {other}){past})"
)


def linked_to(
    view: View, start: str, hops: int, oldest: int, newest: int, limit: int
) -> list[ConceptRow]:
    """``GraphReader.linked``."""
    newest = min(newest, view.ceiling)
    if (
        hops < 1
        or limit < 1
        or newest < oldest
        or start not in (ids := view.ids("concept", [start]))
    ):
        return []
    search = _Search(view, ids[start])
    near: list[str] = []
    reached: set[int] | None = None
    for number, page in enumerate(_pages(view, oldest, newest)):
        page.pop(ids[start], None)
        if reached is None and (hops > 2 or (number == 1 and len(near) < _PAGE // 2)):
            reached = search.ball(hops, bounded=hops <= 2)
        found = page.keys() & reached if reached is not None else search.near(list(page), hops)
        near += [name for id, name in page.items() if id in found]
        if len(near) >= limit:
            break
    return concept_rows(view, near[:limit], None)


def _pages(view: View, oldest: int, newest: int) -> Iterator[dict[int, str]]:
    """Id → name of the concepts with a t_index in the window, latest first, some at a time."""
    if not view.is_present:
        window = _past_window(view, max(oldest, 0), newest)
        for first in range(0, len(window), _PAGE):
            yield dict(window[first : first + _PAGE])
        return
    # The last t of a page is read to its end, so that the next page begins below it.
    while True:
        rows = view.rows(
            "SELECT id, name, t_index FROM concept WHERE ns = ? AND t_index BETWEEN ? AND ?"
            " ORDER BY t_index DESC LIMIT ?",
            (view.ns, oldest, newest, _PAGE),
        )
        if any(not oldest <= t_index <= newest for _, _, t_index in rows):
            raise ValueError("the rows of an index are out of order")
        full = len(rows) == _PAGE
        if full:
            last = rows[-1][2]
            rows = [row for row in rows if row[2] > last]
            rows += view.rows(
                "SELECT id, name, t_index FROM concept WHERE ns = ? AND t_index = ?",
                (view.ns, last),
            )
            newest = last - 1
        rows.sort(key=lambda row: (-row[2], row[1]))
        yield {id: name for id, name, _ in rows}
        if not full:
            return


def _past_window(view: View, oldest: int, newest: int) -> list[tuple[int, str]]:
    """(id, name) of the concepts whose t_index in a past view lies in the window, latest first."""
    latest: LiteralString = (
        "SELECT id, name, max("
        "coalesce((SELECT max(at) FROM mention WHERE ns = c.ns AND concept = c.id"
        + view.upto
        + "), -1), coalesce((SELECT max(v.at) FROM entity e JOIN entity_evidence v"
        " ON v.ns = e.ns AND v.entity = e.number WHERE e.ns = c.ns AND e.concept = c.id"
        + view.upto
        + "), -1)) >> 20 FROM concept c WHERE ns = ?"
    )
    lead = (*view.upto_values, *view.upto_values, view.ns)
    if newest - oldest > _SHORT_SPAN:
        rows = view.rows(latest + " AND t_index >= ?", (*lead, oldest))
    else:
        names = _touched_within(view, oldest, newest)
        rows = fetch_by(view.rows, latest + " AND name IN", names, lead=lead)
    within = sorted({(-t, name, id) for id, name, t in rows if oldest <= t <= newest})
    return [(id, name) for _, name, id in within]


def _touched_within(view: View, oldest: int, newest: int) -> set[str]:
    """The names of the concepts that the updates in the window touch."""
    span = (statement_key(oldest, 0), statement_key(newest + 1, 0))
    said = view.rows(
        "SELECT concepts FROM statement WHERE ns = ? AND at >= ? AND at < ?" + view.upto,
        (view.ns, *span, *view.upto_values),
    )
    names = {mention.name for (concepts,) in said for mention in unpack_mentions(concepts)}
    stood_on = view.rows(
        "SELECT c.name FROM entity_evidence v JOIN entity e ON e.number = v.entity"
        " JOIN concept c ON c.id = e.concept WHERE v.ns = ? AND v.at >= ? AND v.at < ?" + view.upto,
        (view.ns, *span, *view.upto_values),
    )
    return names | {name for (name,) in stood_on}


class _Search:
    """What can be reached from one concept."""

    def __init__(self, view: View, start: int) -> None:
        self._view = view
        self._start = start
        self._past_values = view.shown_values
        first = self._neighbours([start], _FEW_NEIGHBOURS)
        self._few: set[int] | None = None if len(first) > _FEW_NEIGHBOURS else set(first)

    def near(self, concepts: list[int], hops: int) -> set[int]:
        """Which of the concepts are one or (``hops`` = 2) two relations from the start."""
        if self._few is None:
            found = self._filter(concepts, self._is_related("c.id"), self._related_values())
        else:
            found = self._few & set(concepts)
        if hops < 2:
            return found
        rest = [concept for concept in concepts if concept not in found]
        # Of two that both have many neighbours, the start's are the ones to go through if they
        # are known to be few.
        most = -1 if self._few is None else max(_FEW_AT_LEAST, len(self._few))
        values = (most, *self._related_values(), *self._also_values())
        found |= self._filter(
            rest,
            "EXISTS (SELECT 1 FROM (SELECT a, b FROM neighbour WHERE ns = c.ns AND a = c.id"
            " LIMIT ?) n WHERE " + self._is_related("n.b") + self._also("n.a", "n.b") + ")",
            values,
        )
        if most < 0:
            return found
        rest = [concept for concept in rest if concept not in found]
        return found | self._filter(
            rest,
            "(SELECT count(*) FROM (SELECT 1 FROM neighbour WHERE ns = c.ns AND a = c.id LIMIT ?))"
            " > ? AND EXISTS (SELECT 1 FROM neighbour n WHERE n.ns = c.ns AND n.a = ? AND "
            + self._pair("n.b", "c.id")
            + self._also("n.a", "n.b")
            + ")",
            (
                most + 1, most, self._start, self._view.ns, *self._past_values,
                *self._also_values(),
            ),
        )  # fmt: skip

    def ball(self, hops: int, *, bounded: bool) -> set[int] | None:
        """Everything at most ``hops`` from the start; None where ``bounded`` and that is much."""
        reached = {self._start}
        frontier = [self._start]
        for _ in range(hops):
            found = self._neighbours(frontier, _SMALL_BALL if bounded else -1)
            if bounded and len(found) > _SMALL_BALL:
                return None
            frontier = sorted(set(found) - reached)
            reached.update(frontier)
            if not frontier:
                break
        return reached

    def _filter(
        self, concepts: list[int], condition: LiteralString, values: tuple[object, ...]
    ) -> set[int]:
        """Those of the concepts ``c`` that meet a condition."""
        rows = fetch_by(
            self._view.rows,
            "SELECT id FROM concept c WHERE " + condition + " AND id IN",
            concepts,
            lead=values,
        )
        return {id for (id,) in rows}

    def _pair(self, one: LiteralString, other: LiteralString) -> LiteralString:
        """That two concepts are related, in this view. Values: ``ns``, then the view's."""
        past: LiteralString = self._view.shown
        text: LiteralString = _RELATED.replace("{one}", one).replace("{other}", other)
        return text.replace("{past}", past)

    def _is_related(self, one: LiteralString) -> LiteralString:
        """That a concept is related to the start. Values: ``_related_values``."""
        return (
            "EXISTS (SELECT 1 FROM evidence WHERE ns = ? AND a = min(" + one + ", ?)"
            " AND b = max(" + one + ", ?)" + self._view.shown + ")"
        )

    def _related_values(self) -> tuple[object, ...]:
        return (self._view.ns, self._start, self._start, *self._past_values)

    def _also(self, one: LiteralString, other: LiteralString) -> LiteralString:
        """That a row of ``neighbour`` holds in a view that hides some of the evidence."""
        return " AND " + self._pair(one, other) if self._view.shown else ""

    def _also_values(self) -> tuple[object, ...]:
        return (self._view.ns, *self._past_values) if self._view.shown else ()

    def _neighbours(self, concepts: Collection[int], cap: int) -> list[int]:
        """The neighbours of some concepts, repeated; more than ``cap`` of them only to show that
        there are more (all if negative)."""
        found: list[int] = []
        listed = list(concepts)
        for first in range(0, len(listed), 64):
            left = -1 if cap < 0 else cap + 1 - len(found)
            if left == 0:
                break
            rows = fetch_by(
                self._view.rows,
                "SELECT b FROM neighbour n WHERE ns = ? AND a IN",
                listed[first : first + 64],
                self._also("n.a", "n.b") + " LIMIT ?",
                lead=(self._view.ns,),
                tail=(*self._also_values(), left),
            )
            found += [b for (b,) in rows]
        return found
