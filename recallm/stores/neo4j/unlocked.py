"""The rows of a namespace for a write that holds no lock between its queries.

A writer reads what it needs (``PREPARE``), computes its changes, and sends them as one query
(``GUARDED``), which writes only if nobody wrote since. The lock of the namespace is held while
the server runs a query, never while it waits for a client.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, LiteralString, TypeVar

from recallm.model import PreparedUpdate
from recallm.stores.cypher import changes as writes
from recallm.stores.cypher import lookups as cypher
from recallm.stores.neo4j.changes import write_changes
from recallm.stores.neo4j.rows import (
    REMEMBERED,
    Neo4jRows,
    look_up_parameters,
    totals_of,
)
from recallm.stores.neo4j.transaction import AlreadyWrittenError, NeedsLockError, Row, Tx
from recallm.stores.neo4j.values import fresh_rows, item_key, key_of, keys_of, moment_of
from recallm.stores.semantics.rows import Changes, Keys, Opened, Totals
from recallm.stores.semantics.writing import keys_of as keys_of_updates

Key = TypeVar("Key")
Value = TypeVar("Value")


class UnlockedRows(Neo4jRows):
    """The rows of a namespace for ``updates`` that only add to them.

    ``open`` looks up the rows of all updates too. ``write`` keeps the changes until the transaction
    is committed. What else a write needs is refused with ``NeedsLockError``.
    """

    def __init__(self, tx: Tx, namespace: str, updates: Sequence[PreparedUpdate]) -> None:
        super().__init__(namespace, fresh_rows())
        self._tx = tx
        self._key = key_of(namespace)
        self._keys = keys_of_updates(updates)
        self._found: Row = {}
        self._t = 0
        self._recorded: dict[str, Any] | None = None

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        now: datetime | None = None,
    ) -> Opened:
        """What ``LockedRows.open`` finds.

        Raises:
            AlreadyWrittenError: an earlier try of this write was committed.
            NeedsLockError: the namespace was never written.
        """
        by_key = {item_key(*item): item for item in items}
        parameters = {
            "key": self._key,
            "ids": keys_of(ids),
            "items": list(by_key),
            "now": moment_of(now),
            "write": self._tx.stamp.write,
            **look_up_parameters(self._keys),
        }
        rows = self._tx.rows(cypher.PREPARE, parameters)
        if not rows or rows[0]["latest"] is None:
            raise NeedsLockError
        if rows[0]["written"]:
            raise AlreadyWrittenError
        self._found = rows[0]
        self._t = self._found["namespace"]["t"]
        return self._opened(self._found, by_key)

    def look_up(self, keys: Keys) -> Totals:
        """The rows that ``open`` found; none for a session that begins with this write."""
        sessions = [*self._found["sessions"], *self._found["open_sessions"]]
        known = totals_of({**self._found, "sessions": sessions}, self._keys.elements)
        unknown = keys.sessions - self._keys.sessions - known.sessions.keys()
        covered = (
            keys.concepts <= self._keys.concepts
            and keys.terms <= self._keys.terms
            and keys.relations <= self._keys.relations
            and keys.elements <= self._keys.elements
            and keys.predicates <= self._keys.predicates
            and all(map(self._is_new, unknown))
        )
        if not covered:
            raise NeedsLockError
        elements = _only(known.elements, keys.elements)
        names = {row.concept.name for row in elements.values()}
        return Totals(
            concepts=_only(known.concepts, keys.concepts | names),
            terms=_only(known.terms, keys.terms),
            sessions=_only(known.sessions, keys.sessions),
            relations=_only(known.relations, keys.relations),
            elements=elements,
            predicates=_only(known.predicates, keys.predicates),
        )

    def write(self, changes: Changes) -> None:
        if self._recorded is not None:
            raise NeedsLockError
        recorded: dict[str, Any] = {}

        def record(query: LiteralString, **parameters: Any) -> None:
            if query != writes.ADD:
                raise NeedsLockError
            recorded.update(parameters)

        write_changes(record, changes)
        self._recorded = {
            **recorded,
            "key": self._key,
            "namespace": self.rows,
            "latest": self._found["latest"],
            "writer": self._tx.stamp.writer,
            "write": self._tx.stamp.write,
            "remembered": REMEMBERED,
        }
        self._tx.write_at_commit(writes.GUARDED, self._recorded)

    def _is_new(self, session_key: str) -> bool:
        """Whether the session begins with an update that is not yet written."""
        return session_key.startswith("@") and int(session_key[1:]) > self._t

    def _rows(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        # What reads after the changes must see them.
        if query != cypher.EVIDENCE or self._recorded is not None:
            raise NeedsLockError
        return self._tx.rows(query, {"namespace": self.rows, **parameters})


def _only(rows: dict[Key, Value], keys: set[Key]) -> dict[Key, Value]:
    return {key: row for key, row in rows.items() if key in keys}
