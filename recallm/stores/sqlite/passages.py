"""Passages, and the items among them, within a view."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import itemgetter
from typing import Any, LiteralString

from recallm.model import Filter, OpenSession, Passage, Scalar, Session
from recallm.stores.semantics.reading import open_session_of, passage_fields, session_of
from recallm.stores.sqlite.checksums import check_ascending
from recallm.stores.sqlite.codec import read_path
from recallm.stores.sqlite.filtering import FilterSql, likely_condition
from recallm.stores.sqlite.schema import CHECKSUMMED_COLUMNS, MAX_T
from recallm.stores.sqlite.view import View

_EVERY_PASSAGE = Filter()
_SESSION_KEYS: LiteralString = "SELECT {} FROM session WHERE ns = :ns AND id IN {list}"


def read_passages(
    view: View,
    where: Filter = _EVERY_PASSAGE,
    *,
    ids: Collection[str] | None = None,
    limit: int | None = None,
    likely: Mapping[tuple[str, ...], Scalar] | None = None,
) -> list[Passage]:
    """``GraphReader.passages``."""
    filter_sql = FilterSql(view, where)
    likely_sql, likely_values = likely_condition(likely or {})
    order: LiteralString = ""
    if ids is not None:
        source: LiteralString = "passage INDEXED BY passage_id WHERE ns = :ns AND id IN {list}"
        ids = set(ids)
    else:
        # Few may hold a likely value: from the newest on, the search for them reads all passages.
        every = limit is None or where.key is not None or bool(likely_sql)
        source = filter_sql.passage_source(every=every)
        order = " ORDER BY t DESC LIMIT :limit"
        filter_sql.values["limit"] = -1 if limit is None else limit
    sql: LiteralString = "SELECT {} FROM " + source + view.visible_passage + filter_sql.passages
    values = {**filter_sql.values, **likely_values}
    rows = view.read("passage", sql + likely_sql + order, ids, **values)
    rows.sort(key=itemgetter(1), reverse=True)
    check_ascending((-row[1] for row in rows), after=-MAX_T - 1)
    if ids is not None and any(row[2] not in ids for row in rows):
        raise ValueError("an index of the table passage leads to another row")
    filter_sql.check_metadata(row[9] for row in rows)
    return [Passage(**fields_of(row)) for row in rows[:limit]]


def read_t_indexes(view: View, where: Filter) -> list[int]:
    """``GraphReader.t_indexes``."""
    filter_sql = FilterSql(view, where)
    source = filter_sql.passage_source(every=True)
    column: LiteralString = "metadata" if where.metadata else "NULL"
    rows = view.rows(
        "SELECT t, " + column + " FROM " + source + view.visible_passage + filter_sql.passages,
        **filter_sql.values,
    )  # fmt: skip
    filter_sql.check_metadata(text for _, text in rows)
    return sorted(t for t, _ in rows)


def read_paths(view: View) -> list[tuple[str, ...]]:
    """``GraphReader.paths``."""
    rows = view.rows(
        "SELECT DISTINCT path FROM passage INDEXED BY passage_item"
        " WHERE ns = :ns AND key IS NOT NULL" + view.visible_passage
    )
    return sorted(read_path(path) for (path,) in rows)


def read_open_session(view: View) -> OpenSession | None:
    """``GraphReader.open_session``."""
    rows = view.rows(
        "SELECT p.t, s.key, p.said, p.source FROM namespace n"
        " JOIN passage p ON p.row = (n.id << 32) + n.open_t JOIN session s ON s.id = p.session_id"
        " WHERE n.id = :ns AND (p.expires IS NULL OR :now IS NULL OR p.expires > :now)"
    )
    return open_session_of(*rows[0]) if rows else None


def read_sessions(view: View) -> list[Session]:
    """``GraphReader.sessions``."""
    rows = view.rows(
        "SELECT session_id, count(*), min(t), max(t) AS latest, min(said), max(said)"
        " FROM passage INDEXED BY passage_t WHERE ns = :ns AND session_id IS NOT NULL"
        + view.visible_passage
        + " GROUP BY session_id ORDER BY latest DESC"
    )
    ids = {row[0] for row in rows}
    keys = {row[0]: row[2] for row in view.read("session", _SESSION_KEYS, ids)}
    return [session_of(keys[id], *totals) for id, *totals in rows]


def fields_of(row: tuple[Any, ...]) -> dict[str, Any]:
    """``passage_fields`` of a row of the table."""
    named: dict[str, Any] = dict(zip(CHECKSUMMED_COLUMNS["passage"], row, strict=True))
    return passage_fields(named, read_path(named["path"]))
