"""``Neo4jReader``: a view of one namespace within a horizon."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any, LiteralString, TypeVar

from recallm.model import (
    LARGEST_NUMBER,
    NO_SESSION,
    ConceptRow,
    Entity,
    Filter,
    Horizon,
    Mentions,
    OpenSession,
    Passage,
    Postings,
    PreparedUpdate,
    Relation,
    Scalar,
    Session,
    Sizes,
    Stats,
    StoredStatement,
    Summary,
    Triplet,
    TripletEvidence,
    statement_key,
    t_index_of,
)
from recallm.stores.base import GraphReader
from recallm.stores.cypher import graph_queries, lookups
from recallm.stores.cypher import reader_queries as cypher
from recallm.stores.cypher.postings import MENTIONS, POSTINGS
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.joining import Answers, Ask, UnansweredError, complete_rows, results_of
from recallm.stores.neo4j.stored import dump
from recallm.stores.neo4j.transaction import Row
from recallm.stores.neo4j.values import (
    counted_in,
    evidence_in,
    fields_in,
    item_key,
    key_of,
    keys_of,
    mentions_in,
    metadata_entries,
    moment_of,
    path_key,
    postings_in,
    statement_in,
    summary_in,
)
from recallm.stores.semantics.reading import (
    bearers_of,
    by_parts,
    concept_rows,
    latest_first,
    mapping_of,
    open_session_of,
    passage_fields,
    session_of,
    sizes_of,
    state_of,
)
from recallm.stores.semantics.rows import ConceptTotals, microseconds

Result = TypeVar("Result")

_EVERY = Filter()
_CORPUS = ("statements", "terms", "sessions")


class Neo4jReader:
    """A ``GraphReader``. Every call is a read transaction of its own, tried again after transient
    errors. Updates that were written after the reader was opened have a later t, which hides them.
    """

    def __init__(self, connection: Connection, namespace: str, horizon: Horizon) -> None:
        self._connection = connection
        self._answers: Answers | None = None
        """Of a reader that records what is asked (``together``)."""
        self._key = key_of(namespace)
        as_of, now = horizon.as_of, horizon.now
        said = microseconds(as_of) if isinstance(as_of, datetime) else None
        expired_by = moment_of(now)
        latest_t = min(as_of, LARGEST_NUMBER) if isinstance(as_of, int) else LARGEST_NUMBER
        opened = {
            "key": self._key,
            "now": expired_by,
            "withdrawn_by": -1 if horizon.withdrawn else latest_t,
        }
        state = connection.rows(cypher.OPEN, opened)[0]
        self._rows: int = state["rows"]
        self._opened_totals = {name: state[name] for name in ("t", *_CORPUS)}
        self._counter: int = state["t"]
        self._t: int = min(as_of, self._counter) if isinstance(as_of, int) else self._counter
        all_shown = True
        if said is not None:
            found = self._run(cypher.LATEST_SAID, said=said, t=self._counter)[0]
            self._t, all_shown = found["t"], found["all_shown"]
        self._before = statement_key(self._t + 1, 0)
        self._horizon = {
            "t": self._t,
            "before": self._before,
            "dated": not all_shown,
            "said": said or 0,
            "now": expired_by,
            "withdrawn_by": -1 if horizon.withdrawn else self._t,
            # Whether nothing is hidden but by its t.
            "plain": all_shown and not state["hides"],
        }
        vector_bytes = mapping_of(state["vector_bytes"])
        # Of a node that is being written, the model may be read without its size.
        model = state["model"] if state["model"] in vector_bytes else None
        vectors = model, state["origin"], state["revision"]
        self.state = state_of(self._t, vector_bytes, state["vocabulary"], *vectors)

    def together(self, *reads: Callable[[GraphReader], Any]) -> list[Any]:
        if self._answers is not None:
            return results_of(reads, self)
        recorder = copy(self)
        recorder._answers = answers = Answers(self._run_ask)
        while True:
            try:
                return results_of(reads, recorder)
            except UnansweredError:
                answers.read()

    def passages(
        self,
        where: Filter = _EVERY,
        *,
        ids: Collection[str] | None = None,
        limit: int | None = None,
        likely: Mapping[tuple[str, ...], Scalar] | None = None,  # noqa: ARG002 - no index has them
    ) -> list[Passage]:
        conditions = _filter(where)
        # Where the search enters the graph: the narrowest that an index knows.
        index: str = "t"
        entry: str | list[str] = ""
        if ids is not None:
            index, entry = "ids", keys_of(ids)
        elif where.key is not None:
            index, entry = "item", conditions["items"][0]
        elif where.path is not None:
            index, entry = "path", conditions["paths"][0]
        elif conditions["lanes"]:
            index, entry = "session", conditions["lanes"][0]
        given = {"entry": entry, "limit": _bound(limit), **self._within(conditions)}
        return self._ask_for(passage_in, cypher.PASSAGES[index], **given)

    def paths(self) -> list[tuple[str, ...]]:
        return sorted(tuple(row["path"]) for row in self._ask(cypher.PATHS, root=path_key(())))

    def t_indexes(self, where: Filter) -> list[int]:
        found = self._ask(cypher.T_INDEXES, **self._within(_filter(where)))
        return [row["t"] for row in found]

    def sessions(self) -> list[Session]:
        return [session_of(*row["session"]) for row in self._ask(cypher.SESSIONS)]

    def open_session(self) -> OpenSession | None:
        for row in self._ask(cypher.OPEN_SESSION, key=self._key):
            return open_session_of(*row["open_session"])
        return None

    def statement_keys(
        self, *, embedded: bool, after: int = -1, limit: int | None = None
    ) -> list[int]:
        given = {"embedded": embedded, "after": after, "limit": _bound(limit)}
        found = self._ask(cypher.STATEMENT_KEYS, **given)
        return [row["key"] for row in found]

    def statements(self, keys: Collection[int], *, ahead: int = 0) -> list[StoredStatement]:
        known = sorted(key for key in set(keys) if key < self._before)
        if not known:
            return []
        if ahead:
            return self._ask_for(statement_in, cypher.SURROUNDINGS, keys=known, ahead=ahead)
        return self._ask_for(statement_in, cypher.STATEMENTS, keys=known)

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter, keys_only: bool = False
    ) -> Mapping[str, Postings]:
        given = {"stems": keys_of(stems), "limit": limit, **_filter(where)}
        found = dict(self._ask_for(postings_in, POSTINGS, **given))
        if not keys_only:
            return found
        return {stem: replace(each, counts=(), sessions=()) for stem, each in found.items()}

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Mentions]:
        given = {"names": keys_of(names), "limit": _bound(limit), **_filter(where)}
        return dict(self._ask_for(mentions_in, MENTIONS, **given))

    def concepts(
        self, names: Collection[str] | None = None, *, limit: int | None = None
    ) -> list[ConceptRow]:
        found = (
            self._ask(graph_queries.CONCEPTS_LATEST, limit=_bound(limit))
            if names is None
            else self._ask(graph_queries.CONCEPTS_NAMED, names=keys_of(names))
        )
        in_force = {
            row["totals"][0]: (summary_in(row["summary"]), row["later"])
            for row in found
            if row["summary"] is not None
        }
        return concept_rows(
            {name: ConceptTotals(*totals) for name, *totals in (row["totals"] for row in found)},
            self._t,
            limit,
            lambda names: counted_in(self._ask(lookups.COUNT_TOUCHES, names=keys_of(names))),
            lambda _: in_force,
        )

    def relations(
        self, names: Collection[str], *, limit: int | None = None, among: bool = False
    ) -> list[Relation]:
        given: dict[str, Any] = {"names": keys_of(names)}
        if not among:
            given["limit"] = _bound(limit)
        query = graph_queries.RELATIONS_AMONG if among else graph_queries.RELATIONS
        relations = self._ask_for(lambda row: Relation(**row), query, **given)
        return sorted(relations, key=attrgetter("a", "b"))

    def entities(
        self,
        ids: Collection[str] | None = None,
        *,
        concepts: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Entity]:
        entities = self._ask(
            graph_queries.ENTITIES,
            ids=keys_of(ids or ()),
            concepts=keys_of(concepts or ()),
            passages=keys_of(passages or ()),
            all=ids is None and concepts is None and passages is None,
        )
        return sorted((Entity(**fields_in(row)) for row in entities), key=attrgetter("id"))

    def triplets(
        self,
        *,
        subjects: Collection[str] | None = None,
        predicates: Collection[str] | None = None,
        objects: Collection[str] | None = None,
        ends: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Triplet]:
        given = {
            "passages": passages,
            "subjects": subjects,
            "objects": objects,
            "ends": ends,
            "predicates": predicates,
        }
        conditions = {name: keys_of(names or ()) for name, names in given.items()}
        wanted = {f"by_{name}": names is not None for name, names in given.items()}
        by_index = subjects is not None, predicates is not None, objects is not None
        query = graph_queries.TRIPLETS[by_index]
        if passages is not None:
            query = graph_queries.TRIPLETS_OF_PASSAGES
        elif ends is not None and subjects is None and objects is None:
            query = graph_queries.TRIPLETS_AT
        triplets = self._ask(query, **conditions, **wanted)
        return sorted((Triplet(**fields_in(row)) for row in triplets), key=by_parts)

    def triplet_evidence(
        self,
        *,
        subjects: Collection[str] | None = None,
        predicates: Collection[str] | None = None,
        objects: Collection[str] | None = None,
        limit: int | None = None,
    ) -> list[TripletEvidence]:
        given = subjects is not None, predicates is not None, objects is not None
        evidence = self._ask_for(
            evidence_in,
            graph_queries.TRIPLET_EVIDENCE[given],
            subjects=keys_of(subjects or ()),
            predicates=keys_of(predicates or ()),
            objects=keys_of(objects or ()),
            limit=_bound(limit),
        )
        return latest_first(evidence, limit)

    def predicates(self) -> Mapping[str, int]:
        found = self._ask(graph_queries.PREDICATES)
        return dict(sorted((row["predicate"], row["triplets"]) for row in found))

    def entities_by_words(
        self, words: Collection[str], *, limit: int
    ) -> Mapping[str, tuple[str, ...]]:
        by_key = {key_of(word): word for word in words}
        given = {"words": list(by_key), "limit": _bound(limit)}
        found = self._ask(graph_queries.ENTITIES_BY_WORDS, **given) if by_key else []
        return bearers_of((by_key[row["word"]], row["id"]) for row in found)

    def sizes(self, session_keys: Collection[str] = ()) -> Sizes:
        totals = dict(self._ask(cypher.SIZES, lanes=keys_of(session_keys))[0])
        by_session = totals.pop("by_session")
        # A node that is being written may be read half old, half new; two equal reads are complete.
        holds = totals == self._opened_totals and totals["t"] <= self._t
        corpus = totals if holds else self._counted_corpus(totals)
        return sizes_of((corpus[name] for name in _CORPUS), map(tuple, by_session))

    def _counted_corpus(self, totals: Mapping[str, int]) -> Mapping[str, int]:
        """The size of the corpus of this view, counted from the nearer end. ``totals`` are the
        latest t of the namespace, and the size of its corpus at that t."""
        t = totals["t"]
        if t < 2 * self._t:
            found = self._ask(cypher.CORPUS_WITHOUT_LATER, after=statement_key(t + 1, 0))[0]
            if all(found[name] == totals[name] for name in ("t", "statements", "terms")):
                return {
                    "statements": found["statements"] - found["later_statements"],
                    "terms": found["terms"] - found["later_terms"],
                    "sessions": found["sessions"],
                }
        return self._ask(cypher.CORPUS_COUNTED)[0]

    def vectors(
        self,
        keys: Collection[int] | None = None,
        *,
        model: str,
        after: int = -1,
        limit: int | None = None,
    ) -> Mapping[int, bytes]:
        if keys is None:
            found = self._ask(cypher.VECTORS_AFTER, model=model, after=after, limit=_bound(limit))
        else:
            known = sorted(key for key in set(keys) if key < self._before)
            found = self._ask(cypher.VECTORS, keys=known, model=model) if known else []
        return {row["key"]: row["blob"] for row in found}

    def entity_vectors(
        self, ids: Collection[str] | None = None, *, model: str
    ) -> Mapping[str, bytes]:
        found = self._ask(
            graph_queries.ENTITY_VECTORS,
            ids=keys_of(ids or ()),
            all=ids is None,
            model=key_of(model),
        )
        return {row["id"]: row["blob"] for row in found}

    def stats(self) -> Stats:
        every = {"t": self._counter, "before": statement_key(self._counter + 1, 0)}
        return Stats(t_index=self._t, **self._ask(cypher.STATS, **every)[0])

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        return dump(partial(self._ask, t=self._counter))

    def _within(self, conditions: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of a filter, with its bounds of t within the view."""
        after = t_index_of(conditions["since_key"]) - 1
        last = min(self._t, t_index_of(conditions["until_key"]) - 1)
        return {**conditions, "after": after, "last": last}

    def _ask(self, query: LiteralString, **parameters: Any) -> list[Row]:
        """Run a query within the horizon; the rows that are complete."""
        return self._answer(Ask(query, parameters))

    def _ask_for(
        self, convert: Callable[[Row], Result], query: LiteralString, **parameters: Any
    ) -> list[Result]:
        """Run a query within the horizon; what ``convert`` makes of each complete row."""
        return self._answer(Ask(query, parameters, convert))

    def _answer(self, ask: Ask) -> list[Any]:
        if self._answers is not None:
            return self._answers.of(ask)
        return ask.answer(complete_rows(lambda: [self._run_ask(ask.query, ask.parameters)])[0])

    def _run_ask(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Row]:
        return self._run(query, **{**self._horizon, **parameters})

    def _run(self, query: LiteralString, **parameters: Any) -> list[Row]:
        return self._connection.rows(query, {"namespace": self._rows, **parameters})


