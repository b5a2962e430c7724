"""Passages, and the items among them, within a view."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, LiteralString

from recallm.model import Filter, Passage
from recallm.stores.sqlite.codec import below, path_text, read_path, unpack_timestamp
from recallm.stores.sqlite.schema import MAX_T
from recallm.stores.sqlite.view import Sieve, View

__all__ = ["read_item", "read_moments", "read_passage", "read_passages", "read_paths"]

_PAGE = 1_000
"""Passages whose metadata is compared at a time."""

_FEW = 1_000
"""Items that are sorted rather than looked for among all passages."""

_COLUMNS: LiteralString = (
    "id, t, text, source, session, speaker, timestamp, metadata, path, key, expires_at"
)


def read_passage(view: View, id: str) -> Passage | None:
    """``GraphReader.passage``."""
    rows = view.rows(
        "SELECT " + _COLUMNS + " FROM passage WHERE ns = ? AND id = ?" + view.passed,
        (view.ns, id, *view.passed_values),
    )
    return _passage(rows[0]) if rows else None


def read_passages(view: View, where: Filter, limit: int | None) -> list[Passage]:
    """``GraphReader.passages``."""
    sieve = Sieve(view, where)
    wanted = -1 if limit is None else limit
    source: LiteralString = "passage INDEXED BY passage_t"
    by_path: LiteralString = ""
    span: tuple[str, ...] = ()
    if where.path and (wanted < 0 or _few_below(view, where.path)):
        # Many are sooner found among the latest of all.
        source = "passage INDEXED BY passage_item"
        by_path, span = " AND key IS NOT NULL AND path >= ? AND path < ?", below(where.path)
    page = wanted if not sieve.metadata else _PAGE
    passing: list[Passage] = []
    last = MAX_T + 1
    while wanted < 0 or len(passing) < wanted:
        rows = view.rows(
            "SELECT " + _COLUMNS + " FROM " + source + " WHERE ns = ?" + by_path + " AND t < ?"
            + view.passed + sieve.passages + " ORDER BY t DESC LIMIT ?",
            (view.ns, *span, last, *view.passed_values, *sieve.passage_values, page),
        )  # fmt: skip
        found = map(_passage, rows)
        passing += [it for it in found if not sieve.metadata or sieve.admits(it.metadata)]
        if len(rows) != page:
            break
        last = rows[-1][1]
    return passing if wanted < 0 else passing[:wanted]


def read_moments(view: View, where: Filter) -> list[int]:
    """``GraphReader.moments``."""
    sieve = Sieve(view, where)
    source: LiteralString = "passage"
    by_path: LiteralString = ""
    span: tuple[str, ...] = ()
    if where.path and _few_below(view, where.path):
        source = "passage INDEXED BY passage_item"
        by_path, span = " AND key IS NOT NULL AND path >= ? AND path < ?", below(where.path)
    column: LiteralString = "metadata" if sieve.metadata else "NULL"
    rows = view.rows(
        "SELECT t, " + column + " FROM " + source + " WHERE ns = ?" + by_path + view.passed
        + sieve.passages,
        (view.ns, *span, *view.passed_values, *sieve.passage_values),
    )  # fmt: skip
    if not sieve.metadata:
        return sorted(t for t, _ in rows)
    admitted = {text: sieve.admits(json.loads(text)) for text in {text for _, text in rows}}
    return sorted(t for t, text in rows if admitted[text])


def read_item(view: View, path: Sequence[str], key: str) -> Passage | None:
    """``GraphReader.item``."""
    rows = view.rows(
        "SELECT " + _COLUMNS + " FROM passage INDEXED BY passage_item"
        " WHERE ns = ? AND path = ? AND key = ?" + view.passed + " ORDER BY t DESC LIMIT 1",
        (view.ns, path_text(path), key, *view.passed_values),
    )
    return _passage(rows[0]) if rows else None


def read_paths(view: View) -> list[tuple[str, ...]]:
    """``GraphReader.paths``."""
    rows = view.rows(
        "SELECT DISTINCT path FROM passage INDEXED BY passage_item"
        " WHERE ns = ? AND key IS NOT NULL" + view.passed,
        (view.ns, *view.passed_values),
    )
    return sorted(read_path(path) for (path,) in rows)


def _few_below(view: View, path: tuple[str, ...]) -> bool:
    """Whether the items at ``path`` and below it are so few that sorting them is quick."""
    rows = view.rows(
        "SELECT 1 FROM passage INDEXED BY passage_item"
        " WHERE ns = ? AND key IS NOT NULL AND path >= ? AND path < ? LIMIT ?",
        (view.ns, *below(path), _FEW + 1),
    )
    return len(rows) <= _FEW


def _passage(row: tuple[Any, ...]) -> Passage:
    id, t, text, source, session, speaker, timestamp, metadata, path, key, expires = row
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
