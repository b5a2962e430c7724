"""``apply``, ``restore`` and ``revise``, each inside of one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from recallm.errors import ConflictError, InvalidInputError, UnknownEntityError
from recallm.model import ContextVersion, PreparedUpdate, Summary, t_index_of, text_digest
from recallm.stores.base import Applied
from recallm.stores.cypher import forgetting as forgetting_cypher
from recallm.stores.cypher import writing as cypher
from recallm.stores.neo4j.batch import Batch, triplet_key
from recallm.stores.neo4j.connection import Row, Tx, chunks, rows
from recallm.stores.neo4j.values import key_of, summary_out

__all__ = ["apply", "context_version", "lock", "recompute_concepts", "restore", "revise"]

_RESTORED_AT_ONCE = 500


def lock(tx: Tx, namespace: str, ids: Collection[str] = ()) -> Row:
    """Keep other writers out of the namespace; its counter, open session, and which of the
    passages ``ids`` exist."""
    return rows(
        tx,
        cypher.LOCK,
        {"namespace": key_of(namespace), "name": namespace, "ids": [key_of(id) for id in ids]},
    )[0]


def apply(tx: Tx, namespace: str, updates: Sequence[PreparedUpdate]) -> list[Applied]:
    """See ``GraphStore.apply``."""
    ids = {update.id for update in updates if update.text is not None}
    state = lock(tx, namespace, ids)
    passages: dict[str, tuple[int, str]] = {key: (t, digest) for key, t, digest in state["known"]}
    batch = _batch(tx, namespace, state, updates)
    applied: list[Applied] = []
    t_index: int = state["t"]
    for index, update in enumerate(updates):
        if update.text is not None:
            digest = text_digest(update.text)
            t, found = passages.setdefault(key_of(update.id), (t_index + 1, digest))
            if found != digest:
                raise ConflictError(update.id, index=index)
            if t <= t_index:
                applied.append(Applied(t_index=t, duplicate=True))
                continue
        t_index += 1
        batch.add(update, t_index)
        for triplet in update.triplets:
            for id in (triplet.subject, triplet.object):
                if not batch.knows_entity(id):
                    raise UnknownEntityError(id)
        applied.append(Applied(t_index=t_index))
    if t_index > state["t"]:
        _write(tx, batch, t_index)
    return applied


def restore(
    tx: Tx,
    namespace: str,
    t_index: int,
    records: Iterable[PreparedUpdate | Summary],
) -> int:
    """See ``GraphStore.restore``."""
    state = lock(tx, namespace)
    empty = rows(tx, cypher.IS_EMPTY, {"namespace": key_of(namespace)})[0]["empty"]
    if state["t"] > 0 or not empty:
        raise InvalidInputError(
            f"namespace {namespace!r} was written before; restore into a new one",
            argument="namespace",
        )
    summaries: list[Summary] = []
    # Triplets may come before their entities, and are not many: they are written last.
    triplets: list[PreparedUpdate] = []
    written = 0
    for some in chunks(records, _RESTORED_AT_ONCE):
        updates = [record for record in some if isinstance(record, PreparedUpdate)]
        summaries += [record for record in some if isinstance(record, Summary)]
        batch = _batch(tx, namespace, state, updates)
        for update in updates:
            batch.add_all_but_triplets(update, _t_of(update))
            triplets += [update] if update.triplets else []
        _write(tx, batch, t_index)
        state = {"open_session": batch.open_session, "open_said": batch.open_said}
        written += len(updates)
    batch = _batch(tx, namespace, state, triplets)
    for update in triplets:
        for triplet in update.triplets:
            for id in (triplet.subject, triplet.object):
                if not batch.knows_entity(id):
                    raise UnknownEntityError(id)
        batch.add_triplets(update, _t_of(update))
    _write(tx, batch, t_index)
    for chunk in chunks(summaries, _RESTORED_AT_ONCE):
        _write_summaries(tx, namespace, chunk)
    return written


def revise(tx: Tx, namespace: str, summary: Summary, expected: ContextVersion) -> bool:
    """See ``GraphStore.revise``."""
    lock(tx, namespace)
    if context_version(tx, namespace, summary.concept) != expected:
        return False
    _write_summaries(tx, namespace, [summary])
    return True


def context_version(tx: Tx, namespace: str, name: str) -> ContextVersion | None:
    """See ``GraphReader.context_version``."""
    found = rows(
        tx, cypher.CONTEXT_VERSION, {"namespace": key_of(namespace), "concept": key_of(name)}
    )
    if not found:
        return None
    return ContextVersion(
        t_index=t_index_of(found[0]["latest"]),
        statements=found[0]["statements"],
        summary_t=found[0]["summary_t"],
    )


def recompute_concepts(tx: Tx, namespace: str, concepts: Collection[str]) -> int:
    """Delete those of the concepts (by key) that nothing touches any more, and count the totals
    of the others again; the number deleted. ``namespace`` is a key too."""
    if not concepts:
        return 0
    parameters = {"namespace": namespace, "concepts": list(concepts)}
    deleted: int = rows(tx, forgetting_cypher.DELETE_UNTOUCHED, parameters)[0]["concepts"]
    rows(tx, cypher.RECOMPUTE_CONCEPTS, parameters)
    return deleted


def _t_of(update: PreparedUpdate) -> int:
    if update.t_index is None:
        raise InvalidInputError(
            f"the update {update.id!r} has no t_index; restore what a dump gave",
            argument="records",
        )
    return update.t_index


def _write_summaries(tx: Tx, namespace: str, summaries: Sequence[Summary]) -> None:
    key = key_of(namespace)
    rows(
        tx,
        cypher.SUMMARY,
        {"namespace": key, "summaries": [summary_out(summary) for summary in summaries]},
    )
    recompute_concepts(tx, key, {key_of(summary.concept) for summary in summaries})


def _batch(tx: Tx, namespace: str, state: Row, updates: Sequence[PreparedUpdate]) -> Batch:
    """An empty batch that knows what is stored of the entities and triplets in ``updates``."""
    batch = Batch(
        namespace=key_of(namespace),
        open_session=state["open_session"],
        open_said=state["open_said"],
    )
    triplets = {
        triplet_key(it.subject, it.predicate, it.object)
        for update in updates
        for it in update.triplets
    }
    entities = {key_of(it.id) for update in updates for it in update.entities}
    entities |= {end for subject, _, object in triplets for end in (subject, object)}
    if entities:
        found = rows(
            tx, cypher.KNOWN_ENTITIES, {"namespace": batch.namespace, "ids": list(entities)}
        )
        for row in found:
            batch.know_entity(row["id"], row["properties"], row["concept"])
    if triplets:
        found = rows(
            tx,
            cypher.KNOWN_TRIPLETS,
            {"namespace": batch.namespace, "rows": [list(key) for key in triplets]},
        )
        for row in found:
            subject, predicate, object = row["row"]
            batch.know_triplet((subject, predicate, object), row["properties"])
    return batch


def _write(tx: Tx, batch: Batch, t_index: int) -> None:
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
        rows(tx, cypher.ENTITIES, {**namespace, "entities": list(batch.entities.values())})
    if batch.triplets:
        rows(tx, cypher.TRIPLETS, {**namespace, "triplets": list(batch.triplets.values())})
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
