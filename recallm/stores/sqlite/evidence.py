"""The evidence of relations: showing them, and taking back what was forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping

from recallm.stores.sqlite.lookup import fetch_from, in_pairs

__all__ = ["Pair", "Quad", "hide_relations", "pairs_of", "quads", "show_relations"]

Pair = tuple[int, int]
"""Two concepts, in either order where a text gives them, else the smaller id first."""

Quad = tuple[int, int, int, int]
"""A neighbour pair as it was given: a, b, the positions of the earlier and the later."""


def quads(pairs: str) -> list[Quad]:
    """The neighbour pairs of a passage, from its column."""
    numbers = iter(map(int, pairs.split()))
    return list(zip(numbers, numbers, numbers, numbers, strict=True))


def pairs_of(told: Iterable[Quad]) -> set[Pair]:
    """The relations that neighbour pairs show."""
    return {(a, b) if a < b else (b, a) for a, b, _, _ in told}


def show_relations(
    connection: sqlite3.Connection, ns: int, updates: Iterable[tuple[int, Collection[Pair]]]
) -> None:
    """Add the evidence of new updates (t ascending, with its pairs), and move each relation to its
    new place among the neighbours."""
    shown: dict[Pair, list[int]] = {}
    for t_index, pairs in updates:
        for pair in {(a, b) if a < b else (b, a) for a, b in pairs}:
            shown.setdefault(pair, []).append(t_index)
    latest = _latest_evidence(connection, ns, sorted(shown))
    evidence: list[tuple[int, int, int, int, int]] = []
    old: list[tuple[int, int, int, int]] = []
    new: list[tuple[int, int, int, int]] = []
    for (a, b), ts in shown.items():
        strength = 0
        if (a, b) in latest:
            t_old, strength = latest[a, b]
            old += ((ns, a, t_old, b), (ns, b, t_old, a))
        evidence += [(ns, a, b, t, count) for count, t in enumerate(ts, start=strength + 1)]
        new += ((ns, a, ts[-1], b), (ns, b, ts[-1], a))
    evidence.sort()
    old.sort()
    new.sort()
    write = connection.executemany
    write("INSERT INTO evidence VALUES (?, ?, ?, ?, ?)", evidence)
    write("DELETE FROM neighbour WHERE ns = ? AND a = ? AND t_index = ? AND b = ?", old)
    write("INSERT INTO neighbour VALUES (?, ?, ?, ?)", new)


def hide_relations(
    connection: sqlite3.Connection, ns: int, hidden: Mapping[Pair, Collection[int]]
) -> int:
    """Take evidence away (pair, smaller id first, to its t), count the strengths after it anew;
    return how many relations went with it."""
    fetch = fetch_from(connection)
    gone = 0
    for (a, b), ts in hidden.items():
        rows = fetch(
            "SELECT shown, strength FROM evidence"
            " WHERE ns = ? AND a = ? AND b = ? AND shown >= ? ORDER BY shown",
            (ns, a, b, min(ts)),
        )
        kept = [shown for shown, _ in rows if shown not in ts]
        connection.executemany(
            "DELETE FROM evidence WHERE ns = ? AND a = ? AND b = ? AND shown = ?",
            [(ns, a, b, t_index) for t_index in ts],
        )
        connection.executemany(
            "UPDATE evidence SET strength = ? WHERE ns = ? AND a = ? AND b = ? AND shown = ?",
            [(strength, ns, a, b, shown) for strength, shown in enumerate(kept, rows[0][1])],
        )
        ((new,),) = fetch(
            "SELECT max(shown) FROM evidence WHERE ns = ? AND a = ? AND b = ?", (ns, a, b)
        )
        old = rows[-1][0]
        if new != old:
            _move(connection, ns, a, b, old, new)
            _move(connection, ns, b, a, old, new)
        gone += new is None
    return gone


def _move(
    connection: sqlite3.Connection, ns: int, a: int, b: int, old: int, new: int | None
) -> None:
    connection.execute(
        "DELETE FROM neighbour WHERE ns = ? AND a = ? AND t_index = ? AND b = ?", (ns, a, old, b)
    )
    if new is not None:
        connection.execute("INSERT INTO neighbour VALUES (?, ?, ?, ?)", (ns, a, new, b))


def _latest_evidence(
    connection: sqlite3.Connection, ns: int, pairs: list[Pair]
) -> dict[Pair, tuple[int, int]]:
    """Pair → (t, strength) of the relations that are there."""
    fetch = fetch_from(connection)
    found: dict[Pair, tuple[int, int]] = {}
    for rows, values in in_pairs(pairs):
        for a, b, shown, strength in fetch(
            "WITH pair (a, b) AS (VALUES " + rows + ")"
            " SELECT e.a, e.b, e.shown, e.strength FROM pair p CROSS JOIN evidence e"
            " ON e.ns = ? AND e.a = p.a AND e.b = p.b AND e.shown = (SELECT max(shown)"
            "  FROM evidence q WHERE q.ns = e.ns AND q.a = p.a AND q.b = p.b)",
            [*values, ns],
        ):
            found[a, b] = (shown, strength)
    return found
