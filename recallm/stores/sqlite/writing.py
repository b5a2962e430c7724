"""Writing knowledge updates, a batch at a time.

Rows are gathered in Python, names become ids by a few set look-ups, and each table is written by
one ``executemany`` in key order: a batch touches each page once.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from recallm.errors import ConflictError, InvalidInputError, StoreError
from recallm.model import ExtractedStatement, PreparedUpdate, statement_key, text_digest
from recallm.stores.base import Applied
from recallm.stores.sessions import next_derived_session, session_key_of
from recallm.stores.sqlite.codec import (
    json_text,
    microseconds,
    pack,
    pack_mentions,
    path_text,
    read_timestamp,
    timestamp_text,
)
from recallm.stores.sqlite.entities import EntityBatch
from recallm.stores.sqlite.evidence import show_relations
from recallm.stores.sqlite.lookup import fetch_by, fetch_from, inserted
from recallm.stores.sqlite.schema import MAX_T, passage_row
from recallm.stores.sqlite.sessions import write_session_sizes

__all__ = ["Numbered", "apply_updates", "create_namespace", "open_namespace", "write_updates"]

Numbered = tuple[int, PreparedUpdate, str]
"""A t, its update, and the digest of its text ('' where there is none)."""


def open_namespace(connection: sqlite3.Connection, namespace: str) -> tuple[int, int] | None:
    """Its id and its counter; None if it was never written."""
    row: tuple[int, int] | None = connection.execute(
        "SELECT id, t FROM namespace WHERE name = ?", (namespace,)
    ).fetchone()
    return row


def apply_updates(
    connection: sqlite3.Connection,
    namespace: str,
    updates: Sequence[PreparedUpdate],
    forget: Callable[[int, set[int]], object],
) -> list[Applied]:
    """``GraphStore.apply`` inside a write transaction. ``forget`` takes the updates at these t of
    a namespace, by its id, away: what an item takes the place of."""
    found = open_namespace(connection, namespace)
    ns, t_index = found if found is not None else (0, 0)
    items = _Items(connection, ns, updates)
    known: dict[str, tuple[int, str]] = {
        id: (t, digest)
        for id, t, digest in fetch_by(
            fetch_from(connection),
            "SELECT id, t, digest FROM passage WHERE ns = ? AND id IN",
            {update.id for update in updates if update.text is not None},
            lead=(ns,),
        )
    }
    applied: list[Applied] = []
    fresh: list[Numbered] = []
    conflict: ConflictError | None = None
    for index, update in enumerate(updates):
        digest = ""
        if update.text is not None:
            digest = text_digest(update.text)
            if update.id in known:
                t, stored = known[update.id]
                if stored != digest:
                    conflict = ConflictError(update.id, index=index)
                    break
                applied.append(Applied(t_index=t, duplicate=True))
                continue
            if replaced := items.replaced_by(update, t_index + 1):
                # Written first, what the batch itself brought is forgotten as it would be later.
                if fresh:
                    ns = _write_fresh(connection, namespace, ns, fresh)
                    fresh = []
                forget(ns, set(replaced))
                for id in replaced.values():
                    known.pop(id, None)
        t_index += 1
        if update.text is not None:
            known[update.id] = (t_index, digest)
        fresh.append((t_index, update, digest))
        applied.append(Applied(t_index=t_index))
    if fresh:
        _write_fresh(connection, namespace, ns, fresh)
    if conflict is not None:
        # Only now: what an earlier update does wrong is said first.
        raise conflict
    return applied


class _Items:
    """Which updates keep an item under the keys that a batch writes to."""

    def __init__(
        self, connection: sqlite3.Connection, ns: int, updates: Sequence[PreparedUpdate]
    ) -> None:
        places = {(path_text(it.path), it.key) for it in updates if it.key is not None}
        self._kept: dict[tuple[str, str], dict[int, str]] = {}
        for path, key in places if ns else ():
            rows = connection.execute(
                "SELECT t, id FROM passage WHERE ns = ? AND path = ? AND key = ?", (ns, path, key)
            )
            self._kept[path, str(key)] = dict(rows.fetchall())

    def replaced_by(self, update: PreparedUpdate, t_index: int) -> dict[int, str]:
        """The passage ids, by their t, of what ``update`` takes the place of, once."""
        if update.key is None:
            return {}
        place = (path_text(update.path), update.key)
        replaced = self._kept.get(place, {})
        self._kept[place] = {t_index: update.id}
        return replaced


def _write_fresh(
    connection: sqlite3.Connection, namespace: str, ns: int, fresh: list[Numbered]
) -> int:
    """Write new updates, and the counter; the namespace's id, which 0 stood for if it is new."""
    ns = ns or create_namespace(connection, namespace)
    write_updates(connection, ns, fresh)
    connection.execute("UPDATE namespace SET t = ? WHERE id = ?", (fresh[-1][0], ns))
    return ns


def create_namespace(connection: sqlite3.Connection, namespace: str) -> int:
    """A new row for ``namespace``; its id."""
    return inserted(connection, "INSERT INTO namespace (name, t) VALUES (?, 0)", (namespace,))


def write_updates(
    connection: sqlite3.Connection,
    ns: int,
    updates: Iterable[Numbered],
    *,
    late_entities: bool = False,
) -> None:
    """Write new updates; ``late_entities``: a triplet may come before its entities."""
    listed = list(updates)
    if listed and listed[-1][0] > MAX_T:
        raise StoreError(f"a namespace holds at most {MAX_T} updates; go on in another one")
    _Batch(connection, ns, listed, late_entities).write()


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
        updates: list[Numbered],
        late_entities: bool,
    ) -> None:
        self._connection = connection
        self._fetch = fetch_from(connection)
        self._ns = ns
        self._updates = updates
        self._late_entities = late_entities

    def write(self) -> None:
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
        if any(update.entities or update.triplets for _, update, _ in self._updates):
            entities = EntityBatch(self._connection, self._ns, concepts, self._late_entities)
            entities.write((t, update) for t, update, _ in self._updates)

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
        said = [
            statement.terms for _, update, _ in self._updates for statement in update.statements
        ]
        holders = Counter(stem for terms in said for stem in set(terms))
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
            (len(said), sum(map(len, said)), self._ns),
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
                size[1] += sum(len(statement.terms) for statement in update.statements)
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
        for t_index, update, digest in self._updates:
            if update.text is None:
                continue
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
                        ns, at, session, statement.start, statement.end, len(statement.terms),
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
