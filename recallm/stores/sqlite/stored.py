"""Reads stored updates back as ``PreparedUpdate``: for dumps, and to forget parts of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, LiteralString

from recallm.model import (
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
    position_of,
    t_index_of,
)
from recallm.stores.semantics.reading import DUMP_ORDER, evidence_of, update_of
from recallm.stores.semantics.rows import Evidence
from recallm.stores.sqlite.elements import elements_of
from recallm.stores.sqlite.schema import (
    check_ascending,
    passage_fields_of,
    unpack,
    unpack_mentions,
    verified,
    verified_vectors,
)
from recallm.stores.sqlite.totals import read_summary
from recallm.stores.sqlite.view import Queries, columns

_AT: LiteralString = " row IN (SELECT (:ns << 32) + value FROM json_each(:list))"
"""The condition on ``passage`` that an update is listed."""

_FIRST: LiteralString = (
    "SELECT element, min(at) FROM element_evidence WHERE ns = :ns AND element IN {list}"
    " GROUP BY element"
)
_VECTORS: LiteralString = (
    "SELECT entity, model, blob, crc - entity FROM entity_vector"
    " WHERE ns = :ns AND entity IN {list}"
)


def page_of_updates(queries: Queries, after: int, limit: int) -> list[PreparedUpdate]:
    """The first ``limit`` updates after a t."""
    rows = queries.rows(
        "SELECT t FROM passage WHERE ns = :ns AND t > :after"
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
    return list(map(read_summary, queries.read("summary", "SELECT {} FROM summary WHERE ns = :ns")))


def stored_updates(queries: Queries, ts: Sequence[int]) -> list[PreparedUpdate]:
    """The updates at these t, which ascend, as `GraphReader.dump` gives them.

    Raises:
        ValueError: a row is damaged.
    """
    statements: dict[int, list[ExtractedStatement]] = {}
    for _, at, _, start, stop, _, terms, concepts, traits in verified(
        _of_updates(queries, ts, columns("statement"), "statement"), "statement"
    ):
        statements.setdefault(t_index_of(at), []).append(
            ExtractedStatement(
                position=position_of(at),
                start=start,
                end=stop,
                terms=unpack(terms),
                concepts=unpack_mentions(concepts),
                traits=Trait(traits),
            )
        )
    vectors: dict[int, list[StatementVector]] = {}
    blobs = _of_updates(queries, ts, "at, model, blob, crc - at", "vector")
    for (at, model), blob in verified_vectors(((at, m), blob, crc) for at, m, blob, crc in blobs):
        vectors.setdefault(t_index_of(at), []).append(
            StatementVector(position=position_of(at), model=model, blob=blob)
        )
    elements = _elements(queries, ts)
    passages = _passages(queries, ts)
    return [
        update_of(
            t,
            passages.get(t),
            statements=statements.get(t, ()),
            entities=(e for e in elements.get(t, ()) if isinstance(e, EntityUpsert)),
            triplets=(x for x in elements.get(t, ()) if isinstance(x, TripletUpsert)),
            vectors=vectors.get(t, ()),
        )
        for t in ts
    ]


def _of_updates(
    queries: Queries, ts: Collection[int], selected: LiteralString, table: LiteralString
) -> list[tuple[Any, ...]]:
    """Rows of a table with a column ``at`` that belong to updates."""
    return queries.rows(
        "SELECT " + selected + " FROM json_each(:list) CROSS JOIN " + table
        + " WHERE ns = :ns AND at >= value << 20 AND at < (value + 1) << 20",
        ts,
    )  # fmt: skip


def _passages(queries: Queries, ts: Collection[int]) -> dict[int, dict[str, Any]]:
    """T → the fields of the update whose passage it is, with the neighbour pairs."""
    rows = queries.read("passage", "SELECT {} FROM passage WHERE" + _AT, ts)
    indexed = queries.rows(
        "SELECT t FROM passage INDEXED BY passage_t WHERE ns = :ns AND t IN {list}", ts
    )
    if {t for (t,) in indexed} != {row[1] for row in rows}:
        raise ValueError("an index of the table passage does not match the table")
    keys = dict(
        queries.rows(
            "SELECT p.t, s.key FROM passage p JOIN session s ON s.id = p.session_id"
            " WHERE p.session IS NULL AND s.key IS NOT '=' || p.source AND" + _AT,
            ts,
        )
    )
    numbers = {row[1]: [*map(int, row[-1].split())] for row in rows}
    ids = {id for found in numbers.values() for id in (*found[::4], *found[1::4])}
    concepts = queries.read("concept", "SELECT {} FROM concept WHERE id IN {list}", ids)
    names = {id: name for _, id, name, *_ in concepts}
    pairs = {
        t: [
            Neighbours(a=names[a], b=names[b], earlier=earlier, later=later)
            for a, b, earlier, later in zip(*[iter(found)] * 4, strict=True)
        ]
        for t, found in numbers.items()
    }
    return {
        row[1]: {
            **passage_fields_of(row),
            "speaker_concept": row[7],
            "session_key": keys.get(row[1]),
            "neighbours": tuple(sorted(pairs[row[1]], key=DUMP_ORDER["neighbours"])),
        }
        for row in rows
    }


def _elements(queries: Queries, ts: Collection[int]) -> dict[int, list[Evidence]]:
    """T → the entities and triplets that it is evidence of; an entity's vectors stand at its first
    evidence."""
    rows_of_evidence = _of_updates(queries, ts, columns("element_evidence"), "element_evidence")
    evidence = verified(rows_of_evidence, "element_evidence")
    numbers = {number for _, number, *_ in evidence}
    first = dict(queries.rows(_FIRST, numbers))
    rows = elements_of(queries, numbers)
    blobs = queries.rows(_VECTORS, numbers)
    keyed = (((number, model), blob, crc) for number, model, blob, crc in blobs)
    vectors: dict[int, dict[str, bytes]] = {}
    for (number, model), blob in sorted(verified_vectors(keyed)):
        vectors.setdefault(number, {})[model] = blob
    found: dict[int, list[Evidence]] = {}
    for _, number, at, properties, text in evidence:
        own = vectors.get(number) if at == first[number] else None
        shown = evidence_of(rows[number].key, at, properties, json.loads(text or "[]"), own)
        found.setdefault(t_index_of(at), []).append(shown)
    return found
