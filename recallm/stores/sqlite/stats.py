"""How much there is in a view: what a horizon hides up to the view's t counts."""

from __future__ import annotations

from collections.abc import Collection
from typing import LiteralString

from recallm.model import CorpusSize, SessionSize, Sizes, Stats
from recallm.stores.sqlite.view import TOUCHED, View

__all__ = ["read_sizes", "read_stats"]

_CORPUS: LiteralString = (
    "SELECT count(*), coalesce(sum(length), 0),"
    " count(DISTINCT CASE WHEN session > 0 THEN session END)"
    " FROM statement INDEXED BY statement_session WHERE ns = :ns AND at < :end"
)
_SESSIONS: LiteralString = (
    "SELECT x.key, count(*), sum(length) FROM session x JOIN statement s"
    " INDEXED BY statement_session ON s.ns = x.ns AND s.session = x.id"
    " WHERE x.ns = :ns AND x.key IN {list} AND at < :end GROUP BY x.key"
)

_OF_PRESENT: dict[str, LiteralString] = {
    "concepts": "SELECT count(*) FROM concept WHERE ns = :ns",
    "relations": "SELECT count(*) / 2 FROM neighbour WHERE ns = :ns",
    "entities": "SELECT count(*) FROM element WHERE ns = :ns AND id IS NOT NULL",
    "triplets": "SELECT count(*) FROM element WHERE ns = :ns AND subject IS NOT NULL",
    "vectors": "SELECT count(*) FROM vector WHERE ns = :ns",
}
_SHOWN: LiteralString = (
    " AND EXISTS (SELECT 1 FROM element_evidence WHERE ns = n.ns AND element = n.{} AND at < :end)"
)
_OF_PAST: dict[str, LiteralString] = {
    "concepts": "SELECT count(*) FROM concept c WHERE ns = :ns"
    + TOUCHED.replace("{visible}", " AND at < :end"),
    "relations": "SELECT count(*) FROM"
    " (SELECT DISTINCT a, b FROM evidence WHERE ns = :ns AND shown <= :last)",
    "entities": "SELECT count(*) FROM element n WHERE ns = :ns AND id IS NOT NULL"
    + _SHOWN.replace("{}", "number"),
    "triplets": "SELECT count(*) FROM element n WHERE ns = :ns AND subject IS NOT NULL"
    + _SHOWN.replace("{}", "number")
    + _SHOWN.replace("{}", "subject")
    + _SHOWN.replace("{}", "object"),
    "vectors": "SELECT count(*) FROM vector WHERE ns = :ns AND at < :end",
}
_OF_BOTH: dict[str, LiteralString] = {
    "passages": "SELECT count(*) FROM passage INDEXED BY passage_t WHERE ns = :ns AND t <= :last",
    "summaries": "SELECT count(*) FROM summary WHERE ns = :ns AND t_index <= :last",
}
"""Queries by the field of `Stats` that they count."""


def read_corpus(view: View) -> CorpusSize:
    """The size of the namespace."""
    statements, terms, sessions = view.totals if view.is_present else view.rows(_CORPUS)[0]
    return CorpusSize(statements=statements, terms=terms, sessions=sessions)


def read_sizes(view: View, session_keys: Collection[str]) -> Sizes:
    """``GraphReader.sizes``."""
    keys = set(session_keys)
    if view.is_present:
        sql: LiteralString = "SELECT {} FROM session WHERE ns = :ns AND key IN {list}"
        rows = [row[2:] for row in view.read("session", sql + " AND statements > 0", keys)]
    else:
        rows = view.rows(_SESSIONS, keys)
    return Sizes(
        corpus=read_corpus(view),
        sessions={
            key: SessionSize(statements=statements, terms=terms)
            for key, statements, terms in sorted(rows)
        },
    )


def read_stats(view: View) -> Stats:
    """``GraphReader.stats``."""
    corpus = read_corpus(view)
    queries = _OF_BOTH | (_OF_PRESENT if view.is_present else _OF_PAST)
    counts = {field: view.rows(sql)[0][0] for field, sql in queries.items()}
    return Stats(
        t_index=view.state.t_index,
        statements=corpus.statements,
        sessions=corpus.sessions,
        **counts,
    )
