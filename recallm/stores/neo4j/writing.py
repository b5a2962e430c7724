"""Locking a namespace and writing rows into it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from recallm.model import (
    ContextVersion,
    EntityUpsert,
    PreparedUpdate,
    Summary,
    TripletUpsert,
    WriteSummary,
    statement_key,
    t_index_of,
)
from recallm.stores.cypher import forgetting as forgetting_cypher
from recallm.stores.cypher import writing as cypher
from recallm.stores.neo4j.batch import Batch, triplet_key
from recallm.stores.neo4j.properties import (
    EntityKey,
    Told,
    TripletKey,
    told_of_entities,
    told_of_triplets,
)
from recallm.stores.neo4j.transaction import AlreadyWrittenError, Row, Tx, chunks, rows
from recallm.stores.neo4j.values import key_of, micros, summary_out

__all__ = [
    "lock",
    "lock_key",
    "new_batch",
    "recompute_concepts",
    "set_expiry",
    "write_batch",
    "write_summaries",
    "write_summary",
]

_NEVER = 1 << 62
_REMEMBERED = 900_000
"""Milliseconds after which a writer has learnt what became of its latest write: 15 minutes."""


def lock(
    tx: Tx,
    namespace: str,
    *,
    ids: Collection[str] = (),
    items: Collection[str] = (),
) -> Row:
    """Keep other writers out of the namespace; its counter, open session, the namespace of its
    rows, which of the passages ``ids`` exist, the ``items`` (``item_key``) that exist, and the
    model and the sizes of its vectors."""
    return lock_key(tx, key_of(namespace), namespace, ids=ids, items=items)


def lock_key(
    tx: Tx,
    key: str,
    name: str | None,
    *,
    ids: Collection[str] = (),
    items: Collection[str] = (),
) -> Row:
    """``lock`` by the key of the namespace's node.

    Raises:
        AlreadyWrittenError: an earlier try of this transaction was committed.
    """
    parameters = {
        "key": key,
        "name": name,
        "ids": [key_of(id) for id in ids],
        "items": list(items),
        "writer": tx.mark.writer,
        "write": tx.mark.write,
        "remembered": _REMEMBERED,
    }
    state = rows(tx, cypher.LOCK, parameters)[0]
    if state["written"]:
        raise AlreadyWrittenError
    return state


def set_expiry(tx: Tx, namespace: str, moments: Mapping[str, datetime | None]) -> int:
    """``GraphStore.amend`` with ``SetExpiry``."""
    key = lock(tx, namespace)["rows"]
    changed = [
        {
            "id": key_of(id),
            "expires_at": None if moment is None else moment.isoformat(),
            "expires": None if moment is None else micros(moment),
        }
        for id, moment in moments.items()
    ]
    return sum(
        rows(tx, cypher.EXPIRE, {"namespace": key, "rows": chunk})[0]["passages"]
        for chunk in chunks(changed)
    )


def write_summary(tx: Tx, namespace: str, amendment: WriteSummary) -> int:
    """``GraphStore.amend`` with ``WriteSummary``."""
    key = lock(tx, namespace)["rows"]
    if _context_version(tx, key, amendment.summary.concept) != amendment.expected:
        return 0
    write_summaries(tx, key, [amendment.summary])
    return 1


def _context_version(tx: Tx, key: str, name: str) -> ContextVersion | None:
    """The version of a concept's context; ``key`` is the namespace of the rows."""
    found = rows(tx, cypher.CONTEXT_VERSION, {"namespace": key, "concept": key_of(name)})
    if not found or found[0]["latest"] is None:
        return None
    return ContextVersion(
        t_index=t_index_of(found[0]["latest"]),
        statements=found[0]["statements"],
        summary_t=found[0]["summary_t"],
    )


def recompute_concepts(tx: Tx, namespace: str, concepts: Collection[str]) -> int:
    """Delete those of the concepts (by key) that nothing touches any more, and count the totals
    of the others again; the number deleted. ``namespace`` is that of the
    rows."""
    if not concepts:
        return 0
    parameters = {"namespace": namespace, "concepts": list(concepts)}
    deleted: int = rows(tx, forgetting_cypher.DELETE_UNTOUCHED, parameters)[0]["concepts"]
    rows(tx, cypher.RECOMPUTE_CONCEPTS, parameters)
    return deleted


def write_summaries(tx: Tx, key: str, summaries: Sequence[Summary]) -> None:
    """Write summaries into the rows of ``key``."""
    parameters = {"namespace": key, "summaries": [summary_out(summary) for summary in summaries]}
    rows(tx, cypher.SUMMARY, parameters)
    recompute_concepts(tx, key, {key_of(summary.concept) for summary in summaries})


