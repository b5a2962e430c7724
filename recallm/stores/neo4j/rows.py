"""``Rows`` of the shared write semantics, in Cypher."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, LiteralString, cast

from recallm.model import (
    ConceptMention,
    ContextVersion,
    Forgotten,
    PreparedUpdate,
    Selection,
    empty_mapping,
    t_index_of,
)
from recallm.stores.cypher import changes as writes
from recallm.stores.cypher import lookups as cypher
from recallm.stores.neo4j.changes import write_changes
from recallm.stores.neo4j.stored import stored_updates
from recallm.stores.neo4j.transaction import AlreadyWrittenError, Row, Tx
from recallm.stores.neo4j.values import (
    ENDLESS,
    fresh_rows,
    item_key,
    json_in,
    key_of,
    keys_of,
    pair_key,
    triplet_key,
)
from recallm.stores.semantics.rows import (
    Changes,
    ConceptTotals,
    EntityRow,
    Evidence,
    Keys,
    NamespaceTotals,
    Opened,
    Pair,
    RelationTotals,
    SessionTotals,
    Totals,
    TripletKey,
    TripletRow,
)
from recallm.stores.semantics.sessions import session_key_of
from recallm.stores.timestamps import from_microseconds, microseconds, timestamp_text

__all__ = ["LockedRows", "Neo4jRows", "lock"]

_REMEMBERED = 900_000
"""Milliseconds after which a writer has learnt what became of its latest write: 15 minutes."""


def lock(
    tx: Tx,
    key: str,
    name: str | None,
    *,
    ids: Collection[str] = (),
    items: Collection[str] = (),
) -> Row:
    """Keep other writers out of the namespace whose node has this key: the row of ``LOCK``.

    Raises:
        AlreadyWrittenError: an earlier try of this transaction was committed.
    """
    parameters = {
        "key": key,
        "name": name,
        "ids": keys_of(ids),
        "items": list(items),
        "writer": tx.stamp.writer,
        "write": tx.stamp.write,
        "remembered": _REMEMBERED,
    }
    state = tx.rows(cypher.LOCK, parameters)[0]
    if state["written"]:
        raise AlreadyWrittenError
    return state


class Neo4jRows(ABC):
    """The rows of one namespace, but for how it is opened and how a query is run."""

    def __init__(self, key: str) -> None:
        self.key = key
        """The namespace of all rows."""
        self._vector_bytes: dict[str, int] = {}

    @abstractmethod
    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        models: Collection[str] = (),
    ) -> Opened: ...

    @abstractmethod
    def _rows(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        """Run a query in the namespace."""

    def look_up(self, keys: Keys) -> Totals:
        found = self._rows(
            cypher.LOOK_UP,
            concepts=keys_of(keys.concepts),
            terms=keys_of(keys.terms),
            sessions=keys_of(keys.sessions),
            relations=[pair_key(pair) for pair in keys.relations],
            entities=keys_of(keys.entities),
            triplets=[triplet_key(triplet) for triplet in keys.triplets],
        )[0]
        return Totals(
            concepts={
                name: ConceptTotals(*row)
                for name, *row in [*found["concepts"], *found["their_concepts"]]
                if name is not None
            },
            terms=dict(found["terms"]),
            sessions={name: SessionTotals(*row) for name, *row in found["sessions"]},
            relations={(a, b): RelationTotals(*row) for a, b, *row in found["relations"]},
            entities={
                id: EntityRow(
                    type, ConceptMention(name=name, label=label, kind=kind), json_in(properties), at
                )
                for id, type, name, label, kind, properties, at in found["entities"]
            },
            triplets={
                (subject, predicate, object): TripletRow(json_in(properties), at)
                for subject, predicate, object, properties, at in found["triplets"]
            },
        )

    def write(self, changes: Changes) -> None:
        self._vector_bytes = {**self._vector_bytes, **changes.vector_sizes}
        write_changes(self._rows, self.key, changes, self._vector_bytes)

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        return stored_updates(partial(self._rows, before=ENDLESS), sorted(ts))

    def evidence(
        self, entities: Collection[str] = (), triplets: Collection[TripletKey] = ()
    ) -> Evidence:
        found = self._rows(
            cypher.EVIDENCE,
            entities=keys_of(entities),
            triplets=[triplet_key(triplet) for triplet in triplets],
        )[0]
        evidence = Evidence()
        for id, at, properties in found["entities"]:
            evidence.entities.setdefault(id, {})[at] = _properties(properties)
        for subject, predicate, object, at, properties in found["triplets"]:
            key = subject, predicate, object
            evidence.triplets.setdefault(key, {})[at] = _properties(properties)
        return evidence

    def relation_evidence(self, since: Mapping[Pair, int]) -> dict[Pair, list[int]]:
        shown: dict[Pair, list[int]] = {}
        relations = [pair_key(pair) for pair in since]
        for row in self._rows(cypher.RELATION_EVIDENCE, relations=relations):
            shown.setdefault((row["a"], row["b"]), []).append(row["t"])
        return shown

    def count_touches(self, concepts: Collection[str]) -> dict[str, ConceptTotals]:
        found = self._rows(cypher.COUNT_TOUCHES, names=keys_of(concepts), t=ENDLESS, before=ENDLESS)
        return {
            row["name"]: ConceptTotals(
                label=row["label"],
                kind=row["kind"],
                t_index=max(row["ts"]),
                updates=len(row["ts"]),
                statements=row["statements"],
            )
            for row in found
        }

    def mention_ends(self, concepts: Collection[str]) -> dict[str, tuple[ConceptMention, int]]:
        del concepts
        return {}  # counting is one query as well

    def select(self, selection: Selection) -> list[int]:
        value, kind = selection.value, str(selection.kind)
        given: str | int
        match kind, value:
            case "expired", datetime():
                given = microseconds(value)
            case "before", datetime():
                kind, given = "said before", microseconds(value)
            case "before", int():
                given = min(value, ENDLESS)
            case "session", _:
                given = key_of(session_key_of(str(value), None) or "")
            case _:
                given = key_of(str(value))
        limit = ENDLESS if selection.limit is None else selection.limit
        return [row["t"] for row in self._rows(cypher.SELECT[kind], value=given, limit=limit)]

    def touching(self, concept: str) -> tuple[list[int], list[str]]:
        found = self._rows(cypher.TOUCHING, concept=key_of(concept))
        return (found[0]["keys"], found[0]["entities"]) if found else ([], [])

    def triplets_of(self, entities: Collection[str]) -> set[TripletKey]:
        found = self._rows(cypher.TRIPLETS_OF, entities=keys_of(entities))
        return {(row["subject"], row["predicate"], row["object"]) for row in found}

    def drop_summaries(self, first: Mapping[str, int]) -> int:
        dropped = [{"concept": key_of(name), "t": t} for name, t in first.items()]
        return cast(int, self._rows(writes.DELETE_SUMMARIES, rows=dropped)[0]["summaries"])

    def context_version(self, concept: str) -> ContextVersion | None:
        found = self._rows(cypher.CONTEXT_VERSION, concept=key_of(concept))
        if not found or found[0]["latest"] is None:
            return None
        return ContextVersion(
            t_index=t_index_of(found[0]["latest"]),
            statements=found[0]["statements"],
            summary_t=found[0]["summary_t"],
        )

    def unembedded(self, keys: Collection[int]) -> set[int]:
        return {row["key"] for row in self._rows(cypher.UNEMBEDDED, keys=list(keys))}

    def set_expiry(self, expires_at: Mapping[str, datetime | None]) -> int:
        changed = [
            {
                "id": key_of(id),
                "expires_at": timestamp_text(moment),
                "expires": microseconds(moment),
            }
            for id, moment in expires_at.items()
        ]
        return cast(int, self._rows(writes.EXPIRE, rows=changed)[0]["passages"])

    def delete_everything(self) -> Forgotten:
        """Let the namespace stand on fresh rows; ``generations.purge`` deletes the others."""
        fresh = fresh_rows()
        counts = self._rows(writes.FORGET_EVERYTHING, fresh=fresh, garbage=fresh_rows())[0]
        self.key = fresh
        self._vector_bytes = {}
        return Forgotten(**counts)


class LockedRows(Neo4jRows):
    """The rows of a namespace inside one write transaction."""

    def __init__(self, tx: Tx, namespace: str) -> None:
        super().__init__(key_of(namespace))
        self._tx = tx
        self._name = namespace

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        models: Collection[str] = (),
    ) -> Opened:
        del models  # the sizes of all vectors come with the namespace
        by_key = {item_key(*item): item for item in items}
        found = lock(self._tx, self.key, self._name, ids=ids, items=by_key)
        node = found["namespace"]
        self.key = node["rows"]
        self._vector_bytes = json_in(node["vector_bytes"] or "{}")
        said = node["open_said"]
        opened = Opened(
            totals=NamespaceTotals(
                t=node["t"],
                statements=node["statements"],
                terms=node["terms"],
                sessions=node["sessions"],
                open_session=node["open_session"],
                open_said=None if said is None else from_microseconds(said),
                model=node["model"],
                origin=node["origin"],
                revision=node["revision"] or 0,
            ),
            passages={id: (t, digest) for id, t, digest in found["passages"]},
            vector_sizes=dict(self._vector_bytes),
        )
        for item, t, id in found["items"]:
            opened.items.setdefault(by_key[item], {})[t] = id
        return opened

    def _rows(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        return self._tx.rows(query, {"namespace": self.key, **parameters})


def _properties(text: str | None) -> Mapping[str, Any]:
    return empty_mapping() if text is None else json_in(text)
