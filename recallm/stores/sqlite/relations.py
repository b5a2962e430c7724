"""Relations within a view.

``neighbour`` knows every relation that evidence shows now. A view of the past holds each against
its evidence: the row with the latest visible ``shown`` carries the strength at that t; where the
view has holes, the visible rows are counted.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from recallm.model import Relation
from recallm.stores.sqlite.view import View

__all__ = ["among", "newest_relations", "relation_count"]

_FEW_AT_LEAST = 64
"""Neighbours that are always read, rather than asked for one by one."""

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
    few = max(_FEW_AT_LEAST, len(ids))
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


def _add(found: Found, one: str, other: str, strength: int, t_index: int) -> None:
    a, b = sorted((one, other))
    found[a, b] = Relation(a=a, b=b, strength=strength, t_index=t_index)


def _by_ends(found: Found) -> list[Relation]:
    return [relation for _, relation in sorted(found.items(), key=lambda item: item[0])]
