"""``Neo4jReader``: a view of one namespace within a horizon."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import partial
from typing import Any, LiteralString

from recallm.model import (
    LARGEST_NUMBER,
    NO_SESSION,
    Filter,
    Horizon,
    Passage,
    Postings,
    PreparedUpdate,
    Scalar,
    Sizes,
    Stats,
    StoredStatement,
    Summary,
    statement_key,
    t_index_of,
)
from recallm.stores.base import GraphReader
from recallm.stores.cypher import lookups
from recallm.stores.cypher import reader_queries as cypher
from recallm.stores.cypher.graph_queries import QUERIES, hint
from recallm.stores.cypher.postings import MENTIONS, POSTINGS
from recallm.stores.neo4j import values
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.joining import Answers, Ask, UnansweredError
from recallm.stores.neo4j.stored import dump
from recallm.stores.semantics import reading
from recallm.stores.semantics.reader import Reader, with_parts
from recallm.stores.semantics.rows import ConceptTotals, microseconds

_EVERY = Filter()


class Neo4jReader(Reader):
    """A ``GraphReader``. Every call is a read transaction of its own, tried again after transient
    errors. Updates that were written after the reader was opened have a later t, which hides them.
    """

    def __init__(self, connection: Connection, namespace: str, horizon: Horizon) -> None:
        self._connection = connection
        self._answers: Answers | None = None
        """Of a reader that records what is asked (``together``)."""
        self._key = values.key_of(namespace)
        self._horizon: dict[str, Any] = {}
        as_of, now = horizon.as_of, horizon.now
        said = microseconds(as_of) if isinstance(as_of, datetime) else None
        expired_by = values.moment_of(now)
        latest_t = min(as_of, LARGEST_NUMBER) if isinstance(as_of, int) else LARGEST_NUMBER
        opened = {
            "key": self._key,
            "now": expired_by,
            "withdrawn_by": -1 if horizon.withdrawn else latest_t,
        }
        [(self._rows, hides, totals, sizes, vocabulary, vectors)] = connection.rows(
            cypher.OPEN, opened
        )
        self._opened_totals: list[int] = totals
        self._counter = totals[0]
        self._t: int = min(as_of, self._counter) if isinstance(as_of, int) else self._counter
        all_shown = True
        if said is not None:
            given = {"said": said, "t": self._counter}
            [(self._t, all_shown)] = self._run(cypher.LATEST_SAID, given)
        self._before = statement_key(self._t + 1, 0)
        self._horizon = {
            "key": self._key,
            "t": self._t,
            "before": self._before,
            "dated": not all_shown,
            "said": said or 0,
            "now": expired_by,
            "withdrawn_by": -1 if horizon.withdrawn else self._t,
            # Whether nothing is hidden but by its t.
            "plain": all_shown and not hides,
        }
        vector_bytes = reading.mapping_of(sizes)
        model, origin, revision = vectors
        # Of a node that is being written, the model may be read without its size.
        model = model if model in vector_bytes else None
        self.state = reading.state_of(self._t, vector_bytes, vocabulary, model, origin, revision)

    def together(self, *reads: Callable[[GraphReader], Any]) -> list[Any]:
        if self._answers is not None:
            return self._answers.of_all(reads, self)
        recorder = copy(self)
        recorder._answers = answers = Answers(self._run)
        while True:
            try:
                return answers.of_all(reads, recorder)
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
            index, entry = "ids", values.keys_of(ids)
        elif where.key is not None:
            index, entry = "item", conditions["items"][0]
        elif where.path is not None:
            index, entry = "path", conditions["paths"][0]
        elif conditions["lanes"]:
            index, entry = "session", conditions["lanes"][0]
        given = {"entry": entry, "limit": _bound(limit), **self._within(conditions)}
        return self._ask(cypher.PASSAGES[index], values.passage_in, **given)

    def paths(self) -> list[tuple[str, ...]]:
        return sorted(self._ask(cypher.PATHS, tuple, root=values.path_key(())))

    def t_indexes(self, where: Filter) -> list[int]:
        return self._ask(cypher.T_INDEXES, **self._within(_filter(where)))

    def statements(self, keys: Collection[int], *, ahead: int = 0) -> list[StoredStatement]:
        known = sorted(key for key in set(keys) if key < self._before)
        if not known:
            return []
        return self._ask(cypher.STATEMENTS, values.statement_in, keys=known, ahead=ahead)

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        given = {"names": values.keys_of(stems), "limit": limit, **_filter(where)}
        return dict(self._ask(POSTINGS, values.postings_in, **given))

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Postings]:
        given = {"names": values.keys_of(names), "limit": _bound(limit), **_filter(where)}
        return dict(self._ask(MENTIONS, values.postings_in, **given))

    def count_touches(self, names: Collection[str]) -> dict[str, ConceptTotals]:
        return values.counted_in(self._ask(lookups.COUNT_TOUCHES, names=values.keys_of(names)))

    def ask(self, query: str, /, **given: Any) -> list[Any]:
        known = {
            name: values.parameter(value) for name, value in given.items() if value is not None
        }
        if query == "entity vectors":
            known["model"] = values.key_of(given["model"])
        names = frozenset(known)
        text = QUERIES[query].replace("{{HINT}}", hint(names))
        rows = self._ask(with_parts(text, names), _flat, **known)
        if query == "bearers":
            words = {values.key_of(word): word for word in given["words"]}
            return [(words[key], id) for key, id in rows]
        return rows

    def sizes(self, session_keys: Collection[str] = ()) -> Sizes:
        [(totals, by_session)] = self._ask(cypher.SIZES, lanes=values.keys_of(session_keys))
        # A node that is being written may be read half old, half new; two equal reads are complete.
        holds = totals == self._opened_totals and totals[0] <= self._t
        corpus = totals[1:] if holds else self._counted_corpus(*totals)
        return reading.sizes_of(corpus, map(tuple, by_session))

    def _counted_corpus(self, t: int, statements: int, terms: int, _: int) -> Sequence[int]:
        """The size of the corpus of this view, counted from the nearer end. Given are the latest t
        of the namespace, and the size of its corpus at that t."""
        if t < 2 * self._t:
            later: dict[str, Any] = {"first": self._before, "end": statement_key(t + 1, 0)}
            found = self._ask(cypher.CORPUS, **later)
            [(totals, later_statements, later_terms, sessions)] = found
            if totals[:3] == [t, statements, terms]:
                return statements - later_statements, terms - later_terms, sessions
        [(_, *counted)] = self._ask(cypher.CORPUS, first=0, end=self._before)
        return tuple(counted)

    def stats(self) -> Stats:
        every: dict[str, Any] = {"t": self._counter, "before": statement_key(self._counter + 1, 0)}
        return Stats(t_index=self._t, **self._ask(cypher.STATS, **every)[0])

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        return dump(partial(self._ask, t=self._counter))

    def _within(self, conditions: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of a filter, with its bounds of t within the view."""
        after = t_index_of(conditions["since_key"]) - 1
        last = min(self._t, t_index_of(conditions["until_key"]) - 1)
        return {**conditions, "after": after, "last": last}

    def _ask(
        self,
        query: LiteralString,
        convert: Callable[[Any], Any] = lambda row: row,
        **parameters: Any,
    ) -> list[Any]:
        """Run a query within the horizon; what ``convert`` makes of each complete row."""
        ask = Ask(query, parameters, convert)
        if self._answers is not None:
            return self._answers.of(ask)
        return Answers(self._run).read_now([ask])[0]

    def _run(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Any]:
        given = {"namespace": self._rows, **self._horizon, **parameters}
        return self._connection.rows(query, given)


def _flat(row: list[Any]) -> list[Any]:
    """A row with what may be null in it, which stands in a list at its end."""
    return [*row[:-1], *row[-1]]


def _bound(limit: int | None) -> int:
    """The parameter ``$limit`` of a query."""
    return LARGEST_NUMBER if limit is None else min(limit, LARGEST_NUMBER)


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
        "lanes": [values.key_of(where.session_key)] if where.session_key else [],
        "sessionless": where.session_key == NO_SESSION,
        "speakers": [] if where.speaker is None else [where.speaker],
        "metadata": values.metadata_entries(where.metadata),
        "paths": [] if where.path is None else [values.path_key(where.path)],
        "items": [] if where.key is None else [values.item_key(where.path or (), where.key)],
    }
