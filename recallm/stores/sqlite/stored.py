"""Reads stored updates back as ``PreparedUpdate``: for dumps, and to forget parts of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, LiteralString

from recallm.model import (
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
    empty_mapping,
    position_of,
    statement_key,
    t_index_of,
)
from recallm.stores.semantics.archiving import in_dump_order
from recallm.stores.sqlite.checksums import check_ascending, verified, verified_vectors
from recallm.stores.sqlite.codec import read_path, unpack, unpack_mentions
from recallm.stores.sqlite.lookup import Fetch, columns, fetch_by, in_pairs, read, read_by
from recallm.stores.sqlite.schema import NO_CONCEPT, passage_row
from recallm.stores.timestamps import unpack_timestamp

__all__ = ["page_of_updates", "stored_summaries", "stored_updates"]


def page_of_updates(fetch: Fetch, ns: int, after: int, limit: int) -> list[PreparedUpdate]:
    """The first ``limit`` updates after a t."""
    ts = fetch(
        "SELECT t FROM passage WHERE ns = ?1 AND t > ?2"
        " UNION SELECT at >> 20 FROM entity_evidence WHERE ns = ?1 AND at >= (?2 + 1) << 20"
        " UNION SELECT at >> 20 FROM triplet_evidence WHERE ns = ?1 AND at >= (?2 + 1) << 20"
        " ORDER BY 1 LIMIT ?3",
        (ns, after, limit),
    )
    check_ascending((t for (t,) in ts), after)
    return stored_updates(fetch, ns, [t for (t,) in ts])


def stored_summaries(fetch: Fetch, ns: int) -> list[Summary]:
    """All summaries."""
    summaries = read(fetch, "summary", "SELECT {} FROM summary WHERE ns = ?", (ns,))
    names = _concept_names(fetch, {concept for _, concept, *_ in summaries})
    return [
        Summary(
            concept=names[concept],
            t_index=t_index,
            text=text,
            terms=unpack(terms),
            traits=Trait(traits),
        )
        for _, concept, t_index, text, terms, traits in summaries
    ]


def stored_updates(fetch: Fetch, ns: int, ts: Sequence[int]) -> list[PreparedUpdate]:
    """The updates at these t, which ascend, as `GraphReader.dump` gives them.

    Raises:
        ValueError: a row is damaged.
    """
    statements: dict[int, list[ExtractedStatement]] = {}
    sql = columns("statement")
    for _, at, _, start, stop, _, terms, concepts, traits in verified(
        _of_updates(fetch, ns, ts, "SELECT " + sql, "statement"), "statement"
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
    blobs = _of_updates(fetch, ns, ts, "SELECT at, model, blob, crc - at", "vector")
    for (at, model), blob in verified_vectors(((at, m), blob, crc) for at, m, blob, crc in blobs):
        vectors.setdefault(t_index_of(at), []).append(
            StatementVector(position=position_of(at), model=model, blob=blob)
        )
    entities, triplets = _entities(fetch, ns, ts), _triplets(fetch, ns, ts)
    passages = _passages(fetch, ns, ts)
    updates: list[PreparedUpdate] = []
    for t in ts:
        graph: dict[str, Any] = {
            "t_index": t,
            "entities": tuple(entities.get(t, ())),
            "triplets": tuple(triplets.get(t, ())),
        }
        said: dict[str, Any] = {
            "statements": tuple(statements.get(t, ())),
            "vectors": tuple(vectors.get(t, ())),
        }
        passage: dict[str, Any] = (
            {**passages[t], **said} if t in passages else {"id": "", "text": None}
        )
        updates.append(in_dump_order(PreparedUpdate(**passage, **graph)))
    return updates


def _of_updates(
    fetch: Fetch, ns: int, ts: Iterable[int], select: LiteralString, table: LiteralString
) -> list[tuple[Any, ...]]:
    """Rows of a table with a column ``at`` that belong to updates."""
    spans = [(statement_key(t, 0), statement_key(t + 1, 0)) for t in ts]
    rows: set[tuple[Any, ...]] = set()
    for marks, ends in in_pairs(spans):
        rows.update(
            fetch(
                "WITH span (first, past) AS (VALUES " + marks + ") " + select
                + " FROM span CROSS JOIN " + table + " ON ns = ? AND at >= first AND at < past",
                [*ends, ns],
            )
        )  # fmt: skip
    return list(rows)


def _passages(fetch: Fetch, ns: int, ts: Sequence[int]) -> dict[int, dict[str, Any]]:
    """T → the fields of the update whose passage it is."""
    numbers = [passage_row(ns, t) for t in ts]
    rows = read_by(fetch, "passage", "SELECT {} FROM passage WHERE row IN", numbers)
    sql = "SELECT t FROM passage INDEXED BY passage_t WHERE ns = ? AND t IN"
    if {t for (t,) in fetch_by(fetch, sql, ts, lead=(ns,))} != {row[1] for row in rows}:
        raise ValueError("an index of the table passage does not match the table")
    keys = dict(
        fetch_by(
            fetch,
            "SELECT p.t, s.key FROM passage p JOIN session s ON s.id = p.session_id"
            " WHERE p.session IS NULL AND p.source IS NULL AND p.row IN",
            numbers,
        )
    )
    sql = "SELECT ns, t, pairs, pairs_crc FROM passage WHERE row IN"
    pairs = {t: _quads(text) for _, t, text in verified(fetch_by(fetch, sql, numbers), "passage")}
    names = _concept_names(
        fetch, {id for it in pairs.values() for a, b, _, _ in it for id in (a, b)}
    )
    passages: dict[int, dict[str, Any]] = {}
    for (
        _, t, id, text, source, session, speaker, speaker_concept, timestamp, metadata, path, key,
        expires_at,
    ) in rows:  # fmt: skip
        passages[t] = {
            "id": id,
            "text": text,
            "neighbours": tuple(
                Neighbours(a=names[a], b=names[b], earlier=earlier, later=later)
                for a, b, earlier, later in pairs[t]
            ),
            "source": source,
            "session": session,
            "speaker": speaker,
            "speaker_concept": speaker_concept,
            "timestamp": unpack_timestamp(timestamp),
            "metadata": json.loads(metadata),
            "path": read_path(path),
            "key": key,
            "expires_at": unpack_timestamp(expires_at),
            "session_key": keys.get(t),
        }
    return passages


def _quads(pairs: str) -> list[tuple[int, int, int, int]]:
    """The neighbour pairs of a passage, from its column."""
    numbers = iter(map(int, pairs.split()))
    return list(zip(numbers, numbers, numbers, numbers, strict=True))


def _concept_names(fetch: Fetch, ids: Collection[int]) -> dict[int, str]:
    rows = read_by(fetch, "concept", "SELECT {} FROM concept WHERE id IN", ids)
    return {id: name for id, _, name, *_ in rows}


def _entities(fetch: Fetch, ns: int, ts: Iterable[int]) -> dict[int, list[EntityUpsert]]:
    """T → the entities that it is evidence of; an entity's vectors stand at its latest evidence."""
    select = "SELECT " + columns("entity_evidence")
    evidence = verified(_of_updates(fetch, ns, ts, select, "entity_evidence"), "entity_evidence")
    numbers = {number for _, number, _, _ in evidence}
    sql = "SELECT entity, max(at) FROM entity_evidence WHERE ns = ? AND entity IN"
    latest = dict(fetch_by(fetch, sql, numbers, "GROUP BY entity", lead=(ns,)))
    rows = read_by(fetch, "entity", "SELECT {} FROM entity WHERE number IN", numbers)
    entities = {row[0]: row[2:] for row in rows}
    names = _concept_names(fetch, {concept for _, _, concept, *_ in entities.values()})
    names[NO_CONCEPT] = ""
    sql = "SELECT entity, model, blob, crc - entity FROM entity_vector WHERE ns = ? AND entity IN"
    blobs = fetch_by(fetch, sql, numbers, lead=(ns,))
    keyed = (((number, model), blob, crc) for number, model, blob, crc in blobs)
    vectors: dict[int, dict[str, bytes]] = {}
    for (number, model), blob in sorted(verified_vectors(keyed)):
        vectors.setdefault(number, {})[model] = blob
    found: dict[int, list[EntityUpsert]] = {}
    for _, number, at, properties in evidence:
        id, type, concept, label, kind, _ = entities[number]
        own = vectors.get(number) if at == latest[number] else None
        found.setdefault(t_index_of(at), []).append(
            EntityUpsert(
                id=id,
                type=type,
                concept=ConceptMention(name=names[concept], label=label, kind=kind),
                properties=_properties(properties),
                vectors=own or empty_mapping(),
                position=position_of(at),
            )
        )
    return found


