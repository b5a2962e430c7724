"""Filters in SQL: the newest visible rows whose passages meet a ``Filter``.

Where an index says that few passages meet the filter, the query finds these first and reads only
their rows. Otherwise it tests rows from the newest on: many meet the filter, so that it ends soon.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any, LiteralString

from recallm.model import Filter, canonical_json, statement_key
from recallm.stores.semantics.sessions import session_key_of
from recallm.stores.sqlite.checksums import check_ascending
from recallm.stores.sqlite.codec import below, entry_hash, path_text
from recallm.stores.sqlite.lookup import fetch_by, in_pairs
from recallm.stores.sqlite.schema import MAX_T, passage_row
from recallm.stores.sqlite.view import View
from recallm.stores.timestamps import microseconds

__all__ = ["FilterSql", "newest_columns"]

FEW = 1_000
"""The most passages that are found by an index first."""

_METADATA_PAGE = 1_000
"""Statements whose passages' metadata is compared at a time."""

_PASSAGES: LiteralString = "SELECT t FROM passage INDEXED BY "


class FilterSql:
    """A ``Filter`` as conditions that continue a WHERE.

    ``sql`` and ``values`` are for a table with a column ``at``, ``passages`` and
    ``passage_values`` for ``passage``. SQL cannot compare ``metadata``: the caller asks ``admits``
    for each passage.
    """

    def __init__(self, view: View, where: Filter) -> None:
        self.metadata = where.metadata
        self._view = view
        self._sql: LiteralString = ""
        self._values: list[object] = []
        self._indexed: list[tuple[LiteralString, tuple[object, ...]]] = []
        said: tuple[object, ...] = ()
        in_said: LiteralString = _PASSAGES + "passage_said WHERE ns = ?"
        if isinstance(where.since, datetime):
            self._add(" AND +said >= ?", microseconds(where.since))
            in_said += " AND said >= ?"
            said += (microseconds(where.since),)
        if isinstance(where.until, datetime):
            self._add(" AND +said <= ?", microseconds(where.until))
            in_said += " AND said <= ?"
            said += (microseconds(where.until),)
        if said:
            self._indexed.append((in_said, (view.ns, *said)))
        if where.speaker is not None:
            self._add(" AND +speaker = ?", where.speaker)
            sql: LiteralString = _PASSAGES + "passage_speaker WHERE ns = ? AND speaker = ?"
            self._indexed.append((sql, (view.ns, where.speaker)))
        if where.session is not None:
            session: LiteralString = "(SELECT id FROM session WHERE ns = ? AND key = ?)"
            key = (view.ns, session_key_of(where.session, None))
            self._add(" AND +session_id = " + session, *key)
            sql = _PASSAGES + "passage_in_session WHERE ns = ? AND session_id = " + session
            self._indexed.append((sql, (view.ns, *key)))
        if where.key is not None:
            item = (path_text(where.path or ()), where.key)
            self._add(" AND +path = ? AND +key = ?", *item)
            sql = _PASSAGES + "passage_item WHERE ns = ? AND path = ? AND key = ?"
            self._indexed.append((sql, (view.ns, *item)))
        elif where.path is not None:
            self._add(" AND +key IS NOT NULL")
            sql = _PASSAGES + "passage_item WHERE ns = ? AND key IS NOT NULL"
            span: tuple[object, ...] = ()
            if where.path:
                self._add(" AND +path >= ? AND +path < ?", *below(where.path))
                sql += " AND path >= ? AND path < ?"
                span = below(where.path)
            self._indexed.append((sql, (view.ns, *span)))
        for name, value in where.metadata.items():
            sql = "SELECT t FROM metadata_entry WHERE ns = ? AND entry = ?"
            self._indexed.append((sql, (view.ns, entry_hash(name, value))))
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
            key in metadata and canonical_json(metadata[key]) == canonical_json(value)
            for key, value in self.metadata.items()
        )

    def _add(self, sql: LiteralString, *values: object) -> None:
        self._sql += sql
        self._values += values

    @cached_property
    def few(self) -> list[int] | None:
        """The t of all passages that meet the filter, hidden passages too, ascending; None where
        there may be more than ``FEW``."""
        found: list[int] | None = None
        for sql, values in self._indexed:
            rows = self._view.rows(sql + " LIMIT ?", (*values, FEW + 1))
            if len(rows) <= FEW and (found is None or len(rows) < len(found)):
                found = [t for (t,) in rows]
        if found is None:
            return None
        met = fetch_by(
            self._view.rows,
            "SELECT t, metadata FROM passage WHERE row IN",
            [passage_row(self._view.ns, t) for t in found],
            self.passages,
            tail=self.passage_values,
        )
        return sorted({t for t, text in met if not self.metadata or self.admits(json.loads(text))})