def _bound(limit: int | None) -> int:
    """The parameter ``$limit`` of a query."""
    return LARGEST_NUMBER if limit is None else min(limit, LARGEST_NUMBER)


def passage_in(row: Row) -> Passage:
    """The passage of a row of ``PASSAGES``."""
    node = row["passage"]
    return Passage(**passage_fields(node, node.get("path") or ()))


def _first_key(t_index: int) -> int:
    return min(statement_key(t_index, 0), LARGEST_NUMBER)


def _filter(where: Filter) -> dict[str, Any]:
    """The parameters of the condition that statements must meet."""
    since, until = where.since, where.until
    return {
        "filtered": bool(where),
        "since_key": _first_key(since) if isinstance(since, int) else 0,
        "until_key": _first_key(until + 1) if isinstance(until, int) else LARGEST_NUMBER,
        "timed": isinstance(since, datetime) or isinstance(until, datetime),
        "since_said": microseconds(since) if isinstance(since, datetime) else -LARGEST_NUMBER,
        "until_said": microseconds(until) if isinstance(until, datetime) else LARGEST_NUMBER,
        "lanes": [key_of(where.session_key)] if where.session_key else [],
        "sessionless": where.session_key == NO_SESSION,
        "speakers": [] if where.speaker is None else [where.speaker],
        "metadata": metadata_entries(where.metadata),
        "paths": [] if where.path is None else [path_key(where.path)],
        "items": [] if where.key is None else [item_key(where.path or (), where.key)],
    }
