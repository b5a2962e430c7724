"""``GraphStore.amend``: changes that are no knowledge updates, inside a write transaction."""

from __future__ import annotations

import sqlite3

from recallm.model import AddVectors, Amendment, SetExpiry, WriteSummary
from recallm.stores.sqlite.codec import microseconds, pack, timestamp_text
from recallm.stores.sqlite.lookup import fetch_from
from recallm.stores.sqlite.sizes import VectorSizes
from recallm.stores.sqlite.totals import context_version
from recallm.stores.sqlite.writing import open_namespace

__all__ = ["amend"]


def amend(connection: sqlite3.Connection, namespace: str, amendment: Amendment) -> int:
    """Make the change; the number of statements, passages or summaries that changed."""
    found = open_namespace(connection, namespace)
    if found is None:
        return 0
    ns, _ = found
    match amendment:
        case AddVectors():
            return _add_vectors(connection, ns, amendment)
        case SetExpiry():
            return _set_expiry(connection, ns, amendment)
        case WriteSummary():
            return _write_summary(connection, ns, amendment)


def _add_vectors(connection: sqlite3.Connection, ns: int, amendment: AddVectors) -> int:
    model = amendment.model
    given = [
        (key, blob)
        for key, blob in sorted(amendment.vectors.items())
        if connection.execute(
            "SELECT 1 FROM statement s WHERE ns = ? AND at = ? AND NOT EXISTS"
            " (SELECT 1 FROM vector v WHERE v.ns = s.ns AND v.at = s.at)",
            (ns, key),
        ).fetchone()
    ]
    if not given:
        return 0
    sizes = VectorSizes(connection, ns)
    sizes.check_models([model])
    sizes.check_sizes((model, blob) for _, blob in given)
    sizes.write(ns)
    connection.executemany(
        "INSERT INTO vector VALUES (?, ?, ?, ?)", [(ns, key, model, blob) for key, blob in given]
    )
    connection.execute("UPDATE namespace SET revision = revision + 1 WHERE id = ?", (ns,))
    return len(given)


def _set_expiry(connection: sqlite3.Connection, ns: int, amendment: SetExpiry) -> int:
    moments = [
        (timestamp_text(moment), microseconds(moment), ns, id)
        for id, moment in amendment.expires_at.items()
    ]
    if not moments:
        return 0
    return connection.executemany(
        "UPDATE passage SET expires_at = ?, expires = ? WHERE ns = ? AND id = ?", moments
    ).rowcount


def _write_summary(connection: sqlite3.Connection, ns: int, amendment: WriteSummary) -> int:
    summary = amendment.summary
    if context_version(fetch_from(connection), ns, summary.concept) != amendment.expected:
        return 0
    connection.execute(
        "INSERT OR REPLACE INTO summary"
        " SELECT ns, id, ?, ?, ?, ? FROM concept WHERE ns = ? AND name = ?",
        (
            summary.t_index, summary.text, pack(summary.terms), int(summary.traits), ns,
            summary.concept,
        ),
    )  # fmt: skip
    return 1
