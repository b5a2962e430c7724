"""A consistent view of one namespace: ``GraphReader`` over a snapshot."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, LiteralString

from recallm.model import (
    ConceptRow,
    ContextVersion,
    CorpusSize,
    Entity,
    Filter,
    Horizon,
    Mentions,
    Passage,
    Postings,
    PreparedUpdate,
    Relation,
    SessionSize,
    Stats,
    StoredStatement,
    Summary,
    Trait,
    Triplet,
    VectorState,
    statement_key,
)
from recallm.stores.sqlite.archive import dumped
from recallm.stores.sqlite.codec import read_path, unpack, unpack_mentions, unpack_timestamp
from recallm.stores.sqlite.connections import Snapshot
from recallm.stores.sqlite.graph import (
    read_entities,
    read_entity_vectors,
    read_triplets,
    read_vector_size,
)
from recallm.stores.sqlite.lookup import fetch_by
from recallm.stores.sqlite.passages import (
    read_item,
    read_moments,
    read_passage,
    read_passages,
    read_paths,
)
from recallm.stores.sqlite.relations import among, newest_relations, relation_count
from recallm.stores.sqlite.schema import MAX_T, passage_row
from recallm.stores.sqlite.totals import concept_rows, context_version, summaries_in_force
from recallm.stores.sqlite.traversal import linked_to
from recallm.stores.sqlite.view import Sieve, View

__all__ = ["SQLiteReader"]

_METADATA_PAGE = 1_000
"""Statements whose passages' metadata is compared at a time."""


