"""Reads back what is stored: updates as ``PreparedUpdate``, for dumps and to forget parts of them,
and how much there is. What a horizon hides up to the view's t counts.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, LiteralString

import numpy as np

from recallm.model import (
    POSITION_BITS,
    PreparedUpdate,
    Sizes,
    Stats,
    Summary,
    t_index_of,
)
from recallm.stores.semantics.reading import evidence_of, sizes_of, summary_of, update_of
from recallm.stores.semantics.rows import ConceptTotals, Evidence
from recallm.stores.sqlite.schema import (
    check_ascending,
    keys_of,
    passage_fields_of,
    unpack,
    unpack_mentions,
    unsealed,
)
from recallm.stores.sqlite.view import Queries, View

_AT: LiteralString = " row IN (SELECT (:ns << 32) + value FROM json_each(:list))"
"""The condition on ``passage`` that an update is listed."""

_OF_UPDATES: LiteralString = (
    " FROM json_each(:list) CROSS JOIN {table} w ON w.ns = :ns AND at >= value << 20"
    " AND at < (value + 1) << 20"
)
_STATEMENTS: LiteralString = (
    "SELECT {sound statement w}, at, start, stop, terms, concepts, traits"
    + _OF_UPDATES.replace("{table}", "statement")
)
_VECTORS: LiteralString = "SELECT {sound vector w}, at, model, blob" + _OF_UPDATES.replace(
    "{table}", "vector"
)
_EVIDENCE: LiteralString = (
    "SELECT {sound element_evidence w} AND {sound element x}, x.number, at = (SELECT min(at)"
    "  FROM element_evidence f WHERE f.ns = :ns AND f.element = x.number), x.id, x.subject,"
    " x.predicate, x.object, at, w.properties, w.description"
    + _OF_UPDATES.replace("{table}", "element_evidence")
    + " LEFT JOIN element x ON x.number = w.element"
)
_ENTITY_VECTORS: LiteralString = (
    "SELECT {sound entity_vector w}, entity, model, blob FROM entity_vector w"
    " WHERE ns = :ns AND entity IN {list} ORDER BY entity, model"
)

_ON: LiteralString = (
    "SELECT concept, at, id, label, kind FROM element e CROSS JOIN element_evidence v"
    " ON v.ns = e.ns AND v.element = e.number WHERE e.ns = :ns AND concept IN {list} AND at < :end"
)
"""The evidence of entities that stand on concepts."""

_BLOCKS: LiteralString = (
    "SELECT owner, blob FROM concept_block WHERE ns = :ns AND owner IN {list} ORDER BY owner, last"
)

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


def page_of_updates(queries: Queries, after: int, limit: int) -> list[PreparedUpdate]:
    """The first ``limit`` updates after a t."""
    rows = queries.rows(
        "SELECT * FROM (SELECT t FROM passage NOT INDEXED WHERE row > (:ns << 32) + :after"
        "  AND row < (:ns + 1) << 32 ORDER BY row LIMIT :limit) UNION"
        " SELECT * FROM (SELECT DISTINCT at >> 20 FROM element_evidence WHERE ns = :ns"
        "  AND at >= (:after + 1) << 20 ORDER BY at LIMIT :limit) ORDER BY 1 LIMIT :limit",
        after=after,
        limit=limit,
    )
    ts = [t for (t,) in rows]
    check_ascending(ts, after)
    return stored_updates(queries, ts)


def stored_summaries(queries: Queries) -> list[Summary]:
    """All summaries."""
    sql: LiteralString = "SELECT {sound summary s}, concept, t_index, text, terms, traits"
    return [summary_of(*row) for row in queries.sound(sql + " FROM summary s WHERE ns = :ns")]


def stored_updates(queries: Queries, ts: Sequence[int]) -> list[PreparedUpdate]:
    """The updates at these t, which ascend, as `GraphReader.dump` gives them.

    Raises:
        ValueError: a row is damaged.
    """
    said: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for at, start, stop, terms, concepts, traits in queries.sound(_STATEMENTS, list=ts):
        row = at, start, stop, unpack(terms), unpack_mentions(concepts), traits
        said[t_index_of(at)].append(row)
    vectors: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for vector in queries.sound(_VECTORS, list=ts):
        vectors[t_index_of(vector[0])].append(vector)
    elements = _elements(queries, ts)
    passages = _passages(queries, ts)
    return [
        update_of(
            t,
            **passages.get(t, {"passage": None}),
            said=said[t],
            vectors=vectors[t],
            shown=elements[t],
        )
        for t in ts
    ]


def _passages(queries: Queries, ts: Collection[int]) -> dict[int, dict[str, Any]]:
    """T → the arguments of ``update_of`` that its passage gives."""
    rows = queries.read("passage", "SELECT {} FROM passage WHERE" + _AT, ts)
    sql: LiteralString = "SELECT t, s.key FROM passage JOIN session s ON s.id = session_id WHERE"
    keys = dict(queries.rows(sql + _AT.replace("row", "passage.row"), ts))
    numbers = {row[1]: [*map(int, row[-1].split())] for row in rows}
    ids = {id for found in numbers.values() for id in (*found[::4], *found[1::4])}
    concepts = queries.read("concept", "SELECT {} FROM concept WHERE id IN {list}", ids)
    names = {id: name for _, id, name, *_ in concepts}
    return {
        row[1]: {
            "passage": passage_fields_of(row),
            "session_key": keys.get(row[1]),
            "speaker_concept": row[7],
            "neighbours": [
                (names[a], names[b], *positions)
                for a, b, *positions in zip(*[iter(numbers[row[1]])] * 4, strict=True)
            ],
        }
        for row in rows
    }


def _elements(queries: Queries, ts: Collection[int]) -> defaultdict[int, list[Evidence]]:
    """T → the entities and triplets that it is evidence of; an entity's vectors stand at its first
    evidence."""
    evidence = queries.sound(_EVIDENCE, list=ts)
    vectors: dict[int, dict[str, bytes]] = {}
    for number, model, blob in queries.sound(_ENTITY_VECTORS, list={row[0] for row in evidence}):
        vectors.setdefault(number, {})[model] = blob
    found: defaultdict[int, list[Evidence]] = defaultdict(list)
    for number, is_first, id, *parts, at, properties, description in evidence:
        own = vectors.get(number) if is_first else None
        shown = evidence_of(
            id or tuple(parts), at, properties, json.loads(description or "[]"), own
        )
        found[t_index_of(at)].append(shown)
    return found


def count_touches(queries: Queries, names: Collection[str]) -> dict[str, ConceptTotals]:
    """``Rows.count_touches``, of what is earlier than the key ``:end``.

    Raises:
        ValueError: records of mentions are damaged.
    """
    shown: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for name, *each in queries.rows(_ON, names):
        shown[name].append(tuple(each))
    sql: LiteralString = "SELECT id, name, newest FROM concept WHERE ns = :ns AND name IN {list}"
    concepts = queries.rows(sql, names)
    records: defaultdict[int, list[bytes]] = defaultdict(list)
    blocks = queries.rows(_BLOCKS, [id for id, *_ in concepts])
    for id, blob in (*blocks, *((id, newest) for id, _, newest in concepts)):
        records[id].append(unsealed(id, blob))
    totals: dict[str, ConceptTotals] = {}
    firsts: dict[str, int] = {}
    for id, name, _ in concepts:
        keys = keys_of(b"".join(records[id]))
        keys = keys[keys < queries.bound["end"]]
        evidence = np.array([at for at, *_ in shown[name]], np.int64)
        # The keys ascend: a stable sort passes over them.
        ts = np.sort(np.concatenate((keys, evidence)) >> POSITION_BITS, kind="stable")
        if not len(ts):
            continue
        updates = 1 + int(np.count_nonzero(np.diff(ts)))
        totals[name] = ConceptTotals("", "entity", int(ts[-1]), updates, len(keys))
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
