"""Filters in SQL: the newest visible rows whose passages meet a ``Filter``.

Where an index says that few passages meet the filter, a query reads only their rows. Otherwise it
tests rows from the newest on: many meet the filter, so that it ends soon.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Any, LiteralString

from recallm.ground.forking import cached_property
from recallm.model import NO_SESSION, Filter, Scalar, statement_key
from recallm.stores.semantics.rows import microseconds
from recallm.stores.sqlite.codec import below, hash_of, path_text, verified
from recallm.stores.sqlite.schema import MAX_T, passage_row
from recallm.stores.sqlite.view import View
from recallm.stores.sqlite.view import columns as columns_of

FEW = 1_000
"""The most passages that are found by an index first."""

_METADATA: LiteralString = (
    " AND (SELECT count(*) FROM metadata_entry m WHERE m.ns = :ns AND m.t = passage.t"
    " AND m.entry IN (SELECT value FROM json_each(:entries))) = json_array_length(:entries)"
)

_LIKELY: LiteralString = (
    " AND CASE WHEN json_valid(passage.metadata)"
    " THEN json_extract(passage.metadata, :path_0) IS :value_0"
    "  OR json_type(passage.metadata, :around_0) IS NOT 'object' ELSE 1 END"
)
_LIKELY_NUMBERS: tuple[LiteralString, ...] = ("0", "1", "2")
_PLAIN_KEY = re.compile(r"[ !#-\[\]-~]+")
"""A key that JSON texts hold as it is."""
_EXACT = 1 << 53
"""SQLite reads whole numbers below it as they are, also where they have a fraction of 0."""

_BY_T: LiteralString = "passage INDEXED BY passage_t WHERE ns = :ns"

Values = Mapping[str, Any]


class FilterSql:
    """A ``Filter`` as conditions that continue a WHERE, with the parameters ``values``.

    ``passages`` is for ``passage``, ``statements`` for a table with a column ``at``.
    """

    def __init__(self, view: View, where: Filter) -> None:
        self.passages: LiteralString = ""
        self.statements: LiteralString = ""
        self.values: dict[str, Any] = {}
        self._view = view
        self.is_empty = not where
        self._metadata = where.metadata
        self._indexes: list[tuple[LiteralString, Values]] = []
        for index, condition, values in _indexed(where):
            self.passages += " AND " + condition
            self.values |= values
            source: LiteralString = "passage INDEXED BY " + index + " WHERE ns = :ns AND "
            self._indexes.append((source + condition, values))
        self._by_index: LiteralString = self._indexes[0][0] if self._indexes else _BY_T
        if where.metadata:
            entries = [hash_of(*entry) for entry in where.metadata.items()]
            self.passages += _METADATA
            self.values["entries"] = json.dumps(entries)
            source = "metadata_entry WHERE ns = :ns AND entry = :entry"
            for entry in entries:
                self._indexes.append((source, {"entry": entry}))
        if self.passages:
            self.statements = (
                " AND EXISTS (SELECT 1 FROM passage NOT INDEXED"
                " WHERE passage.row = (:ns << 32) + (at >> 20)" + self.passages + ")"
            )
        if isinstance(where.since, int):
            self.passages += " AND passage.t >= :first_t"
            self.statements += " AND at >= :first_key"
            first = max(-1, min(where.since, MAX_T))
            self.values |= {"first_t": first, "first_key": statement_key(first, 0)}
        if isinstance(where.until, int):
            self.passages += " AND passage.t <= :last_t"
            self.statements += " AND at < :stop_key"
            last = max(-1, min(where.until, MAX_T))
            self.values |= {"last_t": last, "stop_key": statement_key(last + 1, 0)}

    @cached_property
    def is_met_by_few(self) -> bool:
        """Whether a condition is met by at most ``FEW`` passages; then the parameter ``:few`` holds
        the t of all passages that meet the filter, hidden ones too, as JSON.

        Raises:
            ValueError: an index is damaged.
        """
        found: list[int] | None = None
        for source, values in self._indexes:
            rows = self._view.rows("SELECT t FROM " + source + " LIMIT :few", few=FEW + 1, **values)
            if len(rows) <= FEW and (found is None or len(rows) < len(found)):
                found = [passage_row(self._view.ns, t) for (t,) in rows]
        if found is None:
            return False
        sql: LiteralString = "SELECT t FROM passage NOT INDEXED WHERE row IN {list}"
        met = self._view.rows(sql + self.passages, found, **self.values)
        self.values["few"] = json.dumps([t for (t,) in met])
        return True

    def passage_source(self, *, every: bool) -> LiteralString:
        """A table of passages with its WHERE, for the newest passages that meet the filter, or for
        every one; its parameters are ``values``."""
        has_one_index = len(self._indexes) == 1 and not self._metadata
        if not (every and has_one_index) and self.is_met_by_few:
            return (
                "passage NOT INDEXED WHERE row IN (SELECT (:ns << 32) + value FROM json_each(:few))"
            )
        return self._by_index if every else _BY_T


def likely_condition(likely: Mapping[tuple[str, ...], Scalar]) -> tuple[LiteralString, Values]:
    """``likely`` of ``GraphReader.passages`` as a condition that continues a WHERE, with its
    parameters. A few passages with another value meet it too: SQLite's JSON takes true for 1."""
    condition: LiteralString = ""
    values: dict[str, Any] = {}
    usable = (entry for entry in likely.items() if _can_be_looked_up(*entry))
    for (path, value), number in zip(usable, _LIKELY_NUMBERS, strict=False):
        condition += _LIKELY.replace("_0", "_" + number)
        keys = [f'."{key}"' for key in path]
        values["path_" + number] = "".join(["$", *keys])
        values["around_" + number] = "".join(["$", *keys[:-1]])
        values["value_" + number] = value
    return condition, values


