"""Relations within a view.

``neighbour`` knows every relation that evidence shows now. A view of the past holds each against
its evidence: the row with the latest ``shown`` up to the view's t carries the strength at that t.
Where the view hides some of what counts, a relation needs evidence that is shown.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from typing import LiteralString

from recallm.model import Relation
from recallm.stores.sqlite.lookup import in_pairs
from recallm.stores.sqlite.view import View

__all__ = ["newest_relations", "relation_count", "relations_among"]

_FEW_AT_LEAST = 64
"""Neighbours that are always read, rather than asked for one by one."""

Found = dict[tuple[str, str], Relation]


def relation_count(view: View) -> int:
    """How many relations are visible."""
    if view.is_present:
        (rows,) = view.rows("SELECT count(*) FROM neighbour WHERE ns = ?", (view.ns,))[0]
        return int(rows) // 2
    (pairs,) = view.rows(
        "SELECT count(*) FROM (SELECT DISTINCT a, b FROM evidence WHERE ns = ? AND shown <= ?)",
        (view.ns, view.ceiling),
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
    visible, values = _has_visible_evidence(view, "e.a", "e.b")
    rows = view.rows(
        "SELECT n.t_index, e.strength, c.name FROM neighbour n JOIN concept c ON c.id = n.b"
        " JOIN evidence e ON e.ns = n.ns AND e.a = min(n.a, n.b) AND e.b = max(n.a, n.b)"
        "  AND e.shown = n.t_index"
        " WHERE n.ns = ? AND n.a = ? AND n.t_index <= ?"
        + visible
        + " ORDER BY n.t_index DESC, e.strength DESC, c.name LIMIT ?",
        (view.ns, concept, view.ceiling, *values, limit),
    )
    if not view.is_present:
        rows += view.rows(
            "SELECT e.shown, e.strength, c.name FROM neighbour n JOIN concept c ON c.id = n.b"
            " JOIN evidence e ON e.ns = n.ns AND e.a = min(n.a, n.b) AND e.b = max(n.a, n.b)"
            "  AND e.shown = (SELECT max(shown) FROM evidence q WHERE q.ns = e.ns"
            "   AND q.a = e.a AND q.b = e.b AND q.shown <= ?)"
            " WHERE n.ns = ? AND n.a = ? AND n.t_index > ?" + visible,
            (view.ceiling, view.ns, concept, view.ceiling, *values),
        )
    rows.sort(key=lambda row: (-row[0], -row[1], row[2]))
    return rows if limit < 0 else rows[:limit]


def relations_among(view: View, names: Collection[str]) -> list[Relation]:
    """``GraphReader.relations`` with ``among``: of concepts with few neighbours these are read; of
    two that both have many, whether they are related."""
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
    for a, b, strength, t_index in _strengths(view, sorted(pairs)):
        _add(found, ids[a], ids[b], strength, t_index)
    return _by_ends(found)


def _strengths(view: View, pairs: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """(a, b, strength, t_index) of the relations of these pairs (``a < b``) that are visible."""
    strengths: set[tuple[int, int, int, int]] = set()
    for rows, values in in_pairs(pairs):
        pair: LiteralString = "WITH pair (a, b) AS (VALUES " + rows + ")"
        visible, visible_values = _has_visible_evidence(view, "e.a", "e.b")
        strengths.update(
            view.rows(
                pair + " SELECT e.a, e.b, e.strength, e.shown"
                " FROM pair p CROSS JOIN evidence e ON e.ns = ? AND e.a = p.a AND e.b = p.b"
                " AND e.shown = (SELECT max(shown) FROM evidence q WHERE q.ns = e.ns"
                "  AND q.a = p.a AND q.b = p.b AND q.shown <= ?)" + visible,
                [*values, view.ns, view.ceiling, *visible_values],
            )
        )
    return sorted(strengths)


def _has_visible_evidence(
    view: View, a: LiteralString, b: LiteralString
) -> tuple[LiteralString, tuple[object, ...]]:
    """The condition that a relation has visible evidence, and its parameters; empty where the view
    hides nothing."""
    if not view.hides:
        return "", ()
    sql: LiteralString = (
        " AND EXISTS (SELECT 1 FROM evidence v WHERE v.ns = ? AND v.a = " + a + " AND v.b = " + b
        + view.visible_evidence_sql.replace("shown", "v.shown") + ")"
    )  # fmt: skip
    return sql, (view.ns, *view.visible_evidence_values)


def _add(found: Found, one: str, other: str, strength: int, t_index: int) -> None:
    a, b = sorted((one, other))
    found[a, b] = Relation(a=a, b=b, strength=strength, t_index=t_index)


def _by_ends(found: Found) -> list[Relation]:
    return [relation for _, relation in sorted(found.items(), key=lambda item: item[0])]
