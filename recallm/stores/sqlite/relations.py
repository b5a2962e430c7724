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
from recallm.stores.sqlite.lookup import PAIRS
from recallm.stores.sqlite.view import View

_FEW_AT_LEAST = 64
"""Neighbours that are always read, rather than asked for one by one."""

_LATEST_SHOWN: LiteralString = (
    " AND e.shown = (SELECT max(shown) FROM evidence q"
    " WHERE q.ns = :ns AND q.a = {a} AND q.b = {b} AND q.shown <= :last)"
)
_NEIGHBOURS: LiteralString = (
    "SELECT e.shown, e.strength, c.name FROM neighbour n JOIN concept c ON c.id = n.b"
    " JOIN evidence e ON e.ns = n.ns AND e.a = min(n.a, n.b) AND e.b = max(n.a, n.b)"
    " WHERE n.ns = :ns AND n.a = :concept"
)

_LATER_NEIGHBOURS: LiteralString = (
    _NEIGHBOURS
    + " AND n.t_index > :last"
    + _LATEST_SHOWN.replace("{a}", "min(n.a, n.b)").replace("{b}", "max(n.a, n.b)")
)


def read_relations(
    view: View, names: Collection[str], *, limit: int | None = None, among: bool = False
) -> list[Relation]:
    """``GraphReader.relations``."""
    found = (
        _relations_among(view, names)
        if among
        else _newest_relations(view, names, -1 if limit is None else limit)
    )
    return sorted(found, key=lambda relation: (relation.a, relation.b))


def _newest_relations(view: View, names: Collection[str], limit: int) -> set[Relation]:
    found: set[Relation] = set()
    for name, concept in view.ids("concept", names).items():
        rows = view.rows(
            _NEIGHBOURS + " AND n.t_index <= :last AND e.shown = n.t_index" + _shown(view)
            + " ORDER BY n.t_index DESC, e.strength DESC, c.name LIMIT :limit",
            concept=concept, limit=limit,
        )  # fmt: skip
        if not view.is_present:
            rows += view.rows(_LATER_NEIGHBOURS + _shown(view), concept=concept)
            rows.sort(key=lambda row: (-row[0], -row[1], row[2]))
        found.update(
            _relation(name, other, strength, t_index)
            for t_index, strength, other in (rows if limit < 0 else rows[:limit])
        )
    return found


def _relations_among(view: View, names: Collection[str]) -> list[Relation]:
    """Of concepts with few neighbours these are read; of two that both have many, whether they are
    related."""
    ids = {id: name for name, id in view.ids("concept", names).items()}
    few = max(_FEW_AT_LEAST, len(ids))
    pairs: set[tuple[int, int]] = set()
    hubs: list[int] = []
    for concept in ids:
        sql: LiteralString = "SELECT b FROM neighbour WHERE ns = :ns AND a = :a LIMIT :most"
        rows = view.rows(sql, a=concept, most=few + 1)
        if len(rows) > few:
            hubs.append(concept)
        else:
            pairs.update((min(concept, b), max(concept, b)) for (b,) in rows if b in ids)
    pairs.update(combinations(sorted(hubs), 2))
    rows = view.rows(
        "SELECT e.a, e.b, e.strength, e.shown FROM " + PAIRS + " p CROSS JOIN evidence e"
        " ON e.ns = :ns AND e.a = p.a AND e.b = p.b"
        + _LATEST_SHOWN.replace("{a}", "p.a").replace("{b}", "p.b")
        + _shown(view),
        [a << 32 | b for a, b in sorted(pairs)],
    )
    return [_relation(ids[a], ids[b], *found) for a, b, *found in rows]


def _shown(view: View) -> LiteralString:
    """The condition that a relation has visible evidence; empty where the view hides nothing."""
    if not view.hides:
        return ""
    sql: LiteralString = (
        " AND EXISTS (SELECT 1 FROM evidence WHERE ns = :ns AND a = e.a AND b = e.b"
        + view.visible_evidence + ")"
    )  # fmt: skip
    return sql


def _relation(one: str, other: str, strength: int, t_index: int) -> Relation:
    return Relation(a=min(one, other), b=max(one, other), strength=strength, t_index=t_index)
