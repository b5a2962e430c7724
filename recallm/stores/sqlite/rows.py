"""Look-ups of the shared semantics in SQL: `recallm.stores.semantics.rows.Rows`.

Tables use row numbers for concepts, terms, sessions, entities and triplets. `RowWriter` keeps the
number of every row that was looked up or written, during its transaction.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, LiteralString

from recallm.model import (
    ConceptMention,
    ElementKey,
    Forgotten,
    PreparedUpdate,
    Selection,
    TripletKey,
)
from recallm.stores.semantics.reading import evidence_of, open_session_of
from recallm.stores.semantics.rows import (
    ConceptTotals,
    ElementRow,
    Evidence,
    Keys,
    NamespaceTotals,
    Opened,
    Pair,
    SessionTotals,
    Totals,
    microseconds,
    selected_by,
)
from recallm.stores.sqlite.changes import RowWriter
from recallm.stores.sqlite.queries import MENTIONS
from recallm.stores.sqlite.schema import (
    TABLES,
    columns_of,
    hash_of,
    pack,
    unsealed,
)
from recallm.stores.sqlite.stored import count_touches, stored_counts, stored_updates

_ELEMENT: LiteralString = (
    "SELECT number, type, concept, label, kind, properties, coalesce((SELECT max(at)"
    " FROM element_evidence v WHERE v.ns = e.ns AND v.element = e.number), -1), id, subject,"
    " predicate, object FROM element e WHERE ns = :ns"
)

_TRIPLET: LiteralString = (
    _ELEMENT + " AND subject = :subject AND predicate = :predicate AND object = :object"
)

_SELECT: dict[str, LiteralString] = {
    "id": "SELECT t FROM passage WHERE ns = :ns AND id = :value",
    "source": "SELECT t FROM passage WHERE ns = :ns AND source = :value",
    "session": (
        "SELECT t FROM passage WHERE ns = :ns AND session = :value UNION ALL"
        " SELECT t FROM passage WHERE ns = :ns AND source = :value AND session IS NULL"
    ),
    "before": (
        "SELECT t FROM passage WHERE ns = :ns AND t < :value"
        " UNION SELECT at >> 20 FROM element_evidence WHERE ns = :ns AND at < :value << 20"
    ),
    "said before": "SELECT t FROM passage WHERE ns = :ns AND said < :value",
    "expired": ("SELECT t FROM passage WHERE ns = :ns AND expires <= :value ORDER BY expires, t"),
}


class SQLiteRows(RowWriter):
    """``Rows`` of one namespace inside a write transaction."""

    count_touches = count_touches

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        now: datetime | None = None,
    ) -> Opened:
        ns, _, *totals, sizes, open_t, key, said, source, has_expired, _, _ = self.namespace(
            self._name, now=microseconds(now), said=None, shown_at=None
        )
        if not ns:
            return Opened(totals=NamespaceTotals())
        self.begin(ns)
        opened = Opened(totals=NamespaceTotals(*totals), has_expired=bool(has_expired))
        opened.totals.vector_sizes = json.loads(sizes)
        opened.totals.open_session = open_session_of(open_t, key, said, source)
        sql = "SELECT id, t, text, withdrawn FROM passage WHERE ns = :ns AND id IN {list}"
        for id, t, text, withdrawn_t in self.rows(sql, ids):
            opened.passages[id] = t, text
            if withdrawn_t is not None:
                opened.withdrawn.add(id)
        for path, key in items:
            sql = "SELECT t, id FROM passage WHERE ns = :ns AND path = :path AND key = :key"
            opened.items[path, key] = dict(self.rows(sql, path=pack(path), key=key))
        return opened

    def look_up(self, keys: Keys) -> Totals:
        """The stored rows with these keys. Later writes use their numbers."""
        totals = Totals()
        if self.ns:
            self._look_up_elements(totals, keys.elements)
            names = keys.concepts.union(row.concept.name for row in totals.elements.values())
            for name, row in self._numbered("concept", "name", names):
                totals.concepts[name] = ConceptTotals(*row)
            for stem, (statements,) in self._numbered("term", "stem", keys.terms):
                totals.terms[stem] = statements
            for key, row in self._numbered("session", "key", keys.sessions):
                totals.sessions[key] = SessionTotals(*row)
            sql = "SELECT predicate, triplets FROM predicate WHERE ns = :ns AND predicate IN {list}"
            totals.predicates.update(self.rows(sql, keys.predicates))
        return totals

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        return stored_updates(self, sorted(ts))

    def evidence(self, elements: Collection[ElementKey]) -> dict[ElementKey, dict[int, Evidence]]:
        numbers = self.numbers["element"]
        named = {numbers[key]: key for key in elements if key in numbers}
        sql = "SELECT {} FROM element_evidence WHERE ns = :ns AND element IN {list}"
        found: dict[ElementKey, dict[int, Evidence]] = {}
        for _, number, at, properties, text in self.read("element_evidence", sql, named):
            evidence = evidence_of(named[number], at, properties, json.loads(text or "[]"))
            found.setdefault(named[number], {})[at] = evidence
        return found

    def count_relations(self, pairs: Collection[Pair]) -> int:
        return len(self.latest(self.of_pair(*pair) for pair in pairs))

    def select(self, selection: Selection) -> list[int]:
        kind, value = selected_by(selection)
        return [t for (t,) in self.rows(_SELECT[kind], value=value)]

    def touching(self, concept: str) -> tuple[list[int], list[str]]:
        mentions = self.rows(
            "SELECT (SELECT json_group_array(at) FROM " + MENTIONS + ") FROM concept c"
            " WHERE c.ns = :ns AND c.name = :name",
            name=concept,
        )
        # SQLite's functions for JSON would end a name at a NUL.
        said = self.rows(
            "SELECT at, description FROM element_evidence WHERE ns = :ns"
            " AND instr(description, :name)",
            name=json.dumps(concept),
        )
        keys = [at for (keys,) in mentions for at in json.loads(keys)]
        keys += [at for at, description in said if json.loads(description)[1] == concept]
        on = self.rows("SELECT id FROM element WHERE ns = :ns AND concept = :name", name=concept)
        return keys, [id for (id,) in on]

    def referring(self, ids: Collection[str]) -> list[int]:
        hashes = [hash_of(id) for id in ids]
        sql = "SELECT DISTINCT at >> 20 FROM reference WHERE ns = :ns AND passage IN {list}"
        return [t for (t,) in self.rows(sql, hashes)]

    def triplets_of(self, entities: Collection[str]) -> set[TripletKey]:
        sql = "SELECT subject, predicate, object FROM element WHERE ns = :ns AND subject IN {list}"
        rows = self.rows(sql, entities)
        rows += self.rows(sql.replace("subject IN", "object IN"), entities)
        return set(rows)

    def drop_summaries(self, first: Mapping[str, int]) -> int:
        if not self.rows("SELECT 1 FROM summary WHERE ns = :ns LIMIT 1"):
            return 0
        return self.connection.executemany(
            "DELETE FROM summary WHERE ns = ? AND concept = ? AND t_index >= ?",
            [(self.ns, *each) for each in first.items()],
        ).rowcount

    def delete_everything(self) -> Forgotten:
        counts = stored_counts(self)
        for table in TABLES:
            self.connection.execute("DELETE FROM " + table + " WHERE ns = ?", (self.ns,))
        self.begin(self.ns)
        del counts["vectors"]
        return Forgotten(**counts)

    # -- look-ups by table -------------------------------------------------------------------

    def _numbered(
        self, table: LiteralString, key: LiteralString, wanted: Collection[str]
    ) -> Iterator[tuple[str, list[Any]]]:
        """The rows of a table by their natural keys, without their numbers and newest postings: the
        writer keeps both."""
        columns = ", ".join(columns_of(table)[1:])
        newest: LiteralString = "newest" if table in self.newest else "NULL"
        sql: LiteralString = (
            f"SELECT {newest}, {columns} FROM {table} WHERE ns = :ns AND {key} IN {{list}}"
        )
        for records, number, name, *row in self.rows(sql, wanted):
            self.numbers[table][name] = number
            if records is not None:
                self.newest[table][number] = unsealed(number, records)
            yield name, row

    def _look_up_elements(self, totals: Totals, elements: Collection[ElementKey]) -> None:
        ids = [key for key in elements if isinstance(key, str)]
        rows = self.rows(_ELEMENT + " AND id IN {list}", ids)
        for key in elements:
            if not isinstance(key, str):
                triplet = dict(zip(("subject", "predicate", "object"), key, strict=True))
                rows += self.rows(_TRIPLET, **triplet)
        for number, type, concept, label, kind, properties, latest, id, *parts in rows:
            element = id or tuple(parts)
            mention = ConceptMention(name=concept or "", label=label, kind=kind)
            totals.elements[element] = ElementRow(type, mention, json.loads(properties), latest)
            self.numbers["element"][element] = number
            if id:
                self.concept_of[id] = mention.name
