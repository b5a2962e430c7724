"""Writing and deleting rows: `Changes` as SQL.

Natural keys become row numbers in Python, and one ``executemany`` in key order writes each table:
a batch touches each page once.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, LiteralString, TypeVar

from recallm.errors import StoreError
from recallm.ground.entity_words import entity_words
from recallm.model import ElementKey, PreparedUpdate, content_terms, statement_key
from recallm.stores.semantics.rows import (
    Changes,
    NamespaceTotals,
    description_of,
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
    json_text,
    pack,
    pack_mentions,
    pack_record,
    passage_row,
    sealed,
)
from recallm.stores.sqlite.view import PAIRS, Queries, fetch_from

_Key = TypeVar("_Key")
_Row = tuple[Any, ...]

_KEY_COLUMNS: dict[LiteralString, int] = {
    "passage": 1,
    "metadata_entry": 2,
    "statement": 1,
    "reference": 2,
    "evidence": 3,
    "vector": 1,
}
"""The tables of passages, each with the columns after its namespace by which rows are deleted."""

_LISTS: tuple[LiteralString, ...] = ("term", "concept")
"""The tables whose rows have lists of postings."""

_LATEST: LiteralString = (
    "SELECT a, b, (SELECT max(shown) FROM evidence e WHERE e.ns = :ns AND e.a = p.a AND e.b = p.b)"
    " FROM " + PAIRS + " p"
)


class RowWriter(Queries):
    """Writes the rows of one namespace inside a write transaction of ``connection``.

    It keeps the namespace's number (0 before it has a row), and the numbers of the rows that the
    transaction has looked up or written, by their natural keys. ``concept_of`` is the name of the
    concept that each known entity stands on, as stored. ``newest`` are the newest records of
    postings, by the table of their rows and the number there.
    """

    def __init__(self, connection: sqlite3.Connection, namespace: str) -> None:
        super().__init__(fetch_from(connection))
        self.connection = connection
        self.namespace = namespace
        self.begin(0)

    def begin(self, ns: int) -> None:
        """Note the namespace's number; no other row is known."""
        self.ns = self.bound["ns"] = ns
        self.concepts: dict[str, int] = {}
        self.terms: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.newest: dict[str, dict[int, bytes]] = {"term": {}, "concept": {}}
        self.elements: dict[ElementKey, int] = {}
        self.concept_of: dict[str, str] = {}

    def of_pair(self, one: str, other: str) -> tuple[int, int]:
        """The numbers of two concepts, the smaller one first."""
        a, b = self.concepts[one], self.concepts[other]
        return (a, b) if a < b else (b, a)

    def latest(self, pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """The t of the latest evidence of relations, by the numbers of their concepts; of those
        that some update shows."""
        rows = self.rows(_LATEST, [a << 32 | b for a, b in sorted(pairs)])
        return {(a, b): t for a, b, t in rows if t is not None}

    def write(self, changes: Changes) -> None:
        """``Rows.write``.

        Raises:
            StoreError: the namespace has used up its t.
        """
        if changes.namespace.t > MAX_T:
            raise StoreError(f"a namespace holds at most {MAX_T} updates; go on in another one")
        self._write_namespace(changes.namespace)
        self._write_totals(changes)
        self._write_passages(changes)
        self._delete_unused(changes)
        self._write_elements(changes)
        # Last of all: other rows have their numbers.
        gone = [name for name, row in changes.concepts.items() if row is None]
        self._delete("concept", [(self.concepts.pop(name),) for name in gone])

    def _write_namespace(self, row: NamespaceTotals) -> None:
        if not self.ns:
            sql = "INSERT INTO namespace (name, t) VALUES (?, 0)"
            self.begin(self.connection.execute(sql, (self.namespace,)).lastrowid or 0)
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

    def _write_totals(self, changes: Changes) -> None:
        concepts = {
            name: (c.label, c.kind, c.t_index, c.updates, c.statements)
            for name, c in changes.concepts.items()
            if c is not None
        }
        self._put("concept", self.concepts, concepts, behind=(b"",))
        terms = {stem: (n,) for stem, n in changes.terms.items()}
        self._put("term", self.terms, terms, behind=(b"",))
        sessions = {key: (s.statements, s.terms) for key, s in changes.sessions.items()}
        self._put("session", self.sessions, sessions)
        counts = changes.predicates.items()
        self._set("predicate", {(predicate,): (n,) if n else None for predicate, n in counts})

    def _delete_unused(self, changes: Changes) -> None:
        """Delete terms that no statement holds, and sessions that no passage belongs to."""
        unused = [stem for stem, count in changes.terms.items() if not count]
        self._delete("term", [(self.terms.pop(stem),) for stem in unused])
        sql = "SELECT 1 FROM passage WHERE ns = :ns AND session_id = :id"
        for key, session in changes.sessions.items():
            if not session.statements and not self.rows(sql, id=self.sessions[key]):
                self._delete("session", [(self.sessions.pop(key),)])

    # -- passages and statements -------------------------------------------------------------

    def _write_passages(self, changes: Changes) -> None:
        """Delete the rows that passages have no more, and insert those that they did not have."""
        gone = self._rows_of(before for before, _ in changes.passages)
        new = self._rows_of(after for _, after in changes.passages)
        pairs = {(a, b) for a, b, _ in chain(gone["evidence"], new["evidence"])}
        before = self.latest(pairs)
        is_later = not gone["passage"]
        for table, rows in gone.items():
            if rows:
                old, now = set(rows), set(new[table])
                gone[table], new[table] = [*old - now], [*now - old]
        for table, columns in _KEY_COLUMNS.items():
            self._delete(table, {row[:columns] for row in gone[table]})
            self._insert(table, new[table])
        for table in _LISTS:
            self._write_postings(table, gone[table], new[table], is_later=is_later)
        after = self.latest(pairs)
        moved = [pair for pair in pairs if before.get(pair) != after.get(pair)]
        self._delete("neighbour", _neighbours(before, moved))
        self._insert("neighbour", _neighbours(after, moved))
        summaries: dict[_Row, _Row | None] = {
            (s.concept,): (s.t_index, s.text, json.dumps(s.terms), int(s.traits))
            for s in changes.summaries
        }
        self._set("summary", summaries)

    def _write_postings(
        self, table: LiteralString, gone: Iterable[_Row], new: Iterable[_Row], *, is_later: bool
    ) -> None:
        """Take records out of the lists of a table, and put others in: (number, key, record).
        ``is_later``: none goes, and the new ones ascend, later than all that are there."""
        edits: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
        for owner, key, _ in gone:
            edits[owner][key] = b""
        for owner, key, record in new:
            edits[owner][key] = record
        newest = self.newest[table]
        blocks: dict[_Row, _Row | None] = {}
        for owner, edited in edits.items():
            records = newest.get(owner, b"")
            if is_later:
                records += b"".join(edited.values())
            else:
                records = edit(self, table, owner, records, edited, blocks)
            newest[owner] = cut_blocks(owner, records, blocks)
        self._set(table + "_block", blocks)
        rows = [(sealed(owner, newest[owner]), owner) for owner in sorted(edits)]
        self._many("UPDATE " + table + " SET newest = ? WHERE id = ?", rows)

    def _rows_of(self, updates: Iterable[PreparedUpdate | None]) -> dict[LiteralString, list[_Row]]:
        """The rows of the updates that have a passage, by table, and of each of ``_LISTS`` the
        records of postings. What statements stand in is their session, else the update alone."""
        ids, terms = self.concepts, self.terms
        found: dict[LiteralString, list[_Row]] = {table: [] for table in (*_KEY_COLUMNS, *_LISTS)}
        postings, mentions, references = found["term"], found["concept"], found["reference"]
        for u in updates:
            if u is None or u.text is None:
                continue
            t, key = t_of(u), stored_session_key(u)
            session = None if key is None else self.sessions[key]
            place = session or -t
            pairs = " ".join(f"{ids[n.a]} {ids[n.b]} {n.earlier} {n.later}" for n in u.neighbours)
            passage = (
                t, u.id, u.text, u.source, u.session, u.speaker, u.speaker_concept,
                timestamp_text(u.timestamp), json_text(u.metadata), pack(u.path), u.key,
                timestamp_text(u.expires_at), u.withdrawn_t, pairs, passage_row(self.ns, t),
                microseconds(u.timestamp), microseconds(u.expires_at), session,
            )  # fmt: skip
            found["passage"].append(passage)
            found["evidence"] += [(*self.of_pair(*pair), t) for pair in pairs_of(u)]
            found["metadata_entry"] += [(hash_of(*entry), t) for entry in u.metadata.items()]
            measured = [
                (s, statement_key(t, s.position), len(content_terms(s.terms)))
                for s in sorted(u.statements, key=attrgetter("position"))
            ]
            for s, at, length in measured:
                statement = (
                    at, place, s.start, s.end, length, pack(s.terms), pack_mentions(s.concepts),
                    int(s.traits),
                )  # fmt: skip
                found["statement"].append(statement)
                postings += [
                    (terms[stem], at, pack_record(at, session or 0, min(n, GREATEST_COUNT)))
                    for stem, n in Counter(s.terms).items()
                ]
                mention = pack_record(at, session or 0, 1)
                mentions += [(ids[each.name], at, mention) for each in s.concepts]
                references += [(hash_of(id), at) for id in antecedents_in(s)]
            found["vector"] += [(statement_key(t, v.position), v.model, v.blob) for v in u.vectors]
        return found

    # -- entities and triplets ---------------------------------------------------------------

    def _write_elements(self, changes: Changes) -> None:
        numbers = self.elements
        deleted = [key for key, row in changes.elements.items() if row is None]
        given: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
        for (id, model), blob in changes.entity_vectors.items():
            given[id][model] = blob
        stored = self._vectors_of([key for key in (*given, *deleted) if key in numbers])
        rows = {
            key: (
                e.type, e.concept.name or None, e.concept.label, e.concept.kind,
                json_text(e.properties),
            )
            for key, e in changes.elements.items()
            if e is not None
        }  # fmt: skip
        self._put(
            "element",
            numbers,
            rows,
            lambda key: (key, None, None, None) if isinstance(key, str) else (None, *key),
        )
        evidence: dict[_Row, _Row | None] = {}
        for key, shown in changes.element_evidence.items():
            for at, each in shown.items():
                row: _Row | None = None
                if each is not None:
                    description = description_of(each)
                    row = (
                        json_text(each.properties) if each.properties else None,
                        json.dumps(description) if description else None,
                    )
                evidence[numbers[key], at] = row
        self._set("element_evidence", evidence)
        self._write_words(changes, given, stored)
        vectors = changes.entity_vectors.items()
        self._set("entity_vector", {(numbers[id], m): (blob,) for (id, m), blob in vectors})
        keys = [(numbers.pop(key),) for key in deleted]
        for table in ("element_evidence", "entity_vector", "element"):
            self._delete(table, keys)

    def _write_words(
        self,
        changes: Changes,
        given: Mapping[str, Mapping[str, bytes]],
        stored: Mapping[int, Mapping[str, bytes]],
    ) -> None:
        """Write the words of entities. ``given`` are new vectors, by id and model, ``stored`` those
        of the same entities, and of entities to delete, by number."""
        old: set[tuple[str, int]] = set()
        new: set[tuple[str, int]] = set()
        for id, row in changes.elements.items():
            if isinstance(id, str):
                number, before = self.elements[id], self.concept_of.get(id, "")
                vectors = stored.get(number, {})
                old.update((word, number) for word in entity_words(before, vectors))
                if row is not None:
                    words = entity_words(row.concept.name, {**vectors, **given.get(id, {})})
                    new.update((word, number) for word in words)
                self.concept_of[id] = row.concept.name if row else ""
        self._set("entity_word", {**dict.fromkeys(old - new), **dict.fromkeys(new - old, ())})

    def _vectors_of(self, elements: Collection[ElementKey]) -> dict[int, dict[str, bytes]]:
        """The stored vectors of elements, by number and model."""
        found: defaultdict[int, dict[str, bytes]] = defaultdict(dict)
        sql = "SELECT entity, model, blob FROM entity_vector WHERE ns = :ns AND entity IN {list}"
        for number, model, blob in self.rows(sql, [self.elements[key] for key in elements]):
            found[number][model] = blob
        return found

    # -- SQL ---------------------------------------------------------------------------------

    def _many(self, sql: LiteralString, rows: list[Any]) -> None:
        if rows:
            self.connection.executemany(sql, rows)

    def _set(self, table: LiteralString, rows: Mapping[_Row, _Row | None]) -> None:
        """Write rows by their keys, which lack their namespace, or delete them (None)."""
        self._delete(table, [key for key, row in rows.items() if row is None])
        there = [(*key, *row) for key, row in rows.items() if row is not None]
        self._insert(table, there, "REPLACE")

    def _insert(
        self, table: LiteralString, rows: Collection[_Row], on_conflict: LiteralString = "ABORT"
    ) -> None:
        """Insert rows, which begin with their keys and lack their namespace, in their order."""
        width = max(map(len, rows), default=0)
        self._many(
            f"INSERT OR {on_conflict} INTO {table} VALUES (?{', ?' * width})",
            sorted((self.ns, *row) for row in rows),
        )

    def _delete(self, table: LiteralString, rows: Collection[_Row]) -> None:
        """Delete the rows that begin with these values after their namespace."""
        columns = columns_of(table)[: 1 + max(map(len, rows), default=0)]
        conditions = " = ? AND ".join(columns)
        self._many(
            f"DELETE FROM {table} WHERE {conditions} = ?", sorted((self.ns, *row) for row in rows)
        )

    def _put(
        self,
        table: LiteralString,
        numbers: dict[_Key, int],
        rows: Mapping[_Key, _Row],
        natural: Callable[[Any], _Row] = lambda key: (key,),
        *,
        behind: _Row = (),
    ) -> None:
        """Update the rows that have a number, insert the others and number them. A row begins with
        its number and its natural key; ``behind`` stands at the end of a new one."""
        width = max(map(len, rows.values()), default=0)
        columns = columns_of(table)
        number, values = columns[1], " = ?, ".join(columns[-width:])
        changed = [(*row, numbers[key]) for key, row in rows.items() if key in numbers]
        changed.sort(key=itemgetter(-1))
        self._many(f"UPDATE {table} SET {values} = ? WHERE {number} = ?", changed)
        new = [key for key in rows if key not in numbers]
        if new:
            sql: LiteralString = f"SELECT coalesce(max({number}), 0) + 1 FROM {table}"
            (first,) = self.connection.execute(sql).fetchone()
            numbers.update(zip(new, range(first, first + len(new)), strict=True))
            self._insert(table, [(numbers[key], *natural(key), *rows[key], *behind) for key in new])


def _neighbours(
    latest: Mapping[tuple[int, int], int], pairs: Iterable[tuple[int, int]]
) -> list[_Row]:
    """The rows of relations from both ends, by their ``latest`` t."""
    shown = [(a, b, latest[a, b]) for a, b in pairs if (a, b) in latest]
    return [row for a, b, t in shown for row in ((a, t, b), (b, t, a))]
