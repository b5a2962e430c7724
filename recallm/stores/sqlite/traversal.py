"""Relations, and what is linked, within a view.

``neighbour`` knows every relation that evidence shows now. A view of the past holds each against
its evidence: the row with the latest visible ``shown`` carries the strength at that t; where the
view has holes, the visible rows are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations
from typing import Any, LiteralString

from recallm.model import ConceptRow, Relation, statement_key
from recallm.stores.sqlite.codec import unpack_mentions
from recallm.stores.sqlite.lookup import fetch_by
from recallm.stores.sqlite.totals import concept_rows
from recallm.stores.sqlite.view import View

__all__ = ["among", "linked_to", "newest_relations", "relation_count"]

_FEW_NEIGHBOURS = 4096
"""Up to so many, a concept's neighbours are read at once."""

_WIDE_WINDOW = 256
"""From so many concepts in the window on, going out from the start beats testing each."""

_SMALL_BALL = 20_000
"""Relations looked through at most when going out from the start."""

_SHORT_SPAN = 1_000
"""Updates whose statements are read to find what a past window holds."""

Found = dict[tuple[str, str], Relation]


def relation_count(view: View) -> int:
    """How many relations are visible."""
    if view.is_present:
        (rows,) = view.rows("SELECT count(*) FROM neighbour WHERE ns = ?", (view.ns,))[0]
        return int(rows) // 2
    (pairs,) = view.rows(
        "SELECT count(*) FROM (SELECT DISTINCT a, b FROM evidence WHERE ns = ?" + view.shown + ")",
        (view.ns, *view.shown_values),
    )[0]
    return int(pairs)


def newest_relations(view: View, names: Collection[str], limit: int) -> list[Relation]:
    """``GraphReader.relations``."""
    found: Found = {}
    for name, concept in view.ids("concept", names).items():
        for t_index, strength, other in _newest(view, concept, limit):
            _add(found, name, other, strength, t_index)
    return _by_ends(found)


def _newest(view: View, concept: int, limit: int) -> list[tuple[int, int, str]]:
    """(t_index, strength, the other end's name) of one concept's newest relations."""
    if view.has_holes:
        rows = view.rows(
            "SELECT max(shown), count(*), c.name FROM neighbour n JOIN concept c ON c.id = n.b"
            " JOIN evidence e ON e.ns = n.ns AND e.a = min(n.a, n.b) AND e.b = max(n.a, n.b)"
            " WHERE n.ns = ? AND n.a = ?" + view.shown + " GROUP BY n.b",
            (view.ns, concept, *view.shown_values),
        )
    else:
        rows = view.rows(
            "SELECT n.t_index, e.strength, c.name FROM neighbour n JOIN concept c ON c.id = n.b"
            " JOIN evidence e ON e.ns = n.ns AND e.a = min(n.a, n.b) AND e.b = max(n.a, n.b)"
            "  AND e.shown = n.t_index"
            " WHERE n.ns = ? AND n.a = ? AND n.t_index <= ?"
            " ORDER BY n.t_index DESC, e.strength DESC, c.name LIMIT ?",
            (view.ns, concept, view.ceiling, limit),
        )
        if not view.is_present:
            rows += view.rows(
                "SELECT e.shown, e.strength, c.name FROM neighbour n JOIN concept c ON c.id = n.b"
                " JOIN evidence e ON e.ns = n.ns AND e.a = min(n.a, n.b) AND e.b = max(n.a, n.b)"
                "  AND e.shown = (SELECT max(shown) FROM evidence q WHERE q.ns = e.ns"
                "   AND q.a = e.a AND q.b = e.b AND q.shown <= ?)"
                " WHERE n.ns = ? AND n.a = ? AND n.t_index > ?",
                (view.ceiling, view.ns, concept, view.ceiling),
            )
    rows.sort(key=lambda row: (-row[0], -row[1], row[2]))
    return rows[:limit]