def new_batch(tx: Tx, state: Row, updates: Sequence[tuple[int, PreparedUpdate]]) -> Batch:
    """An empty batch that knows what is stored of the entities and triplets in ``updates``, each
    with its t; ``state`` is what ``lock`` gave."""
    batch = Batch(
        namespace=state["rows"],
        open_session=state["open_session"],
        open_said=state["open_said"],
    )
    entities: dict[EntityKey, int] = {}
    triplets: dict[TripletKey, int] = {}
    for t_index, update in updates:
        for it in update.entities:
            id = key_of(it.id)
            entities[id] = min(entities.get(id, _NEVER), _told_at(t_index, it))
        for triplet in update.triplets:
            key = triplet_key(triplet.subject, triplet.predicate, triplet.object)
            triplets[key] = min(triplets.get(key, _NEVER), _told_at(t_index, triplet))
            for end in (key[0], key[2]):
                entities.setdefault(end, _NEVER)
    _know_entities(tx, batch, entities)
    _know_triplets(tx, batch, triplets)
    return batch


def _told_at(t_index: int, upsert: EntityUpsert | TripletUpsert) -> int:
    """The key of what is told with properties; else one that comes after all others."""
    told = upsert.properties and not (isinstance(upsert, EntityUpsert) and upsert.mentioned)
    return statement_key(t_index, upsert.position) if told else _NEVER


def _know_entities(tx: Tx, batch: Batch, firsts: Mapping[EntityKey, int]) -> None:
    """Let a batch know what is stored of entities; ``firsts``: where it tells of each first."""
    if not firsts:
        return
    found = rows(tx, cypher.KNOWN_ENTITIES, {"namespace": batch.namespace, "ids": list(firsts)})
    late = [row["id"] for row in found if _is_late(row, firsts[row["id"]])]
    places = told_of_entities(tx, batch.namespace, late)
    for row in found:
        id = row["id"]
        told = Told(places=places[id]) if id in places else Told(row["properties"])
        batch.know_entity(id, told, row["concept"])


def _know_triplets(tx: Tx, batch: Batch, firsts: Mapping[TripletKey, int]) -> None:
    """As ``_know_entities``."""
    if not firsts:
        return
    parameters = {"namespace": batch.namespace, "rows": [list(key) for key in firsts]}
    found: dict[TripletKey, Row] = {}
    for row in rows(tx, cypher.KNOWN_TRIPLETS, parameters):
        subject, predicate, object = row["row"]
        found[subject, predicate, object] = row
    late = [key for key, row in found.items() if _is_late(row, firsts[key])]
    places = told_of_triplets(tx, batch.namespace, late)
    for key, row in found.items():
        told = Told(places=places[key]) if key in places else Told(row["properties"])
        batch.know_triplet(key, told)


def _is_late(row: Row, first: int) -> bool:
    """Whether what is told at ``first`` does not come after all that is stored, so that what is
    merged cannot be gone on with."""
    told_at: int | None = row["told_at"]
    return told_at is not None and first <= told_at


def write_batch(tx: Tx, batch: Batch, t_index: int) -> None:
    """Write all rows of a batch, and the counter."""
    namespace: Mapping[str, Any] = {"namespace": batch.namespace}
    if batch.concepts or batch.stems:
        rows(
            tx,
            cypher.CONCEPTS_AND_STEMS,
            {
                **namespace,
                "concepts": list(batch.concepts.values()),
                "stems": list(batch.stems.values()),
            },
        )
    if batch.updates:
        rows(tx, cypher.UPDATES, {**namespace, "updates": batch.updates})
    if batch.relations:
        rows(tx, cypher.RELATIONS, {**namespace, "relations": list(batch.relations.values())})
    if batch.vectors:
        rows(tx, cypher.VECTORS, {**namespace, "vectors": batch.vectors})
    if batch.entities:
        rows(tx, cypher.ENTITIES, {**namespace, "entities": batch.entity_rows()})
    if batch.entity_vectors:
        vectors = list(batch.entity_vectors.values())
        rows(tx, cypher.ENTITY_VECTORS, {**namespace, "vectors": vectors})
    if batch.triplets:
        rows(tx, cypher.TRIPLETS, {**namespace, "triplets": batch.triplet_rows()})
    if batch.joined:
        rows(tx, cypher.JOINED, {**namespace, "ts": list(batch.joined)})
    recompute_concepts(tx, batch.namespace, batch.touched)
    rows(
        tx,
        cypher.CLOSE,
        {
            **namespace,
            "t": t_index,
            "statements": batch.statements,
            "terms": batch.terms,
            "sessions": list(batch.sessions.values()),
            "open_session": batch.open_session,
            "open_said": batch.open_said,
        },
    )