class SQLiteReader:
    """See ``GraphReader``."""

    def __init__(self, snapshot: Snapshot, namespace: str, horizon: Horizon) -> None:
        self._view = View(snapshot, namespace, horizon)
        self._rows = self._view.rows
        self._ns = self._view.ns
        self._session_keys: dict[int, str | None] = {}

    @property
    def t_index(self) -> int:
        """See ``GraphReader.t_index``."""
        return self._view.t_index

    def passage(self, id: str) -> Passage | None:
        """See ``GraphReader.passage``."""
        return read_passage(self._view, id)

    def passages(self, where: Filter, *, limit: int | None = None) -> list[Passage]:
        """See ``GraphReader.passages``."""
        return read_passages(self._view, where, limit)

    def item(self, path: Sequence[str], key: str) -> Passage | None:
        """See ``GraphReader.item``."""
        return read_item(self._view, path, key)

    def paths(self) -> list[tuple[str, ...]]:
        """See ``GraphReader.paths``."""
        return read_paths(self._view)

    def statements(self, keys: Collection[int]) -> list[StoredStatement]:
        """See ``GraphReader.statements``."""
        seen, values = self._view.seen, self._view.seen_values
        beside: LiteralString = (
            "(at) FROM statement q INDEXED BY statement_session"
            " WHERE q.ns = s.ns AND q.session = s.session AND q.at "
        )
        found = fetch_by(
            self._rows,
            "SELECT at, session, start, stop, terms, concepts, traits,"
            " (SELECT max" + beside + "< s.at" + seen + "),"
            " (SELECT min" + beside + "> s.at" + seen + ")"
            " FROM statement s WHERE ns = ? AND at IN",
            _keys(keys),
            self._view.seen_by_key + " ORDER BY at",
            lead=(*values, *values, self._ns),
            tail=values,
        )
        passages = {
            row[0]: row
            for row in fetch_by(
                self._rows,
                "SELECT t, id, text, timestamp, speaker, speaker_concept, source, session,"
                " metadata, CASE WHEN key IS NOT NULL THEN path END FROM passage WHERE row IN",
                {passage_row(self._ns, row[0] >> 20) for row in found},
            )
        }
        session_keys = self._keys_of_sessions({row[1] for row in found})
        decoded: dict[str, Mapping[str, Any]] = {}
        statements: list[StoredStatement] = []
        for at, session_id, start, stop, terms, concepts, traits, previous, following in found:
            _, id, text, timestamp, speaker, speaker_concept, source, session, metadata, path = (
                passages[at >> 20]
            )
            if metadata not in decoded:
                decoded[metadata] = json.loads(metadata)
            statements.append(
                StoredStatement(
                    key=at,
                    passage_id=id,
                    text=text[start:stop],
                    timestamp=unpack_timestamp(timestamp),
                    speaker=speaker,
                    speaker_concept=speaker_concept,
                    source=source,
                    session=session,
                    session_key=session_keys[session_id],
                    metadata=decoded[metadata],
                    terms=unpack(terms),
                    concepts=unpack_mentions(concepts),
                    traits=_trait(traits),
                    previous=previous,
                    next=following,
                    item_path=None if path is None else read_path(path),
                )
            )
        return statements

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        """See ``GraphReader.postings``."""
        terms = {
            stem: (id, statements)
            for stem, id, statements in fetch_by(
                self._rows,
                "SELECT stem, id, statements FROM term WHERE ns = ? AND stem IN",
                set(stems),
                lead=(self._ns,),
            )
        }
        held: dict[str, tuple[int, list[tuple[Any, ...]]]] = {}
        for stem, (term, total) in sorted(terms.items()):
            documents = self._count_visible(
                "FROM posting WHERE ns = ? AND term = ?", (self._ns, term), total
            )
            if documents:
                held[stem] = (
                    documents,
                    self._newest(
                        "SELECT at, count, session FROM posting WHERE ns = ? AND term = ?",
                        (self._ns, term),
                        limit,
                        where,
                    ),
                )
        session_keys = self._keys_of_sessions(
            {session for _, rows in held.values() for _, _, session in rows}
        )
        found: dict[str, Postings] = {}
        for stem, (documents, rows) in held.items():
            keys, counts, sessions = zip(*rows, strict=True) if rows else ((), (), ())
            found[stem] = Postings(
                documents=documents,
                keys=keys,
                counts=counts,
                sessions=tuple(map(session_keys.__getitem__, sessions)),
            )
        return found

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Mentions]:
        """See ``GraphReader.mentions``."""
        concepts = fetch_by(
            self._rows,
            "SELECT name, id, statements FROM concept WHERE ns = ? AND name IN",
            set(names),
            lead=(self._ns,),
        )
        found: dict[str, Mentions] = {}
        for name, concept, total in sorted(set(concepts)):
            statements = self._count_visible(
                "FROM mention WHERE ns = ? AND concept = ?", (self._ns, concept), total
            )
            if statements:
                rows = self._newest(
                    "SELECT at FROM mention WHERE ns = ? AND concept = ?",
                    (self._ns, concept),
                    -1 if limit is None else limit,
                    where,
                )
                found[name] = Mentions(statements=statements, keys=tuple(at for (at,) in rows))
        return found

    def concepts(
        self, names: Collection[str] | None = None, *, limit: int | None = None
    ) -> list[ConceptRow]:
        """See ``GraphReader.concepts``."""
        return concept_rows(self._view, names, limit)

    def relations(self, names: Collection[str], *, limit: int) -> list[Relation]:
        """See ``GraphReader.relations``."""
        return newest_relations(self._view, names, limit)

    def relations_among(self, names: Collection[str]) -> list[Relation]:
        """See ``GraphReader.relations_among``."""
        return among(self._view, names)

    def linked(
        self, start: str, *, hops: int, oldest: int, newest: int, limit: int
    ) -> list[ConceptRow]:
        """See ``GraphReader.linked``."""
        return linked_to(self._view, start, hops, oldest, newest, limit)

    def summaries(self, names: Collection[str]) -> Mapping[str, Summary]:
        """See ``GraphReader.summaries``."""
        return summaries_in_force(self._view, names)

    def entities(
        self,
        ids: Collection[str] | None = None,
        *,
        concepts: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Entity]:
        """See ``GraphReader.entities``."""
        return read_entities(self._view, ids, concepts, passages)

    def triplets(
        self,
        *,
        subjects: Collection[str] | None = None,
        predicates: Collection[str] | None = None,
        objects: Collection[str] | None = None,
        ends: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Triplet]:
        """See ``GraphReader.triplets``."""
        return read_triplets(self._view, subjects, predicates, objects, ends, passages)

    def corpus(self) -> CorpusSize:
        """See ``GraphReader.corpus``."""
        totals = self._view.totals
        if not self._view.is_present:
            (totals,) = self._rows(
                "SELECT count(*), coalesce(sum(length), 0),"
                " count(DISTINCT CASE WHEN session > 0 THEN session END)"
                " FROM statement INDEXED BY statement_session WHERE ns = ?" + self._view.seen,
                (self._ns, *self._view.seen_values),
            )
        return CorpusSize(statements=totals[0], terms=totals[1], sessions=totals[2])

    def sessions(self, session_keys: Collection[str]) -> Mapping[str, SessionSize]:
        """See ``GraphReader.sessions``."""
        if self._view.is_present:
            sql: LiteralString = (
                "SELECT key, statements, terms FROM session WHERE ns = ? AND key IN"
            )
            after: LiteralString = "AND statements > 0"
            values: tuple[Any, ...] = ()
        else:
            sql = (
                "SELECT x.key, count(*), sum(length) FROM session x JOIN statement s"
                " INDEXED BY statement_session ON s.ns = x.ns AND s.session = x.id"
                " WHERE x.ns = ? AND x.key IN"
            )
            after = self._view.seen + " GROUP BY x.key"
            values = self._view.seen_values
        rows = fetch_by(self._rows, sql, set(session_keys), after, lead=(self._ns,), tail=values)
        return {
            key: SessionSize(statements=statements, terms=terms)
            for key, statements, terms in sorted(rows)
        }

    def vectors(self, keys: Collection[int], *, model: str) -> Mapping[int, bytes]:
        """See ``GraphReader.vectors``."""
        return dict(
            fetch_by(
                self._rows,
                "SELECT at, blob FROM vector WHERE ns = ? AND model = ? AND at IN",
                _keys(keys),
                self._view.seen_by_key,
                lead=(self._ns, model),
                tail=self._view.seen_values,
            )
        )

    def entity_vectors(
        self, ids: Collection[str] | None = None, *, model: str
    ) -> Mapping[str, bytes]:
        """See ``GraphReader.entity_vectors``."""
        return read_entity_vectors(self._view, ids, model)

    def vector_size(self, model: str) -> int | None:
        """See ``GraphReader.vector_size``."""
        return read_vector_size(self._view, model)

    def vector_state(self) -> VectorState | None:
        """See ``GraphReader.vector_state``."""
        rows = self._rows(
            "SELECT n.model, size, origin, revision FROM namespace n JOIN vector_size z"
            " ON z.ns = n.id AND z.model = n.model WHERE n.id = ?",
            (self._ns,),
        )
        return (
            VectorState(model=rows[0][0], size=rows[0][1], origin=rows[0][2], revision=rows[0][3])
            if rows
            else None
        )

    def vectors_after(self, key: int, *, limit: int) -> list[tuple[int, bytes]]:
        """See ``GraphReader.vectors_after``."""
        return self._rows(
            "SELECT at, blob FROM vector WHERE ns = ? AND at > ? ORDER BY at LIMIT ?",
            (self._ns, key, limit),
        )

    def vector_keys(self) -> list[int]:
        """See ``GraphReader.vector_keys``."""
        rows = self._rows("SELECT at FROM vector WHERE ns = ? ORDER BY at", (self._ns,))
        return [at for (at,) in rows]

    def unembedded(self, *, after: int, limit: int) -> list[int]:
        """See ``GraphReader.unembedded``."""
        rows = self._rows(
            "SELECT at FROM statement s WHERE ns = ? AND at > ? AND NOT EXISTS"
            " (SELECT 1 FROM vector v WHERE v.ns = s.ns AND v.at = s.at) ORDER BY at LIMIT ?",
            (self._ns, after, limit),
        )
        return [at for (at,) in rows]

    def moments(self, where: Filter) -> list[int]:
        """See ``GraphReader.moments``."""
        return read_moments(self._view, where)

    def context_version(self, name: str) -> ContextVersion | None:
        """See ``GraphReader.context_version``."""
        return context_version(self._rows, self._ns, name)

    def stats(self) -> Stats:
        """See ``GraphReader.stats``."""
        view = self._view
        corpus = self.corpus()
        if view.is_present:
            concepts = self._count("SELECT count(*) FROM concept WHERE ns = ?")
            entities = self._count("SELECT count(*) FROM entity WHERE ns = ?")
            triplets = self._count("SELECT count(*) FROM triplet WHERE ns = ?")
            summaries = self._count("SELECT count(DISTINCT concept) FROM summary WHERE ns = ?")
        else:
            names = [row.name for row in concept_rows(view, None, None)]
            concepts = len(names)
            entities = self._count(
                "SELECT count(DISTINCT entity) FROM entity_evidence WHERE ns = ?" + view.seen,
                view.seen_values,
            )
            triplets = len(read_triplets(view, None, None, None, None, None))
            summaries = len(summaries_in_force(view, names))
        return Stats(
            t_index=view.t_index,
            passages=self._count(
                "SELECT count(*) FROM passage INDEXED BY passage_t WHERE ns = ?" + view.passed,
                view.passed_values,
            ),
            statements=corpus.statements,
            concepts=concepts,
            relations=relation_count(view),
            entities=entities,
            triplets=triplets,
            summaries=summaries,
            vectors=self._count(
                "SELECT count(*) FROM vector WHERE ns = ?" + view.seen, view.seen_values
            ),
            sessions=corpus.sessions,
        )

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        """See ``GraphReader.dump``."""
        return dumped(self._rows, self._ns)

    def _count(self, sql: LiteralString, values: tuple[Any, ...] = ()) -> int:
        return int(self._rows(sql, (self._ns, *values))[0][0])

    def _count_visible(self, source: LiteralString, values: tuple[Any, ...], total: int) -> int:
        """How many of ``total`` rows are visible."""
        view = self._view
        if view.is_present:
            return total
        if view.has_holes:
            rows = self._rows("SELECT count(*) " + source + view.seen, values + view.seen_values)
            return int(rows[0][0])
        later = self._rows("SELECT count(*) " + source + " AND at >= ?", values + view.seen_values)
        return total - int(later[0][0])

    def _newest(
        self, sql: LiteralString, values: tuple[Any, ...], limit: int, where: Filter
    ) -> list[tuple[Any, ...]]:
        """The newest ``limit`` visible rows (all if negative) that meet ``where``."""
        view = self._view
        sieve = Sieve(view, where)
        if not sieve.metadata:
            return self._rows(
                sql + view.seen + sieve.sql + " ORDER BY at DESC LIMIT ?",
                (*values, *view.seen_values, *sieve.values, limit),
            )
        met: dict[str, bool] = {}
        passing: list[tuple[Any, ...]] = []
        below: LiteralString = " AND at < ?" + view.seen + sieve.sql + " ORDER BY at DESC LIMIT ?"
        last = statement_key(MAX_T, 0)
        while limit < 0 or len(passing) < limit:
            rows = self._rows(
                sql + below, (*values, last, *view.seen_values, *sieve.values, _METADATA_PAGE)
            )
            told = self._metadata({row[0] >> 20 for row in rows})
            for row in rows:
                text = told[row[0] >> 20]
                if text not in met:
                    met[text] = sieve.admits(json.loads(text))
                if met[text]:
                    passing.append(row)
            if len(rows) < _METADATA_PAGE:
                break
            last = rows[-1][0]
        return passing if limit < 0 else passing[:limit]

    def _metadata(self, ts: Collection[int]) -> dict[int, str]:
        return dict(
            fetch_by(
                self._rows,
                "SELECT t, metadata FROM passage WHERE row IN",
                [passage_row(self._ns, t_index) for t_index in ts],
            )
        )

    def _keys_of_sessions(self, ids: Collection[int]) -> dict[int, str | None]:
        """Session row → key; a negative one stands for no session."""
        known = self._session_keys
        missing = [id for id in ids if id not in known]
        for id in missing:
            known[id] = None
        known.update(
            fetch_by(
                self._rows,
                "SELECT id, key FROM session WHERE id IN",
                [id for id in missing if id > 0],
            )
        )
        return known


@lru_cache(maxsize=1 << 10)
def _trait(bits: int) -> Trait:
    return Trait(bits)


def _keys(keys: Collection[int]) -> list[int]:
    """The keys that a statement can have, ascending."""
    return sorted({key for key in keys if 0 <= key < 1 << 62})
