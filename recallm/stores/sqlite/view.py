"""What a reader may see, as conditions on rows.

Totals are those of the view's t: all of the present, as kept in the rows, or what there was up to
a t, counted. What is shown is held against its passage besides, where the view hides some of it:
what expired, and, for a datetime ``as_of``, what was said later or at no known time.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, LiteralString

from recallm.model import Horizon, NamespaceState, VectorState, statement_key
from recallm.stores.sqlite.checksums import verified
from recallm.stores.sqlite.codec import microseconds
from recallm.stores.sqlite.connections import Snapshot
from recallm.stores.sqlite.failures import damage
from recallm.stores.sqlite.lookup import fetch_by
from recallm.stores.sqlite.schema import MAX_T, STANDS_OUTSIDE_THE_INDEX, SUMMED

__all__ = ["View"]

Values = tuple[Any, ...]

_NAMESPACE: LiteralString = (
    "SELECT model, origin, revision, (SELECT json_group_object(z.model, z.size)"
    " FROM vector_size z WHERE z.ns = namespace.id), "
    + ", ".join((*SUMMED["namespace"], "crc"))
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

    Each condition continues a WHERE, with its values: ``upto`` (what counts) and ``seen`` (what is
    shown) on a table with a column ``at``, ``seen_by_key`` where the rows are looked up by it;
    ``shown`` on one with a column ``shown`` (a t); ``passed`` on ``passage``; ``touched`` on
    ``concept c``: something shown touches it.
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
        if not found and self.rows(STANDS_OUTSIDE_THE_INDEX, (namespace,)):
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
        self.upto: LiteralString = "" if self.is_present else " AND at < ?"
        self.upto_values: Values = (
            () if self.is_present else (statement_key(max(self.ceiling, -1) + 1, 0),)
        )
        self.seen: LiteralString
        self.shown: LiteralString
        self.passed: LiteralString
        hidden, hidden_values = self._hidden("at >> 20")
        self.seen, self.seen_values = self.upto + hidden, (*self.upto_values, *hidden_values)
        # Where keys are given, they are what to search by: the sign keeps the ceiling from it.
        self.seen_by_key: LiteralString = self.seen.replace(" AND at <", " AND +at <")
        ceiling: Values = () if self.is_present else (self.ceiling,)
        below: LiteralString = "" if self.is_present else " AND shown <= ?"
        hidden, hidden_values = self._hidden("shown")
        self.shown, self.shown_values = below + hidden, (*ceiling, *hidden_values)
        self.passed = "" if self.is_present else " AND passage.t <= ?"
        self.passed_values = ceiling
        # The signs keep the planner from the indexes of these columns.
        if self.is_dated:
            self.passed += " AND +passage.said <= ?"
            self.passed_values += (self._said,)
        if self.expired_by is not None:
            self.passed += " AND (passage.expires IS NULL OR +passage.expires > ?)"
            self.passed_values += (self.expired_by,)
        self.touched: LiteralString = ""
        self.touched_values: Values = ()
        if self.hides:
            self.touched = (
                " AND (EXISTS (SELECT 1 FROM mention WHERE ns = c.ns AND concept = c.id"
                + self.seen
                + ") OR EXISTS (SELECT 1 FROM entity e JOIN entity_evidence v"
                " ON v.ns = e.ns AND v.entity = e.number WHERE e.ns = c.ns AND e.concept = c.id"
                + self.seen
                + "))"
            )
            self.touched_values = (*self.seen_values, *self.seen_values)

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

    def _hidden(self, t: LiteralString) -> tuple[LiteralString, Values]:
        """That the update with this t is not hidden."""
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
        """Name → id of a table that has ``ns``, ``name`` and ``id``."""
        return dict(
            fetch_by(
                self.rows,
                "SELECT name, id FROM " + table + " WHERE ns = ? AND name IN",
                set(names),
                lead=(self.ns,),
            )
        )
