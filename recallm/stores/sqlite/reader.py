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
    OpenSession,
    Passage,
    Postings,
    PreparedUpdate,
    Scalar,
    Session,
    StoredStatement,
    Summary,
    Trait,
)
from recallm.stores.base import GraphReader
from recallm.stores.semantics.reading import dump_records, open_session_of, session_of
from recallm.stores.semantics.rows import unpack_timestamp
from recallm.stores.sqlite.connections import Snapshot
from recallm.stores.sqlite.elements import (
    read_entities,
    read_entities_by_words,
    read_entity_vectors,
    read_predicates,
    read_triplet_evidence,
    read_triplets,
)
from recallm.stores.sqlite.failures import damage, guarded
from recallm.stores.sqlite.postings import count_before, newest_records
from recallm.stores.sqlite.schema import (
    check_ascending,
    passage_fields_of,
    passage_row,
    unpack,
    unpack_mentions,
    verified,
    verified_vectors,
)
from recallm.stores.sqlite.stored import page_of_updates, stored_summaries
from recallm.stores.sqlite.totals import read_concepts, read_relations, read_sizes, read_stats
from recallm.stores.sqlite.view import FilterSql, View, columns, likely_condition

_EVERY_PASSAGE = Filter()
_SESSIONS_BY_ID: LiteralString = "SELECT {} FROM session WHERE id IN {list}"

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


@guarded(lambda reader: reader.name)
class SQLiteReader(View):
    """See ``GraphReader``. ``name`` is that of the database.

    Raises (each method):
        StoreCorruptError: what was read is damaged.
    """

    concepts = read_concepts
    relations = read_relations
    entities = read_entities
    entity_vectors = read_entity_vectors
    triplets = read_triplets
    triplet_evidence = read_triplet_evidence
    predicates = read_predicates
    entities_by_words = read_entities_by_words
    sizes = read_sizes
    stats = read_stats

    def __init__(self, snapshot: Snapshot, namespace: str, horizon: Horizon) -> None:
        self.name = snapshot.name
        super().__init__(snapshot, namespace, horizon)
        self._filter: tuple[Filter, FilterSql] | None = None
        self._session_keys: dict[int, str] = {}

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

    def sessions(self) -> list[Session]:
        rows = self.rows(
            "SELECT session_id, count(*), min(t), max(t) AS latest, min(said), max(said)"
            " FROM passage INDEXED BY passage_t WHERE ns = :ns AND session_id IS NOT NULL"
            + self.visible_passage
            + " GROUP BY session_id ORDER BY latest DESC"
        )
        ids = {row[0] for row in rows}
        keys = {row[1]: row[2] for row in self.read("session", _SESSIONS_BY_ID, ids)}
        return [session_of(keys[id], *totals) for id, *totals in rows]

    def open_session(self) -> OpenSession | None:
        rows = self.rows(
            "SELECT p.t, s.key, p.said, p.source FROM namespace n"
            " JOIN passage p ON p.row = (n.id << 32) + n.open_t"
            " JOIN session s ON s.id = p.session_id"
            " WHERE n.id = :ns AND (p.expires IS NULL OR :now IS NULL OR p.expires > :now)"
        )
        return open_session_of(*rows[0]) if rows else None

    def statement_keys(
        self, *, embedded: bool, after: int = -1, limit: int | None = None
    ) -> list[int]:
        sql: LiteralString = "SELECT at FROM vector WHERE ns = :ns AND at > :after"
        if not embedded:
            sql = (
                "SELECT at FROM statement s WHERE ns = :ns AND at > :after AND NOT EXISTS"
                " (SELECT 1 FROM vector v WHERE v.ns = s.ns AND v.at = s.at)"
            )
        rows = self.rows(
            sql + self.visible + " ORDER BY at LIMIT :limit",
            after=after,
            limit=-1 if limit is None else limit,
        )
        check_ascending((at for (at,) in rows), after)
        return [at for (at,) in rows]

    def statements(self, keys: Collection[int], *, ahead: int = 0) -> list[StoredStatement]:
        del ahead  # a round trip costs nothing here
        rows = self.rows(_STATEMENTS.replace("{visible}", self.visible), _keys(keys))
        rows.sort(key=itemgetter(3))
        found = verified((row[2:] for row in rows), "statement")
        of_passages: LiteralString = "SELECT {} FROM passage WHERE row IN {list}"
        numbers = {passage_row(self.ns, row[1] >> 20) for row in found}
        passages = {row[1]: row for row in self.read("passage", of_passages, numbers)}
        metadata = {text: json.loads(text) for text in {row[9] for row in passages.values()}}
        self._read_session_keys(row[2] for row in found)
        statements: list[StoredStatement] = []
        for (previous, following, *_), row in zip(rows, found, strict=True):
            _, at, session_id, start, stop, _, terms, concepts, traits = row
            (
                _, _, id, text, source, session, speaker, speaker_concept, said, entries, path, key,
                *_,
            ) = passages[at >> 20]  # fmt: skip
            statements.append(
                StoredStatement(
                    at,
                    id,
                    text[start:stop],
                    unpack_timestamp(said),
                    speaker,
                    speaker_concept,
                    source,
                    session,
                    self._session_keys.get(session_id),
                    metadata[entries],
                    unpack(terms),
                    unpack_mentions(concepts),
                    _trait(traits),
                    previous,
                    following,
                    None if key is None else unpack(path),
                    start,
                    stop,
                )
            )
        return statements

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        return self._newest("term", "stem", stems, limit, where)

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Postings]:
        return self._newest("concept", "name", names, limit, where)

    def vectors(
        self,
        keys: Collection[int] | None = None,
        *,
        model: str,
        after: int = -1,
        limit: int | None = None,
    ) -> Mapping[int, bytes]:
        source: LiteralString = "vector WHERE at > :after"
        order: LiteralString = " ORDER BY at LIMIT :limit"
        if keys is not None:
            keys = [key for key in _keys(keys) if key > after]
            source = "json_each(:list) CROSS JOIN vector WHERE at = value"
            order = " LIMIT :limit"  # in the order of the list
        rows = self.rows(
            "SELECT at, blob, crc - at FROM " + source + " AND ns = :ns AND model = :model"
            + self.visible + order,
            keys, model=model, after=after, limit=-1 if limit is None else limit,
        )  # fmt: skip
        check_ascending((at for at, _, _ in rows), after)
        return dict(verified_vectors(rows))

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        with damage(self.name):
            yield from dump_records(
                lambda after, limit: page_of_updates(self, after, limit),
                lambda: stored_summaries(self),
            )

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