def newest_columns(
    view: View,
    columns: Sequence[LiteralString],
    source: LiteralString,
    values: tuple[Any, ...],
    limit: int,
    filter_sql: FilterSql,
) -> list[list[int]]:
    """The newest visible rows that meet a filter, as one list per column.

    SQLite joins the numbers of a column to one text. Python reads that text in half the time that
    the rows would take, and the garbage collector has no tuples to look at.

    Args:
        view: decides which rows are visible.
        columns: columns of whole numbers; the first one is ``at``.
        source: a table with its WHERE.
        values: the parameters of ``source``.
        limit: the most rows; negative: all.
        filter_sql: the filter.
    """
    listed: LiteralString = ", ".join(columns)
    if filter_sql.few is not None or filter_sql.metadata:
        rows = _newest_rows(view, listed, source, values, limit, filter_sql)
        return [[row[place] for row in rows] for place in range(len(columns))]
    joined: list[LiteralString] = ["group_concat(" + column + ")" for column in columns]
    newest: LiteralString = (
        "SELECT " + listed + " FROM " + source + view.visible_sql + filter_sql.sql
        + " ORDER BY at DESC LIMIT ?"
    )  # fmt: skip
    (texts,) = view.rows(
        "SELECT " + ", ".join(joined) + " FROM (" + newest + ")",
        (*values, *view.visible_values, *filter_sql.values, limit),
    )
    found: list[list[int]] = [json.loads("[" + (text or "") + "]") for text in texts]
    if len({len(column) for column in found}) > 1:
        raise ValueError("a row of an index lacks a number")
    keys = found[0]
    if any(map(operator.lt, keys, islice(keys, 1, None))):  # SQLite promises no order in the text
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
        return [[column[place] for place in order] for column in found]
    return found


def _newest_rows(
    view: View,
    columns: LiteralString,
    source: LiteralString,
    values: tuple[Any, ...],
    limit: int,
    filter_sql: FilterSql,
) -> list[tuple[Any, ...]]:
    """The rows of ``newest_columns``, for a filter that few passages meet or that compares
    metadata."""
    if filter_sql.few is not None:
        return _of_passages(view, columns, source, values, limit, filter_sql.few)
    select: LiteralString = "SELECT " + columns + " FROM " + source
    met: dict[str, bool] = {}
    passing: list[tuple[Any, ...]] = []
    below: LiteralString = (
        " AND at < ?" + view.visible_sql + filter_sql.sql + " ORDER BY at DESC LIMIT ?"
    )
    last = statement_key(MAX_T, 0)
    while limit < 0 or len(passing) < limit:
        rows = view.rows(
            select + below,
            (*values, last, *view.visible_values, *filter_sql.values, _METADATA_PAGE),
        )
        check_ascending((-row[0] for row in rows), -last)
        metadata = _metadata(view, {row[0] >> 20 for row in rows})
        for row in rows:
            text = metadata[row[0] >> 20]
            if text not in met:
                met[text] = filter_sql.admits(json.loads(text))
            if met[text]:
                passing.append(row)
        if len(rows) < _METADATA_PAGE:
            break
        last = rows[-1][0]
    return passing if limit < 0 else passing[:limit]


def _of_passages(
    view: View,
    columns: LiteralString,
    source: LiteralString,
    values: tuple[Any, ...],
    limit: int,
    ts: list[int],
) -> list[tuple[Any, ...]]:
    found: dict[int, tuple[Any, ...]] = {}
    spans = [(statement_key(t, 0), statement_key(t + 1, 0)) for t in ts]
    for marks, ends in in_pairs(spans):
        rows = view.rows(
            "WITH span (first, stop) AS (VALUES " + marks + ") SELECT " + columns
            + " FROM span CROSS JOIN " + source + " AND at >= first AND at < stop"
            + view.visible_sql,
            (*ends, *values, *view.visible_values),
        )  # fmt: skip
        found.update((row[0], row) for row in rows)
    newest = sorted(found, reverse=True)
    return [found[at] for at in (newest if limit < 0 else newest[:limit])]


def _metadata(view: View, ts: Collection[int]) -> dict[int, str]:
    return dict(
        fetch_by(
            view.rows,
            "SELECT t, metadata FROM passage WHERE row IN",
            [passage_row(view.ns, t_index) for t_index in ts],
        )
    )


def _bounded(t_index: int) -> int:
    return max(-1, min(t_index, MAX_T))
