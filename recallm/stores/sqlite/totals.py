"""How much there is: concepts counted from what touches them, sizes, statistics.

What a horizon hides up to the view's t counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, LiteralString

from recallm.model import LARGEST_NUMBER, POSITION_BITS, Sizes, Stats, t_index_of
from recallm.stores.semantics.reading import sizes_of
from recallm.stores.semantics.rows import ConceptTotals
from recallm.stores.sqlite.schema import keys_of, unpack_mentions, unsealed
from recallm.stores.sqlite.view import Queries, View

_ON: LiteralString = (
    "SELECT concept, at, id, label, kind FROM element e CROSS JOIN element_evidence v"
    " ON v.ns = e.ns AND v.element = e.number WHERE e.ns = :ns AND concept IN {list} AND at < :end"
)
"""The evidence of entities that stand on concepts."""

_BLOCKS: LiteralString = (
    "SELECT owner, blob FROM concept_block WHERE ns = :ns AND owner IN {list} ORDER BY owner, last"
)
_ENDS: LiteralString = (
    "SELECT owner, blob FROM json_each(:list) CROSS JOIN concept_block b ON b.ns = :ns"
    " AND owner = value AND last IN ("
    "(SELECT min(last) FROM concept_block WHERE ns = :ns AND owner = value), "
    "(SELECT max(last) FROM concept_block WHERE ns = :ns AND owner = value)) ORDER BY owner, last"
)
"""The first and the last block of mentions: two seeks each, however many mentions there are."""

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
    queries: Queries, left: Mapping[str, tuple[int, int] | None], end: int = LARGEST_NUMBER
) -> dict[str, ConceptTotals]:
    """``Rows.count_touches``, of what is earlier than the key ``end``.

    Raises:
        ValueError: records of mentions are damaged.
    """
    shown: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for name, *evidence in queries.rows(_ON, left, end=end):
        shown[name].append(tuple(evidence))
    sql: LiteralString = "SELECT id, name, newest FROM concept WHERE ns = :ns AND name IN {list}"
    concepts = queries.rows(sql, left)
    known = {id: left[name] for id, name, _ in concepts if name not in shown and left[name]}
    rows = queries.rows(_ENDS, known)
    rows += queries.rows(_BLOCKS, [id for id, *_ in concepts if id not in known])
    records: defaultdict[int, bytes] = defaultdict(bytes)
    for id, blob in (*rows, *((id, newest) for id, _, newest in concepts)):
        records[id] += unsealed(id, blob)
    totals: dict[str, ConceptTotals] = {}
    firsts: dict[str, int] = {}
    for id, name, _ in concepts:
        keys = keys_of(records[id])
        keys = keys[keys < end]
        ts = {*(keys >> POSITION_BITS).tolist(), *(t_index_of(at) for at, *_ in shown[name])}
        if not ts:
            continue
        counts = known.get(id) or (len(ts), len(keys))
        totals[name] = ConceptTotals("", "entity", max(ts), *counts)
        if len(keys):
            firsts[name] = int(keys[0])
        else:
            *_, totals[name].label, totals[name].kind = min(
                shown[name], key=lambda each: (t_index_of(each[0]), each[1])
            )
    sql = "SELECT at, concepts FROM statement WHERE ns = :ns AND at IN {list}"
    mentions = dict(queries.rows(sql, set(firsts.values())))
    for name, first in firsts.items():
        mention = next(m for m in unpack_mentions(mentions[first]) if m.name == name)
        totals[name].label, totals[name].kind = mention.label, mention.kind
    return totals


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
