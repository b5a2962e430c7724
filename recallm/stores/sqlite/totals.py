"""How much there is: concepts counted from what touches them, sizes, statistics.

What a horizon hides up to the view's t counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, LiteralString

from recallm.model import Sizes, Stats, t_index_of
from recallm.stores.semantics.reading import sizes_of
from recallm.stores.semantics.rows import ConceptTotals
from recallm.stores.sqlite.schema import end_keys, unpack_mentions
from recallm.stores.sqlite.view import Queries, View

_TOUCHES: LiteralString = (
    "WITH every (concept, at, entity) AS ("
    " SELECT c.name, k.value, NULL FROM concept c CROSS JOIN json_each(keys_in(c.newest)) k"
    " WHERE c.ns = :ns AND c.name IN {list} UNION ALL"
    " SELECT c.name, k.value, NULL FROM concept c CROSS JOIN concept_block b ON b.ns = c.ns"
    "  AND b.owner = c.id CROSS JOIN json_each(keys_in(b.blob)) k"
    " WHERE c.ns = :ns AND c.name IN {list} UNION ALL"
    " SELECT c.name, at, e.id FROM concept c CROSS JOIN element e"
    " ON e.ns = c.ns AND e.concept = c.name CROSS JOIN element_evidence v"
    " ON v.ns = e.ns AND v.element = e.number WHERE c.ns = :ns AND c.name IN {list}),"
    " touch AS (SELECT * FROM every WHERE true{counted}) "
)
"""One row for each mention of a concept, and for each evidence of an entity on it."""

_ENDS: LiteralString = (
    "SELECT name, coalesce((SELECT blob FROM concept_block b WHERE b.ns = c.ns AND b.owner = c.id"
    "  ORDER BY last LIMIT 1), newest), CASE WHEN newest != x'' THEN newest ELSE (SELECT blob"
    "  FROM concept_block b WHERE b.ns = c.ns AND b.owner = c.id ORDER BY last DESC LIMIT 1) END"
    " FROM concept c WHERE NOT EXISTS"
    " (SELECT 1 FROM element e WHERE e.ns = c.ns AND e.concept = c.name)"
    " AND ns = :ns AND name IN {list}"
)
"""The first and the last records of mentions of concepts without entities: two seeks each, however
many mentions there are."""

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

_STATS: dict[str, LiteralString] = {
    "passages": "SELECT count(*) FROM passage INDEXED BY passage_t WHERE ns = :ns",
    "statements": "SELECT count(*) FROM statement INDEXED BY statement_session WHERE ns = :ns",
    "concepts": "SELECT count(*) FROM concept WHERE ns = :ns",
    "relations": "SELECT count(*) / 2 FROM neighbour WHERE ns = :ns",
    "entities": "SELECT count(*) FROM element WHERE ns = :ns AND id IS NOT NULL",
    "triplets": "SELECT count(*) FROM element WHERE ns = :ns AND subject IS NOT NULL",
    "summaries": "SELECT count(*) FROM summary WHERE ns = :ns",
    "vectors": "SELECT count(*) FROM vector WHERE ns = :ns",
}
"""Queries by the field of `Stats` that they count."""


def count_touches(
    queries: Queries,
    left: Mapping[str, tuple[int, int] | None],
    counted: LiteralString = "",
) -> dict[str, ConceptTotals]:
    """``Rows.count_touches``. ``counted`` is a condition on ``at``."""
    if not left:
        return {}
    touches: LiteralString = _TOUCHES.replace("{counted}", counted)
    known = {name: counts for name, counts in left.items() if counts}
    rows: list[tuple[Any, ...]] = [
        (name, t_index_of(end_keys(latest)[1]), *known[name], end_keys(earliest)[0])
        for name, earliest, latest in queries.rows(_ENDS, known)
        if latest
    ]
    names = left.keys() - {name for name, *_ in rows}
    rows += queries.rows(
        touches + "SELECT concept, max(at) >> 20, count(DISTINCT at >> 20),"
        " count(*) - count(entity), min(CASE WHEN entity IS NULL THEN at END)"
        " FROM touch GROUP BY concept",
        names,
    )
    spellings: dict[str, tuple[Any, Any]] = {}
    if any(first is None for *_, first in rows):
        for name, label, kind in queries.rows(
            touches + "SELECT touch.concept, e.label, e.kind FROM touch JOIN element e"
            " ON e.ns = :ns AND e.id = touch.entity ORDER BY at >> 20, e.id",
            names,
        ):
            spellings.setdefault(name, (label, kind))
    firsts = {name: first for name, *_, first in rows if first is not None}
    sql: LiteralString = "SELECT at, concepts FROM statement WHERE ns = :ns AND at IN {list}"
    mentions = dict(queries.rows(sql, set(firsts.values())))
    for name, first in firsts.items():
        mention = next(m for m in unpack_mentions(mentions[first]) if m.name == name)
        spellings[name] = (mention.label, mention.kind)
    return {
        name: ConceptTotals(*spellings[name], t_index, updates, statements)
        for name, t_index, updates, statements, _ in rows
    }


def read_sizes(view: View, session_keys: Collection[str] = ()) -> Sizes:
    """``GraphReader.sizes``."""
    keys = set(session_keys)
    if not view.is_present:
        return sizes_of(view.rows(_CORPUS)[0], view.rows(_SESSIONS, keys))
    sql: LiteralString = "SELECT {} FROM session WHERE ns = :ns AND key IN {list}"
    rows = view.read("session", sql + " AND statements > 0", keys)
    return sizes_of(view.totals, (row[2:] for row in rows))


def stored_counts(queries: Queries) -> dict[str, Any]:
    """How much of everything but sessions the namespace holds, by the fields of ``Stats``."""
    return {field: queries.rows(sql)[0][0] for field, sql in _STATS.items()}


def read_stats(view: View) -> Stats:
    """``GraphReader.stats``."""
    *_, sessions = view.totals
    return Stats(t_index=view.state.t_index, sessions=sessions, **stored_counts(view))
