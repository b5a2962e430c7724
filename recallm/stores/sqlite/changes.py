"""Writing and deleting rows: `Changes` as SQL.

Natural keys become row numbers in Python, and one ``executemany`` in key order writes each table:
a batch touches each page once.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, LiteralString, TypeVar

from recallm.errors import StoreError
from recallm.ground.entity_words import codes_of, name_words
from recallm.model import ElementKey, PreparedUpdate, statement_key
from recallm.stores.semantics.cutting import antecedents_in
from recallm.stores.semantics.rows import (
    Changes,
    Pair,
    description_of,
    microseconds,
    stored_session_key,
    t_of,
    timestamp_text,
)
from recallm.stores.sqlite.codec import hash_of, json_text, pack, pack_mentions, path_text
from recallm.stores.sqlite.schema import MAX_T, columns_of, passage_row
from recallm.stores.sqlite.view import Queries, fetch_from

_Key = TypeVar("_Key")
_Row = tuple[Any, ...]


@dataclass(slots=True)
class RowNumbers:
    """The namespace's number (0 before it has a row), and the numbers of the rows that a
    transaction has looked up or written, by their natural keys. ``concept_of`` is the name of the
    concept that each of these entities stands on, as stored. ``latest`` is the t of the latest
    evidence of each relation, by the numbers of its concepts."""

    ns: int = 0
    concepts: dict[str, int] = field(default_factory=dict)
    terms: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, int] = field(default_factory=dict)
    elements: dict[ElementKey, int] = field(default_factory=dict)
    concept_of: dict[str, str] = field(default_factory=dict)
    latest: dict[tuple[int, int], int] = field(default_factory=dict)

    def of_pair(self, pair: Pair) -> tuple[int, int]:
        """The numbers of two concepts, the smaller one first."""
        a, b = self.concepts[pair[0]], self.concepts[pair[1]]
        return (a, b) if a < b else (b, a)


def write_changes(connection: sqlite3.Connection, numbers: RowNumbers, changes: Changes) -> None:
    """Write every row in ``changes``.

    Raises:
        StoreError: the namespace has used up its t.
    """
    if changes.namespace.t > MAX_T:
        raise StoreError(f"a namespace holds at most {MAX_T} updates; go on in another one")
    writer = _Writer(connection, numbers, changes)
    writer.write_namespace()
    writer.write_totals()
    writer.write_passages()
    writer.delete_unused()
    writer.write_relations()
    writer.write_elements()
    writer.write_predicates()
    writer.write_summaries_and_vectors()
    writer.delete_concepts()


class _Writer:
    def __init__(
        self, connection: sqlite3.Connection, numbers: RowNumbers, changes: Changes
    ) -> None:
        self._connection = connection
        self._numbers = numbers
        self._changes = changes
        self._ns = numbers.ns

    def write_namespace(self) -> None:
        row = self._changes.namespace
        self._connection.execute(
            "UPDATE namespace SET t = ?, statements = ?, terms = ?, sessions = ?, open_t = ?,"
            " model = ?, origin = ?, revision = ?, vocabulary = ?, vector_sizes = ? WHERE id = ?",
            (
                row.t, row.statements, row.terms, row.sessions,
                row.open_session.t_index if row.open_session else 0,
                row.model, row.origin, row.revision, row.vocabulary, json_text(row.vector_sizes),
                self._ns,
            ),
        )  # fmt: skip

    def write_totals(self) -> None:
        numbers, changes = self._numbers, self._changes
        concepts = {
            name: (c.label, c.kind, c.t_index, c.updates, c.statements)
            for name, c in changes.concepts.items()
            if c is not None
        }
        self._put("concept", numbers.concepts, concepts)
        self._put("term", numbers.terms, {stem: (n,) for stem, n in changes.terms.items()})
        sessions = {key: (s.statements, s.terms) for key, s in changes.sessions.items()}
        self._put("session", numbers.sessions, sessions)

    def delete_unused(self) -> None:
        """Delete terms that no statement holds, and sessions that no passage belongs to."""
        unused = [stem for stem, count in self._changes.terms.items() if not count]
        self._delete("term", [(self._numbers.terms.pop(stem),) for stem in unused])
        sql = "SELECT 1 FROM passage WHERE ns = ? AND session_id = ?"
        for key, session in self._changes.sessions.items():
            place = self._ns, self._numbers.sessions[key]
            if not (session.statements or self._connection.execute(sql, place).fetchone()):
                self._delete("session", [(self._numbers.sessions.pop(key),)])

    def delete_concepts(self) -> None:
        """Delete concepts, last of all: other rows have their numbers."""
        gone = [name for name, row in self._changes.concepts.items() if row is None]
        self._delete("concept", [(self._numbers.concepts.pop(name),) for name in gone])

    # -- passages and statements -------------------------------------------------------------

    def write_passages(self) -> None:
        """Delete each passage as it was, with its statements, and insert what it is now."""
        passages = self._changes.passages
        gone = [before for before, _ in passages if before and before.text is not None]
        new = [after for _, after in passages if after and after.text is not None]
        for table, rows in self._index_rows(gone).items():
            self._delete(table, rows)
        keys = [(statement_key(t_of(u), s.position),) for u in gone for s in u.statements]
        self._delete("vector", keys)
        self._delete("statement", keys)
        self._delete("passage", [(t_of(update),) for update in gone])
        self._insert_passages(new)
        for table, rows in self._index_rows(new).items():
            self._insert(table, rows)

    def _index_rows(self, updates: list[PreparedUpdate]) -> dict[LiteralString, list[_Row]]:
        """The rows of updates in the inverted indexes, by table."""
        terms, concepts = self._numbers.terms, self._numbers.concepts
        postings: list[_Row] = []
        mentions: list[_Row] = []
        references: set[_Row] = set()
        entries: list[_Row] = []
        for update in updates:
            entries += [(hash_of(*entry), t_of(update)) for entry in update.metadata.items()]
            session = self._place(update)
            for s in update.statements:
                at = statement_key(t_of(update), s.position)
                postings += [(terms[stem], at, n, session) for stem, n in Counter(s.terms).items()]
                mentions += [(concepts[mention.name], at, session) for mention in s.concepts]
                references.update((hash_of(id), at) for id in antecedents_in(s))
        return {
            "posting": postings,
            "mention": mentions,
            "reference": list(references),
            "metadata_entry": entries,
        }

    def _place(self, update: PreparedUpdate) -> int:
        """What statements of an update stand in: their session, else the update alone."""
        return self._session(update) or -t_of(update)

    def _session(self, update: PreparedUpdate) -> int | None:
        key = stored_session_key(update)
        return None if key is None else self._numbers.sessions[key]

    def _insert_passages(self, updates: list[PreparedUpdate]) -> None:
        self._insert(
            "passage",
            [
                (
                    t_of(u), u.id, u.text, u.source, u.session, u.speaker, u.speaker_concept,
                    timestamp_text(u.timestamp), json_text(u.metadata), path_text(u.path), u.key,
                    timestamp_text(u.expires_at), u.withdrawn_t, passage_row(self._ns, t_of(u)),
                    microseconds(u.timestamp), microseconds(u.expires_at), self._session(u),
                    self._pairs(u),
                )
                for u in updates
            ],
        )  # fmt: skip
        self._insert(
            "statement",
            [
                (
                    statement_key(t_of(u), s.position), self._place(u), s.start, s.end, s.length,
                    pack(s.terms), pack_mentions(s.concepts), int(s.traits), s.text,
                )
                for u in updates
                for s in u.statements
            ],
        )  # fmt: skip
        self._insert(
            "vector",
            [
                (statement_key(t_of(u), v.position), v.model, v.blob)
                for u in updates
                for v in u.vectors
            ],
        )

    def _pairs(self, update: PreparedUpdate) -> str:
        ids = self._numbers.concepts
        return " ".join(f"{ids[n.a]} {ids[n.b]} {n.earlier} {n.later}" for n in update.neighbours)

    # -- relations, entities, triplets -------------------------------------------------------

    def write_relations(self) -> None:
        latest = self._numbers.latest
        old: list[_Row] = []
        new: list[_Row] = []
        shown: list[_Row] = []
        hidden: list[_Row] = []
        for pair, relation in self._changes.relations.items():
            a, b = key = self._numbers.of_pair(pair)
            for t, strength in self._changes.relation_evidence.get(pair, {}).items():
                if strength is None:
                    hidden.append((a, b, t))
                else:
                    shown.append((a, b, t, strength))
            before, after = latest.get(key, 0), relation.t_index if relation else 0
            if before != after:
                old += ((a, before, b), (b, before, a)) if before else ()
                new += ((a, after, b), (b, after, a)) if after else ()
                latest[key] = after
        self._delete("evidence", hidden)
        self._insert("evidence", shown, "REPLACE")
        self._delete("neighbour", old)
        self._insert("neighbour", new)

    def write_elements(self) -> None:
        numbers, changes = self._numbers.elements, self._changes
        rows = {
            key: (
                e.type, e.concept.name or None, e.concept.label, e.concept.kind,
                json_text(e.properties),
            )
            for key, e in changes.elements.items()
            if e is not None
        }  # fmt: skip
        known = {id for id, _ in changes.entity_vectors if id in numbers}
        self._put(
            "element",
            numbers,
            rows,
            lambda key: (key, None, None, None) if isinstance(key, str) else (None, *key),
        )
        gone: list[_Row] = []
        shown: list[_Row] = []
        for key, rows_of_evidence in changes.element_evidence.items():
            for at, evidence in rows_of_evidence.items():
                row = (numbers[key], at)
                if evidence is None:
                    gone.append(row)
                else:
                    properties = json_text(evidence.properties) if evidence.properties else None
                    description = description_of(evidence)
                    text = json.dumps(description) if description else None
                    shown.append((*row, properties, text))
        self._delete("element_evidence", gone)
        self._insert("element_evidence", shown, "REPLACE")
        self._write_words(known)
        vectors = changes.entity_vectors.items()
        rows_of_vectors = [(numbers[id], model, blob) for (id, model), blob in vectors]
        self._insert("entity_vector", rows_of_vectors, "REPLACE")
        deleted = [(numbers.pop(key),) for key, e in changes.elements.items() if e is None]
        self._delete("element_evidence", deleted)
        self._delete("entity_vector", deleted)
        self._delete("element", deleted)

    def _write_words(self, embedded: Collection[str]) -> None:
        """Write the words of the entities whose concept or vectors change; the vectors are still
        those before. ``embedded`` are entities that may have vectors already and get some."""
        changes, concept_of = self._changes, self._numbers.concept_of
        old: set[tuple[str, str]] = set()
        new: set[tuple[str, str]] = set()
        deleted: list[str] = []
        for id, row in changes.elements.items():
            if not isinstance(id, str):
                continue
            before, after = concept_of.get(id, ""), row.concept.name if row else ""
            if before != after:
                old.update((word, id) for word in name_words(before))
                new.update((word, id) for word in name_words(after))
                concept_of[id] = after
            if row is None:
                deleted.append(id)
        for id, model, blob in self._vectors_of([*embedded, *deleted]):
            if id in deleted or (id, model) in changes.entity_vectors:
                old.update((code, id) for code in codes_of(model, blob))
        for (id, model), blob in changes.entity_vectors.items():
            new.update((code, id) for code in codes_of(model, blob))

        def keys(words: set[tuple[str, str]]) -> list[_Row]:
            numbers = self._numbers.elements
            return [(word, numbers[id]) for word, id in words]

        self._delete("entity_word", keys(old - new))
        self._insert("entity_word", keys(new - old), "IGNORE")

    def _vectors_of(self, ids: Collection[str]) -> list[tuple[str, str, bytes]]:
        """The stored vectors of entities: id, model, vector."""
        numbers = {self._numbers.elements[id]: id for id in ids}
        queries = Queries(fetch_from(self._connection), ns=self._ns)
        sql = "SELECT entity, model, blob FROM entity_vector WHERE ns = :ns AND entity IN {list}"
        return [(numbers[number], *row) for number, *row in queries.rows(sql, numbers)]

    def write_predicates(self) -> None:
        predicates = self._changes.predicates.items()
        self._insert("predicate", [row for row in predicates if row[1]], "REPLACE")
        self._delete("predicate", [row[:1] for row in predicates if not row[1]])

    def write_summaries_and_vectors(self) -> None:
        changes = self._changes
        summaries = [
            (s.concept, s.t_index, s.text, pack(s.terms), int(s.traits)) for s in changes.summaries
        ]
        self._insert("summary", summaries, "REPLACE")
        vectors = [(at, model, blob) for at, (model, blob) in changes.vectors.items()]
        self._insert("vector", vectors)

    # -- SQL ---------------------------------------------------------------------------------

    def _many(self, sql: LiteralString, rows: list[Any]) -> None:
        if rows:
            self._connection.executemany(sql, rows)

    def _insert(
        self, table: LiteralString, rows: Collection[_Row], on_conflict: LiteralString = "ABORT"
    ) -> None:
        """Insert rows, which begin with their keys and lack their namespace, in their order."""
        width = max(map(len, rows), default=0)
        self._many(
            f"INSERT OR {on_conflict} INTO {table} VALUES (?{', ?' * width})",
            sorted((self._ns, *row) for row in rows),
        )

    def _delete(self, table: LiteralString, rows: Collection[_Row]) -> None:
        """Delete the rows that begin with these values after their namespace."""
        columns = columns_of(table)[: 1 + max(map(len, rows), default=0)]
        conditions = " = ? AND ".join(columns)
        self._many(
            f"DELETE FROM {table} WHERE {conditions} = ?", sorted((self._ns, *row) for row in rows)
        )

    def _put(
        self,
        table: LiteralString,
        numbers: dict[_Key, int],
        rows: Mapping[_Key, _Row],
        natural: Callable[[Any], _Row] = lambda key: (key,),
    ) -> None:
        """Update the rows that have a number, insert the others and number them. A row begins with
        its number and its natural key."""
        width = max(map(len, rows.values()), default=0)
        columns = columns_of(table)
        number, values = columns[1], " = ?, ".join(columns[-width:])
        changed = [(*row, numbers[key]) for key, row in rows.items() if key in numbers]
        changed.sort(key=itemgetter(-1))
        self._many(f"UPDATE {table} SET {values} = ? WHERE {number} = ?", changed)
        new = [key for key in rows if key not in numbers]
        if new:
            sql: LiteralString = f"SELECT coalesce(max({number}), 0) + 1 FROM {table}"
            (first,) = self._connection.execute(sql).fetchone()
            numbers.update(zip(new, range(first, first + len(new)), strict=True))
            self._insert(table, [(numbers[key], *natural(key), *rows[key]) for key in new])
