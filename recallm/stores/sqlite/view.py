"""Queries with lists and checksums, and what a reader may see, as SQL conditions on rows.

A row *counts* where its update is not later than the view's t. Totals of the present stand in the
rows; totals of an earlier t are counted from the rows that count. A row is *visible* where it
counts and its passage is not hidden. Expired and withdrawn passages are hidden, and, for a datetime
``as_of``, passages that were said later or have no timestamp.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, LiteralString

from recallm.model import Horizon, statement_key
from recallm.stores.semantics.reading import state_of
from recallm.stores.semantics.rows import microseconds
from recallm.stores.sqlite.codec import verified
from recallm.stores.sqlite.connections import Snapshot
from recallm.stores.sqlite.failures import damage
from recallm.stores.sqlite.schema import FIND_WITHOUT_INDEX, MAX_T, columns_of

Fetch = Callable[[LiteralString, Any], list[tuple[Any, ...]]]
"""Runs a query with its parameters and returns all its rows."""

_VALUES: LiteralString = "(SELECT value FROM json_each("
_VALUES_WITH_NUL: LiteralString = (
    "(SELECT replace(replace(value, char(30) || '0', char(0)), char(30) || '1', char(30)) AS value"
    " FROM json_each("
)
"""``json_each`` ends a string at a NUL, so that a list with one is escaped."""

PAIRS: LiteralString = "(SELECT value >> 32 AS a, value & 4294967295 AS b FROM json_each(:list))"
"""A table of pairs of row numbers from a list of ``a << 32 | b``."""


def fetch_from(connection: sqlite3.Connection) -> Fetch:
    """``Fetch`` over a connection."""
    return lambda sql, values: connection.execute(sql, values).fetchall()


def columns(table: LiteralString) -> LiteralString:
    """The columns of a table that its checksum covers, and the checksum."""
    return ", ".join((*columns_of(table), "crc"))


def among(listed: LiteralString) -> LiteralString:
    """The values of a list, for a condition with ``IN``."""
    return _VALUES + ":" + listed + "))"


class Queries:
    """Queries with the parameters ``bound``, and those that a call adds.

    A parameter may be a list: ``among`` names its values, and ``json_each`` makes a table of them.
    A query names the values of the list ``listed`` as ``{list}``, and ``listed`` as ``:list``.
    """

    def __init__(self, fetch: Fetch, **bound: Any) -> None:
        self.fetch = fetch
        self.bound = bound

    def rows(
        self, sql: LiteralString, listed: Collection[object] | None = None, **values: Any
    ) -> list[tuple[Any, ...]]:
        """All rows of a query; none where a list is empty."""
        values["list"] = listed
        lists = {
            name: list(value)
            for name, value in values.items()
            if isinstance(value, Collection) and not isinstance(value, str)
        }
        if not all(lists.values()):
            return []
        sql = sql.replace("{list}", among("list"))
        texts = {name: json.dumps(items) for name, items in lists.items()}
        if any("\\u0000" in text for text in texts.values()):
            sql = sql.replace(_VALUES, _VALUES_WITH_NUL)
            texts = {name: json.dumps(list(map(_escaped, items))) for name, items in lists.items()}
        return self.fetch(sql, {**self.bound, **values, **texts})

    def read(
        self,
        table: LiteralString,
        sql: LiteralString,
        listed: Collection[object] | None = None,
        **values: Any,
    ) -> list[tuple[Any, ...]]:
        """All rows of a query, each compared with its checksum: ``{}`` stands for the columns of
        ``table`` that it covers.

        Raises:
            ValueError: a row is damaged.
        """
        return verified(self.rows(sql.replace("{}", columns(table)), listed, **values), table)


def _escaped(value: object) -> str:
    return str(value).replace("\x1e", "\x1e1").replace("\0", "\x1e0")


_NAMESPACE: LiteralString = (
    "SELECT model, origin, revision, vector_sizes, vocabulary,"
    " EXISTS (SELECT 1 FROM passage INDEXED BY passage_expires"
    "  WHERE ns = namespace.id AND expires <= :now),"
    " (SELECT min(withdrawn) FROM passage INDEXED BY passage_withdrawn"
    "  WHERE ns = namespace.id AND withdrawn IS NOT NULL),"
    " CASE WHEN :said IS NOT NULL THEN coalesce((SELECT p.t FROM passage p INDEXED BY passage_t"
    "  WHERE p.ns = namespace.id AND p.said <= :said ORDER BY p.t DESC LIMIT 1), 0) END, "
    + columns("namespace")
    + " FROM namespace WHERE name = :name"
)
_TOUCHED: LiteralString = (
    " AND (EXISTS (SELECT 1 FROM mention WHERE ns = c.ns AND concept = c.id{visible})"
    " OR EXISTS (SELECT 1 FROM element e JOIN element_evidence v ON v.ns = e.ns"
    "  AND v.element = e.number WHERE e.ns = c.ns AND e.concept = c.name{visible}))"
)
"""The condition that a row touches ``concept c``: a mention, or evidence of an entity on it."""


class View(Queries):
    """A namespace within a horizon.

    Each condition continues a WHERE. Its parameters are bound in every query of the view: ``:ns``,
    ``:last`` (the view's t), ``:end`` (the first key after it), ``:said`` (the datetime ``as_of``)
    and ``:now``.

    * ``counted``: on a table with a column ``at``, the rows that count.
    * ``visible``: on the same tables, the visible rows.
    * ``visible_evidence``: the visible rows of ``evidence``.
    * ``visible_passage``: the visible rows of ``passage``.
    * ``visible_concept``: the rows of ``concept c`` that a visible row touches.
    """

    def __init__(self, snapshot: Snapshot, namespace: str, horizon: Horizon) -> None:
        as_of = horizon.as_of
        said = microseconds(as_of) if isinstance(as_of, datetime) else None
        super().__init__(snapshot.rows, said=said, now=microseconds(horizon.now))
        with damage(snapshot.name):
            rows = self.rows(_NAMESPACE, name=namespace)
            found = verified((row[8:] for row in rows), "namespace")
            if found and found[0][1] != namespace:
                raise ValueError("an index of the table namespace leads to another row")
            if not found and self.rows(FIND_WITHOUT_INDEX, name=namespace):
                raise ValueError("an index of the table namespace has lost a row")
            self.ns, _, counter, *self.totals = found[0] if found else (0, namespace, 0, 0, 0, 0)
            model, origin, revision, sizes, vocabulary, has_expired, withdrawn, latest_said = (
                rows[0][:8] if rows else (None, "", 0, "{}", 0, 0, None, 0)
            )
            vector_bytes: dict[str, int] = json.loads(sizes)
            if isinstance(as_of, datetime):
                t_index = latest_said
            else:
                t_index = counter if as_of is None else min(as_of, counter)
            self.state = state_of(t_index, vector_bytes, vocabulary, model, origin, revision)
        self.is_present = t_index >= counter
        self.is_dated = said is not None
        self.has_withdrawn = (
            not horizon.withdrawn and withdrawn is not None and withdrawn <= t_index
        )
        self.hides = self.is_dated or bool(has_expired) or self.has_withdrawn
        self.last = max(-1, min(t_index, MAX_T))
        self.bound.update(ns=self.ns, last=self.last, end=statement_key(self.last + 1, 0))
        self._set_conditions(bool(has_expired))

    def _set_conditions(self, has_expired: bool) -> None:
        self.counted: LiteralString = "" if self.is_present else " AND at < :end"
        self.visible: LiteralString = self.counted
        self.visible_evidence: LiteralString = "" if self.is_present else " AND shown <= :last"
        self.visible_passage: LiteralString = "" if self.is_present else " AND passage.t <= :last"
        self.visible_concept: LiteralString = ""
        if not self.hides:
            return
        shown: LiteralString = ""
        if self.is_dated:
            shown += " AND +said <= :said"
        if has_expired:
            shown += " AND (expires IS NULL OR +expires > :now)"
        if self.has_withdrawn:
            shown += " AND (withdrawn IS NULL OR +withdrawn > :last)"
        # Only a datetime hides an update without a passage.
        update_shown: LiteralString = (
            " AND coalesce((SELECT 1" + shown + " FROM passage INDEXED BY passage_t"
            "  WHERE passage.ns = :ns AND passage.t = {t}), :said IS NULL)"
        )
        self.visible += update_shown.replace("{t}", "at >> 20")
        self.visible_evidence += update_shown.replace("{t}", "shown")
        self.visible_passage += shown
        self.visible_concept = _TOUCHED.replace("{visible}", self.visible)
