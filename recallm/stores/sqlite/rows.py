"""What is stored, read back: updates as ``PreparedUpdate``, totals, evidence; and the look-ups of
``semantics.rows.Rows``.

Tables use row numbers for concepts, terms, sessions, entities and triplets. `RowWriter` keeps the
number of every row that was looked up or written, during its transaction.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, LiteralString

import numpy as np

from recallm.model import (
    POSITION_BITS,
    ConceptMention,
    ElementKey,
    Forgotten,
    PreparedUpdate,
    Selection,
    TripletKey,
    t_index_of,
)
from recallm.stores.semantics.reading import evidence_of, open_session_of, update_of
from recallm.stores.semantics.rows import (
    ConceptTotals,
    ElementRow,
    Evidence,
    Keys,
    NamespaceTotals,
    Opened,
    SessionTotals,
    Totals,
    microseconds,
    selected_by,
)
from recallm.stores.sqlite.changes import RowWriter
from recallm.stores.sqlite.queries import MENTIONS
from recallm.stores.sqlite.schema import (
    TABLES,
    check_ascending,
    columns_of,
    hash_of,
    keys_of,
    pack,
    passage_fields_of,
    unpack,
    unpack_mentions,
    unsealed,
)
from recallm.stores.sqlite.view import Queries

_AT: LiteralString = " row IN (SELECT (:ns << 32) + value FROM json_each(:list))"
"""The condition on ``passage`` that an update is listed."""

_OF_UPDATES: LiteralString = (
    " FROM json_each(:list) CROSS JOIN {table} w ON w.ns = :ns AND at >= value << 20"
    " AND at < (value + 1) << 20"
)
_STATEMENTS: LiteralString = (
    "SELECT {sound statement w}, at, start, stop, terms, concepts, traits"
    + _OF_UPDATES.replace("{table}", "statement")
)
_VECTORS: LiteralString = "SELECT {sound vector w}, at, model, blob" + _OF_UPDATES.replace(
    "{table}", "vector"
)
_EVIDENCE: LiteralString = (
    "SELECT {sound element_evidence w} AND {sound element x}, x.number, at = (SELECT min(at)"
    "  FROM element_evidence f WHERE f.ns = :ns AND f.element = x.number), x.id, x.subject,"
    " x.predicate, x.object, at, w.properties, w.description"
    + _OF_UPDATES.replace("{table}", "element_evidence")
    + " LEFT JOIN element x ON x.number = w.element"
)
_ENTITY_VECTORS: LiteralString = (
    "SELECT {sound entity_vector w}, entity, model, blob FROM entity_vector w"
    " WHERE ns = :ns AND entity IN {list} ORDER BY entity, model"
)

_ON: LiteralString = (
    "SELECT concept, at, id, label, kind FROM element e CROSS JOIN element_evidence v"
    " ON v.ns = e.ns AND v.element = e.number WHERE e.ns = :ns AND concept IN {list} AND at < :end"
)
"""The evidence of entities that stand on concepts."""

_BLOCKS: LiteralString = (
    "SELECT owner, blob FROM concept_block WHERE ns = :ns AND owner IN {list} ORDER BY owner, last"
)

_STATS: dict[str, LiteralString] = {
    "passages": "SELECT count(*) FROM passage INDEXED BY passage_t WHERE ns = :ns",
    "statements": "SELECT count(*) FROM statement INDEXED BY statement_session WHERE ns = :ns",
    "concepts": "SELECT count(*) FROM concept WHERE ns = :ns",
    "relations": "SELECT count(*) / 2 FROM neighbour WHERE ns = :ns",
    "entities": "SELECT count(*) FROM element WHERE ns = :ns AND id IS NOT NULL",
    "triplets": "SELECT count(*) FROM element WHERE ns = :ns AND subject IS NOT NULL",
    "summaries": "SELECT count(*) FROM summary WHERE ns = :ns",
    "vectors": "SELECT count(*) FROM vector WHERE ns = :ns",
}
"""Queries by the field of `Stats` that they count."""


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


class Stored(Queries):
    """Reads of everything stored up to ``:end``, also of what a horizon hides."""

    def page_of_updates(self, after: int, limit: int) -> list[PreparedUpdate]:
        """The first ``limit`` updates after a t."""
        rows = self.rows(
            "SELECT * FROM (SELECT t FROM passage NOT INDEXED WHERE row > (:ns << 32) + :after"
            "  AND row < (:ns + 1) << 32 ORDER BY row LIMIT :limit) UNION"
            " SELECT * FROM (SELECT DISTINCT at >> 20 FROM element_evidence WHERE ns = :ns"
            "  AND at >= (:after + 1) << 20 ORDER BY at LIMIT :limit) ORDER BY 1 LIMIT :limit",
            after=after,
            limit=limit,
        )
        ts = [t for (t,) in rows]
        check_ascending(ts, after)
        return self.updates(ts)

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        """The updates at these t, ascending, as `GraphReader.dump` gives them.

        Raises:
            ValueError: a row is damaged.
        """
        ts = sorted(ts)
        said: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for at, start, stop, terms, concepts, traits in self.sound(_STATEMENTS, list=ts):
            row = at, start, stop, unpack(terms), unpack_mentions(concepts), traits
            said[t_index_of(at)].append(row)
        vectors: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for vector in self.sound(_VECTORS, list=ts):
            vectors[t_index_of(vector[0])].append(vector)
        elements = self._elements(ts)
        passages = self._passages(ts)
        return [
            update_of(
                t,
                **passages.get(t, {"passage": None}),
                said=said[t],
                vectors=vectors[t],
                shown=elements[t],
            )
            for t in ts
        ]

    def _passages(self, ts: Collection[int]) -> dict[int, dict[str, Any]]:
        """T → the arguments of ``update_of`` that its passage gives."""
        rows = self.read("passage", "SELECT {} FROM passage WHERE" + _AT, ts)
        sql: LiteralString = (
            "SELECT t, s.key FROM passage JOIN session s ON s.id = session_id WHERE"
        )
        keys = dict(self.rows(sql + _AT.replace("row", "passage.row"), ts))
        numbers = {row[1]: [*map(int, row[-1].split())] for row in rows}
        ids = {id for found in numbers.values() for id in (*found[::4], *found[1::4])}
        concepts = self.read("concept", "SELECT {} FROM concept WHERE id IN {list}", ids)
        names = {id: name for _, id, name, *_ in concepts}
        return {
            row[1]: {
                "passage": passage_fields_of(row),
                "session_key": keys.get(row[1]),
                "speaker_concept": row[7],
                "neighbours": [
                    (names[a], names[b], *positions)
                    for a, b, *positions in zip(*[iter(numbers[row[1]])] * 4, strict=True)
                ],
            }
            for row in rows
        }

    def _elements(self, ts: Collection[int]) -> defaultdict[int, list[Evidence]]:
        """T → the entities and triplets that it is evidence of; an entity's vectors stand at its
        first evidence."""
        evidence = self.sound(_EVIDENCE, list=ts)
        vectors: dict[int, dict[str, bytes]] = {}
        for number, model, blob in self.sound(_ENTITY_VECTORS, list={row[0] for row in evidence}):
            vectors.setdefault(number, {})[model] = blob
        found: defaultdict[int, list[Evidence]] = defaultdict(list)
        for number, is_first, id, *parts, at, properties, description in evidence:
            own = vectors.get(number) if is_first else None
            shown = evidence_of(
                id or tuple(parts), at, properties, json.loads(description or "[]"), own
            )
            found[t_index_of(at)].append(shown)
        return found

    def count_touches(self, names: Collection[str]) -> dict[str, ConceptTotals]:
        """``Rows.count_touches``, of what is earlier than the key ``:end``.

        Raises:
            ValueError: records of mentions are damaged.
        """
        shown: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for name, *each in self.rows(_ON, names):
            shown[name].append(tuple(each))
        sql: LiteralString = (
            "SELECT id, name, newest FROM concept WHERE ns = :ns AND name IN {list}"
        )
        concepts = self.rows(sql, names)
        records: defaultdict[int, list[bytes]] = defaultdict(list)
        blocks = self.rows(_BLOCKS, [id for id, *_ in concepts])
        for id, blob in (*blocks, *((id, newest) for id, _, newest in concepts)):
            records[id].append(unsealed(id, blob))
        totals: dict[str, ConceptTotals] = {}
        firsts: dict[str, int] = {}
        for id, name, _ in concepts:
            keys = keys_of(b"".join(records[id]))
            keys = keys[keys < self.bound["end"]]
            evidence = np.array([at for at, *_ in shown[name]], np.int64)
            # The keys ascend: a stable sort passes over them.
            ts = np.sort(np.concatenate((keys, evidence)) >> POSITION_BITS, kind="stable")
            if not len(ts):
                continue
            updates = 1 + int(np.count_nonzero(np.diff(ts)))
            totals[name] = ConceptTotals("", "entity", int(ts[-1]), updates, len(keys))
            if len(keys):
                firsts[name] = int(keys[0])
            else:
                *_, totals[name].label, totals[name].kind = min(
                    shown[name], key=lambda each: (t_index_of(each[0]), each[1])
                )
        sql = "SELECT at, concepts FROM statement WHERE ns = :ns AND at IN {list}"
        mentions = dict(self.rows(sql, set(firsts.values())))
        for name, first in firsts.items():
            mention = next(m for m in unpack_mentions(mentions[first]) if m.name == name)
            totals[name].label, totals[name].kind = mention.label, mention.kind
        return totals

    def counts(self) -> dict[str, Any]:
        """How much of everything but sessions the namespace holds, by the fields of ``Stats``."""
        return {field: self.rows(sql)[0][0] for field, sql in _STATS.items()}


class SQLiteRows(RowWriter, Stored):
    """``Rows`` of one namespace inside a write transaction."""

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
        opened.passages = {
            id: (t, text, withdrawn_t) for id, t, text, withdrawn_t in self.rows(sql, ids)
        }
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

    def evidence(self, elements: Collection[ElementKey]) -> dict[ElementKey, dict[int, Evidence]]:
        numbers = self.numbers["element"]
        named = {numbers[key]: key for key in elements if key in numbers}
        sql = "SELECT {} FROM element_evidence WHERE ns = :ns AND element IN {list}"
        found: dict[ElementKey, dict[int, Evidence]] = {}
        for _, number, at, properties, text in self.read("element_evidence", sql, named):
            evidence = evidence_of(named[number], at, properties, json.loads(text or "[]"))
            found.setdefault(named[number], {})[at] = evidence
        return found

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
        counts = self.counts()
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
