"""What a reader may see, as SQL conditions on rows.

A row *counts* where its update is not later than the view's t. Totals of the present stand in the
rows; totals of an earlier t are counted from the rows that count. A row is *visible* where it
counts and its passage is not hidden. Expired passages are hidden, and, for a datetime ``as_of``,
passages that were said later or have no timestamp.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, LiteralString

from recallm.model import Horizon, NamespaceState, VectorState, statement_key
from recallm.stores.sqlite.checksums import verified
from recallm.stores.sqlite.connections import Snapshot
from recallm.stores.sqlite.failures import damage
from recallm.stores.sqlite.lookup import fetch_by
from recallm.stores.sqlite.schema import CHECKSUMMED_COLUMNS, FIND_WITHOUT_INDEX, MAX_T
from recallm.stores.timestamps import microseconds

__all__ = ["View"]

Values = tuple[Any, ...]

_NAMESPACE: LiteralString = (
    "SELECT model, origin, revision, (SELECT json_group_object(z.model, z.size)"
    " FROM vector_size z WHERE z.ns = namespace.id), "
    + ", ".join((*CHECKSUMMED_COLUMNS["namespace"], "crc"))
    + " FROM namespace WHERE name = ?"
)
_SAID: LiteralString = (
    " AND EXISTS (SELECT 1 FROM passage x INDEXED BY passage_t WHERE x.ns = ? AND x.t = {}"
    " AND x.said <= ?)"
)
_LIVE: LiteralString = (
    " AND NOT EXISTS (SELECT 1 FROM passage x INDEXED BY passage_t WHERE x.ns = ? AND x.t = {}"
    " AND x.expires <= ?)"
)


class View:
    """A namespace within a horizon.

    Each ``…_sql`` continues a WHERE; ``…_values`` are its parameters.

    * ``counted_sql``: on a table with a column ``at``, the rows that count.
    * ``visible_sql``: on the same tables, the visible rows; ``visible_by_key_sql`` where the query
      looks rows up by ``at`` (with ``visible_values``).
    * ``visible_evidence_sql``: the visible rows of ``evidence``.
    * ``visible_passage_sql``: the visible rows of ``passage``.
    * ``visible_concept_sql``: the rows of ``concept c`` that a visible row touches.
    """

    def __init__(self, snapshot: Snapshot, namespace: str, horizon: Horizon) -> None:
        self.rows = snapshot.rows
        self._as_of = horizon.as_of
        self._said = microseconds(horizon.as_of) if isinstance(horizon.as_of, datetime) else None
        self._now = microseconds(horizon.now)
        with damage(snapshot.name):
            self._open(namespace)
        self._set_conditions()

    def _open(self, namespace: str) -> None:
        rows = self.rows(_NAMESPACE, (namespace,))
        found = verified((row[4:] for row in rows), "namespace")
        if found and found[0][1] != namespace:
            raise ValueError("an index of the table namespace leads to another row")
        if not found and self.rows(FIND_WITHOUT_INDEX, (namespace,)):
            raise ValueError("an index of the table namespace has lost a row")
        self.ns: int
        self.counter: int
        self.totals: tuple[int, int, int]
        self.ns, _, self.counter, *totals = found[0] if found else (0, namespace, 0, 0, 0, 0)
        self.totals = (totals[0], totals[1], totals[2])
        model, origin, revision, sizes = rows[0][:4] if rows else (None, "", 0, "{}")
        vector_bytes: dict[str, int] = json.loads(sizes)
        vectors = None
        if model is not None:
            vectors = VectorState(
                model=model, size=vector_bytes[model], origin=origin, revision=revision
            )
        self.expired_by = self._now if self._has_expired() else None
        self.is_dated = isinstance(self._as_of, datetime)
        self.hides = self.is_dated or self.expired_by is not None
        self.t_index = self._latest()
        self.is_present = self.t_index >= self.counter
        self.ceiling = min(self.t_index, MAX_T)
        self.state = NamespaceState(
            t_index=self.t_index, vectors=vectors, vector_bytes=vector_bytes
        )

    def _set_conditions(self) -> None:
        self.counted_sql: LiteralString = "" if self.is_present else " AND at < ?"
        self.counted_values: Values = (
            () if self.is_present else (statement_key(max(self.ceiling, -1) + 1, 0),)
        )
        self.visible_sql: LiteralString
        self.visible_evidence_sql: LiteralString
        self.visible_passage_sql: LiteralString
        not_hidden, not_hidden_values = self._not_hidden("at >> 20")
        self.visible_sql, self.visible_values = (
            self.counted_sql + not_hidden,
            (*self.counted_values, *not_hidden_values),
        )
        # The sign keeps the planner from the range of ``at``: it should look up the given keys.
        self.visible_by_key_sql: LiteralString = self.visible_sql.replace(" AND at <", " AND +at <")
        ceiling: Values = () if self.is_present else (self.ceiling,)
        below: LiteralString = "" if self.is_present else " AND shown <= ?"
        not_hidden, not_hidden_values = self._not_hidden("shown")
        self.visible_evidence_sql, self.visible_evidence_values = (
            below + not_hidden,
            (*ceiling, *not_hidden_values),
        )
        self.visible_passage_sql = "" if self.is_present else " AND passage.t <= ?"
        self.visible_passage_values = ceiling
        # The signs keep the planner from the indexes of these columns.
        if self.is_dated:
            self.visible_passage_sql += " AND +passage.said <= ?"
            self.visible_passage_values += (self._said,)
        if self.expired_by is not None:
            self.visible_passage_sql += " AND (passage.expires IS NULL OR +passage.expires > ?)"
            self.visible_passage_values += (self.expired_by,)
        self.visible_concept_sql: LiteralString = ""
        self.visible_concept_values: Values = ()
        if self.hides:
            self.visible_concept_sql = (
                " AND (EXISTS (SELECT 1 FROM mention WHERE ns = c.ns AND concept = c.id"
                + self.visible_sql
                + ") OR EXISTS (SELECT 1 FROM entity e JOIN entity_evidence v"
                " ON v.ns = e.ns AND v.entity = e.number WHERE e.ns = c.ns AND e.concept = c.id"
                + self.visible_sql
                + "))"
            )
            self.visible_concept_values = (*self.visible_values, *self.visible_values)

    def _has_expired(self) -> bool:
        return self._now is not None and bool(
            self.rows(
                "SELECT 1 FROM passage INDEXED BY passage_expires"
                " WHERE ns = ? AND expires <= ? LIMIT 1",
                (self.ns, self._now),
            )
        )

    def _latest(self) -> int:
        if not isinstance(self._as_of, datetime):
            return self.counter if self._as_of is None else min(self._as_of, self.counter)
        rows = self.rows(
            "SELECT t FROM passage INDEXED BY passage_t WHERE ns = ? AND said <= ?"
            " ORDER BY t DESC LIMIT 1",
            (self.ns, self._said),
        )
        return int(rows[0][0]) if rows else 0

    def _not_hidden(self, t: LiteralString) -> tuple[LiteralString, Values]:
        """The condition that the passage of the update with this ``t`` (SQL) is not hidden."""
        sql: LiteralString = ""
        values: Values = ()
        if self.is_dated:
            sql += _SAID.replace("{}", t)
            values += (self.ns, self._said)
        if self.expired_by is not None:
            sql += _LIVE.replace("{}", t)
            values += (self.ns, self.expired_by)
        return sql, values

    def ids(self, table: LiteralString, names: Any) -> dict[str, int]:
        """Name → id in a table that has ``ns``, ``name`` and ``id``."""
        return dict(
            fetch_by(
                self.rows,
                "SELECT name, id FROM " + table + " WHERE ns = ? AND name IN",
                set(names),
                lead=(self.ns,),
            )
        )
