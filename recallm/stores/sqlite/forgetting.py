"""Forgetting: rows go by exact key, and every total is put right from what is left."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from recallm.model import NO_POSITION, Forgotten, Selection, statement_key, text_digest
from recallm.stores.redaction import redact
from recallm.stores.sqlite.codec import unpack, unpack_mentions
from recallm.stores.sqlite.concepts import settle_concepts
from recallm.stores.sqlite.entities import delete_entities, delete_triplets
from recallm.stores.sqlite.evidence import Pair, hide_relations, pairs_of, quads
from recallm.stores.sqlite.lookup import fetch_by, fetch_from
from recallm.stores.sqlite.properties import LostProperties
from recallm.stores.sqlite.schema import NO_CONCEPT, TABLES
from recallm.stores.sqlite.selecting import select
from recallm.stores.sqlite.sessions import (
    derive_again,
    drop_empty_sessions,
    write_session_sizes,
)
from recallm.stores.sqlite.writing import metadata_entries, open_namespace

__all__ = ["forget_selected", "forget_updates"]

_CHUNK = 500
"""Updates whose rows are held in memory at a time."""


def forget_selected(
    connection: sqlite3.Connection, namespace: str, selection: Selection
) -> Forgotten:
    """``GraphStore.forget`` inside a write transaction."""
    found = open_namespace(connection, namespace)
    if found is None:
        return Forgotten()
    ns, _ = found
    if selection.kind == "everything":
        return _forget_everything(connection, ns)
    selected = select(connection, ns, selection)
    forgetting = _Forgetting(connection, ns)
    for key in selected.triplets:
        forgetting.forget_triplet(key)
    forgetting.forget_statements(selected.updates, selected.statements)
    forgetting.forget_entities(selected.entities)
    return forgetting.settle()


def forget_updates(connection: sqlite3.Connection, ns: int, ts: set[int]) -> Forgotten:
    """Take the updates at these t away, inside a write transaction."""
    forgetting = _Forgetting(connection, ns)
    forgetting.forget_statements(ts, {})
    return forgetting.settle()


def _forget_everything(connection: sqlite3.Connection, ns: int) -> Forgotten:
    def count(sql: str) -> int:
        counted: int = connection.execute(sql, (ns,)).fetchone()[0]
        return counted

    forgotten = Forgotten(
        passages=count("SELECT count(*) FROM passage WHERE ns = ?"),
        statements=count("SELECT count(*) FROM statement WHERE ns = ?"),
        concepts=count("SELECT count(*) FROM concept WHERE ns = ?"),
        relations=count("SELECT count(*) FROM neighbour WHERE ns = ?") // 2,
        entities=count("SELECT count(*) FROM entity WHERE ns = ?"),
        triplets=count("SELECT count(*) FROM triplet WHERE ns = ?"),
        summaries=count("SELECT count(*) FROM summary WHERE ns = ?"),
    )
    for table in TABLES:
        connection.execute("DELETE FROM " + table + " WHERE ns = ?", (ns,))
    connection.execute(
        "UPDATE namespace SET statements = 0, terms = 0, sessions = 0, model = NULL,"
        " revision = revision + 1 WHERE id = ?",
        (ns,),
    )
    return forgotten


@dataclass(slots=True)
class _Lost:
    """What has been taken away, and whose totals are to be put right."""

    passages: int = 0
    statements: int = 0
    entities: int = 0
    triplets: int = 0
    summaries: int = 0
    terms: Counter[int] = field(default_factory=Counter)
    mentions: Counter[int] = field(default_factory=Counter)
    touches: dict[int, set[int]] = field(default_factory=dict)
    earliest_mention: dict[int, int] = field(default_factory=dict)
    pairs: dict[Pair, set[int]] = field(default_factory=dict)
    sessions: dict[int, list[int]] = field(default_factory=dict)
    of_entities: LostProperties = field(default_factory=lambda: LostProperties("entity"))
    of_triplets: LostProperties = field(default_factory=lambda: LostProperties("triplet"))
    derived: list[int] = field(default_factory=list)
    left: set[int] = field(default_factory=set)


class _Forgetting:
    """One forgetting: take rows away, then ``settle`` once."""

    def __init__(self, connection: sqlite3.Connection, ns: int) -> None:
        self._connection = connection
        self._ns = ns
        self._fetch = fetch_from(connection)
        self._lost = _Lost()

    def forget_statements(self, updates: set[int], statements: dict[int, set[int]]) -> None:
        """Take away whole updates, and single statements (t → positions)."""
        ordered = sorted(updates | statements.keys())
        for first in range(0, len(ordered), _CHUNK):
            self._forget_chunk(ordered[first : first + _CHUNK], updates, statements)

    def forget_entities(self, numbers: Collection[int]) -> None:
        """Take entities away with their triplets; those that went with their evidence are gone."""
        there = fetch_by(self._fetch, "SELECT number FROM entity WHERE number IN", numbers)
        numbers = [number for (number,) in there]
        touched, triplets = delete_entities(self._connection, self._ns, numbers)
        for concept, ts in touched.items():
            self._lost.touches.setdefault(concept, set()).update(ts)
        self._lost.entities += len(numbers)
        self._lost.triplets += triplets

    def forget_triplet(self, key: tuple[str, str, str]) -> None:
        """Take one triplet away."""
        subject, predicate, object = key
        rows = self._fetch(
            "SELECT number FROM triplet WHERE ns = ?1 AND predicate = ?3"
            " AND subject = (SELECT number FROM entity WHERE ns = ?1 AND id = ?2)"
            " AND object = (SELECT number FROM entity WHERE ns = ?1 AND id = ?4)",
            (self._ns, subject, predicate, object),
        )
        delete_triplets(self._connection, self._ns, [number for (number,) in rows])
        self._lost.triplets += len(rows)

    def settle(self) -> Forgotten:
        """Put right every total that stood on what is gone."""
        lost, ns = self._lost, self._ns
        self._settle_terms()
        lost.of_entities.settle(self._connection, ns)
        lost.of_triplets.settle(self._connection, ns)
        relations = hide_relations(self._connection, ns, lost.pairs)
        self._drop_summaries()
        self._connection.executemany(
            "UPDATE concept SET statements = statements - ? WHERE id = ?",
            [(count, concept) for concept, count in lost.mentions.items()],
        )
        concepts = settle_concepts(self._connection, ns, lost.touches)
        self._settle_sessions()
        return Forgotten(
            passages=lost.passages,
            statements=lost.statements,
            concepts=concepts,
            relations=relations,
            entities=lost.entities,
            triplets=lost.triplets,
            summaries=lost.summaries,
        )

    def _forget_chunk(self, ts: list[int], whole: set[int], partial: dict[int, set[int]]) -> None:
        """Take away what is selected of the updates ``ts``."""
        passages = {
            t: row
            for t, *row in fetch_by(
                self._fetch,
                "SELECT t, text, pairs, derived, session_id, metadata FROM passage"
                " WHERE ns = ? AND t IN",
                ts,
                lead=(self._ns,),
            )
        }
        gone: list[tuple[Any, ...]] = []
        for t_index in ts:
            rows = self._fetch(
                "SELECT at, session, start, stop, length, terms, concepts FROM statement"
                " WHERE ns = ? AND at >= ? AND at < ? ORDER BY at",
                (self._ns, statement_key(t_index, 0), statement_key(t_index + 1, 0)),
            )
            dropped = partial.get(t_index, set())
            if t_index in whole or len(dropped) == len(rows):
                gone += rows
                self._forget_update(t_index, passages.get(t_index))
            else:
                gone += [row for row in rows if row[0] & NO_POSITION in dropped]
                text, pairs, *_ = passages[t_index]
                self._cut_passage(t_index, text, pairs, rows, dropped)
        self._delete_statements(gone)

    def _forget_update(self, t_index: int, passage: Sequence[Any] | None) -> None:
        span = (statement_key(t_index, 0), statement_key(t_index + 1, 0))
        if passage is not None:
            _, pairs, derived, session, metadata = passage
            self._connection.executemany(
                "DELETE FROM metadata_entry WHERE ns = ? AND entry = ? AND t = ?",
                metadata_entries(self._ns, t_index, json.loads(metadata)),
            )
            self._connection.execute(
                "DELETE FROM passage WHERE ns = ? AND t = ?", (self._ns, t_index)
            )
            self._lost.passages += 1
            if session is not None:
                self._lost.left.add(session)
            if derived:
                self._lost.derived.append(t_index)
            for pair in pairs_of(quads(pairs)):
                self._lost.pairs.setdefault(pair, set()).add(t_index)
        self._forget_evidence(*span)

    def _cut_passage(
        self, t_index: int, text: str, pairs: str, rows: list[tuple[Any, ...]], dropped: set[int]
    ) -> None:
        """Take some of its statements out of a passage."""
        remaining, spans = redact(
            text,
            [(start, stop) for _, _, start, stop, _, _, _ in rows],
            {index for index, row in enumerate(rows) if row[0] & NO_POSITION in dropped},
        )
        kept = [row[0] for row in rows if row[0] & NO_POSITION not in dropped]
        told = quads(pairs)
        left = [quad for quad in told if not {quad[2], quad[3]} & dropped]
        for pair in pairs_of(told) - pairs_of(left):
            self._lost.pairs.setdefault(pair, set()).add(t_index)
        self._connection.execute(
            "UPDATE passage SET text = ?, digest = ?, pairs = ? WHERE ns = ? AND t = ?",
            (
                remaining, text_digest(remaining), " ".join(str(n) for quad in left for n in quad),
                self._ns, t_index,
            ),
        )  # fmt: skip
        self._connection.executemany(
            "UPDATE statement SET start = ?, stop = ? WHERE ns = ? AND at = ?",
            [(*span, self._ns, at) for span, at in zip(spans, kept, strict=True)],
        )
        for position in dropped:
            at = statement_key(t_index, position)
            self._forget_evidence(at, at + 1)

    def _delete_statements(self, gone: list[tuple[Any, ...]]) -> None:
        """Take statements away with their postings, mentions and vectors."""
        ns, lost = self._ns, self._lost
        read = [
            (at, session, length, set(unpack(terms)), [m.name for m in unpack_mentions(concepts)])
            for at, session, _, _, length, terms, concepts in gone
        ]
        stems: set[str] = set()
        names: set[str] = set()
        for _, _, _, terms, concepts in read:
            stems |= terms
            names.update(concepts)
        term_ids = dict(
            fetch_by(
                self._fetch, "SELECT stem, id FROM term WHERE ns = ? AND stem IN", stems, lead=(ns,)
            )
        )
        concept_ids = dict(
            fetch_by(
                self._fetch,
                "SELECT name, id FROM concept WHERE ns = ? AND name IN",
                names,
                lead=(ns,),
            )
        )
        postings: list[tuple[int, int, int]] = []
        mentions: list[tuple[int, int, int]] = []
        for at, session, length, terms, concepts in read:
            postings += [(ns, term_ids[stem], at) for stem in terms]
            for name in concepts:
                concept = concept_ids[name]
                mentions.append((ns, concept, at))
                lost.touches.setdefault(concept, set()).add(at >> 20)
                first = lost.earliest_mention.get(concept, at)
                lost.earliest_mention[concept] = min(first, at)
            size = lost.sessions.setdefault(session, [0, 0])
            size[0] -= 1
            size[1] -= length
        lost.terms.update(term for _, term, _ in postings)
        lost.mentions.update(concept for _, concept, _ in mentions)
        lost.statements += len(read)
        delete = self._connection.executemany
        delete("DELETE FROM posting WHERE ns = ? AND term = ? AND at = ?", sorted(postings))
        delete("DELETE FROM mention WHERE ns = ? AND concept = ? AND at = ?", sorted(mentions))
        keys = [(ns, at) for at, *_ in read]
        if delete("DELETE FROM vector WHERE ns = ? AND at = ?", keys).rowcount > 0:
            self._connection.execute(
                "UPDATE namespace SET revision = revision + 1 WHERE id = ?", (ns,)
            )
        delete("DELETE FROM statement WHERE ns = ? AND at = ?", keys)
        self._connection.execute(
            "UPDATE namespace SET statements = statements - ?, terms = terms - ? WHERE id = ?",
            (len(read), sum(length for _, _, length, _, _ in read), ns),
        )

    def _forget_evidence(self, first: int, stop: int) -> None:
        """Take away the evidence of entities and triplets with ``first <= at < stop``, and those
        that are left without any."""
        span = (self._ns, first, stop)
        entities = self._fetch(
            "SELECT e.number, e.concept, v.at, v.properties FROM entity_evidence v"
            " JOIN entity e ON e.number = v.entity WHERE v.ns = ? AND v.at >= ? AND v.at < ?",
            span,
        )
        triplets = self._fetch(
            "SELECT triplet, properties FROM triplet_evidence WHERE ns = ? AND at >= ? AND at < ?",
            span,
        )
        for table in ("entity_evidence", "triplet_evidence"):
            self._connection.execute(
                "DELETE FROM " + table + " WHERE ns = ? AND at >= ? AND at < ?", span
            )
        self._lost.of_entities.add((number, properties) for number, _, _, properties in entities)
        self._lost.of_triplets.add((number, properties) for number, properties in triplets)
        for _, concept, at, _ in entities:
            if concept == NO_CONCEPT:
                continue
            self._lost.touches.setdefault(concept, set()).add(at >> 20)
        shown = {number for number, _ in triplets}
        bare = [n for n in shown if not self._has_evidence("triplet", n)]
        delete_triplets(self._connection, self._ns, bare)
        self._lost.triplets += len(bare)
        numbers = {number for number, _, _, _ in entities}
        self.forget_entities([n for n in numbers if not self._has_evidence("entity", n)])

    def _has_evidence(self, kind: str, number: int) -> bool:
        sql = (
            "SELECT EXISTS (SELECT 1 FROM entity_evidence WHERE ns = ? AND entity = ?)"
            if kind == "entity"
            else "SELECT EXISTS (SELECT 1 FROM triplet_evidence WHERE ns = ? AND triplet = ?)"
        )
        return bool(self._fetch(sql, (self._ns, number))[0][0])

    def _settle_terms(self) -> None:
        terms = self._lost.terms
        self._connection.executemany(
            "UPDATE term SET statements = statements - ? WHERE id = ?",
            [(count, term) for term, count in terms.items()],
        )
        self._connection.executemany(
            "DELETE FROM term WHERE id = ? AND statements = 0", [(term,) for term in terms]
        )

    def _drop_summaries(self) -> None:
        for concept, at in self._lost.earliest_mention.items():
            cursor = self._connection.execute(
                "DELETE FROM summary WHERE ns = ? AND concept = ? AND t_index >= ?",
                (self._ns, concept, at >> 20),
            )
            self._lost.summaries += cursor.rowcount

    def _settle_sessions(self) -> None:
        lost = self._lost
        keys = dict(
            fetch_by(
                self._fetch,
                "SELECT id, key FROM session WHERE id IN",
                [session for session in lost.sessions if session > 0],
            )
        )
        sizes = {keys[session]: size for session, size in lost.sessions.items() if session > 0}
        write_session_sizes(self._connection, self._ns, sizes)
        if lost.derived:
            lost.left |= derive_again(self._connection, self._ns, lost.derived)
        drop_empty_sessions(self._connection, self._ns, lost.left)