def among(view: View, names: Collection[str]) -> list[Relation]:
    """``GraphReader.relations_among``: the neighbours of those who have few; of two who both have
    many, whether they are related."""
    ids = {id: name for name, id in view.ids("concept", names).items()}
    few = max(64, len(ids))
    pairs: set[tuple[int, int]] = set()
    hubs: list[int] = []
    for concept in ids:
        rows = view.rows(
            "SELECT b FROM neighbour WHERE ns = ? AND a = ? LIMIT ?", (view.ns, concept, few + 1)
        )
        if len(rows) > few:
            hubs.append(concept)
        else:
            pairs.update((min(concept, b), max(concept, b)) for (b,) in rows if b in ids)
    pairs.update(combinations(sorted(hubs), 2))
    found: Found = {}
    for a, b in pairs:
        latest = _strength(view, a, b)
        if latest is not None:
            _add(found, ids[a], ids[b], *latest)
    return _by_ends(found)


def _strength(view: View, a: int, b: int) -> tuple[int, int] | None:
    """Strength and t_index of the relation of two concepts (``a < b``), if it is visible."""
    if view.has_holes:
        ((strength, t_index),) = view.rows(
            "SELECT count(*), max(shown) FROM evidence WHERE ns = ? AND a = ? AND b = ?"
            + view.shown,
            (view.ns, a, b, *view.shown_values),
        )
        return (strength, t_index) if strength else None
    rows = view.rows(
        "SELECT strength, shown FROM evidence WHERE ns = ? AND a = ? AND b = ? AND shown <= ?"
        " ORDER BY shown DESC LIMIT 1",
        (view.ns, a, b, view.ceiling),
    )
    return (rows[0][0], rows[0][1]) if rows else None


def linked_to(
    view: View, start: str, hops: int, oldest: int, newest: int, limit: int
) -> list[ConceptRow]:
    """``GraphReader.linked``: from the window's side, since a window is small and a hub is not."""
    if hops < 1 or limit < 1 or start not in (ids := view.ids("concept", [start])):
        return []
    window = _window(view, max(oldest, 0), min(newest, view.ceiling))
    window.pop(start, None)
    search = _Search(view, ids[start])
    reached: set[int] | None = None
    if hops > 2 or len(window) > _WIDE_WINDOW:
        wanted = [id for id, _ in window.values()]
        reached = search.ball(hops, wanted, bounded=hops <= 2)
    near: list[str] = []
    for name, (id, _) in window.items():
        if (id in reached) if reached is not None else search.is_near(id, hops):
            near.append(name)
            if len(near) == limit:
                break
    return concept_rows(view, near, None)


def _window(view: View, oldest: int, newest: int) -> dict[str, tuple[int, int]]:
    """Name → (id, t_index) of the concepts with a t_index in the window, latest first."""
    if view.is_present:
        rows = view.rows(
            "SELECT name, id, t_index FROM concept WHERE ns = ? AND t_index BETWEEN ? AND ?"
            " ORDER BY t_index DESC, name",
            (view.ns, oldest, newest),
        )
        return {name: (id, t_index) for name, id, t_index in rows}
    names = _touched_within(view, oldest, newest)
    found = [row for row in concept_rows(view, names, None) if oldest <= row.t_index <= newest]
    ids = view.ids("concept", [row.name for row in found])
    return {row.name: (ids[row.name], row.t_index) for row in found}


def _touched_within(view: View, oldest: int, newest: int) -> set[str]:
    """The names of at least all concepts whose t_index in a past view lies in the window."""
    if newest - oldest > _SHORT_SPAN:
        rows = view.rows(
            "SELECT name FROM concept WHERE ns = ? AND t_index >= ?", (view.ns, oldest)
        )
        return {name for (name,) in rows}
    span = (statement_key(oldest, 0), statement_key(newest + 1, 0))
    said = view.rows(
        "SELECT concepts FROM statement WHERE ns = ? AND at >= ? AND at < ?" + view.seen,
        (view.ns, *span, *view.seen_values),
    )
    names = {mention.name for (concepts,) in said for mention in unpack_mentions(concepts)}
    stood_on = view.rows(
        "SELECT c.name FROM entity_evidence v JOIN entity e ON e.number = v.entity"
        " JOIN concept c ON c.id = e.concept WHERE v.ns = ? AND v.at >= ? AND v.at < ?" + view.seen,
        (view.ns, *span, *view.seen_values),
    )
    return names | {name for (name,) in stood_on}


