"""Writing new knowledge updates, a batch at a time.

Rows are gathered in Python, names become ids by a few set look-ups, and each table is written by
one ``executemany`` in key order: a batch touches each page once.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recallm.errors import InvalidInputError, StoreError
from recallm.model import ExtractedStatement, PreparedUpdate, statement_key
from recallm.stores.sessions import next_derived_session, session_key_of
from recallm.stores.sqlite.codec import (
    entry_hash,
    json_text,
    microseconds,
    pack,
    pack_mentions,
    path_text,
    read_timestamp,
    timestamp_text,
)
from recallm.stores.sqlite.entities import Brought, EntityBatch
from recallm.stores.sqlite.evidence import show_relations
from recallm.stores.sqlite.lookup import fetch_by, fetch_from, inserted
from recallm.stores.sqlite.schema import MAX_T, STANDS_OUTSIDE_THE_INDEX, passage_row
from recallm.stores.sqlite.sessions import write_session_sizes

__all__ = ["Numbered", "create_namespace", "metadata_entries", "open_namespace", "write_updates"]

Numbered = tuple[int, PreparedUpdate, str]
"""A t, its update, and the digest of its text ('' where there is none)."""


def open_namespace(connection: sqlite3.Connection, namespace: str) -> tuple[int, int] | None:
    """Its id and its counter; None if it was never written."""
    row: tuple[int, int] | None = connection.execute(
        "SELECT id, t FROM namespace WHERE name = ?", (namespace,)
    ).fetchone()
    if row is None and connection.execute(STANDS_OUTSIDE_THE_INDEX, (namespace,)).fetchone():
        raise ValueError("an index of the table namespace has lost a row")
    return row


def create_namespace(connection: sqlite3.Connection, namespace: str) -> int:
    """A new row for ``namespace``; its id."""
    return inserted(connection, "INSERT INTO namespace (name, t) VALUES (?, 0)", (namespace,))


def write_updates(
    connection: sqlite3.Connection,
    ns: int,
    updates: Sequence[Numbered],
    brought: Sequence[Brought],
    *,
    late_entities: bool = False,
) -> None:
    """Write new updates, then the entities and triplets that were ``brought``, by them or to
    passages that are there, in this order; ``late_entities``: a triplet may come before its
    entities."""
    concepts: dict[str, int] = {}
    if updates:
        if updates[-1][0] > MAX_T:
            raise StoreError(f"a namespace holds at most {MAX_T} updates; go on in another one")
        concepts = _Batch(connection, ns, updates).write()
    if brought:
        EntityBatch(connection, ns, concepts, late_entities).write(brought)


class _ConceptTotals:
    __slots__ = ("kind", "label", "statements", "t_index", "updates")

    def __init__(self, label: str, kind: str) -> None:
        self.label = label
        self.kind = kind
        self.t_index = 0
        self.updates = 0
        self.statements = 0


class _Batch:
    """The rows of one batch of updates to one namespace."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        ns: int,
        updates: Sequence[Numbered],
    ) -> None:
        self._connection = connection
        self._fetch = fetch_from(connection)
        self._ns = ns
        self._updates = updates

    def write(self) -> dict[str, int]:
        """Write all but entities and triplets; the concepts mentioned, name → id."""
        concepts = self._write_concepts()
        terms = self._write_terms()
        sessions = self._write_sessions()
        self._write_passages(concepts, sessions)
        self._write_statements(concepts, terms, sessions)
        pairs = [
            (t, {(_concept(concepts, n.a), _concept(concepts, n.b)) for n in update.neighbours})
            for t, update, _ in self._updates
        ]
        show_relations(self._connection, self._ns, pairs)
        return concepts

    def _write_concepts(self) -> dict[str, int]:
        """Write the totals of every concept that the updates mention; name → id."""
        touched: dict[str, _ConceptTotals] = {}
        for t_index, update, _ in self._updates:
            for statement in sorted(update.statements, key=_position):
                for mention in statement.concepts:
                    totals = touched.get(mention.name)
                    if totals is None:
                        totals = touched[mention.name] = _ConceptTotals(mention.label, mention.kind)
                    totals.statements += 1
                    if totals.t_index != t_index:
                        totals.t_index = t_index
                        totals.updates += 1
        ids: dict[str, int] = {}
        changed: list[tuple[object, ...]] = []
        for id, name, label, kind, statements in fetch_by(
            self._fetch,
            "SELECT id, name, label, kind, statements FROM concept WHERE ns = ? AND name IN",
            touched,
            lead=(self._ns,),
        ):
            ids[name] = id
            totals = touched[name]
            if statements:
                totals.label, totals.kind = label, kind
        changed = [
            (t.t_index, t.updates, t.statements, t.label, t.kind, ids[name])
            for name, t in touched.items()
            if name in ids
        ]
        changed.sort(key=_last)
        self._connection.executemany(
            "UPDATE concept SET t_index = ?, updates = updates + ?, statements = statements + ?,"
            " label = ?, kind = ? WHERE id = ?",
            changed,
        )
        (next_id,) = self._fetch("SELECT coalesce(max(id), 0) + 1 FROM concept", ())[0]
        new: list[tuple[object, ...]] = []
        for name, t in touched.items():
            if name not in ids:
                ids[name] = next_id
                new.append(
                    (next_id, self._ns, name, t.label, t.kind, t.t_index, t.updates, t.statements)
                )
                next_id += 1
        self._connection.executemany("INSERT INTO concept VALUES (?, ?, ?, ?, ?, ?, ?, ?)", new)
        return ids

    def _write_terms(self) -> dict[str, int]:
        said = [statement for _, update, _ in self._updates for statement in update.statements]
        holders = Counter(stem for statement in said for stem in set(statement.terms))
        ids: dict[str, int] = dict(
            fetch_by(
                self._fetch,
                "SELECT stem, id FROM term WHERE ns = ? AND stem IN",
                holders,
                lead=(self._ns,),
            )
        )
        self._connection.executemany(
            "UPDATE term SET statements = statements + ? WHERE id = ?",
            [(holders[stem], id) for stem, id in sorted(ids.items(), key=_last)],
        )
        (next_id,) = self._fetch("SELECT coalesce(max(id), 0) + 1 FROM term", ())[0]
        new: list[tuple[int, int, str, int]] = []
        for stem, count in holders.items():
            if stem not in ids:
                ids[stem] = next_id
                new.append((next_id, self._ns, stem, count))
                next_id += 1
        self._connection.executemany("INSERT INTO term VALUES (?, ?, ?, ?)", new)
        self._connection.execute(
            "UPDATE namespace SET statements = statements + ?, terms = terms + ? WHERE id = ?",
            (len(said), sum(statement.length for statement in said), self._ns),
        )
        return ids

    def _write_sessions(self) -> dict[int, tuple[int | None, bool]]:
        """Write the totals of each session; t → its row (None: no session) and whether its key
        was derived from time."""
        keys: dict[int, tuple[str | None, bool]] = {}
        previous: tuple[datetime, str] | None = None
        asked = False
        for t_index, update, _ in self._updates:
            if update.text is None:
                continue
            key = session_key_of(update.session, update.source)
            derived = key is None and update.timestamp is not None
            if key is None and update.timestamp is not None:
                if not asked:
                    previous, asked = self._last_derived(), True
                key = next_derived_session(previous, t_index, update.timestamp)
                previous = (update.timestamp, key)
            keys[t_index] = (key, derived)
        sizes: dict[str, list[int]] = {}
        for t_index, update, _ in self._updates:
            key, _ = keys.get(t_index, (None, False))
            if key is not None:
                size = sizes.setdefault(key, [0, 0])
                size[0] += len(update.statements)
                size[1] += sum(statement.length for statement in update.statements)
        ids = write_session_sizes(self._connection, self._ns, sizes)
        return {
            t_index: (None if key is None else ids[key], derived)
            for t_index, (key, derived) in keys.items()
        }

    def _last_derived(self) -> tuple[datetime, str] | None:
        rows = self._fetch(
            "SELECT p.timestamp, s.key FROM passage p JOIN session s ON s.id = p.session_id"
            " WHERE p.ns = ? AND p.derived = 1 ORDER BY p.t DESC LIMIT 1",
            (self._ns,),
        )
        return (read_timestamp(rows[0][0]), rows[0][1]) if rows else None

    def _write_passages(
        self, concepts: dict[str, int], sessions: dict[int, tuple[int | None, bool]]
    ) -> None:
        rows: list[tuple[object, ...]] = []
        entries: list[tuple[int, int, int]] = []
        for t_index, update, digest in self._updates:
            if update.text is None:
                continue
            entries += metadata_entries(self._ns, t_index, update.metadata)
            session, derived = sessions[t_index]
            pairs = [
                str(part)
                for n in update.neighbours
                for part in (_concept(concepts, n.a), _concept(concepts, n.b), n.earlier, n.later)
            ]
            rows.append(
                (
                    passage_row(self._ns, t_index), self._ns, t_index, update.id, digest,
                    update.text, update.source, update.session, update.speaker,
                    update.speaker_concept,
                    timestamp_text(update.timestamp), microseconds(update.timestamp),
                    json_text(update.metadata), path_text(update.path), update.key,
                    timestamp_text(update.expires_at), microseconds(update.expires_at),
                    session, int(derived), " ".join(pairs),
                )
            )  # fmt: skip
        self._connection.executemany(
            "INSERT INTO passage VALUES"
            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        self._connection.executemany("INSERT INTO metadata_entry VALUES (?, ?, ?)", sorted(entries))

    def _write_statements(
        self,
        concepts: dict[str, int],
        terms: dict[str, int],
        sessions: dict[int, tuple[int | None, bool]],
    ) -> None:
        ns = self._ns
        statements: list[tuple[object, ...]] = []
        postings: list[tuple[int, int, int, int, int]] = []
        mentions: list[tuple[int, int, int]] = []
        vectors: list[tuple[object, ...]] = []
        for t_index, update, _ in self._updates:
            session = sessions.get(t_index, (None, False))[0] or -t_index
            for statement in update.statements:
                at = statement_key(t_index, statement.position)
                statements.append(
                    (
                        ns, at, session, statement.start, statement.end, statement.length,
                        pack(statement.terms), pack_mentions(statement.concepts),
                        int(statement.traits),
                    )
                )  # fmt: skip
                counts: dict[str, int] = {}
                for stem in statement.terms:
                    counts[stem] = counts.get(stem, 0) + 1
                postings += [(ns, terms[stem], at, n, session) for stem, n in counts.items()]
                mentions += [(ns, concepts[mention.name], at) for mention in statement.concepts]
            for vector in update.vectors:
                at = statement_key(t_index, vector.position)
                vectors.append((ns, at, vector.model, vector.blob))
        postings.sort()
        mentions.sort()
        write = self._connection.executemany
        write("INSERT INTO statement VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", statements)
        write("INSERT INTO posting VALUES (?, ?, ?, ?, ?)", postings)
        write("INSERT INTO mention VALUES (?, ?, ?)", mentions)
        write("INSERT INTO vector VALUES (?, ?, ?, ?)", vectors)


def metadata_entries(
    ns: int, t_index: int, metadata: Mapping[str, Any]
) -> set[tuple[int, int, int]]:
    """The rows of ``metadata_entry`` of one passage."""
    return {(ns, entry_hash(key, value), t_index) for key, value in metadata.items()}


def _concept(concepts: dict[str, int], name: str) -> int:
    try:
        return concepts[name]
    except KeyError:
        raise InvalidInputError(
            f"a neighbour pair names {name!r}, which no statement mentions", argument="neighbours"
        ) from None


def _position(statement: ExtractedStatement) -> int:
    return statement.position


def _last(row: tuple[Any, ...]) -> Any:
    return row[-1]
