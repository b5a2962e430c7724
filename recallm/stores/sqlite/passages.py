"""Passages, and the items among them, within a view."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from operator import itemgetter
from typing import Any, LiteralString

from recallm.model import Filter, Passage
from recallm.stores.sqlite.checksums import check_ascending
from recallm.stores.sqlite.codec import below, path_text, read_path
from recallm.stores.sqlite.filtering import FilterSql
from recallm.stores.sqlite.lookup import fetch_by, read, read_by
from recallm.stores.sqlite.schema import MAX_T, passage_row
from recallm.stores.sqlite.view import View
from recallm.stores.timestamps import unpack_timestamp

__all__ = ["EVERY_PASSAGE", "read_passages", "read_paths", "read_t_indexes"]

EVERY_PASSAGE = Filter()

_PAGE = 500
"""Passages that are read at a time."""


def read_passages(
    view: View, where: Filter, ids: Collection[str] | None, limit: int | None
) -> list[Passage]:
    """``GraphReader.passages``."""
    filter_sql = FilterSql(view, where)
    if ids is not None:
        return _of_ids(view, filter_sql, ids)[:limit]
    wanted = -1 if limit is None else limit
    if where.key is None and filter_sql.few is not None:
        return _of_few(view, filter_sql.few, wanted)
    source, span = _source(where, all=wanted < 0)
    page = wanted if not filter_sql.metadata else _PAGE
    passing: list[Passage] = []
    last = MAX_T + 1
    while wanted < 0 or len(passing) < wanted:
        rows = read(
            view.rows, "passage",
            "SELECT {} FROM " + source + " AND t < ?" + view.visible_passage_sql
            + filter_sql.passages + " ORDER BY t DESC LIMIT ?",
            (view.ns, *span, last, *view.visible_passage_values, *filter_sql.passage_values, page),
        )  # fmt: skip
        check_ascending((-row[1] for row in rows), -last)
        passing += _admitted(filter_sql, rows)
        if len(rows) != page:
            break
        last = rows[-1][1]
    return passing if wanted < 0 else passing[:wanted]


def _of_ids(view: View, filter_sql: FilterSql, ids: Collection[str]) -> list[Passage]:
    """The visible passages with these ids that meet a filter, latest first."""
    wanted = set(ids)
    rows = read_by(
        view.rows,
        "passage",
        "SELECT {} FROM passage WHERE ns = ? AND id IN",
        wanted,
        view.visible_passage_sql + filter_sql.passages,
        lead=(view.ns,),
        tail=(*view.visible_passage_values, *filter_sql.passage_values),
    )
    if any(row[2] not in wanted for row in rows):
        raise ValueError("an index of the table passage leads to another row")
    return _admitted(filter_sql, sorted(set(rows), key=itemgetter(1), reverse=True))


def _admitted(filter_sql: FilterSql, rows: Iterable[tuple[Any, ...]]) -> list[Passage]:
    """The passages of these rows whose metadata meets the filter."""
    found = map(_passage, rows)
    return [it for it in found if not filter_sql.metadata or filter_sql.admits(it.metadata)]


def read_t_indexes(view: View, where: Filter) -> list[int]:
    """``GraphReader.t_indexes``."""
    filter_sql = FilterSql(view, where)
    if filter_sql.few is not None:
        few = fetch_by(
            view.rows,
            "SELECT t FROM passage WHERE row IN",
            [passage_row(view.ns, t) for t in filter_sql.few],
            view.visible_passage_sql,
            tail=view.visible_passage_values,
        )
        return sorted({t for (t,) in few})
    source, span = _source(where, all=True)
    column: LiteralString = "metadata" if filter_sql.metadata else "NULL"
    rows = view.rows(
        "SELECT t, " + column + " FROM " + source + view.visible_passage_sql + filter_sql.passages,
        (view.ns, *span, *view.visible_passage_values, *filter_sql.passage_values),
    )
    if not filter_sql.metadata:
        return sorted(t for t, _ in rows)
    admitted = {text: filter_sql.admits(json.loads(text)) for text in {text for _, text in rows}}
    return sorted(t for t, text in rows if admitted[text])


def _source(where: Filter, *, all: bool) -> tuple[LiteralString, tuple[str, ...]]:
    """Where to look for passages, with the values after the namespace: one item, or all items below
    a path, by their index; the latest of many among the latest of all."""
    if where.key is not None:
        source: LiteralString = "passage INDEXED BY passage_item WHERE ns = ? AND path = ?"
        return source + " AND key = ?", (path_text(where.path or ()), where.key)
    if where.path and all:
        return (
            "passage INDEXED BY passage_item"
            " WHERE ns = ? AND key IS NOT NULL AND path >= ? AND path < ?"
        ), below(where.path)
    return "passage INDEXED BY passage_t WHERE ns = ?", ()


def _of_few(view: View, ts: list[int], wanted: int) -> list[Passage]:
    """The visible ones of these passages, latest first."""
    passing: list[Passage] = []
    for last in range(len(ts), 0, -_PAGE):
        rows = read_by(
            view.rows,
            "passage",
            "SELECT {} FROM passage WHERE row IN",
            [passage_row(view.ns, t) for t in ts[max(0, last - _PAGE) : last]],
            view.visible_passage_sql,
            tail=view.visible_passage_values,
        )
        passing += map(_passage, sorted(set(rows), key=itemgetter(1), reverse=True))
        if 0 <= wanted <= len(passing):
            return passing[:wanted]
    return passing


def read_paths(view: View) -> list[tuple[str, ...]]:
    """``GraphReader.paths``."""
    rows = view.rows(
        "SELECT DISTINCT path FROM passage INDEXED BY passage_item"
        " WHERE ns = ? AND key IS NOT NULL" + view.visible_passage_sql,
        (view.ns, *view.visible_passage_values),
    )
    return sorted(read_path(path) for (path,) in rows)


def _passage(row: tuple[Any, ...]) -> Passage:
    _, t, id, text, source, session, speaker, _, timestamp, metadata, path, key, expires = row
    return Passage(
        id=id,
        t_index=t,
        text=text,
        source=source,
        session=session,
        speaker=speaker,
        timestamp=unpack_timestamp(timestamp),
        metadata=json.loads(metadata),
        path=read_path(path),
        key=key,
        expires_at=unpack_timestamp(expires),
    )
