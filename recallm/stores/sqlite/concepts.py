"""Keeping a concept's totals equal to what touches it: mentions, and entities that stand on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping

from recallm.model import statement_key
from recallm.stores.sqlite.codec import unpack_mentions

__all__ = ["add_update", "first_label", "is_touched", "recount_updates", "settle_concepts"]


def is_touched(connection: sqlite3.Connection, ns: int, concept: int, t_index: int) -> bool:
    """Whether the update ``t_index`` touches the concept."""
    span = (statement_key(t_index, 0), statement_key(t_index + 1, 0))
    (touched,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM mention WHERE ns = ? AND concept = ? AND at >= ? AND at < ?)"
        " OR EXISTS (SELECT 1 FROM entity e JOIN entity_evidence v"
        "  ON v.ns = e.ns AND v.entity = e.number"
        "  WHERE e.ns = ? AND e.concept = ? AND v.at >= ? AND v.at < ?)",
        (ns, concept, *span, ns, concept, *span),
    ).fetchone()
    return bool(touched)


def add_update(connection: sqlite3.Connection, ns: int, concept: int, t_index: int | None) -> None:
    """Count the update ``t_index`` (None: one that is counted already) by which an entity came to
    touch a concept, and put its label right where only entities touch it."""
    if t_index is not None:
        connection.execute(
            "UPDATE concept SET updates = updates + 1, t_index = max(t_index, ?) WHERE id = ?",
            (t_index, concept),
        )
    (statements,) = connection.execute(
        "SELECT statements FROM concept WHERE id = ?", (concept,)
    ).fetchone()
    if statements == 0:
        connection.execute(
            "UPDATE concept SET label = ?, kind = ? WHERE id = ?",
            (*_first_entity_label(connection, ns, concept), concept),
        )


def settle_concepts(
    connection: sqlite3.Connection, ns: int, untouched: Mapping[int, Collection[int]]
) -> int:
    """Correct the totals of concepts after rows were taken away, and delete those that nothing
    touches any more.

    ``untouched``: concept → the t of updates that touched it before and may not any more.
    ``statements`` is the caller's. Returns how many concepts were deleted.
    """
    deleted = 0
    for concept, ts in untouched.items():
        lost = sum(not is_touched(connection, ns, concept, t_index) for t_index in ts)
        deleted += _settle(connection, ns, concept, lost)
    return deleted


def recount_updates(connection: sqlite3.Connection, ns: int, concept: int) -> bool:
    """Count the updates that touch a concept anew: an entity came to stand on it, or left it.
    Returns whether nothing touches it any more, and it was deleted."""
    (updates,) = connection.execute(
        "SELECT count(*) FROM (SELECT at >> 20 FROM mention WHERE ns = ? AND concept = ?"
        " UNION SELECT v.at >> 20 FROM entity e JOIN entity_evidence v"
        "  ON v.ns = e.ns AND v.entity = e.number WHERE e.ns = ? AND e.concept = ?)",
        (ns, concept, ns, concept),
    ).fetchone()
    connection.execute("UPDATE concept SET updates = ? WHERE id = ?", (updates, concept))
    return bool(_settle(connection, ns, concept, 0))


def first_label(
    connection: sqlite3.Connection, ns: int, concept: int, name: str
) -> tuple[str, str]:
    """Label and kind by the earliest mention; else by the entity with the earliest evidence."""
    row = connection.execute(
        "SELECT concepts FROM statement WHERE ns = ? AND at ="
        " (SELECT min(at) FROM mention WHERE ns = ? AND concept = ?)",
        (ns, ns, concept),
    ).fetchone()
    if row is not None:
        for mention in unpack_mentions(row[0]):
            if mention.name == name:
                return mention.label, mention.kind
    return _first_entity_label(connection, ns, concept)


def _first_entity_label(connection: sqlite3.Connection, ns: int, concept: int) -> tuple[str, str]:
    label: tuple[str, str] = connection.execute(
        "SELECT label, kind FROM entity e WHERE ns = ? AND concept = ? ORDER BY"
        " (SELECT min(at) FROM entity_evidence v WHERE v.ns = e.ns AND v.entity = e.number) >> 20,"
        " id LIMIT 1",
        (ns, concept),
    ).fetchone()
    return label


def _settle(connection: sqlite3.Connection, ns: int, concept: int, lost: int) -> int:
    name, latest = connection.execute(
        "SELECT name, max("
        " coalesce((SELECT max(at) FROM mention m WHERE m.ns = c.ns AND m.concept = c.id), -1),"
        " coalesce((SELECT max((SELECT max(at) FROM entity_evidence v"
        "   WHERE v.ns = e.ns AND v.entity = e.number))"
        "  FROM entity e WHERE e.ns = c.ns AND e.concept = c.id), -1))"
        " FROM concept c WHERE id = ?",
        (concept,),
    ).fetchone()
    if latest < 0:
        connection.execute("DELETE FROM summary WHERE ns = ? AND concept = ?", (ns, concept))
        connection.execute("DELETE FROM concept WHERE id = ?", (concept,))
        return 1
    label = first_label(connection, ns, concept, name)
    connection.execute(
        "UPDATE concept SET updates = updates - ?, t_index = ?, label = ?, kind = ? WHERE id = ?",
        (lost, latest >> 20, *label, concept),
    )
    return 0
