"""``apply``, ``revise`` and ``expire``, each inside of one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recallm.errors import ConflictError, UnknownEntityError
from recallm.model import ContextVersion, PreparedUpdate, Summary, t_index_of, text_digest
from recallm.stores.base import Applied
from recallm.stores.cypher import forgetting as forgetting_cypher
from recallm.stores.cypher import writing as cypher
from recallm.stores.neo4j.batch import Batch, triplet_key
from recallm.stores.neo4j.connection import Row, Tx, chunks, rows
from recallm.stores.neo4j.values import item_key, key_of, micros, summary_out

__all__ = [
    "apply",
    "context_version",
    "expire",
    "lock",
    "lock_key",
    "new_batch",
    "recompute_concepts",
    "revise",
    "write_batch",
    "write_summaries",
]


def lock(tx: Tx, namespace: str, ids: Collection[str] = (), items: Collection[str] = ()) -> Row:
    """Keep other writers out of the namespace; its counter, open session, the namespace of its
    rows, which of the passages ``ids`` exist, and what is kept as ``items`` (``item_key``)."""
    return lock_key(tx, key_of(namespace), namespace, ids, items)


def lock_key(
    tx: Tx, key: str, name: str | None, ids: Collection[str] = (), items: Collection[str] = ()
) -> Row:
    """``lock`` by the key of the namespace's node."""
    parameters = {
        "key": key,
        "name": name,
        "ids": [key_of(id) for id in ids],
        "items": list(items),
    }
    return rows(tx, cypher.LOCK, parameters)[0]


def apply(
    tx: Tx,
    namespace: str,
    updates: Sequence[PreparedUpdate],
    forget: Callable[[str, Collection[int]], object],
) -> list[Applied]:
    """See ``GraphStore.apply``. ``forget`` takes the updates at these t of a namespace's rows
    away: what an item takes the place of."""
    told = [update for update in updates if update.text is not None]
    items = {item_key(it.path, it.key) for it in told if it.key is not None}
    state = lock(tx, namespace, {update.id for update in told}, items)
    passages: dict[str, tuple[int, str]] = {key: (t, digest) for key, t, digest in state["known"]}
    pending = _Pending(tx=tx, namespace=state["rows"], state=state, forget=forget)
    applied: list[Applied] = []
    t_index: int = state["t"]
    for index, update in enumerate(updates):
        if update.text is not None:
            digest = text_digest(update.text)
            t, found = passages.setdefault(key_of(update.id), (t_index + 1, digest))
            if found != digest:
                # What an earlier update does wrong is said first; all of it is rolled back.
                pending.write()
                raise ConflictError(update.id, index=index)
            if t <= t_index:
                applied.append(Applied(t_index=t, duplicate=True))
                continue
        t_index += 1
        for id in pending.add(update, t_index):
            passages.pop(id, None)
        applied.append(Applied(t_index=t_index))
    pending.write()
    return applied


@dataclass(slots=True, kw_only=True)
class _Pending:
    """The updates of a batch that are not written yet, and the items that they take the place of.

    What is to be forgotten is forgotten before what is pending is written, whatever came first:
    for passages that makes no difference. For entities and triplets, of which the properties
    are kept as merged, it does: where some are pending, they are written before more is forgotten.
    """

    tx: Tx
    namespace: str
    state: Row
    forget: Callable[[str, Collection[int]], object]
    _fresh: dict[int, PreparedUpdate] = field(default_factory=dict)
    _doomed: set[int] = field(default_factory=set)
    _kept: dict[str, dict[int, str]] = field(init=False)

    def __post_init__(self) -> None:
        self._kept = {}
        for item, t, id in self.state["kept"]:
            self._kept.setdefault(item, {})[t] = id

    def add(self, update: PreparedUpdate, t_index: int) -> Collection[str]:
        """Take in one update; the ids (by ``key_of``) of the items that it takes the place of."""
        replaced: dict[int, str] = {}
        if update.text is not None and update.key is not None:
            item = item_key(update.path, update.key)
            replaced = self._kept.get(item, {})
            self._kept[item] = {t_index: key_of(update.id)}
        if replaced:
            if any(map(_shows_graph, self._fresh.values())):
                self.write()
            self._doomed |= {t for t in replaced if self._fresh.pop(t, None) is None}
        self._fresh[t_index] = update
        return replaced.values()

    def write(self) -> None:
        """Forget and write all that is pending.

        Raises:
            UnknownEntityError: a triplet names an entity that is not there.
        """
        if self._doomed:
            self.forget(self.namespace, self._doomed)
            self._doomed = set()
            parameters = {"namespace": self.namespace}
            self.state = {**self.state, **rows(self.tx, cypher.OPEN_SESSION, parameters)[0]}
        if self._fresh:
            batch = self._gather()
            write_batch(self.tx, batch, max(self._fresh))
            self._fresh = {}
            self.state = {
                **self.state,
                "open_session": batch.open_session,
                "open_said": batch.open_said,
            }

    def _gather(self) -> Batch:
        """The rows of what is pending."""
        batch = new_batch(self.tx, self.state, list(self._fresh.values()))
        for t_index, update in self._fresh.items():
            batch.add(update, t_index)
            for triplet in update.triplets:
                for id in (triplet.subject, triplet.object):
                    if not batch.knows_entity(id):
                        raise UnknownEntityError(id)
        return batch


def _shows_graph(update: PreparedUpdate) -> bool:
    return bool(update.entities or update.triplets)


def expire(tx: Tx, namespace: str, moments: Mapping[str, datetime | None]) -> int:
    """See ``GraphStore.expire``."""
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


def revise(tx: Tx, namespace: str, summary: Summary, expected: ContextVersion) -> bool:
    """See ``GraphStore.revise``."""
    key = lock(tx, namespace)["rows"]
    if context_version(tx, key, summary.concept) != expected:
        return False
    write_summaries(tx, key, [summary])
    return True


def context_version(tx: Tx, key: str, name: str) -> ContextVersion | None:
    """See ``GraphReader.context_version``; ``key`` is the namespace of the rows."""
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


def new_batch(tx: Tx, state: Row, updates: Sequence[PreparedUpdate]) -> Batch:
    """An empty batch that knows what is stored of the entities and triplets in ``updates``;
    ``state`` is what ``lock`` gave."""
    batch = Batch(
        namespace=state["rows"],
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
