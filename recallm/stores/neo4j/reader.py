"""``Neo4jReader``: a view of one namespace within a horizon."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
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
    Triplet,
    VectorState,
)
from recallm.stores.cypher import graph
from recallm.stores.cypher import reading as cypher
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.dumping import dump
from recallm.stores.neo4j.transaction import Row, chunks, rows
from recallm.stores.neo4j.values import (
    BEFORE_NEXT,
    item_key,
    json_in,
    key_of,
    mapping_out,
    micros,
    passage_in,
    path_key,
    statement_in,
    summary_in,
)
from recallm.stores.neo4j.whole import whole_rows
from recallm.stores.neo4j.writing import context_version
from recallm.stores.sessions import session_key_of

__all__ = ["Neo4jReader"]

_ENDLESS = 1 << 62
_NEVER = -_ENDLESS


class Neo4jReader:
    """A ``GraphReader``. Every call is a read transaction of its own, tried again after transient
    errors; what was written after the reader was opened has a later t and stays out."""

    def __init__(self, connection: Connection, namespace: str, horizon: Horizon) -> None:
        self._connection = connection
        as_of, now = horizon.as_of, horizon.now
        self._dated = isinstance(as_of, datetime)
        self._said = micros(as_of) if isinstance(as_of, datetime) else 0
        self._now = _NEVER if now is None else micros(now)
        state = self._rows(cypher.OPEN, {"key": key_of(namespace), "now": self._now})[0]
        self._key: str = state["rows"]
        self._counter: int = state["t"]
        # Whether nothing is hidden but by its t.
        self._plain = not (self._dated or state["expired"])
        self._t: int = self._counter if not isinstance(as_of, int) else min(as_of, self._counter)
        self._before = (self._t + 1) * BEFORE_NEXT
        self.has_expired: bool = state["expired"]
        if self._dated:
            self._t = self._ask(cypher.LATEST_SAID)[0]["t"]
            self._before = (self._t + 1) * BEFORE_NEXT

    @property
    def t_index(self) -> int:
        """See ``GraphReader.t_index``."""
        return self._t

    def passage(self, id: str) -> Passage | None:
        """See ``GraphReader.passage``."""
        found = self._ask(cypher.PASSAGE, id=key_of(id))
        return passage_in(found[0]["passage"]) if found and found[0]["seen"] else None

    def passages(self, where: Filter, *, limit: int | None = None) -> list[Passage]:
        """See ``GraphReader.passages``."""
        conditions = _filter(where)
        # Where the search enters the graph: the narrowest that an index knows.
        entry, value = "t", ""
        if where.path is not None:
            entry, value = "path", path_key(where.path)
        elif conditions["lanes"]:
            entry, value = "session", conditions["lanes"][0]
        found = self._ask(
            cypher.PASSAGES[entry],
            entry=value,
            **self._bounds(conditions),
            limit=_ENDLESS if limit is None else min(limit, _ENDLESS),
            **conditions,
        )
        return [passage_in(row["passage"]) for row in found]

    def item(self, path: Sequence[str], key: str) -> Passage | None:
        """See ``GraphReader.item``."""
        found = self._ask(cypher.ITEM, item=item_key(path, key))
        return passage_in(found[0]["passage"]) if found else None

    def paths(self) -> list[tuple[str, ...]]:
        """See ``GraphReader.paths``."""
        return sorted(tuple(row["path"]) for row in self._ask(cypher.PATHS, root=path_key(())))

    def statements(self, keys: Collection[int]) -> list[StoredStatement]:
        """See ``GraphReader.statements``."""
        return [
            statement_in(row["statement"], row["origin"], row["previous"], row["next"])
            for chunk in chunks(sorted(key for key in set(keys) if key < self._before))
            for row in self._ask(cypher.STATEMENTS, keys=chunk)
        ]

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        """See ``GraphReader.postings``."""
        found = self._ask(
            cypher.POSTINGS,
            stems=sorted({key_of(stem) for stem in stems}),
            limit=limit,
            **_filter(where),
        )
        postings: dict[str, Postings] = {}
        for row in found:
            # A relationship that went while it was read has no properties left.
            held = [it for it in row["rows"] if it[0] is not None and it[1] is not None]
            postings[row["name"]] = Postings(
                documents=row["documents"],
                keys=tuple(key for key, _, _ in held),
                counts=tuple(count for _, count, _ in held),
                sessions=tuple(session for _, _, session in held),
            )
        return postings

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Mentions]:
        """See ``GraphReader.mentions``."""
        found = self._ask(
            cypher.MENTIONS,
            names=_keys(names),
            limit=_ENDLESS if limit is None else limit,
            **_filter(where),
        )
        return {
            row["name"]: Mentions(
                statements=row["statements"],
                keys=tuple(key for key in row["keys"] if key is not None),
            )
            for row in found
        }

    def concepts(
        self, names: Collection[str] | None = None, *, limit: int | None = None
    ) -> list[ConceptRow]:
        """See ``GraphReader.concepts``."""
        if names is None:
            bound = _ENDLESS if limit is None else limit
            nodes = self._ask(graph.CONCEPTS_LATEST, limit=bound)
        else:
            nodes = self._ask(graph.CONCEPTS_NAMED, names=_keys(names))
        return self._concept_rows([row["concept"] for row in nodes])[:limit]

    def relations(self, names: Collection[str], *, limit: int) -> list[Relation]:
        """See ``GraphReader.relations``."""
        return _relations(self._ask(graph.RELATIONS, names=_keys(names), limit=limit))

    def relations_among(self, names: Collection[str]) -> list[Relation]:
        """See ``GraphReader.relations_among``."""
        return _relations(self._ask(graph.RELATIONS_AMONG, names=_keys(names)))

    def linked(
        self, start: str, *, hops: int, oldest: int, newest: int, limit: int
    ) -> list[ConceptRow]:
        """See ``GraphReader.linked``."""
        nodes = self._ask(
            graph.LINKED_START + graph.LINKED_HOP * hops + graph.LINKED_END,
            start=key_of(start),
            oldest=oldest,
            newest=newest,
        )
        linked = self._concept_rows([row["concept"] for row in nodes])
        return [row for row in linked if oldest <= row.t_index <= newest][:limit]

    def summaries(self, names: Collection[str]) -> Mapping[str, Summary]:
        """See ``GraphReader.summaries``."""
        found = self._ask(graph.SUMMARIES, names=_keys(names))
        # Ascending by t_index: the last one of each name stays.
        return {row["name"]: summary_in(row["summary"]) for row in found}

    def entities(
        self,
        ids: Collection[str] | None = None,
        *,
        concepts: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Entity]:
        """See ``GraphReader.entities``."""
        found = self._ask(
            graph.ENTITIES,
            ids=_keys(ids or ()),
            concepts=_keys(concepts or ()),
            passages=_keys(passages or ()),
            all=ids is None and concepts is None and passages is None,
        )
        entities = [
            Entity(
                id=row["entity"]["id"],
                type=row["entity"]["type"],
                label=row["entity"]["label"],
                concept=row["entity"]["concept"],
                properties=json_in(row["entity"]["properties"]),
                t_index=row["t_index"],
                updates=row["updates"],
                source=_source(row),
            )
            for row in found
        ]
        return sorted(entities, key=lambda entity: entity.id)

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
        given = {
            "passages": passages,
            "subjects": subjects,
            "objects": objects,
            "ends": ends,
            "predicates": predicates,
        }
        conditions = {name: _keys(it or ()) for name, it in given.items()}
        wanted = {f"by_{name}": it is not None for name, it in given.items()}
        # The first condition given is where the search enters the graph.
        entry = next((name for name, it in given.items() if it is not None), "all")
        triplets = [
            Triplet(
                subject=row["subject"],
                predicate=row["predicate"],
                object=row["object"],
                properties=json_in(row["properties"]),
                strength=row["strength"],
                t_index=row["t_index"],
                source=_source(row),
            )
            for row in self._ask(graph.TRIPLETS, entry=entry, **conditions, **wanted)
        ]
        return sorted(triplets, key=lambda it: (it.subject, it.predicate, it.object))

    def corpus(self) -> CorpusSize:
        """See ``GraphReader.corpus``."""
        row = self._ask(cypher.CORPUS_TOTALS)[0]
        # A node that is being written may be read half old, half new: what is whole is read twice.
        if not (row["t"] <= self._t and row == self._ask(cypher.CORPUS_TOTALS)[0]):
            row = self._ask(cypher.CORPUS_COUNTED)[0]
        return CorpusSize(
            statements=row["statements"], terms=row["terms"], sessions=row["sessions"]
        )

    def sessions(self, session_keys: Collection[str]) -> Mapping[str, SessionSize]:
        """See ``GraphReader.sessions``."""
        return {
            row["name"]: SessionSize(statements=row["statements"], terms=row["terms"])
            for row in self._ask(cypher.SESSIONS, lanes=_keys(session_keys))
        }

    def vectors(self, keys: Collection[int], *, model: str) -> Mapping[int, bytes]:
        """See ``GraphReader.vectors``."""
        return {
            row["key"]: row["blob"]
            for chunk in chunks(sorted(set(keys)))
            for row in self._ask(cypher.VECTORS, keys=chunk, model=model)
        }

    def entity_vectors(
        self, ids: Collection[str] | None = None, *, model: str
    ) -> Mapping[str, bytes]:
        """See ``GraphReader.entity_vectors``."""
        found = self._ask(
            graph.ENTITY_VECTORS, ids=_keys(ids or ()), all=ids is None, model=key_of(model)
        )
        return {row["id"]: row["blob"] for row in found}

    def vector_size(self, model: str) -> int | None:
        """See ``GraphReader.vector_size``."""
        found = self._ask(graph.VECTOR_SIZE, model=key_of(model))
        return found[0]["bytes"] if found else None

    def vector_state(self) -> VectorState | None:
        """See ``GraphReader.vector_state``."""
        found = self._ask(cypher.VECTOR_STATE)
        return VectorState(**found[0]) if found else None

    def vectors_after(self, key: int, *, limit: int) -> list[tuple[int, bytes]]:
        """See ``GraphReader.vectors_after``."""
        found = self._ask(cypher.VECTORS_AFTER, after=key, limit=limit)
        return [(row["key"], row["blob"]) for row in found]

    def vector_keys(self) -> list[int]:
        """See ``GraphReader.vector_keys``."""
        return [row["key"] for row in self._ask(cypher.VECTOR_KEYS, after=-1, limit=_ENDLESS)]

    def unembedded(self, *, after: int, limit: int) -> list[int]:
        """See ``GraphReader.unembedded``."""
        return [row["key"] for row in self._ask(cypher.UNEMBEDDED, after=after, limit=limit)]

    def moments(self, where: Filter) -> list[int]:
        """See ``GraphReader.moments``."""
        conditions = _filter(where)
        found = self._ask(cypher.MOMENTS, **self._bounds(conditions), **conditions)
        return [row["t"] for row in found]

    def context_version(self, name: str) -> ContextVersion | None:
        """See ``GraphReader.context_version``."""
        return self._connection.read(lambda tx: context_version(tx, self._key, name))

    def stats(self) -> Stats:
        """See ``GraphReader.stats``."""
        row = self._ask(cypher.STATS)[0]
        return Stats(
            t_index=self._t,
            passages=row["passages"],
            statements=row["statements"],
            concepts=row["concepts"],
            relations=row["relations"],
            entities=row["entities"],
            triplets=row["triplets"],
            summaries=row["summaries"],
            vectors=row["vectors"],
            sessions=row["sessions"],
        )

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        """See ``GraphReader.dump``."""
        return dump(self._connection, self._key, self._counter)

    def _bounds(self, conditions: Mapping[str, Any]) -> dict[str, int]:
        """The filter's bounds of t."""
        return {
            "after": conditions["since_key"] // BEFORE_NEXT - 1,
            "last": min(self._t, conditions["until_key"] // BEFORE_NEXT - 1),
        }

    def _ask(self, query: LiteralString, **parameters: Any) -> list[Row]:
        given = {
            "namespace": self._key,
            "t": self._t,
            "before": self._before,
            "dated": self._dated,
            "said": self._said,
            "now": self._now,
            "plain": self._plain,
            **parameters,
        }
        return whole_rows(lambda: self._rows(query, given))

    def _rows(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Row]:
        return list(self._connection.read(lambda tx: rows(tx, query, parameters)))

    def _concept_rows(self, nodes: list[Row]) -> list[ConceptRow]:
        """The concepts of these nodes, latest first: by their totals where these are of the
        view, else counted."""
        counted = {node["name"] for node in nodes if node["t_index"] > self._t}
        if not self._plain:
            # What is hidden may take a summary out of force, which ``merges`` counts from.
            names = _keys([node["name"] for node in nodes])
            counted |= {row["name"] for row in self._ask(graph.REVISED, names=names)}
        found = [
            ConceptRow(
                name=node["name"],
                label=node["label"],
                kind=node["kind"],
                t_index=node["t_index"],
                updates=node["updates"],
                statements=node["statements"],
                merges=node["merges"],
            )
            for node in nodes
            if node["name"] not in counted
        ]
        for chunk in chunks(sorted(counted)):
            found += self._counted_concepts(chunk)
        return sorted(found, key=lambda row: (-row.t_index, row.name))

    def _counted_concepts(self, names: list[str]) -> list[ConceptRow]:
        counted = self._ask(graph.CONCEPTS_COUNTED, names=_keys(names))
        summaries = self.summaries(names)
        return [
            ConceptRow(
                name=row["name"],
                label=row["label"],
                kind=row["kind"],
                t_index=max(row["ts"]),
                updates=len(row["ts"]),
                statements=row["statements"],
                merges=len(row["ts"]) - 1
                if row["name"] not in summaries
                else sum(t > summaries[row["name"]].t_index for t in row["ts"]),
            )
            for row in counted
        ]


def _keys(names: Collection[str]) -> list[str]:
    return sorted({key_of(name) for name in names})


def _source(row: Row) -> str | None:
    """The id of the latest passage that brought it."""
    return None if row["brought"] is None else row["brought"][1]


def _relations(found: list[Row]) -> list[Relation]:
    relations = [
        Relation(a=row["a"], b=row["b"], strength=row["strength"], t_index=row["t_index"])
        for row in found
    ]
    return sorted(relations, key=lambda relation: (relation.a, relation.b))


def _filter(where: Filter) -> dict[str, Any]:
    """The parameters of the condition that statements must meet."""
    since, until = where.since, where.until
    session_key = session_key_of(where.session, None)
    return {
        "filtered": bool(where),
        "since_key": min(since * BEFORE_NEXT, _ENDLESS) if isinstance(since, int) else 0,
        "until_key": min((until + 1) * BEFORE_NEXT, _ENDLESS)
        if isinstance(until, int)
        else _ENDLESS,
        "timed": isinstance(since, datetime) or isinstance(until, datetime),
        "since_said": micros(since) if isinstance(since, datetime) else _NEVER,
        "until_said": micros(until) if isinstance(until, datetime) else _ENDLESS,
        "lanes": [] if session_key is None else [key_of(session_key)],
        "speakers": [] if where.speaker is None else [where.speaker],
        "metadata": mapping_out(where.metadata),
        "paths": [] if where.path is None else [path_key(where.path)],
    }
