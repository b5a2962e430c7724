"""Properties of entities and triplets: each evidence keeps its own; merged in the order of the
evidence they stand in the row of the entity (triplet) as well."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recallm.stores.sqlite.codec import json_text

__all__ = ["LostProperties", "write_evidence"]

Kind = Literal["entity", "triplet"]


def write_evidence(
    connection: sqlite3.Connection,
    kind: Kind,
    ns: int,
    number: int,
    at: int,
    told: Mapping[str, Any],
    merged: str,
) -> str:
    """Write evidence of an entity or a triplet with what was ``told`` of it; all its properties,
    of which ``merged`` are those before."""
    if not told:
        connection.execute(
            "INSERT OR IGNORE INTO " + kind + "_evidence VALUES (?, ?, ?, NULL)", (ns, number, at)
        )
        return merged
    (latest,) = connection.execute(
        "SELECT max(at) FROM " + kind + "_evidence WHERE ns = ? AND " + kind + " = ?", (ns, number)
    ).fetchone()
    total = _read(merged)
    own, stand = told, told
    if latest is not None and at <= latest:
        before = connection.execute(
            "SELECT properties FROM " + kind + "_evidence"
            " WHERE ns = ? AND " + kind + " = ? AND at = ?",
            (ns, number, at),
        ).fetchone()
        own = {**_read(before[0] if before else None), **told}
        known = told.keys() & total.keys()
        later = _latest_values(connection, kind, ns, number, known, after=at)
        stand = {key: value for key, value in told.items() if key not in later}
    connection.execute(
        "INSERT OR REPLACE INTO " + kind + "_evidence VALUES (?, ?, ?, ?)",
        (ns, number, at, json_text(own)),
    )
    return json_text({**total, **stand}) if stand else merged


@dataclass(slots=True)
class LostProperties:
    """What evidence that went had said of entities or triplets, by their numbers."""

    kind: Kind
    _keys: dict[int, set[str]] = field(default_factory=dict)

    def add(self, rows: Iterable[tuple[int, str | None]]) -> None:
        """Take in the properties of evidence: (number, properties)."""
        for number, properties in rows:
            if properties is not None:
                self._keys.setdefault(number, set()).update(_read(properties))

    def settle(self, connection: sqlite3.Connection, ns: int) -> None:
        """Put right the merged properties of those that are there still."""
        for number, keys in self._keys.items():
            row = connection.execute(
                "SELECT properties FROM " + self.kind + " WHERE number = ?", (number,)
            ).fetchone()
            if row is None:
                continue
            left = _latest_values(connection, self.kind, ns, number, keys)
            merged = {
                key: left.get(key, value)
                for key, value in _read(row[0]).items()
                if key not in keys or key in left
            }
            connection.execute(
                "UPDATE " + self.kind + " SET properties = ? WHERE number = ?",
                (json_text(merged), number),
            )


def _latest_values(
    connection: sqlite3.Connection,
    kind: Kind,
    ns: int,
    number: int,
    keys: Collection[str],
    *,
    after: int = -1,
) -> dict[str, Any]:
    """What the latest evidence that says it says of each of ``keys``; only such ``after`` an at."""
    wanted = set(keys)
    found: dict[str, Any] = {}
    for (properties,) in connection.execute(
        "SELECT properties FROM " + kind + "_evidence WHERE ns = ? AND " + kind + " = ?"
        " AND at > ? AND properties IS NOT NULL ORDER BY at DESC",
        (ns, number, after),
    ):
        own = _read(properties)
        found.update((key, own[key]) for key in wanted & own.keys())
        wanted -= own.keys()
        if not wanted:
            break
    return found


def _read(properties: str | None) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(properties) if properties is not None else {}
    return read