def _triplets(fetch: Fetch, ns: int, ts: Iterable[int]) -> dict[int, list[TripletUpsert]]:
    """T → the triplets that it is evidence of."""
    select = "SELECT " + columns("triplet_evidence")
    evidence = verified(_of_updates(fetch, ns, ts, select, "triplet_evidence"), "triplet_evidence")
    numbers = {number for _, number, _, _ in evidence}
    rows = read_by(fetch, "triplet", "SELECT {} FROM triplet WHERE number IN", numbers)
    triplets = {row[0]: row[2:5] for row in rows}
    ends = {number for subject, _, object in triplets.values() for number in (subject, object)}
    entities = read_by(fetch, "entity", "SELECT {} FROM entity WHERE number IN", ends)
    ids = {number: id for number, _, id, *_ in entities}
    found: dict[int, list[TripletUpsert]] = {}
    for _, number, at, properties in evidence:
        subject, predicate, object = triplets[number]
        found.setdefault(t_index_of(at), []).append(
            TripletUpsert(
                subject=ids[subject],
                predicate=predicate,
                object=ids[object],
                properties=_properties(properties),
                position=position_of(at),
            )
        )
    return found


def _properties(properties: str | None) -> Mapping[str, Any]:
    return empty_mapping() if properties is None else json.loads(properties)
