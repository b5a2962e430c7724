"""How much there is in a view: what has expired, or was said after a datetime ``as_of``, counts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, LiteralString

from recallm.model import CorpusSize, SessionSize, Stats
from recallm.stores.sqlite.lookup import fetch_by, read_by
from recallm.stores.sqlite.relations import relation_count
from recallm.stores.sqlite.view import View

__all__ = ["counted", "read_corpus", "read_sessions", "read_stats"]

_TOUCHED: LiteralString = (
    " AND (EXISTS (SELECT 1 FROM mention WHERE ns = c.ns AND concept = c.id{counted})"
    " OR EXISTS (SELECT 1 FROM entity e JOIN entity_evidence v ON v.ns = e.ns"
    " AND v.entity = e.number WHERE e.ns = c.ns AND e.concept = c.id{counted}))"
)
_END_SHOWN: LiteralString = (
    " AND EXISTS (SELECT 1 FROM entity_evidence WHERE ns = n.ns AND entity = n.{end}{counted})"
)


def read_corpus(view: View) -> CorpusSize:
    """The size of the namespace, for ``GraphReader.sizes``."""
    totals = view.totals
    if not view.is_present:
        (totals,) = view.rows(
            "SELECT count(*), coalesce(sum(length), 0),"
            " count(DISTINCT CASE WHEN session > 0 THEN session END)"
            " FROM statement INDEXED BY statement_session WHERE ns = ?" + view.counted_sql,
            (view.ns, *view.counted_values),
        )
    return CorpusSize(statements=totals[0], terms=totals[1], sessions=totals[2])


def read_sessions(view: View, session_keys: Collection[str]) -> dict[str, SessionSize]:
    """The sizes of sessions, for ``GraphReader.sizes``."""
    keys = set(session_keys)
    rows: list[tuple[Any, ...]]
    if view.is_present:
        rows = [
            row[2:]
            for row in read_by(
                view.rows, "session", "SELECT {} FROM session WHERE ns = ? AND key IN", keys,
                "AND statements > 0", lead=(view.ns,),
            )
        ]  # fmt: skip
    else:
        rows = fetch_by(
            view.rows,
            "SELECT x.key, count(*), sum(length) FROM session x JOIN statement s"
            " INDEXED BY statement_session ON s.ns = x.ns AND s.session = x.id"
            " WHERE x.ns = ? AND x.key IN",
            keys,
            view.counted_sql + " GROUP BY x.key",
            lead=(view.ns,),
            tail=view.counted_values,
        )
    return {
        key: SessionSize(statements=statements, terms=terms)
        for key, statements, terms in sorted(rows)
    }


def counted(view: View, source: LiteralString, values: tuple[Any, ...], total: int) -> int:
    """How many of the ``total`` rows of ``source`` (a table with its WHERE) count."""
    if view.is_present:
        return total
    (later,) = view.rows(
        "SELECT count(*) FROM " + source + " AND at >= ?", values + view.counted_values
    )[0]
    return total - int(later)


def read_stats(view: View) -> Stats:
    """``GraphReader.stats``."""
    corpus = read_corpus(view)
    counted_sql, values = view.counted_sql, view.counted_values

    def count(sql: LiteralString, *values: Any) -> int:
        return int(view.rows(sql, (view.ns, *values))[0][0])

    if view.is_present:
        entities = count("SELECT count(*) FROM entity WHERE ns = ?")
        concepts = count("SELECT count(*) FROM concept WHERE ns = ?")
        triplets = count("SELECT count(*) FROM triplet WHERE ns = ?")
    else:
        entities = count(
            "SELECT count(DISTINCT entity) FROM entity_evidence WHERE ns = ?" + counted_sql, *values
        )
        counted_concept_sql: LiteralString = _TOUCHED.replace("{counted}", counted_sql)
        concepts = count(
            "SELECT count(*) FROM concept c WHERE ns = ?" + counted_concept_sql, *values, *values
        )
        ends: LiteralString = _END_SHOWN.replace("{end}", "subject")
        ends += _END_SHOWN.replace("{end}", "object")
        triplets = count(
            "SELECT count(*) FROM triplet n WHERE ns = ? AND EXISTS (SELECT 1 FROM"
            " triplet_evidence WHERE ns = n.ns AND triplet = n.number" + counted_sql + ")"
            + ends.replace("{counted}", counted_sql),
            *values, *values, *values,
        )  # fmt: skip
    return Stats(
        t_index=view.t_index,
        passages=count(
            "SELECT count(*) FROM passage INDEXED BY passage_t WHERE ns = ? AND t <= ?",
            view.ceiling,
        ),
        statements=corpus.statements,
        concepts=concepts,
        relations=relation_count(view),
        entities=entities,
        triplets=triplets,
        summaries=count(
            "SELECT count(DISTINCT concept) FROM summary WHERE ns = ? AND t_index <= ?",
            view.ceiling,
        ),
        vectors=count("SELECT count(*) FROM vector WHERE ns = ?" + counted_sql, *values),
        sessions=corpus.sessions,
    )
