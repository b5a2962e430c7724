"""``Neo4jReader``: a view of one namespace within a horizon.

**Several reads in one round trip.** ``reader.together(a, b)`` calls the functions with a recorder
of queries. A function that asks a query without a known answer ends there (``UnansweredError``),
and the next function begins. Then one joined query answers all recorded ones, and the functions are
called again, which now come further.

**Torn reads.** Neo4j reads what is committed at the moment of reading. A node that a query matched
may be deleted before the query reads its properties, which are null then. Where a row that is a
list has a null, all rows are read again: what may be null stands in a list or a map within the row.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import Any, LiteralString, NamedTuple, TypeAlias

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
    statement_key,
)
from recallm.stores.base import GraphReader
from recallm.stores.neo4j import reader_queries as cypher
from recallm.stores.neo4j import values
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.queries import QUERIES
from recallm.stores.neo4j.rows import COUNT_TOUCHES
from recallm.stores.semantics import reading
from recallm.stores.semantics.reading import Reader, literal, with_parts
from recallm.stores.semantics.rows import ConceptTotals, microseconds

_EVERY = Filter()

_READS = 8
_PAUSE = 0.0005
"""Half of the seconds before the second read, twice as long before each later one: a commit ends
meanwhile."""

Run: TypeAlias = Callable[[LiteralString, Mapping[str, Any]], list[Any]]
"""Runs a query with parameters; the rows."""


class UnansweredError(Exception):
    """The answer of a query is not known yet: it is asked with the next round."""


class Ask(NamedTuple):
    """A query with its own parameters, and what a reader needs of a row."""

    query: LiteralString
    parameters: Mapping[str, Any]
    convert: Callable[[Any], Any]


class Neo4jReader(Reader):
    """A ``GraphReader``. Every call is a read transaction of its own, tried again after transient
    errors. Updates that were written after the reader was opened have a later t, which hides them.
    """

    def __init__(self, connection: Connection, namespace: str, horizon: Horizon) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str], list[Any]] | None = None
        """The answers that a reader has which records what it is asked (``together``)."""
        self._wanted: dict[tuple[str, str], Ask] = {}
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
        [(self._rows, hides, totals, sizes, vocabulary, vectors, session)] = connection.rows(
            cypher.OPEN, opened
        )
        self.opened = session
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
        recorder = self
        if self._known is None:
            recorder = copy(self)
            recorder._known, recorder._wanted = {}, {}
        while True:
            results: list[Any] = []
            for read in reads:
                with suppress(UnansweredError):
                    results.append(read(recorder))
            if len(results) == len(reads):
                return results
            if recorder is self or recorder._known is None:
                raise UnansweredError
            wanted, recorder._wanted = recorder._wanted, {}
            answers = answers_of([*wanted.values()], self._run)
            recorder._known.update(zip(wanted, answers, strict=True))

    def passages(
        self,
        where: Filter = _EVERY,
        *,
        ids: Collection[str] | None = None,
        limit: int | None = None,
        likely: Mapping[tuple[str, ...], Scalar] | None = None,  # noqa: ARG002 - no index has them
    ) -> list[Passage]:
        conditions = self._conditions(where)
        # Where the search enters the graph: the narrowest that an index knows.
        index, entries = "t", []
        if ids is not None:
            index, entries = "id_key", values.keys_of(ids)
        elif conditions["items"]:
            index, entries = "item_key", conditions["items"]
        elif conditions["paths"]:
            index, entries = "path", conditions["paths"]
        elif conditions["lanes"]:
            index, entries = "lane", conditions["lanes"]
        given = {"entries": entries, "limit": _bound(limit), **conditions}
        return self._ask(cypher.PASSAGES[index], values.passage_in, **given)

    def paths(self) -> list[tuple[str, ...]]:
        return sorted(self._ask(cypher.PATHS, tuple, root=values.path_key(())))

    def t_indexes(self, where: Filter) -> list[int]:
        return self._ask(cypher.T_INDEXES, limit=LARGEST_NUMBER, **self._conditions(where))

    def statements(self, keys: Collection[int], *, ahead: int = 0) -> list[StoredStatement]:
        known = sorted(key for key in set(keys) if key < self._before)
        if not known:
            return []
        return self._ask(cypher.STATEMENTS, values.statement_in, keys=known, ahead=ahead)

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        return self._postings(values.stem_key, stems, limit, where)

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Postings]:
        return self._postings(values.key_of, names, limit, where)

    def _postings(
        self,
        key_of: Callable[[str], str],
        names: Collection[str],
        limit: int | None,
        where: Filter,
    ) -> dict[str, Postings]:
        lists = sorted({*map(key_of, names)})
        given = {"lists": lists, "limit": _bound(limit), **self._conditions(where)}
        return dict(self._ask(cypher.POSTINGS, values.postings_in, **given))

    def count_touches(self, names: Collection[str]) -> dict[str, ConceptTotals]:
        return values.counted_in(self._ask(COUNT_TOUCHES, names=values.keys_of(names)))

    def ask(self, query: str, /, **given: Any) -> list[Any]:
        if query == "summaries":
            given["t"] = self._counter
        known = {
            name: values.parameter(value) for name, value in given.items() if value is not None
        }
        if query == "entity vectors":
            known["model"] = values.key_of(given["model"])
        text = with_parts(QUERIES[query], frozenset(known))
        rows = self._ask(text, _flat, **known)
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

    def page_of_updates(self, after: int, limit: int) -> list[PreparedUpdate]:
        """Other writers may forget while updates are read: two equal reads are complete. From the
        first update on that was forgotten, cut or joined meanwhile, the page is read again."""
        given: dict[str, Any] = {"t": self._counter, "after": after, "limit": limit}
        while found := self._ask(cypher.UPDATES, **given):
            pairs = zip(found, self._ask(cypher.UPDATES, **given), strict=False)
            stable = takewhile(lambda pair: pair[0] == pair[1], pairs)
            if updates := [values.update_in(row) for row, _ in stable]:
                return updates
        return []

    def _conditions(self, where: Filter) -> dict[str, Any]:
        """The parameters of the condition that statements and passages must meet."""
        since, until = where.since, where.until
        return {
            "filtered": bool(where),
            "after": min(since, self._t + 1) - 1 if isinstance(since, int) else -1,
            "last": min(until, self._t) if isinstance(until, int) else self._t,
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

    def _ask(
        self,
        query: LiteralString,
        convert: Callable[[Any], Any] = lambda row: row,
        **parameters: Any,
    ) -> list[Any]:
        """Run a query within the horizon; what ``convert`` makes of each complete row."""
        ask = Ask(query, parameters, convert)
        if self._known is None:
            return answers_of([ask], self._run)[0]
        key = query, repr(parameters)
        if key not in self._known:
            self._wanted[key] = ask
            raise UnansweredError
        return list(self._known[key])

    def _run(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Any]:
        given = {"namespace": self._rows, **self._horizon, **parameters}
        return self._connection.rows(query, given)


def _flat(row: list[Any]) -> list[Any]:
    """A row with what may be null in it, which stands in a list at its end."""
    return [*row[:-1], *row[-1]]


def _bound(limit: int | None) -> int:
    """The parameter ``$limit`` of a query."""
    return LARGEST_NUMBER if limit is None else min(limit, LARGEST_NUMBER)


def answers_of(asks: Sequence[Ask], run: Run) -> list[list[Any]]:
    """What the complete rows of each query say, in one round trip.

    If a row is incomplete, all rows are read again, at most ``_READS`` times: other rows may have
    values that were computed from the deleted node. The rows that are still incomplete after the
    last read are left out.
    """
    found: list[list[Any]] = []
    for turn in range(_READS):
        if turn:
            time.sleep(_PAUSE * 2**turn)
        found = _rows(asks, run)
        if all(_is_complete(row) for rows in found for row in rows):
            break
    return [
        [ask.convert(row) for row in rows if _is_complete(row)]
        for ask, rows in zip(asks, found, strict=True)
    ]


def _rows(asks: Sequence[Ask], run: Run) -> list[list[Any]]:
    if len(asks) == 1:
        return [run(asks[0].query, asks[0].parameters)]
    query = _joined(tuple((ask.query, tuple(ask.parameters)) for ask in asks))
    parameters = {
        f"{name}_{place}": value
        for place, ask in enumerate(asks)
        for name, value in ask.parameters.items()
    }
    rows: list[list[Any]] = run(query, parameters)[0]
    return rows


def _is_complete(row: Any) -> bool:
    return None not in row if isinstance(row, list) else row is not None


@cache
def _joined(asks: tuple[tuple[LiteralString, tuple[LiteralString, ...]], ...]) -> LiteralString:
    """One query that answers all ``asks`` (query, names of its own parameters): its row has the
    list of the rows of each."""
    parts: list[str] = []
    columns: list[str] = []
    for place, (query, names) in enumerate(asks):
        own = re.sub(rf"\$({'|'.join(names)})\b", rf"$\1_{place}", query) if names else query
        parts.append(f"CALL () {{\nCALL () {{{own}}}\nRETURN collect(row) AS rows_{place}\n}}\n")
        columns.append(f"rows_{place}")
    return literal("".join(parts) + "RETURN [" + ", ".join(columns) + "] AS row")
