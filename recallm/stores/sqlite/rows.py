"""Look-ups of the shared semantics in SQL: `recallm.stores.semantics.rows.Rows`.

Tables use row numbers for concepts, terms, sessions, entities and triplets. `SQLiteRows` keeps the
number of every row that it has looked up or written, during its transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, LiteralString

from recallm.model import (
    ConceptMention,
    ContextVersion,
    ElementKey,
    Forgotten,
    PreparedUpdate,
    Selection,
    TripletKey,
)
from recallm.stores.semantics.reading import evidence_of, open_session_of
from recallm.stores.semantics.rows import (
    Changes,
    ConceptTotals,
    ElementRow,
    Evidence,
    Keys,
    NamespaceTotals,
    Opened,
    Pair,
    RelationTotals,
    SessionTotals,
    Totals,
    microseconds,
    selected_by,
    timestamp_text,
)
from recallm.stores.sqlite.changes import RowNumbers, write_changes
from recallm.stores.sqlite.codec import hash_of, path_text
from recallm.stores.sqlite.schema import FIND_WITHOUT_INDEX, TABLES, columns_of, passage_row
from recallm.stores.sqlite.stored import stored_updates
from recallm.stores.sqlite.totals import context_version, count_touches
from recallm.stores.sqlite.view import PAIRS, Fetch, Queries, fetch_from

_NAMESPACE: LiteralString = (
    "SELECT n.id, n.t, n.statements, n.terms, n.sessions, n.model, n.origin, n.revision,"
    " n.vocabulary, n.vector_sizes, n.open_t, s.key, p.said, p.source FROM namespace n"
    " LEFT JOIN passage p ON p.row = (n.id << 32) + n.open_t"
    " LEFT JOIN session s ON s.id = p.session_id WHERE n.name = ?"
)
"""The row of a namespace, with the session that the next update may continue."""

_ELEMENT: LiteralString = (
    "SELECT number, type, concept, label, kind, properties, coalesce((SELECT max(at)"
    " FROM element_evidence v WHERE v.ns = e.ns AND v.element = e.number), -1), id, subject,"
    " predicate, object FROM element e WHERE ns = :ns"
)

_TRIPLET: LiteralString = (
    _ELEMENT + " AND subject = :subject AND predicate = :predicate AND object = :object"
)

_SHOWN: LiteralString = (
    "SELECT shown FROM evidence WHERE ns = ?1 AND a = ?2 AND b = ?3 AND shown >= coalesce("
    "(SELECT max(shown) FROM evidence WHERE ns = ?1 AND a = ?2 AND b = ?3 AND shown < ?4), 0)"
    " ORDER BY shown"
)
"""The t of the updates that show a relation: from a t on, with the latest one before."""

_SELECT: dict[str, LiteralString] = {
    "id": "SELECT t FROM passage WHERE ns = ?1 AND id = ?2",
    "source": "SELECT t FROM passage WHERE ns = ?1 AND source = ?2",
    "session": (
        "SELECT t FROM passage WHERE ns = ?1 AND session = ?2 UNION ALL"
        " SELECT t FROM passage WHERE ns = ?1 AND source = ?2 AND session IS NULL"
    ),
    "before": (
        "SELECT t FROM passage WHERE ns = ?1 AND t < ?2"
        " UNION SELECT at >> 20 FROM element_evidence WHERE ns = ?1 AND at < ?2 << 20"
    ),
    "said before": "SELECT t FROM passage WHERE ns = ?1 AND said < ?2",
    "expired": (
        "SELECT t FROM passage WHERE ns = ?1 AND expires <= ?2 ORDER BY expires, t LIMIT ?3"
    ),
}


def has_expired(fetch: Fetch, namespace: str, now: datetime) -> bool:
    """Whether a passage has expired by ``now``."""
    rows = fetch(
        "SELECT 1 FROM namespace n JOIN passage p INDEXED BY passage_expires ON p.ns = n.id"
        " WHERE n.name = ? AND p.expires <= ? LIMIT 1",
        (namespace, microseconds(now)),
    )
    return bool(rows)


class SQLiteRows:
    """``Rows`` of one namespace inside a write transaction of ``connection``."""

    def __init__(self, connection: sqlite3.Connection, namespace: str) -> None:
        self._connection = connection
        self._fetch = fetch_from(connection)
        self._namespace = namespace
        self._numbers = RowNumbers()

    @property
    def _queries(self) -> Queries:
        return Queries(self._fetch, ns=self._numbers.ns)

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        now: datetime | None = None,
    ) -> Opened:
        rows = self._fetch(_NAMESPACE, (self._namespace,))
        if not rows:
            if self._fetch(FIND_WITHOUT_INDEX, {"name": self._namespace}):
                raise ValueError("an index of the table namespace has lost a row")
            return Opened(totals=NamespaceTotals())
        self._numbers.ns, *totals, sizes, open_t, key, said, source = rows[0]
        session = open_session_of(open_t, key, said, source)
        opened = Opened(totals=NamespaceTotals(*totals))
        if now is not None:
            opened.has_expired = has_expired(self._fetch, self._namespace, now)
        opened.totals.vector_sizes, opened.totals.open_session = json.loads(sizes), session
        sql = "SELECT id, t, text, withdrawn FROM passage WHERE ns = :ns AND id IN {list}"
        for id, t, text, withdrawn_t in self._queries.rows(sql, ids):
            opened.passages[id] = t, text
            if withdrawn_t is not None:
                opened.withdrawn.add(id)
        for path, key in items:
            found = self._fetch(
                "SELECT t, id FROM passage WHERE ns = ? AND path = ? AND key = ?",
                (self._numbers.ns, path_text(path), key),
            )
            opened.items[path, key] = dict(found)
        return opened

    def look_up(self, keys: Keys) -> Totals:
        """The stored rows with these keys. Later writes use their numbers."""
        totals = Totals()
        if self._numbers.ns:
            self._look_up_elements(totals, keys.elements)
            names = keys.concepts.union(
                *keys.relations, (row.concept.name for row in totals.elements.values())
            )
            for name, row in self._numbered("concept", self._numbers.concepts, "name", names):
                totals.concepts[name] = ConceptTotals(*row)
            for stem, row in self._numbered("term", self._numbers.terms, "stem", keys.terms):
                (totals.terms[stem],) = row
            for key, row in self._numbered("session", self._numbers.sessions, "key", keys.sessions):
                totals.sessions[key] = SessionTotals(*row)
            self._look_up_relations(totals, keys.relations)
            sql = "SELECT predicate, triplets FROM predicate WHERE ns = :ns AND predicate IN {list}"
            totals.predicates.update(self._queries.rows(sql, keys.predicates))
        return totals

    def write(self, changes: Changes) -> None:
        if not self._numbers.ns:
            sql = "INSERT INTO namespace (name, t) VALUES (?, 0)"
            self._numbers.ns = self._connection.execute(sql, (self._namespace,)).lastrowid or 0
        write_changes(self._connection, self._numbers, changes)

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        return stored_updates(self._queries, sorted(ts))

    def evidence(self, elements: Collection[ElementKey]) -> dict[ElementKey, dict[int, Evidence]]:
        numbers = self._numbers.elements
        named = {numbers[key]: key for key in elements if key in numbers}
        sql = "SELECT {} FROM element_evidence WHERE ns = :ns AND element IN {list}"
        found: dict[ElementKey, dict[int, Evidence]] = {}
        for _, number, at, properties, text in self._queries.read("element_evidence", sql, named):
            evidence = evidence_of(named[number], at, properties, json.loads(text or "[]"))
            found.setdefault(named[number], {})[at] = evidence
        return found

    def relation_evidence(self, since: Mapping[Pair, int]) -> dict[Pair, list[int]]:
        ns, of_pair = self._numbers.ns, self._numbers.of_pair
        found: dict[Pair, list[int]] = {}
        for pair, t_index in since.items():
            key = (ns, *of_pair(pair))
            found[pair] = [t for (t,) in self._fetch(_SHOWN, (*key, t_index))]
        return found

    def count_touches(self, left: Mapping[str, tuple[int, int] | None]) -> dict[str, ConceptTotals]:
        return count_touches(self._queries, left)

    def select(self, selection: Selection) -> list[int]:
        kind, value = selected_by(selection)
        values: tuple[object, ...] = (self._numbers.ns, value)
        if kind == "expired":
            values += (-1 if selection.limit is None else selection.limit,)
        return [t for (t,) in self._fetch(_SELECT[kind], values)]

    def touching(self, concept: str) -> tuple[list[int], list[str]]:
        self.look_up(Keys(concepts={concept}))
        ns = self._numbers.ns
        mentions = self._fetch(
            "SELECT at FROM mention WHERE ns = ? AND concept = ?",
            (ns, self._numbers.concepts.get(concept, 0)),
        )
        # SQLite's functions for JSON would end a name at a NUL.
        sql = "SELECT at, description FROM element_evidence WHERE ns = ? AND instr(description, ?)"
        said = self._fetch(sql, (ns, json.dumps(concept)))
        keys = [at for (at,) in mentions]
        keys += [at for at, description in said if json.loads(description)[1] == concept]
        on = self._fetch("SELECT id FROM element WHERE ns = ? AND concept = ?", (ns, concept))
        return keys, [id for (id,) in on]

    def referring(self, ids: Collection[str]) -> list[int]:
        hashes = [hash_of(id) for id in ids]
        sql = "SELECT DISTINCT at >> 20 FROM reference WHERE ns = :ns AND passage IN {list}"
        return [t for (t,) in self._queries.rows(sql, hashes)]

    def triplets_of(self, entities: Collection[str]) -> set[TripletKey]:
        sql = "SELECT subject, predicate, object FROM element WHERE ns = :ns AND subject IN {list}"
        rows = self._queries.rows(sql, entities)
        rows += self._queries.rows(sql.replace("subject IN", "object IN"), entities)
        return set(rows)

    def drop_summaries(self, first: Mapping[str, int]) -> int:
        ns = self._numbers.ns
        if not self._fetch("SELECT 1 FROM summary WHERE ns = ? LIMIT 1", (ns,)):
            return 0
        return self._connection.executemany(
            "DELETE FROM summary WHERE ns = ? AND concept = ? AND t_index >= ?",
            [(ns, *each) for each in first.items()],
        ).rowcount

    def context_version(self, concept: str) -> ContextVersion | None:
        self.look_up(Keys(concepts={concept}))
        return context_version(self._queries, concept)

    def set_expiry(self, expires_at: Mapping[str, datetime | None]) -> int:
        updated = self._connection.executemany(
            "UPDATE passage SET expires_at = ?, expires = ?"
            " WHERE ns = (SELECT id FROM namespace WHERE name = ?) AND id = ?",
            [
                (timestamp_text(moment), microseconds(moment), self._namespace, id)
                for id, moment in expires_at.items()
            ],
        )
        return max(updated.rowcount, 0)

    def withdraw(self, ts: Collection[int], withdrawn_t: int | None) -> None:
        self._connection.executemany(
            "UPDATE passage SET withdrawn = ? WHERE row = ?",
            [(withdrawn_t, passage_row(self._numbers.ns, t)) for t in ts],
        )

    def delete_everything(self) -> Forgotten:
        counts: dict[str, int] = {}
        ns = (self._numbers.ns,)
        ((entities, triplets),) = self._fetch(
            "SELECT count(id), count(predicate) FROM element WHERE ns = ?", ns
        )
        for table in TABLES:
            sql = "SELECT count(*) FROM " + table + " WHERE ns = ?"
            (counts[table],) = self._connection.execute(sql, ns).fetchone()
            self._connection.execute("DELETE FROM " + table + " WHERE ns = ?", ns)
        self._numbers = RowNumbers(self._numbers.ns)
        return Forgotten(
            passages=counts["passage"],
            statements=counts["statement"],
            concepts=counts["concept"],
            relations=counts["neighbour"] // 2,
            entities=entities,
            triplets=triplets,
            summaries=counts["summary"],
        )

    # -- look-ups by table -------------------------------------------------------------------

    def _numbered(
        self,
        table: LiteralString,
        numbers: dict[str, int],
        key: LiteralString,
        wanted: Collection[str],
    ) -> Iterator[tuple[str, list[Any]]]:
        """The rows of a table by their natural keys, without their ``numbers``, which are kept."""
        columns = ", ".join(columns_of(table)[1:])
        sql: LiteralString = f"SELECT {columns} FROM {table} WHERE ns = :ns AND {key} IN {{list}}"
        for number, name, *row in self._queries.rows(sql, wanted):
            numbers[name] = number
            yield name, row

    def _look_up_relations(self, totals: Totals, pairs: Collection[Pair]) -> None:
        ids = self._numbers.concepts
        named = {
            self._numbers.of_pair(pair): pair for pair in pairs if pair[0] in ids and pair[1] in ids
        }
        for a, b, shown, strength in self._queries.rows(
            "SELECT e.a, e.b, e.shown, e.strength FROM " + PAIRS + " p CROSS JOIN evidence e"
            " ON e.ns = :ns AND e.a = p.a AND e.b = p.b AND e.shown = (SELECT max(shown)"
            "  FROM evidence q WHERE q.ns = :ns AND q.a = p.a AND q.b = p.b)",
            [a << 32 | b for a, b in sorted(named)],
        ):
            totals.relations[named[a, b]] = RelationTotals(strength, shown)
            self._numbers.latest[a, b] = shown

    def _look_up_elements(self, totals: Totals, elements: Collection[ElementKey]) -> None:
        ids = [key for key in elements if isinstance(key, str)]
        rows = self._queries.rows(_ELEMENT + " AND id IN {list}", ids)
        for key in elements:
            if not isinstance(key, str):
                triplet = dict(zip(("subject", "predicate", "object"), key, strict=True))
                rows += self._queries.rows(_TRIPLET, **triplet)
        for number, type, concept, label, kind, properties, latest, id, *parts in rows:
            element = id or tuple(parts)
            mention = ConceptMention(name=concept or "", label=label, kind=kind)
            totals.elements[element] = ElementRow(type, mention, json.loads(properties), latest)
            self._numbers.elements[element] = number
            if id:
                self._numbers.concept_of[id] = mention.name
