"""Reads stored updates back as ``PreparedUpdate``: for dumps, and to forget parts of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, LiteralString

from recallm.model import PreparedUpdate, Summary, t_index_of
from recallm.stores.semantics.reading import evidence_of, summary_of, update_of
from recallm.stores.semantics.rows import Evidence
from recallm.stores.sqlite.schema import (
    check_ascending,
    passage_fields_of,
    unpack,
    unpack_mentions,
)
from recallm.stores.sqlite.view import Queries

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


def page_of_updates(queries: Queries, after: int, limit: int) -> list[PreparedUpdate]:
    """The first ``limit`` updates after a t."""
    rows = queries.rows(
        "SELECT t FROM passage NOT INDEXED WHERE row > (:ns << 32) + :after"
        " AND row < (:ns + 1) << 32"
        " UNION SELECT at >> 20 FROM element_evidence WHERE ns = :ns AND at >= (:after + 1) << 20"
        " ORDER BY 1 LIMIT :limit",
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
