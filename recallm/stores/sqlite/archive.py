"""A whole namespace, out of the store and into it, in the order in which it was told."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from recallm.errors import InvalidInputError
from recallm.model import (
    NO_POSITION,
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
    statement_key,
    text_digest,
)
from recallm.stores.sqlite.checksums import check_ascending, verified, verified_vectors
from recallm.stores.sqlite.codec import pack, read_path, unpack, unpack_mentions, unpack_timestamp
from recallm.stores.sqlite.entities import check_all_known
from recallm.stores.sqlite.evidence import Quad, quads
from recallm.stores.sqlite.lookup import Fetch, fetch_by, read, read_by
from recallm.stores.sqlite.schema import NO_CONCEPT
from recallm.stores.sqlite.sizes import VectorSizes
from recallm.stores.sqlite.writing import (
    Numbered,
    create_namespace,
    open_namespace,
    write_updates,
)

__all__ = ["dumped", "restored"]

_CHUNK = 500
"""Updates held in memory at a time."""


def dumped(fetch: Fetch, ns: int) -> Iterator[PreparedUpdate | Summary]:
    """``GraphReader.dump``."""
    after = 0
    while True:
        ts = fetch(
            "SELECT t FROM passage WHERE ns = ?1 AND t > ?2"
            " UNION SELECT at >> 20 FROM entity_evidence WHERE ns = ?1 AND at >= (?2 + 1) << 20"
            " UNION SELECT at >> 20 FROM triplet_evidence WHERE ns = ?1 AND at >= (?2 + 1) << 20"
            " ORDER BY 1 LIMIT ?3",
            (ns, after, _CHUNK),
        )
        if not ts:
            break
        check_ascending((t for (t,) in ts), after)
        first, after = ts[0][0], ts[-1][0]
        yield from _updates(fetch, ns, [t for (t,) in ts], first, after)
    summaries = read(fetch, "summary", "SELECT {} FROM summary WHERE ns = ?", (ns,))
    names = _concept_names(fetch, {concept for _, concept, *_ in summaries})
    for _, concept, t_index, text, terms, traits in sorted(
        summaries, key=lambda row: (row[2], names[row[1]])
    ):
        yield Summary(
            concept=names[concept],
            t_index=t_index,
            text=text,
            terms=unpack(terms),
            traits=Trait(traits),
        )


def _updates(
    fetch: Fetch, ns: int, ts: list[int], first: int, last: int
) -> Iterator[PreparedUpdate]:
    span = (ns, statement_key(first, 0), statement_key(last + 1, 0))
    statements: dict[int, list[ExtractedStatement]] = {}
    for _, at, _, start, stop, _, terms, concepts, traits in read(
        fetch,
        "statement",
        "SELECT {} FROM statement WHERE ns = ? AND at >= ? AND at < ? ORDER BY at",
        span,
    ):
        statements.setdefault(at >> 20, []).append(
            ExtractedStatement(
                position=at & NO_POSITION,
                start=start,
                end=stop,
                terms=unpack(terms),
                concepts=unpack_mentions(concepts),
                traits=Trait(traits),
            )
        )
    vectors: dict[int, list[StatementVector]] = {}
    rows = fetch(
        "SELECT at, model, blob, crc FROM vector WHERE ns = ? AND at >= ? AND at < ?"
        " ORDER BY at, model",
        span,
    )
    for (at, model), blob in verified_vectors(((row[0], row[1]), row[2], row[3]) for row in rows):
        vectors.setdefault(at >> 20, []).append(
            StatementVector(position=at & NO_POSITION, model=model, blob=blob)
        )
    entities = _entities(fetch, span)
    triplets = _triplets(fetch, span)
    passages = {
        row[1]: row
        for row in read(
            fetch,
            "passage",
            "SELECT {} FROM passage WHERE ns = ? AND t >= ? AND t <= ?",
            (ns, first, last),
        )
    }
    pairs_of = {
        t: quads(pairs)
        for _, t, pairs in verified(
            fetch(
                "SELECT ns, t, pairs, pairs_crc FROM passage WHERE ns = ? AND t >= ? AND t <= ?",
                (ns, first, last),
            ),
            "passage",
        )
    }
    names = _concept_names(
        fetch, {id for pairs in pairs_of.values() for a, b, _, _ in pairs for id in (a, b)}
    )
    for t in ts:
        if t not in passages:
            yield PreparedUpdate(
                id="",
                text=None,
                entities=tuple(entities.get(t, ())),
                triplets=tuple(triplets.get(t, ())),
                t_index=t,
            )
            continue
        (
            _, _, id, text, source, session, speaker, speaker_concept, timestamp, metadata, path,
            key, expires_at,
        ) = passages[t]  # fmt: skip
        yield PreparedUpdate(
            id=id,
            text=text,
            statements=tuple(statements.get(t, ())),
            neighbours=_neighbours(pairs_of[t], names),
            source=source,
            session=session,
            speaker=speaker,
            speaker_concept=speaker_concept,
            timestamp=unpack_timestamp(timestamp),
            metadata=json.loads(metadata),
            path=read_path(path),
            key=key,
            expires_at=unpack_timestamp(expires_at),
            entities=tuple(entities.get(t, ())),
            triplets=tuple(triplets.get(t, ())),
            vectors=tuple(vectors.get(t, ())),
            t_index=t,
        )


def _concept_names(fetch: Fetch, ids: Collection[int]) -> dict[int, str]:
    rows = read_by(fetch, "concept", "SELECT {} FROM concept WHERE id IN", ids)
    return {id: name for id, _, name, *_ in rows}


def _neighbours(pairs: list[Quad], names: dict[int, str]) -> tuple[Neighbours, ...]:
    named = sorted((names[a], names[b], earlier, later) for a, b, earlier, later in pairs)
    return tuple(
        Neighbours(a=a, b=b, earlier=earlier, later=later) for a, b, earlier, later in named
    )


def _entities(fetch: Fetch, span: tuple[int, int, int]) -> dict[int, list[EntityUpsert]]:
    """The entities that each t is evidence of; vectors stand at the latest evidence."""
    evidence = read(
        fetch,
        "entity_evidence",
        "SELECT {} FROM entity_evidence WHERE ns = ? AND at >= ? AND at < ?",
        span,
    )
    told = {number for _, number, _, _ in evidence}
    latest = dict(
        fetch_by(
            fetch,
            "SELECT entity, max(at) FROM entity_evidence WHERE ns = ? AND entity IN",
            told,
            "GROUP BY entity",
            lead=(span[0],),
        )
    )
    rows = read_by(fetch, "entity", "SELECT {} FROM entity WHERE number IN", told)
    entities = {row[0]: row[2:] for row in rows}
    names = _concept_names(fetch, {concept for _, _, concept, *_ in entities.values()})
    vectors: dict[int, dict[str, bytes]] = {}
    blobs = fetch_by(
        fetch,
        "SELECT entity, model, blob, crc FROM entity_vector WHERE ns = ? AND entity IN",
        told,
        lead=(span[0],),
    )
    keyed = (((number, model), blob, crc) for number, model, blob, crc in blobs)
    for (number, model), blob in sorted(verified_vectors(keyed)):
        vectors.setdefault(number, {})[model] = blob
    found: dict[int, list[EntityUpsert]] = {}
    for _, number, at, properties in sorted(
        evidence, key=lambda row: (entities[row[1]][0], row[2])
    ):
        id, type, concept, label, kind, _ = entities[number]
        name = names[concept] if concept != NO_CONCEPT else ""
        is_latest = at == latest[number]
        found.setdefault(at >> 20, []).append(
            EntityUpsert(
                id=id,
                type=type,
                concept=ConceptMention(name=name, label=label, kind=kind),
                properties=_properties(properties),
                vectors=vectors.get(number, empty_mapping()) if is_latest else empty_mapping(),
                position=at & NO_POSITION,
            )
        )
    return found


def _triplets(fetch: Fetch, span: tuple[int, int, int]) -> dict[int, list[TripletUpsert]]:
    found: dict[int, list[TripletUpsert]] = {}
    evidence = read(
        fetch,
        "triplet_evidence",
        "SELECT {} FROM triplet_evidence WHERE ns = ? AND at >= ? AND at < ?",
        span,
    )
    told = {number for _, number, _, _ in evidence}
    rows = read_by(fetch, "triplet", "SELECT {} FROM triplet WHERE number IN", told)
    ends = {number for _, _, subject, _, object, _ in rows for number in (subject, object)}
    entities = read_by(fetch, "entity", "SELECT {} FROM entity WHERE number IN", ends)
    ids = {number: id for number, _, id, *_ in entities}
    triplets = {number: (ids[s], predicate, ids[o]) for number, _, s, predicate, o, _ in rows}
    for (subject, predicate, object), at, properties in sorted(
        ((triplets[number], at, properties) for _, number, at, properties in evidence),
        key=lambda row: row[:2],
    ):
        found.setdefault(at >> 20, []).append(
            TripletUpsert(
                subject=subject,
                predicate=predicate,
                object=object,
                properties=_properties(properties),
                position=at & NO_POSITION,
            )
        )
    return found


def _properties(properties: str | None) -> Mapping[str, Any]:
    return empty_mapping() if properties is None else json.loads(properties)


def restored(
    connection: sqlite3.Connection,
    namespace: str,
    t_index: int,
    records: Iterable[PreparedUpdate | Summary],
) -> int:
    """``GraphStore.restore`` inside a write transaction."""
    found = open_namespace(connection, namespace)
    if found is not None and found[1] > 0:
        raise InvalidInputError(
            f"namespace {namespace!r} was written before; restore into a new one",
            argument="namespace",
        )
    ns = create_namespace(connection, namespace) if found is None else found[0]
    sizes = VectorSizes(connection, ns)
    written = 0
    latest = 0
    waiting: list[Numbered] = []
    summaries: list[Summary] = []
    for record in chain(records, (None,)):
        if isinstance(record, Summary):
            summaries.append(record)
        elif record is not None and (record.text, record.entities, record.triplets) != (
            None, (), (),
        ):  # fmt: skip
            latest = _next_t(latest, record)
            sizes.check(record)
            digest = "" if record.text is None else text_digest(record.text)
            waiting.append((latest, record, digest))
            written += 1
        if waiting and (record is None or len(waiting) == _CHUNK):
            brought = [(t, it) for t, it, _ in waiting if it.entities or it.triplets]
            write_updates(connection, ns, waiting, brought, late_entities=True)
            waiting.clear()
    sizes.write(ns)
    check_all_known(connection, ns)
    for summary in summaries:
        _write_summary(connection, ns, summary)
    connection.execute("UPDATE namespace SET t = ? WHERE id = ?", (max(t_index, latest), ns))
    return written


def _next_t(latest: int, update: PreparedUpdate) -> int:
    if update.t_index is None or update.t_index <= latest:
        raise InvalidInputError(
            f"update {update.id!r} has t_index {update.t_index!r} after {latest}; an archive's "
            "updates ascend by it",
            argument="records",
        )
    return update.t_index


def _write_summary(connection: sqlite3.Connection, ns: int, summary: Summary) -> None:
    cursor: Any = connection.execute(
        "INSERT INTO summary SELECT ns, id, ?, ?, ?, ? FROM concept WHERE ns = ? AND name = ?",
        (summary.t_index, summary.text, pack(summary.terms), int(summary.traits), ns,
         summary.concept),
    )  # fmt: skip
    if cursor.rowcount != 1:
        raise InvalidInputError(
            f"a summary is of {summary.concept!r}, which no update mentions", argument="records"
        )
