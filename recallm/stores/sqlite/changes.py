"""Writing and deleting rows: `Changes` as SQL.

The rows of what was before and of what is after are compared, table by table. Natural keys become
row numbers in Python, and one ``executemany`` in key order writes each table: a batch touches each
page once.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any, LiteralString

from recallm.errors import StoreError
from recallm.ground.entity_words import entity_words
from recallm.model import LARGEST_NUMBER, PreparedUpdate, content_terms, statement_key
from recallm.stores.semantics.rows import (
    Changes,
    NamespaceTotals,
    RowsByKind,
    RowsOfKind,
    changed_rows,
    json_text,
    kept_of,
    microseconds,
    stored_session_key,
    t_of,
    timestamp_text,
)
from recallm.stores.semantics.writing import antecedents_in, pairs_of
from recallm.stores.sqlite.postings import cut_blocks, edit
from recallm.stores.sqlite.schema import (
    GREATEST_COUNT,
    MAX_T,
    columns_of,
    hash_of,
    pack,
    pack_mentions,
    pack_record,
    passage_row,
    sealed,
)
from recallm.stores.sqlite.view import Queries

_Row = tuple[Any, ...]

_UNIQUE: dict[LiteralString, tuple[LiteralString, int]] = {
    "concept": ("id", 3),
    "term": ("id", 3),
    "session": ("id", 3),
    "element": ("number", 6),
    "passage": ("row", 3),
}
"""The tables that have unique columns beside their numbers: the column of the number, and how many
columns of a row never change, from its namespace on."""

_LISTS: tuple[LiteralString, ...] = ("term", "concept")
"""The tables whose rows have lists of postings. Until postings are put into lists, they are a kind
of rows ("term postings"), by the number of the list's row and the posting's key."""

_LATEST: LiteralString = (
    "SELECT a, b, (SELECT max(shown) FROM evidence e WHERE e.ns = :ns AND e.a = p.a AND e.b = p.b)"
    " FROM (SELECT value >> 32 AS a, value & 4294967295 AS b FROM json_each(:list)) p"
)
"""Of pairs of concepts, listed as ``a << 32 | b``."""


class RowWriter(Queries):
    """Writes the rows of one namespace inside a write transaction of ``connection``.

    It keeps the namespace's number ``ns`` (0 before it has a row), and the ``numbers`` of the rows
    that the transaction has looked up or written, by table and natural key. ``concept_of`` is the
    name of the concept that each known entity stands on, as stored. ``newest`` are the newest
    records of postings, by the table of their rows and the number there.
    """

    def __init__(self, connection: sqlite3.Connection, namespace: str) -> None:
        super().__init__(
            lambda sql, values: connection.execute(sql, values).fetchall(), end=LARGEST_NUMBER
        )
        self.connection = connection
        self._name = namespace
        self.begin(0)

    def begin(self, ns: int) -> None:
        """Note the namespace's number; no other row is known."""
        self.ns = self.bound["ns"] = ns
        self.numbers: dict[str, dict[Any, int]] = {table: {} for table in _UNIQUE}
        self.newest: dict[str, dict[int, bytes]] = {table: {} for table in _LISTS}
        self.concept_of: dict[str, str] = {}

    def _of_pair(self, one: str, other: str) -> tuple[int, int]:
        """The numbers of two concepts, the smaller one first."""
        a, b = self.numbers["concept"][one], self.numbers["concept"][other]
        return (a, b) if a < b else (b, a)

    def _latest(self, pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """The t of the latest evidence of relations, by the numbers of their concepts; of those
        that some update shows."""
        rows = self.rows(_LATEST, [a << 32 | b for a, b in sorted(pairs)])
        return {(a, b): t for a, b, t in rows if t is not None}

    def write(self, changes: Changes) -> int:
        """``Rows.write``.

        Raises:
            StoreError: the namespace has used up its t.
        """
        if changes.namespace.t > MAX_T:
            raise StoreError(f"a namespace holds at most {MAX_T} updates; go on in another one")
        self._write_namespace(changes.namespace)
        self._number("concept", changes.concepts)
        self._number("term", changes.terms)
        self._number("session", changes.sessions)
        self._number("element", changes.elements)
        old: RowsByKind = defaultdict(dict)
        new: RowsByKind = defaultdict(dict)
        for before, after in changes.passages:
            self._add_passage(old, before)
            self._add_passage(new, after)
        self._add_elements(old, new, changes)
        changed_rows(old, new)
        for predicate, triplets in changes.predicates.items():
            new["predicate"][predicate,] = (triplets,) if triplets else None
        for y in changes.summaries:
            new["summary"][y.concept,] = y.t_index, y.text, json.dumps(y.terms), int(y.traits)
        for table in _LISTS:
            edits = new.pop(table + " postings", {})
            new[table + "_block"] = self._edited(table, edits, is_later=not old["passage"])
        shown = {(a, b) for a, b, _ in new["evidence"]}
        earlier = self._latest(shown)
        for kind, rows in new.items():
            self._set(kind, rows)
        now = self._latest(shown)
        neighbours = _neighbours(now)
        changed_rows(_neighbours(earlier), neighbours)
        self._set("neighbour", neighbours["neighbour"])
        self._write_totals(changes)
        return len(earlier.keys() - now.keys())

    def _write_namespace(self, row: NamespaceTotals) -> None:
        if not self.ns:
            sql = "INSERT INTO namespace (name, t) VALUES (?, 0)"
            self.begin(self.connection.execute(sql, (self._name,)).lastrowid or 0)
        self.connection.execute(
            "UPDATE namespace SET t = ?, statements = ?, terms = ?, sessions = ?, open_t = ?,"
            " model = ?, origin = ?, revision = ?, vocabulary = ?, vector_sizes = ? WHERE id = ?",
            (
                row.t, row.statements, row.terms, row.sessions,
                row.open_session.t_index if row.open_session else 0,
                row.model, row.origin, row.revision, row.vocabulary, json_text(row.vector_sizes),
                self.ns,
            ),
        )  # fmt: skip

    def _number(self, table: LiteralString, keys: Iterable[Any]) -> None:
        """Give the rows that are new a number."""
        numbers = self.numbers[table]
        if new := [key for key in keys if key not in numbers]:
            number = columns_of(table)[1]
            sql: LiteralString = f"SELECT coalesce(max({number}), 0) + 1 FROM {table}"
            (first,) = self.connection.execute(sql).fetchone()
            numbers.update(zip(new, range(first, first + len(new)), strict=True))

    def _add_passage(self, rows: RowsByKind, u: PreparedUpdate | None) -> None:
        """Add the rows of an update that has a passage. What statements stand in is their session,
        else the update alone."""
        if u is None or u.text is None:
            return
        ids, terms = self.numbers["concept"], self.numbers["term"]
        t, key = t_of(u), stored_session_key(u)
        session = None if key is None else self.numbers["session"][key]
        pairs = " ".join(f"{ids[n.a]} {ids[n.b]} {n.earlier} {n.later}" for n in u.neighbours)
        rows["passage"][t,] = (
            u.id, u.text, u.source, u.session, u.speaker, u.speaker_concept,
            timestamp_text(u.timestamp), json_text(u.metadata), pack(u.path), u.key,
            timestamp_text(u.expires_at), u.withdrawn_t, pairs, passage_row(self.ns, t),
            microseconds(u.timestamp), microseconds(u.expires_at), session,
        )  # fmt: skip
        for pair in pairs_of(u):
            rows["evidence"][*self._of_pair(*pair), t] = ()
        for entry in u.metadata.items():
            rows["metadata_entry"][hash_of(*entry), t] = ()
        postings, mentions = rows["term postings"], rows["concept postings"]
        for s in sorted(u.statements, key=attrgetter("position")):
            at = statement_key(t, s.position)
            rows["statement"][at,] = (
                session or -t, s.start, s.end, len(content_terms(s.terms)), pack(s.terms),
                pack_mentions(s.concepts), int(s.traits),
            )  # fmt: skip
            for stem, count in Counter(s.terms).items():
                record = pack_record(at, session or 0, min(count, GREATEST_COUNT))
                postings[terms[stem], at] = (record,)
            mention = (pack_record(at, session or 0, 1),)
            for each in s.concepts:
                mentions[ids[each.name], at] = mention
            for id in antecedents_in(s):
                rows["reference"][hash_of(id), at] = ()
        for v in u.vectors:
            rows["vector"][statement_key(t, v.position), v.model] = (v.blob,)

    def _edited(self, table: LiteralString, records: RowsOfKind, *, is_later: bool) -> RowsOfKind:
        """Take records out of the lists of a table (None), and put others in; the blocks that
        change. ``is_later``: none goes, and the new ones ascend, later than all that are there."""
        edits: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
        for (owner, key), record in records.items():
            edits[owner][key] = record[0] if record else b""
        newest = self.newest[table]
        blocks: RowsOfKind = {}
        for owner, edited in edits.items():
            left = newest.get(owner, b"")
            if is_later:
                left += b"".join(edited.values())
            else:
                left = edit(self, table, owner, left, edited, blocks)
            newest[owner] = cut_blocks(owner, left, blocks)
        return blocks

    def _add_elements(self, old: RowsByKind, new: RowsByKind, changes: Changes) -> None:
        """Add the rows of entities and triplets but their own, which have totals."""
        numbers = self.numbers["element"]
        given: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
        for (id, model), blob in changes.entity_vectors.items():
            given[id][model] = blob
            new["entity_vector"][numbers[id], model] = (blob,)
        gone = [key for key, row in changes.elements.items() if row is None]
        stored = self._vectors_of([numbers[key] for key in (*given, *gone)])
        for key, row in changes.elements.items():
            if isinstance(key, str):
                number, before = numbers[key], self.concept_of.get(key, "")
                vectors = stored.get(number, {})
                for word in entity_words(before, vectors):
                    old["entity_word"][word, number] = ()
                if row is None:
                    old["entity_vector"].update({(number, model): () for model in vectors})
                else:
                    for word in entity_words(row.concept.name, {**vectors, **given.get(key, {})}):
                        new["entity_word"][word, number] = ()
                self.concept_of[key] = row.concept.name if row else ""
        for key, shown in changes.element_evidence.items():
            for at, each in shown.items():
                if each is None:
                    old["element_evidence"][numbers[key], at] = ()
                    continue
                properties, description = kept_of(each)
                text = json.dumps(description) if description else None
                new["element_evidence"][numbers[key], at] = properties, text

    def _vectors_of(self, numbers: Collection[int]) -> dict[int, dict[str, bytes]]:
        """The stored vectors of entities, by number and model."""
        found: defaultdict[int, dict[str, bytes]] = defaultdict(dict)
        sql = "SELECT entity, model, blob FROM entity_vector WHERE ns = :ns AND entity IN {list}"
        for number, model, blob in self.rows(sql, numbers):
            found[number][model] = blob
        return found

    def _write_totals(self, changes: Changes) -> None:
        """Write the rows that have numbers. Terms that no statement holds go, and sessions that no
        passage belongs to."""
        used = "SELECT 1 FROM passage WHERE ns = :ns AND session_id = :id"
        for key, s in changes.sessions.items():
            is_used = s.statements or self.rows(used, id=self.numbers["session"][key])
            self._put("session", {key: (key, s.statements, s.terms) if is_used else None})
        self._put("term", {stem: (stem, n) if n else None for stem, n in changes.terms.items()})
        concepts = {
            name: (name, c.label, c.kind, c.t_index, c.updates, c.statements) if c else None
            for name, c in changes.concepts.items()
        }
        self._put("concept", concepts)
        elements = {
            key: e if e is None else (
                *((key, None, None, None) if isinstance(key, str) else (None, *key)),
                e.type, e.concept.name or None, e.concept.label, e.concept.kind,
                json_text(e.properties),
            )
            for key, e in changes.elements.items()
        }  # fmt: skip
        self._put("element", elements)

    def _put(self, table: LiteralString, rows: Mapping[Any, _Row | None]) -> None:
        """Write the rows of a table that numbers them by their natural keys, or delete them."""
        numbers, newest = self.numbers[table], self.newest.get(table)
        numbered: RowsOfKind = {}
        for key, row in rows.items():
            number = numbers[key] if row else numbers.pop(key)
            if row and newest is not None:
                row = (*row, sealed(number, newest.get(number, b"")))
            numbered[number,] = row
        self._set(table, numbered)

    def _set(self, table: LiteralString, rows: RowsOfKind) -> None:
        """Write rows by their keys, which lack their namespace, or delete them (None)."""
        gone = sorted((self.ns, *key) for key, row in rows.items() if row is None)
        there = sorted((self.ns, *key, *row) for key, row in rows.items() if row is not None)
        if gone:
            conditions = " = ? AND ".join(columns_of(table)[: len(gone[0])])
            self.connection.executemany(f"DELETE FROM {table} WHERE {conditions} = ?", gone)
        if there:
            values: LiteralString = "?" + ", ?" * (len(there[0]) - 1)
            sql: LiteralString = f"INSERT OR REPLACE INTO {table} VALUES ({values})"
            if table in _UNIQUE:  # to replace would delete the row that has the same name
                number, first = _UNIQUE[table]
                columns = columns_of(table, every=True)[first:]
                update = ", ".join([name + " = excluded." + name for name in columns])
                sql = f"INSERT INTO {table} VALUES ({values})"
                sql += f" ON CONFLICT ({number}) DO UPDATE SET {update}"
            self.connection.executemany(sql, there)


def _neighbours(latest: Mapping[tuple[int, int], int]) -> RowsByKind:
    """The rows of relations from both ends, by their ``latest`` t."""
    rows: RowsByKind = defaultdict(dict)
    for (a, b), t in latest.items():
        rows["neighbour"][a, t, b] = rows["neighbour"][b, t, a] = ()
    return rows
