"""A consistent view of one namespace: ``GraphReader`` over a snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, LiteralString

import numpy as np

from recallm.model import (
    LARGEST_NUMBER,
    POSITION_BITS,
    Filter,
    Horizon,
    Passage,
    Postings,
    PreparedUpdate,
    Scalar,
    Sizes,
    Stats,
    StoredStatement,
    Summary,
    Trait,
)
from recallm.stores.base import GraphReader
from recallm.stores.semantics.reading import Reader, sizes_of
from recallm.stores.semantics.rows import unpack_timestamp
from recallm.stores.sqlite.connections import Snapshot
from recallm.stores.sqlite.failures import damage, guarded
from recallm.stores.sqlite.postings import count_before, newest_records
from recallm.stores.sqlite.queries import CHOSEN, QUERIES, spelled
from recallm.stores.sqlite.rows import Stored
from recallm.stores.sqlite.schema import (
    check_ascending,
    passage_fields_of,
    passage_row,
    unpack,
    unpack_mentions,
    verified,
)
from recallm.stores.sqlite.view import FilterSql, View, columns, likely_condition

_EVERY_PASSAGE = Filter()
_SESSIONS_BY_ID: LiteralString = "SELECT {} FROM session WHERE id IN {list}"

_PASSAGES: LiteralString = "SELECT {} FROM passage WHERE row IN {list}"

_BESIDE: LiteralString = (
    "(at) FROM statement q INDEXED BY statement_session"
    " WHERE q.ns = :ns AND q.session = s.session AND q.at {side} s.at{visible})"
)
_BEFORE: LiteralString = "(SELECT max" + _BESIDE.replace("{side}", "<")
_AFTER: LiteralString = "(SELECT min" + _BESIDE.replace("{side}", ">")
_STATEMENTS: LiteralString = (
    "SELECT " + _BEFORE + ", " + _AFTER + ", " + columns("statement")
    + " FROM json_each(:list) CROSS JOIN statement s WHERE s.ns = :ns AND s.at = value{visible}"
)  # fmt: skip
"""Statements, each with the keys of those before and after it."""


_CORPUS: LiteralString = (
    "SELECT count(*), coalesce(sum(length), 0),"
    " count(DISTINCT CASE WHEN session > 0 THEN session END)"
    " FROM statement INDEXED BY statement_session WHERE ns = :ns AND at < :end"
)
_SESSIONS: LiteralString = (
    "SELECT x.key, count(*), sum(length) FROM session x JOIN statement s"
    " INDEXED BY statement_session ON s.ns = x.ns AND s.session = x.id"
    " WHERE x.ns = :ns AND x.key IN {list} AND at < :end GROUP BY x.key"
)

_FEW_TRIPLETS = 2048
"""Triplets whose evidence is sorted sooner than the latest rows are looked through."""

_RECENT_ROWS = 4096
"""Latest rows of evidence looked through for a limited read of a hub."""

_MANY: LiteralString = (
    "SELECT 1, 1 FROM element x WHERE x.ns = :ns AND" + CHOSEN + " LIMIT 1 OFFSET :few"
)
_RECENT: LiteralString = (
    "SELECT 1, at FROM (SELECT element, at FROM element_evidence WHERE ns = :ns{visible}"
    "  ORDER BY at DESC LIMIT :recent) CROSS JOIN element x ON x.number = element WHERE"
    + CHOSEN + " LIMIT 1 OFFSET :limit - 1"
)  # fmt: skip
"""The ``at`` of the last of so many of the latest rows of evidence."""


@guarded(GraphReader, but=("together",))
class SQLiteReader(View, Stored, Reader):
    """See ``GraphReader``. ``name`` is that of the database.

    Raises (each method):
        StoreCorruptError: what was read is damaged.
    """

    def __init__(self, snapshot: Snapshot, namespace: str, horizon: Horizon) -> None:
        self.name = snapshot.name
        super().__init__(snapshot, namespace, horizon)
        self._filter: tuple[Filter, FilterSql] | None = None
        self._session_keys: dict[int, str] = {}

    def ask(self, query: str, /, **given: Any) -> list[tuple[Any, ...]]:
        if query == "evidence":
            return self._evidence(**given)
        if query == "relations":
            names, limit = set(given["names"]), given["limit"]
            found = [self.sound(QUERIES[query], name=name, limit=limit) for name in names]
            return [row for rows in found for row in rows]
        rows = self.sound(QUERIES[query], **given)
        if "after" in given:
            check_ascending((key for key, *_ in rows), given["after"])
        return rows

    def _evidence(self, *, limit: int | None, **ends: Any) -> list[tuple[Any, ...]]:
        """The rows of evidence. Of a hub, the latest are looked for in the latest rows of all
        evidence first."""
        first = None
        if limit and self.sound(_MANY, **ends, few=_FEW_TRIPLETS):
            for (at,) in self.sound(_RECENT, **ends, recent=_RECENT_ROWS, limit=limit):
                first = at
        rows = self.sound(QUERIES["evidence"], **ends, first=first, limit=limit)
        numbers = {passage_row(self.ns, row[-1] >> 20) for row in rows}
        passages = {
            t: (id, timestamp, source)
            for _, t, id, _, source, _, _, _, timestamp, *_ in self.read(
                "passage", _PASSAGES, numbers
            )
        }
        return [(*row, *passages.get(row[-1] >> 20, (None, None, None))) for row in rows]

    def together(self, *reads: Callable[[GraphReader], Any]) -> list[Any]:
        return [read(self) for read in reads]

    def passages(
        self,
        where: Filter = _EVERY_PASSAGE,
        *,
        ids: Collection[str] | None = None,
        limit: int | None = None,
        likely: Mapping[tuple[str, ...], Scalar] | None = None,
    ) -> list[Passage]:
        filter_sql = FilterSql(self, where)
        likely_sql, likely_values = likely_condition(likely or {})
        order: LiteralString = ""
        if ids is not None:
            source: LiteralString = "passage INDEXED BY passage_id WHERE ns = :ns AND id IN {list}"
            ids = set(ids)
        else:
            # Few may hold a likely value: from the newest on, the search for them reads all.
            every = limit is None or where.key is not None or bool(likely_sql)
            source = filter_sql.passage_source(every=every)
            order = " ORDER BY t DESC LIMIT :limit"
            filter_sql.values["limit"] = -1 if limit is None else limit
        sql: LiteralString = "SELECT {} FROM " + source + self.visible_passage + filter_sql.passages
        values = {**filter_sql.values, **likely_values}
        rows = self.read("passage", sql + likely_sql + order, ids, **values)
        rows.sort(key=itemgetter(1), reverse=True)
        filter_sql.check_metadata(row[1] for row in rows)
        return [Passage(**passage_fields_of(row)) for row in rows[:limit]]

    def t_indexes(self, where: Filter) -> list[int]:
        filter_sql = FilterSql(self, where)
        source = filter_sql.passage_source(every=True)
        sql: LiteralString = "SELECT t FROM " + source + self.visible_passage + filter_sql.passages
        ts = sorted(t for (t,) in self.rows(sql, **filter_sql.values))
        filter_sql.check_metadata(ts)
        return ts

    def paths(self) -> list[tuple[str, ...]]:
        rows = self.rows(
            "SELECT DISTINCT path FROM passage INDEXED BY passage_item"
            " WHERE ns = :ns AND key IS NOT NULL" + self.visible_passage
        )
        return sorted(unpack(path) for (path,) in rows)

    def statements(self, keys: Collection[int], *, ahead: int = 0) -> list[StoredStatement]:
        del ahead  # a round trip costs nothing here
        rows = self.rows(spelled(_STATEMENTS, self.given), _keys(keys))
        rows.sort(key=itemgetter(3))
        found = verified((row[2:] for row in rows), "statement")
        self._read_session_keys(row[2] for row in found)
        passages = self._passages_of({row[1] >> 20 for row in found})
        statements: list[StoredStatement] = []
        for beside, row in zip(rows, found, strict=True):
            _, at, session_id, start, stop, _, terms, concepts, traits = row
            text, id, said, metadata, path = passages[at >> 20]
            before = at, id, text[start:stop], *said, self._session_keys.get(session_id), metadata
            own = unpack(terms), unpack_mentions(concepts), _trait(traits)
            statements.append(
                StoredStatement._make((*before, *own, *beside[:2], path, start, stop))
            )
        return statements

    def _passages_of(self, ts: Collection[int]) -> dict[int, tuple[Any, ...]]:
        """By each t what the statements of its passage share."""
        rows = self.read("passage", _PASSAGES, {passage_row(self.ns, t) for t in ts})
        metadata = {text: json.loads(text) for text in {row[9] for row in rows}}
        found: dict[int, tuple[Any, ...]] = {}
        for row in rows:
            _, t, id, text, source, session, *speaker, said, entries, path, key, _, _, _ = row
            shared = unpack_timestamp(said), *speaker, source, session
            item_path = None if key is None else unpack(path)
            found[t] = text, id, shared, metadata[entries], item_path
        return found

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        return self._newest("term", "stem", stems, limit, where)

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Postings]:
        return self._newest("concept", "name", names, limit, where)

    def sizes(self, session_keys: Collection[str] = ()) -> Sizes:
        keys = set(session_keys)
        if not self.is_present:
            return sizes_of(self.rows(_CORPUS)[0], self.rows(_SESSIONS, keys))
        sql: LiteralString = "SELECT {} FROM session WHERE ns = :ns AND key IN {list}"
        rows = self.read("session", sql + " AND statements > 0", keys)
        return sizes_of(self.totals, (row[2:] for row in rows))

    def stats(self) -> Stats:
        *_, sessions = self.totals
        return Stats(t_index=self.state.t_index, sessions=sessions, **self.counts())

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        with damage(self.name):
            yield from super().dump()

    def _newest(
        self,
        table: LiteralString,
        name: LiteralString,
        names: Collection[str],
        limit: int | None,
        where: Filter,
    ) -> dict[str, Postings]:
        """The postings of each of ``names`` that is known, sorted: the newest ``limit`` that are
        visible and meet a filter. ``name`` is the column of names in ``table``. The SQL of the last
        filter is at hand."""
        if self._filter is None or self._filter[0] is not where:
            self._filter = (where, FilterSql(self, where))
        _, filter_sql = self._filter
        rows = self.rows(
            "SELECT newest, " + columns(table) + " FROM " + table
            + " WHERE ns = :ns AND " + name + " IN {list}",
            set(names),
        )  # fmt: skip
        known = verified((row[1:] for row in rows), table)
        found: dict[str, Postings] = {}
        for (newest, *_), (_, id, named, *_, total) in sorted(
            zip(rows, known, strict=True), key=lambda row: row[1][2]
        ):
            counted = total
            if not self.is_present:
                counted = count_before(self, table, id, newest, self.end)
            if counted:
                records = newest_records(self, table, id, newest, total, limit, filter_sql)
                if where.metadata:
                    filter_sql.check_metadata((records["key"] >> POSITION_BITS).tolist())
                found[named] = Postings(
                    statements=counted,
                    keys=records["key"],
                    counts=records["count"],
                    sessions=records["session"],
                    session_keys=self._session_keys,
                )
        if found:
            sessions = np.concatenate([postings.sessions for postings in found.values()])
            self._read_session_keys(np.unique(sessions[sessions > 0]).tolist())
        return found

    def _read_session_keys(self, sessions: Iterable[int]) -> None:
        """Reads the keys of sessions into ``_session_keys``; a statement without a session has 0 or
        a negative number, which has none."""
        known = self._session_keys
        missing = [id for id in {*sessions} if id > 0 and id not in known]
        rows = self.read("session", _SESSIONS_BY_ID, missing)
        if len(rows) < len(missing):
            raise ValueError("a session of statements is missing")
        known.update((id, key) for _, id, key, _, _ in rows)


_trait = lru_cache(maxsize=1 << 10)(Trait)


def _keys(keys: Collection[int]) -> list[int]:
    """The keys that a statement can have, ascending."""
    return sorted({key for key in keys if 0 <= key < LARGEST_NUMBER})
