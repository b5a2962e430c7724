"""What a reader may see, as conditions on rows.

Three cases, from quick to exact-by-counting: all of the present (kept totals hold), all up to a t
(totals less what came after), and views with holes (a datetime ``as_of``, or expired passages),
where every row is held against its passage.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, LiteralString

from recallm.model import Filter, Horizon, statement_key
from recallm.stores.sessions import session_key_of
from recallm.stores.sqlite.codec import below, microseconds
from recallm.stores.sqlite.connections import Snapshot
from recallm.stores.sqlite.lookup import fetch_by
from recallm.stores.sqlite.schema import MAX_T

__all__ = ["Sieve", "View"]

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

    ``seen`` and ``seen_values`` continue a WHERE on a table with a column ``at`` (``seen_by_key``
    where the rows are looked up by it); ``shown`` and
    ``shown_values`` one with a column ``shown`` (a t); ``passed`` one on ``passage``.
    """

    def __init__(self, snapshot: Snapshot, namespace: str, horizon: Horizon) -> None:
        self.rows = snapshot.rows
        found = self.rows(
            "SELECT id, t, statements, terms, sessions FROM namespace WHERE name = ?", (namespace,)
        )
        self.ns: int
        self.counter: int
        self.totals: tuple[int, int, int]
        self.ns, self.counter, *totals = found[0] if found else (0, 0, 0, 0, 0)
        self.totals = (totals[0], totals[1], totals[2])
        self._as_of = horizon.as_of
        self._now = microseconds(horizon.now)
        self._expiring = self._now is not None and bool(
            self.rows(
                "SELECT 1 FROM passage INDEXED BY passage_expires"
                " WHERE ns = ? AND expires <= ? LIMIT 1",
                (self.ns, self._now),
            )
        )
        self.has_holes = self._expiring or isinstance(self._as_of, datetime)
        self.t_index = self._latest()
        self.is_present = not self.has_holes and self.t_index >= self.counter
        self.ceiling = min(self.t_index, MAX_T)
        self.seen: LiteralString
        # Where keys are given, they are what to search by: the sign keeps the ceiling from it.
        self.seen_by_key: LiteralString
        self.shown: LiteralString
        self.passed: LiteralString
        self.seen, self.seen_values = self._condition(
            "at >> 20", " AND at < ?", (statement_key(max(self.ceiling, -1) + 1, 0),)
        )
        self.seen_by_key = self.seen.replace(" AND at <", " AND +at <")
        self.shown, self.shown_values = self._condition("shown", " AND shown <= ?", (self.ceiling,))
        self.passed, self.passed_values = self._condition(
            "passage.t", " AND passage.t <= ?", (self.ceiling,)
        )

    def _latest(self) -> int:
        if not isinstance(self._as_of, datetime):
            return self.counter if self._as_of is None else min(self._as_of, self.counter)
        live: LiteralString = " AND (expires IS NULL OR expires > ?)" if self._expiring else ""
        rows = self.rows(
            "SELECT t FROM passage INDEXED BY passage_t WHERE ns = ? AND said <= ?"
            + live
            + " ORDER BY t DESC LIMIT 1",
            (self.ns, microseconds(self._as_of), *([self._now] if live else [])),
        )
        return int(rows[0][0]) if rows else 0

    def _condition(
        self, t: LiteralString, below: LiteralString, ceiling: tuple[int, ...]
    ) -> tuple[LiteralString, tuple[Any, ...]]:
        if self.is_present:
            return "", ()
        sql: LiteralString = below
        values: tuple[Any, ...] = ceiling
        if isinstance(self._as_of, datetime):
            sql += _SAID.replace("{}", t)
            values = (*values, self.ns, microseconds(self._as_of))
        if self._expiring:
            sql += _LIVE.replace("{}", t)
            values = (*values, self.ns, self._now)
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


class Sieve:
    """A ``Filter`` as conditions that continue a WHERE.

    ``sql`` and ``values`` stand on a table with a column ``at``, ``passages`` and
    ``passage_values`` on ``passage``. ``metadata`` is what SQL cannot compare: the caller asks
    ``admits`` for each passage.
    """

    def __init__(self, view: View, where: Filter) -> None:
        self.metadata = where.metadata
        self._sql: LiteralString = ""
        self._values: list[object] = []
        if isinstance(where.since, datetime):
            self._add(" AND said >= ?", microseconds(where.since))
        if isinstance(where.until, datetime):
            self._add(" AND said <= ?", microseconds(where.until))
        if where.speaker is not None:
            self._add(" AND speaker = ?", where.speaker)
        if where.session is not None:
            self._add(
                " AND session_id = (SELECT id FROM session WHERE ns = ? AND key = ?)",
                view.ns,
                session_key_of(where.session, None),
            )
        if where.path is not None:
            # The signs keep the planner from the items' index: it would read all at a path for
            # each row that is asked about.
            self._add(" AND +key IS NOT NULL")
        if where.path:
            self._add(" AND +path >= ? AND +path < ?", *below(where.path))
        first = _bounded(where.since) if isinstance(where.since, int) else None
        last = _bounded(where.until) if isinstance(where.until, int) else None
        self.sql: LiteralString = ""
        self.values: list[object] = []
        self.passages: LiteralString = self._sql
        self.passage_values = list(self._values)
        if first is not None:
            self.sql += " AND at >= ?"
            self.values.append(statement_key(first, 0))
            self.passages += " AND t >= ?"
            self.passage_values.append(first)
        if last is not None:
            self.sql += " AND at < ?"
            self.values.append(statement_key(last + 1, 0))
            self.passages += " AND t <= ?"
            self.passage_values.append(last)
        if self._sql:
            self.sql += (
                " AND EXISTS (SELECT 1 FROM passage WHERE passage.ns = ? AND passage.t = at >> 20"
                + self._sql
                + ")"
            )
            self.values += [view.ns, *self._values]

    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Whether a passage's metadata has every entry that is asked for, equal as JSON."""
        return all(
            key in metadata and _canonical(metadata[key]) == _canonical(value)
            for key, value in self.metadata.items()
        )

    def _add(self, sql: LiteralString, *values: object) -> None:
        self._sql += sql
        self._values += values


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _bounded(t_index: int) -> int:
    return max(-1, min(t_index, MAX_T))
