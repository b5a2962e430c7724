"""The rows of a namespace for a write that holds no lock between its queries.

A writer reads what it needs (``PREPARE``), computes its changes, and sends them as one query
(``GUARDED``), which writes only if nobody wrote since. The lock of the namespace is held while
the server runs a query, never while it waits for a client.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from recallm.model import PreparedUpdate
from recallm.stores.cypher import changes as writes
from recallm.stores.cypher import lookups as cypher
from recallm.stores.neo4j.changes import write_changes
from recallm.stores.neo4j.rows import REMEMBERED, Neo4jRows, look_up_parameters, totals_of
from recallm.stores.neo4j.transaction import AlreadyWrittenError, NeedsLockError, Row, Tx
from recallm.stores.neo4j.values import fresh_rows, key_of
from recallm.stores.semantics.rows import Changes, Keys, Totals
from recallm.stores.semantics.writing import keys_of as keys_of_updates


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
        self._recorded: dict[str, Any] | None = None

    def opened(self, **parameters: Any) -> Row:
        given = {"key": self._key, "write": self._tx.stamp.write, **look_up_parameters(self._keys)}
        rows = self._tx.rows(cypher.PREPARE, {**given, **parameters})
        if not rows or rows[0]["latest"] is None:  # the namespace was never written
            raise NeedsLockError
        if rows[0]["written"]:
            raise AlreadyWrittenError
        self._found = rows[0]
        return self._found

    def look_up(self, keys: Keys) -> Totals:
        """The rows that ``open`` found; none for a session that begins with this write."""
        sessions = [*self._found["sessions"], *self._found["open_sessions"]]
        known = totals_of({**self._found, "sessions": sessions}, self._keys.elements)
        unknown = keys.sessions - self._keys.sessions - known.sessions.keys()
        if not all(map(self._is_new, unknown)):
            raise NeedsLockError
        found = {"sessions": _only(known.sessions, keys.sessions)}
        for name in ("concepts", "terms", "relations", "elements", "predicates"):
            wanted = getattr(keys, name)
            if not wanted <= getattr(self._keys, name):
                raise NeedsLockError
            found[name] = _only(getattr(known, name), wanted)
        names = {row.concept.name for row in found["elements"].values()}
        found["concepts"] |= _only(known.concepts, names)
        return Totals(**found)

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
        return session_key.startswith("@") and int(session_key[1:]) > self._found["namespace"]["t"]

    def rows_of(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        # What reads after the changes must see them.
        if query != cypher.EVIDENCE or self._recorded is not None:
            raise NeedsLockError
        return self._tx.rows(query, {"namespace": self.rows, **parameters})


def _only(rows: dict[Any, Any], keys: set[Any]) -> dict[Any, Any]:
    return {key: row for key, row in rows.items() if key in keys}