class _Search:
    """What can be reached from one concept."""

    def __init__(self, view: View, start: int) -> None:
        self._view = view
        self._start = start
        # A relation stands in `neighbour` as long as any evidence does: a view of the past asks
        # the evidence too.
        past: LiteralString = "" if view.is_present else view.shown
        self._related: LiteralString
        self._related = (
            "EXISTS (SELECT 1 FROM evidence WHERE ns = ? AND a = min(n.b, ?) AND b = max(n.b, ?)"
            + past
            + ")"
        )
        self._past_values = view.shown_values
        first = self._neighbours([start], _FEW_NEIGHBOURS)
        self._few: set[int] | None = None if len(first) > _FEW_NEIGHBOURS else set(first)

    def ball(self, hops: int, wanted: Iterable[int], *, bounded: bool) -> set[int] | None:
        """Everything at most ``hops`` from the start, or at least those of it that are wanted;
        None where that is more than a small ball and ``bounded`` asks for no more."""
        missing = set(wanted)
        reached = {self._start}
        frontier = [self._start]
        for _ in range(hops):
            cap = _SMALL_BALL if bounded else -1
            found = set(self._neighbours(frontier, cap))
            if bounded and len(found) > _SMALL_BALL:
                return None
            frontier = sorted(found - reached)
            reached |= found
            missing -= found
            if not missing or not frontier:
                break
        return reached

    def is_near(self, concept: int, hops: int) -> bool:
        """Whether the concept is one or (``hops`` = 2) two relations from the start."""
        if self._few is not None:
            if concept in self._few:
                return True
        elif self._are_related(concept):
            return True
        return hops == 2 and self._share_neighbour(concept)

    def _are_related(self, concept: int) -> bool:
        rows = self._view.rows(
            "SELECT 1 FROM (SELECT ? AS b) n WHERE " + self._related,
            (concept, self._view.ns, self._start, self._start, *self._past_values),
        )
        return bool(rows)

    def _share_neighbour(self, concept: int) -> bool:
        """Ask from the side that has fewer neighbours."""
        few = -1 if self._few is None else len(self._few)
        mine = self._neighbours([concept], few) if few >= 0 else []
        if self._few is not None and len(mine) <= few:
            return not self._few.isdisjoint(mine)
        one, other = (concept, self._start) if self._few is None else (self._start, concept)
        return self._any_between(one, other)

    def _any_between(self, one: int, other: int) -> bool:
        """Whether some neighbour of ``one`` is related to ``other``."""
        ns, past = self._view.ns, self._past_values
        sql: LiteralString = "SELECT 1 FROM neighbour n WHERE ns = ? AND a = ? AND " + self._related
        values: tuple[Any, ...] = (ns, one, ns, other, other, *past)
        if not self._view.is_present:
            sql += " AND " + self._related
            values = (*values, ns, one, one, *past)
        return bool(self._view.rows(sql + " LIMIT 1", values))

    def _neighbours(self, concepts: Collection[int], cap: int) -> list[int]:
        """The neighbours of some concepts, repeated; more than ``cap`` of them only to show that
        there are more (all if negative)."""
        found: list[int] = []
        present = self._view.is_present
        for first in range(0, len(listed := list(concepts)), 64):
            left = -1 if cap < 0 else cap + 1 - len(found)
            if left == 0:
                break
            rows = fetch_by(
                self._view.rows,
                "SELECT b FROM neighbour n WHERE "
                + ("" if present else self._visible_pair())
                + "ns = ? AND a IN",
                listed[first : first + 64],
                "LIMIT ?",
                lead=(*(() if present else self._past_values), self._view.ns),
                tail=(left,),
            )
            found += [b for (b,) in rows]
        return found

    def _visible_pair(self) -> LiteralString:
        return (
            "EXISTS (SELECT 1 FROM evidence e WHERE e.ns = n.ns AND e.a = min(n.a, n.b)"
            " AND e.b = max(n.a, n.b)" + self._view.shown + ") AND "
        )


def _add(found: Found, one: str, other: str, strength: int, t_index: int) -> None:
    a, b = sorted((one, other))
    found[a, b] = Relation(a=a, b=b, strength=strength, t_index=t_index)


def _by_ends(found: Found) -> list[Relation]:
    return [relation for _, relation in sorted(found.items(), key=lambda item: item[0])]
