"""Writing and deleting rows: `Changes` as SQL.

Names become row numbers in Python, and each table is written by one ``executemany`` in key order: a
batch touches each page once.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString

from recallm.errors import StoreError
from recallm.model import (
    ExtractedStatement,
    PreparedUpdate,
    StatementVector,
    statement_key,
    text_digest,
)
from recallm.stores.semantics.rows import Changes, Pair, TripletKey
from recallm.stores.semantics.writing import stored_session_key
from recallm.stores.sqlite.codec import (
    entry_hash,
    json_text,
    microseconds,
    pack,
    pack_mentions,
    path_text,
    timestamp_text,
)
from recallm.stores.sqlite.schema import MAX_T, NO_CONCEPT, passage_row

__all__ = ["RowNumbers", "write_changes"]


@dataclass(slots=True)
class RowNumbers:
    """The namespace's number (0 before it has a row), and the numbers of the rows that a
    transaction has looked up or written, by their natural keys. ``latest`` is the t of the latest
    evidence of each relation, by the numbers of its concepts."""

    ns: int = 0
    concepts: dict[str, int] = field(default_factory=dict)
    terms: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, int] = field(default_factory=dict)
    entities: dict[str, int] = field(default_factory=dict)
    triplets: dict[TripletKey, int] = field(default_factory=dict)
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
    _Writer(connection, numbers, changes).write()


class _Writer:
    def __init__(
        self, connection: sqlite3.Connection, numbers: RowNumbers, changes: Changes
    ) -> None:
        self._connection = connection
        self._numbers = numbers
        self._changes = changes
        self._ns = numbers.ns

    def write(self) -> None:
        if self._changes.namespace.t > MAX_T:
            raise StoreError(f"a namespace holds at most {MAX_T} updates; go on in another one")
        self._write_namespace()
        self._write_concepts()
        self._write_terms()
        self._write_sessions()
        self._write_passages()
        self._drop_empty_sessions()
        self._write_relations()
        self._write_entities()
        self._write_triplets()
        self._delete_concepts()
        self._many(
            "INSERT OR REPLACE INTO summary VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    self._ns, self._numbers.concepts[summary.concept], summary.t_index,
                    summary.text, pack(summary.terms), int(summary.traits),
                )
                for summary in self._changes.summaries
            ],
        )  # fmt: skip
        self._many(
            "INSERT INTO vector VALUES (?, ?, ?, ?)",
            [(self._ns, at, model, blob) for at, (model, blob) in self._changes.vectors.items()],
        )
        self._many(
            "INSERT INTO vector_size VALUES (?, ?, ?)",
            [(self._ns, model, size) for model, size in self._changes.vector_sizes.items()],
        )

    def _many(self, sql: LiteralString, rows: list[Any]) -> None:
        if rows:
            self._connection.executemany(sql, rows)

    def _next(self, sql: LiteralString) -> int:
        (next_id,) = self._connection.execute(sql).fetchone()
        return int(next_id)

    def _write_namespace(self) -> None:
        row = self._changes.namespace
        self._connection.execute(
            "UPDATE namespace SET t = ?, statements = ?, terms = ?, sessions = ?,"
            " open_session = ?, open_said = ?, model = ?, origin = ?, revision = ? WHERE id = ?",
            (
                row.t, row.statements, row.terms, row.sessions, row.open_session,
                timestamp_text(row.open_said), row.model, row.origin, row.revision, self._ns,
            ),
        )  # fmt: skip

    # -- totals ------------------------------------------------------------------------------

    def _write_concepts(self) -> None:
        ids = self._numbers.concepts
        changed: list[tuple[object, ...]] = []
        new: list[tuple[object, ...]] = []
        for name, row in self._changes.concepts.items():
            if row is None:
                continue
            if name in ids:
                changed.append(
                    (row.t_index, row.updates, row.statements, row.label, row.kind, ids[name])
                )
                continue
            if not new:
                first = self._next("SELECT coalesce(max(id), 0) + 1 FROM concept")
            ids[name] = first + len(new)
            new.append(
                (ids[name], self._ns, name, row.label, row.kind, row.t_index, row.updates,
                 row.statements)
            )  # fmt: skip
        changed.sort(key=_last)
        self._many(
            "UPDATE concept SET t_index = ?, updates = ?, statements = ?, label = ?, kind = ?"
            " WHERE id = ?",
            changed,
        )
        self._many("INSERT INTO concept VALUES (?, ?, ?, ?, ?, ?, ?, ?)", new)

    def _delete_concepts(self) -> None:
        """Last of all: other rows have the numbers of concepts."""
        gone = [name for name, row in self._changes.concepts.items() if row is None]
        self._many(
            "DELETE FROM concept WHERE id = ?", [(self._numbers.concepts.pop(n),) for n in gone]
        )

    def _write_terms(self) -> None:
        ids, terms = self._numbers.terms, self._changes.terms
        stored = [stem for stem in terms if stem in ids]
        self._many(
            "UPDATE term SET statements = ? WHERE id = ?",
            sorted(((terms[stem], ids[stem]) for stem in stored), key=_last),
        )
        new: list[tuple[object, ...]] = []
        for stem, statements in terms.items():
            if stem in ids:
                continue
            if not new:
                first = self._next("SELECT coalesce(max(id), 0) + 1 FROM term")
            ids[stem] = first + len(new)
            new.append((ids[stem], self._ns, stem, statements))
        self._many("INSERT INTO term VALUES (?, ?, ?, ?)", new)

    def _write_sessions(self) -> None:
        ids, sessions = self._numbers.sessions, self._changes.sessions
        self._many(
            "UPDATE session SET statements = ?, terms = ? WHERE id = ?",
            [(row.statements, row.terms, ids[key]) for key, row in sessions.items() if key in ids],
        )
        new: list[tuple[object, ...]] = []
        for key, row in sessions.items():
            if key in ids:
                continue
            if not new:
                first = self._next("SELECT coalesce(max(id), 0) + 1 FROM session")
            ids[key] = first + len(new)
            new.append((ids[key], self._ns, key, row.statements, row.terms))
        self._many("INSERT INTO session VALUES (?, ?, ?, ?, ?)", new)

    def _drop_empty_sessions(self) -> None:
        ids = self._numbers.sessions
        empty = [key for key, row in self._changes.sessions.items() if not row.statements]
        for key in empty:
            deleted = self._connection.execute(
                "DELETE FROM session WHERE id = ?1 AND NOT EXISTS"
                " (SELECT 1 FROM passage WHERE ns = ?2 AND session_id = ?1)",
                (ids[key], self._ns),
            )
            if deleted.rowcount:
                del ids[key]

    # -- passages and statements -------------------------------------------------------------

    def _write_passages(self) -> None:
        passages: list[tuple[object, ...]] = []
        cut: list[tuple[object, ...]] = []
        gone: list[tuple[int, int]] = []
        entries: list[tuple[int, int, int]] = []
        gone_entries: list[tuple[int, int, int]] = []
        statements: list[tuple[int, int, ExtractedStatement]] = []
        gone_statements: list[tuple[int, int, ExtractedStatement]] = []
        spans: list[tuple[int, int, int, int]] = []
        vectors: list[tuple[int, StatementVector]] = []
        for before, after in self._changes.passages:
            update = after or before
            if update is None or update.text is None:
                continue
            t_index = update.t_index or 0
            key = stored_session_key(update)
            session = -t_index if key is None else self._numbers.sessions[key]
            if before is None:
                passages.append(self._passage(update, t_index, session))
                entries += _metadata_entries(self._ns, t_index, update.metadata)
                statements += [(t_index, session, s) for s in update.statements]
                vectors += [(t_index, vector) for vector in update.vectors]
                continue
            kept = {s.position for s in after.statements} if after else set()
            gone_statements += [
                (t_index, session, s) for s in before.statements if s.position not in kept
            ]
            if after is None:
                gone.append((self._ns, t_index))
                gone_entries += _metadata_entries(self._ns, t_index, before.metadata)
                continue
            pairs = self._pairs(after)
            cut.append((after.text, text_digest(after.text or ""), pairs, self._ns, t_index))
            spans += [
                (s.start, s.end, self._ns, statement_key(t_index, s.position))
                for s in after.statements
            ]
        self._delete_statements(gone_statements)
        self._many("DELETE FROM passage WHERE ns = ? AND t = ?", gone)
        self._many("DELETE FROM metadata_entry WHERE ns = ? AND entry = ? AND t = ?", gone_entries)
        self._many("UPDATE passage SET text = ?, digest = ?, pairs = ? WHERE ns = ? AND t = ?", cut)
        self._many("UPDATE statement SET start = ?, stop = ? WHERE ns = ? AND at = ?", spans)
        self._many(
            "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            passages,
        )
        self._many("INSERT INTO metadata_entry VALUES (?, ?, ?)", sorted(entries))
        self._insert_statements(statements)
        self._many(
            "INSERT INTO vector VALUES (?, ?, ?, ?)",
            [(self._ns, statement_key(t, v.position), v.model, v.blob) for t, v in vectors],
        )

    def _passage(self, update: PreparedUpdate, t_index: int, session: int) -> tuple[object, ...]:
        text = update.text or ""
        return (
            passage_row(self._ns, t_index), self._ns, t_index, update.id, text_digest(text), text,
            update.source, update.session, update.speaker, update.speaker_concept,
            timestamp_text(update.timestamp), microseconds(update.timestamp),
            json_text(update.metadata), path_text(update.path), update.key,
            timestamp_text(update.expires_at), microseconds(update.expires_at),
            session if session > 0 else None, self._pairs(update),
        )  # fmt: skip

    def _pairs(self, update: PreparedUpdate) -> str:
        ids = self._numbers.concepts
        return " ".join(f"{ids[n.a]} {ids[n.b]} {n.earlier} {n.later}" for n in update.neighbours)

    def _insert_statements(self, new: list[tuple[int, int, ExtractedStatement]]) -> None:
        ns, terms, concepts = self._ns, self._numbers.terms, self._numbers.concepts
        statements: list[tuple[object, ...]] = []
        postings: list[tuple[int, int, int, int, int]] = []
        mentions: list[tuple[int, int, int]] = []
        for t_index, session, s in new:
            at = statement_key(t_index, s.position)
            statements.append(
                (
                    ns, at, session, s.start, s.end, s.length, pack(s.terms),
                    pack_mentions(s.concepts), int(s.traits),
                )
            )  # fmt: skip
            postings += [(ns, terms[stem], at, n, session) for stem, n in Counter(s.terms).items()]
            mentions += [(ns, concepts[mention.name], at) for mention in s.concepts]
        postings.sort()
        mentions.sort()
        self._many("INSERT INTO statement VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", statements)
        self._many("INSERT INTO posting VALUES (?, ?, ?, ?, ?)", postings)
        self._many("INSERT INTO mention VALUES (?, ?, ?)", mentions)

    def _delete_statements(self, gone: list[tuple[int, int, ExtractedStatement]]) -> None:
        ns, terms, concepts = self._ns, self._numbers.terms, self._numbers.concepts
        postings: list[tuple[int, int, int]] = []
        mentions: list[tuple[int, int, int]] = []
        keys: list[tuple[int, int]] = []
        for t_index, _, s in gone:
            at = statement_key(t_index, s.position)
            keys.append((ns, at))
            postings += [(ns, terms[stem], at) for stem in set(s.terms)]
            mentions += [(ns, concepts[mention.name], at) for mention in s.concepts]
        postings.sort()
        mentions.sort()
        self._many("DELETE FROM posting WHERE ns = ? AND term = ? AND at = ?", postings)
        self._many("DELETE FROM mention WHERE ns = ? AND concept = ? AND at = ?", mentions)
        self._many("DELETE FROM vector WHERE ns = ? AND at = ?", keys)
        self._many("DELETE FROM statement WHERE ns = ? AND at = ?", keys)
        unused = [stem for stem, count in self._changes.terms.items() if not count]
        self._many("DELETE FROM term WHERE id = ?", [(terms.pop(stem),) for stem in unused])

    # -- relations ---------------------------------------------------------------------------

    def _write_relations(self) -> None:
        ns, changes = self._ns, self._changes
        ids = {pair: self._numbers.of_pair(pair) for pair in changes.relations}
        shown = [
            (ns, *ids[pair], t, strength)
            for pair, evidence in changes.relation_evidence.items()
            for t, strength in evidence.items()
        ]
        self._many(
            "DELETE FROM evidence WHERE ns = ? AND a = ? AND b = ? AND shown = ?",
            [row[:4] for row in shown if row[4] is None],
        )
        self._many(
            "INSERT OR REPLACE INTO evidence VALUES (?, ?, ?, ?, ?)",
            sorted(row for row in shown if row[4] is not None),
        )
        old: list[tuple[int, int, int, int]] = []
        new: list[tuple[int, int, int, int]] = []
        for pair, relation in changes.relations.items():
            a, b = ids[pair]
            before = self._numbers.latest.pop((a, b), None)
            after = None if relation is None else relation.t_index
            if after is not None:
                self._numbers.latest[a, b] = after
            if before == after:
                continue
            if before is not None:
                old += ((ns, a, before, b), (ns, b, before, a))
            if after is not None:
                new += ((ns, a, after, b), (ns, b, after, a))
        old.sort()
        new.sort()
        self._many("DELETE FROM neighbour WHERE ns = ? AND a = ? AND t_index = ? AND b = ?", old)
        self._many("INSERT INTO neighbour VALUES (?, ?, ?, ?)", new)

    # -- entities and triplets ---------------------------------------------------------------

    def _write_entities(self) -> None:
        ns, numbers = self._ns, self._numbers
        for id, row in self._changes.entities.items():
            if row is None:
                number = numbers.entities.pop(id)
                self._delete_owned("entity_evidence", "entity", number)
                self._delete_owned("entity_vector", "entity", number)
                self._connection.execute("DELETE FROM entity WHERE number = ?", (number,))
                continue
            name = row.concept.name
            concept = numbers.concepts[name] if name else NO_CONCEPT
            values = (
                row.type, concept, row.concept.label, row.concept.kind, json_text(row.properties)
            )  # fmt: skip
            if id in numbers.entities:
                self._connection.execute(
                    "UPDATE entity SET type = ?, concept = ?, label = ?, kind = ?, properties = ?"
                    " WHERE number = ?",
                    (*values, numbers.entities[id]),
                )
            else:
                cursor = self._connection.execute(
                    "INSERT INTO entity (ns, id, type, concept, label, kind, properties)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (ns, id, *values),
                )
                numbers.entities[id] = cursor.lastrowid or 0
        self._write_evidence(
            "entity",
            {
                (numbers.entities[id], at): properties
                for (id, at), properties in self._changes.entity_evidence.items()
                if id in numbers.entities
            },
        )
        self._many(
            "INSERT OR REPLACE INTO entity_vector VALUES (?, ?, ?, ?)",
            [
                (ns, numbers.entities[id], model, blob)
                for (id, model), blob in self._changes.entity_vectors.items()
            ],
        )

    def _write_triplets(self) -> None:
        ns, numbers = self._ns, self._numbers
        for key, row in self._changes.triplets.items():
            if row is None:
                number = numbers.triplets.pop(key)
                self._delete_owned("triplet_evidence", "triplet", number)
                self._connection.execute("DELETE FROM triplet WHERE number = ?", (number,))
                continue
            properties = json_text(row.properties)
            if key in numbers.triplets:
                self._connection.execute(
                    "UPDATE triplet SET properties = ? WHERE number = ?",
                    (properties, numbers.triplets[key]),
                )
            else:
                subject, predicate, object = key
                cursor = self._connection.execute(
                    "INSERT INTO triplet (ns, subject, predicate, object, properties)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (
                        ns,
                        numbers.entities[subject],
                        predicate,
                        numbers.entities[object],
                        properties,
                    ),
                )
                numbers.triplets[key] = cursor.lastrowid or 0
        self._write_evidence(
            "triplet",
            {
                (numbers.triplets[key], at): properties
                for (key, at), properties in self._changes.triplet_evidence.items()
                if key in numbers.triplets
            },
        )

    def _write_evidence(
        self, kind: LiteralString, evidence: Mapping[tuple[int, int], Mapping[str, Any] | None]
    ) -> None:
        table: LiteralString = kind + "_evidence"
        keys = [(self._ns, *key) for key, properties in evidence.items() if properties is None]
        bare = [
            (self._ns, *key)
            for key, properties in evidence.items()
            if properties is not None and not properties
        ]
        full = [
            (self._ns, *key, json_text(properties))
            for key, properties in evidence.items()
            if properties
        ]
        self._many("DELETE FROM " + table + " WHERE ns = ? AND " + kind + " = ? AND at = ?", keys)
        self._many("INSERT OR IGNORE INTO " + table + " VALUES (?, ?, ?, NULL)", sorted(bare))
        self._many("INSERT OR REPLACE INTO " + table + " VALUES (?, ?, ?, ?)", sorted(full))

    def _delete_owned(self, table: LiteralString, column: LiteralString, number: int) -> None:
        self._connection.execute(
            "DELETE FROM " + table + " WHERE ns = ? AND " + column + " = ?", (self._ns, number)
        )


def _metadata_entries(
    ns: int, t_index: int, metadata: Mapping[str, Any]
) -> set[tuple[int, int, int]]:
    return {(ns, entry_hash(key, value), t_index) for key, value in metadata.items()}


def _last(row: tuple[Any, ...]) -> Any:
    return row[-1]