def _can_be_looked_up(path: Iterable[str], value: Scalar) -> bool:
    if isinstance(value, int) and not -_EXACT < value < _EXACT:
        return False
    if isinstance(value, str) and "\0" in value:  # SQLite ends a text there
        return False
    return all(map(_PLAIN_KEY.fullmatch, path))


def _indexed(where: Filter) -> Iterator[tuple[LiteralString, LiteralString, Values]]:
    """(index, condition, values) of each part of a filter that an index of passages answers."""
    if where.key is not None:
        item = {"path": path_text(where.path or ()), "key": where.key}
        yield "passage_item", "path = :path AND key = :key", item
    elif where.path:
        first, stop = below(where.path)
        condition: LiteralString = "key IS NOT NULL AND path >= :path AND path < :path_stop"
        yield "passage_item", condition, {"path": first, "path_stop": stop}
    elif where.path is not None:
        yield "passage_item", "key IS NOT NULL", {}
    if where.session_key == NO_SESSION:
        yield "passage_t", "session_id IS NULL", {}
    elif where.session_key is not None:
        condition = "session_id = (SELECT id FROM session WHERE ns = :ns AND key = :session)"
        yield "passage_in_session", condition, {"session": where.session_key}
    if where.speaker is not None:
        yield "passage_speaker", "speaker = :speaker", {"speaker": where.speaker}
    since, until = where.since, where.until
    if isinstance(since, datetime) or isinstance(until, datetime):
        said = {
            "since": microseconds(since) if isinstance(since, datetime) else -(1 << 62),
            "until": microseconds(until) if isinstance(until, datetime) else 1 << 62,
        }
        yield "passage_said", "said >= :since AND said <= :until", said


def newest_rows(
    view: View,
    named: tuple[LiteralString, LiteralString],
    names: Collection[str],
    source: LiteralString,
    columns: Sequence[LiteralString],
    limit: int,
    filter_sql: FilterSql,
) -> Iterator[tuple[str, int, list[list[int]]]]:
    """The newest visible rows of an inverted index that meet a filter, of each of ``names`` that is
    known, sorted: the name, how many of its rows count, whether they meet the filter or not, and
    each column.

    Args:
        view: decides which rows are visible.
        named: the table of what the rows are of, and its column of names.
        names: whose rows.
        source: the index with its WHERE, in which ``named.id`` is what the rows are of.
        columns: columns of whole numbers, the first one is ``at``.
        limit: the most rows of each; negative: all.
        filter_sql: the filter.

    Raises:
        ValueError: a row or the index is damaged.
    """
    later: LiteralString = "0" if view.is_present else "count(*) FROM " + source + " AND at >= :end"
    met = filter_sql.statements
    if filter_sql.is_met_by_few:
        source = "json_each(:few) AS few CROSS JOIN " + source
        met = " AND at >= few.value << 20 AND at < (few.value + 1) << 20"
    # Python reads the numbers of a column, joined to one text, in half the time that the rows would
    # take, and the garbage collector has no tuples to look at.
    joined: list[LiteralString] = ["group_concat(" + column + ")" for column in columns]
    table, name_column = named
    rows = view.rows(
        "SELECT (SELECT " + " || '],[' || ".join(joined) + " FROM (SELECT " + ", ".join(columns)
        + " FROM " + source + met + view.visible + " ORDER BY at DESC LIMIT :limit)),"
        + " (SELECT " + later + "), " + columns_of(table)
        + " FROM " + table + " AS named WHERE ns = :ns AND " + name_column + " IN {list}",
        set(names), limit=limit, **filter_sql.values,
    )  # fmt: skip
    rows.sort(key=itemgetter(4))
    known = verified((row[2:] for row in rows), table)
    for (text, behind, *_), (_, _, name, *_, total) in zip(rows, known, strict=True):
        found: list[list[int]] = json.loads(f"[[{text}]]") if text else [[] for _ in columns]
        keys, counted = found[0], total - behind
        if any(len(column) != len(keys) for column in found):
            raise ValueError("a row of an index lacks a number")
        if filter_sql.is_empty and not view.hides:
            expected = counted if limit < 0 else min(counted, limit)
            if len(keys) != expected:
                raise ValueError(f"an index holds {len(keys)} of {counted} statements")
        if any(map(operator.lt, keys, islice(keys, 1, None))):  # SQLite promises no order in it
            order = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
            found = [[column[place] for place in order] for column in found]
        if counted:
            yield name, counted, found
