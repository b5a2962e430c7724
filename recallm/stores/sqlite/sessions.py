"""The rows of sessions: their sizes, and deriving them again after passages were forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from datetime import datetime

from recallm.model import statement_key
from recallm.stores.sessions import next_derived_session
from recallm.stores.sqlite.codec import read_timestamp, unpack
from recallm.stores.sqlite.lookup import fetch_by, fetch_from

__all__ = ["derive_again", "drop_empty_sessions", "write_session_sizes"]


def write_session_sizes(
    connection: sqlite3.Connection, ns: int, sizes: dict[str, list[int]]
) -> dict[str, int]:
    """Add (statements, terms) to sessions, by key; key → row id. A session is counted while it
    has statements."""
    known: dict[str, tuple[int, int]] = {
        key: (id, statements)
        for key, id, statements in fetch_by(
            fetch_from(connection),
            "SELECT key, id, statements FROM session WHERE ns = ? AND key IN",
            sizes,
            lead=(ns,),
        )
    }
    ids: dict[str, int] = {}
    begun = 0
    (next_id,) = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM session").fetchone()
    for key, (statements, terms) in sizes.items():
        if key in known:
            ids[key], before = known[key]
            connection.execute(
                "UPDATE session SET statements = statements + ?, terms = terms + ? WHERE id = ?",
                (statements, terms, ids[key]),
            )
        else:
            ids[key], before = next_id, 0
            next_id += 1
            connection.execute(
                "INSERT INTO session VALUES (?, ?, ?, ?, ?)", (ids[key], ns, key, statements, terms)
            )
        begun += bool(before + statements) - bool(before)
    connection.execute("UPDATE namespace SET sessions = sessions + ? WHERE id = ?", (begun, ns))
    return ids


def derive_again(connection: sqlite3.Connection, ns: int, forgotten: list[int]) -> set[int]:
    """Derive the sessions after the passages ``forgotten`` (their t), as far as they differ; the
    rows of the sessions that changed.

    A derived key follows from the passage before alone: past the last forgotten one, the first key
    that comes out as it was ends the work.
    """
    first, last = min(forgotten), max(forgotten)
    previous = _derived_before(connection, ns, first)
    changed: dict[int, tuple[str, str]] = {}
    for t_index, text, stored in connection.execute(
        "SELECT p.t, p.timestamp, s.key FROM passage p JOIN session s ON s.id = p.session_id"
        " WHERE p.ns = ? AND p.derived = 1 AND p.t > ? ORDER BY p.t",
        (ns, first),
    ):
        timestamp = read_timestamp(text)
        key = next_derived_session(previous, t_index, timestamp)
        previous = (timestamp, key)
        if key != stored:
            changed[t_index] = (stored, key)
        elif t_index > last:
            break
    return _move(connection, ns, changed)


def drop_empty_sessions(connection: sqlite3.Connection, ns: int, ids: Collection[int]) -> None:
    """Delete the rows of those of the sessions ``ids`` that no passage belongs to any more."""
    empty = fetch_by(
        fetch_from(connection),
        "SELECT id FROM session WHERE ns = ? AND statements = 0 AND id IN",
        ids,
        lead=(ns,),
    )
    connection.executemany(
        "DELETE FROM session WHERE id = ?1 AND NOT EXISTS"
        " (SELECT 1 FROM passage WHERE ns = ?2 AND session_id = ?1)",
        [(id, ns) for (id,) in set(empty)],
    )


def _derived_before(
    connection: sqlite3.Connection, ns: int, t_index: int
) -> tuple[datetime, str] | None:
    row = connection.execute(
        "SELECT p.timestamp, s.key FROM passage p JOIN session s ON s.id = p.session_id"
        " WHERE p.ns = ? AND p.derived = 1 AND p.t < ? ORDER BY p.t DESC LIMIT 1",
        (ns, t_index),
    ).fetchone()
    return None if row is None else (read_timestamp(row[0]), row[1])


def _move(connection: sqlite3.Connection, ns: int, changed: dict[int, tuple[str, str]]) -> set[int]:
    """Give the passages ``changed`` (t → old and new key) their new sessions; the rows of all."""
    fetch = fetch_from(connection)
    sizes: dict[str, list[int]] = {}
    statements: dict[int, list[tuple[int, str]]] = {}
    for t_index, (old, new) in changed.items():
        rows = fetch(
            "SELECT at, length, terms FROM statement WHERE ns = ? AND at >= ? AND at < ?",
            (ns, statement_key(t_index, 0), statement_key(t_index + 1, 0)),
        )
        statements[t_index] = [(at, terms) for at, _, terms in rows]
        for key, sign in ((old, -1), (new, 1)):
            size = sizes.setdefault(key, [0, 0])
            size[0] += sign * len(rows)
            size[1] += sign * sum(length for _, length, _ in rows)
    ids = write_session_sizes(connection, ns, sizes)
    stems = {stem for said in statements.values() for _, terms in said for stem in unpack(terms)}
    terms_of = dict(
        fetch_by(fetch, "SELECT stem, id FROM term WHERE ns = ? AND stem IN", stems, lead=(ns,))
    )
    for t_index, (_, new) in changed.items():
        session = ids[new]
        connection.execute(
            "UPDATE passage SET session_id = ? WHERE ns = ? AND t = ?", (session, ns, t_index)
        )
        for at, terms in statements[t_index]:
            connection.execute(
                "UPDATE statement SET session = ? WHERE ns = ? AND at = ?", (session, ns, at)
            )
            connection.executemany(
                "UPDATE posting SET session = ? WHERE ns = ? AND term = ? AND at = ?",
                [(session, ns, terms_of[stem], at) for stem in set(unpack(terms))],
            )
    return set(ids.values())
