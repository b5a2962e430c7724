"""Which statements, updates and entities a ``Selection`` means."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, field
from datetime import datetime

from recallm.model import MAX_POSITION, NO_POSITION, GraphNames, Selection
from recallm.stores.sqlite.codec import microseconds
from recallm.stores.sqlite.lookup import Fetch, fetch_by, fetch_from

__all__ = ["Selected", "has_expired", "select"]


@dataclass(slots=True)
class Selected:
    """Whole updates by t, single statements by t and position, entities by number, triplets by
    (subject, predicate, object)."""

    updates: set[int] = field(default_factory=set)
    statements: dict[int, set[int]] = field(default_factory=dict)
    entities: set[int] = field(default_factory=set)
    triplets: frozenset[tuple[str, str, str]] = frozenset()


def select(connection: sqlite3.Connection, ns: int, selection: Selection) -> Selected:
    """What ``selection`` means in a namespace; ``everything`` is not for here."""
    value = selection.value
    selected = Selected()
    match selection.kind:
        case "graph" if isinstance(value, GraphNames):
            numbers = fetch_by(
                fetch_from(connection),
                "SELECT number FROM entity WHERE ns = ? AND id IN",
                value.entities,
                lead=(ns,),
            )
            selected.entities = {number for (number,) in numbers}
            selected.triplets = value.triplets
            return selected
        case "id":
            sql = "SELECT t FROM passage WHERE ns = ?1 AND id = ?2"
        case "source":
            sql = "SELECT t FROM passage WHERE ns = ?1 AND source = ?2"
        case "session":
            sql = (
                "SELECT t FROM passage WHERE ns = ?1 AND session = ?2 UNION ALL"
                " SELECT t FROM passage WHERE ns = ?1 AND source = ?2 AND session IS NULL"
            )
        case "before" if isinstance(value, datetime):
            sql = "SELECT t FROM passage WHERE ns = ?1 AND said < ?2"
            value = microseconds(value) or 0
        case "expired" if isinstance(value, datetime):
            sql = "SELECT t FROM passage WHERE ns = ? AND expires <= ? ORDER BY expires, t LIMIT ?"
            limit = -1 if selection.limit is None else selection.limit
            rows = connection.execute(sql, (ns, microseconds(value), limit))
            selected.updates = {t for (t,) in rows}
            return selected
        case "before":
            sql = (
                "SELECT t FROM passage WHERE ns = ?1 AND t < ?2"
                " UNION SELECT at >> 20 FROM entity_evidence WHERE ns = ?1 AND at < ?2 << 20"
                " UNION SELECT at >> 20 FROM triplet_evidence WHERE ns = ?1 AND at < ?2 << 20"
            )
            value = max(0, min(int(value), 1 << 42))  # type: ignore[arg-type]
        case "statement":
            _select_statement(connection, ns, str(value), selected)
            return _with_whole_items(connection, ns, selected)
        case _:
            _select_concept(connection, ns, str(value), selected)
            return _with_whole_items(connection, ns, selected)
    selected.updates = {t for (t,) in connection.execute(sql, (ns, value))}
    return selected


def has_expired(fetch: Fetch, namespace: str, selection: Selection) -> bool:
    """Whether a selection of expired passages selects any."""
    by = microseconds(selection.value) if isinstance(selection.value, datetime) else None
    rows = fetch(
        "SELECT 1 FROM namespace n JOIN passage p INDEXED BY passage_expires ON p.ns = n.id"
        " WHERE n.name = ? AND p.expires <= ? LIMIT 1",
        (namespace, by),
    )
    return bool(rows)


def _with_whole_items(connection: sqlite3.Connection, ns: int, selected: Selected) -> Selected:
    """``selected``, in which an item is selected as a whole."""
    items = fetch_by(
        fetch_from(connection),
        "SELECT t FROM passage WHERE ns = ? AND key IS NOT NULL AND t IN",
        selected.statements,
        lead=(ns,),
    )
    for (t_index,) in items:
        del selected.statements[t_index]
        selected.updates.add(t_index)
    return selected


def _select_statement(connection: sqlite3.Connection, ns: int, id: str, selected: Selected) -> None:
    passage, _, position = id.rpartition("#")
    if not re.fullmatch(r"0|[1-9][0-9]{0,6}", position) or int(position) > MAX_POSITION:
        return
    row = connection.execute(
        "SELECT t FROM passage p WHERE ns = ?1 AND id = ?2 AND EXISTS"
        " (SELECT 1 FROM statement WHERE ns = ?1 AND at = p.t << 20 | ?3)",
        (ns, passage, int(position)),
    ).fetchone()
    if row is not None:
        selected.statements[row[0]] = {int(position)}


def _select_concept(connection: sqlite3.Connection, ns: int, name: str, selected: Selected) -> None:
    row = connection.execute(
        "SELECT id FROM concept WHERE ns = ? AND name = ?", (ns, name)
    ).fetchone()
    if row is None:
        return
    for (at,) in connection.execute(
        "SELECT at FROM mention WHERE ns = ? AND concept = ?", (ns, row[0])
    ):
        selected.statements.setdefault(at >> 20, set()).add(at & NO_POSITION)
    selected.entities = {
        number
        for (number,) in connection.execute(
            "SELECT number FROM entity WHERE ns = ? AND concept = ?", (ns, row[0])
        )
    }
