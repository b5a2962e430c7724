"""``Rows`` of the shared write semantics, in Cypher."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString, cast

from recallm.model import (
    LARGEST_NUMBER,
    ConceptMention,
    ContextVersion,
    ElementKey,
    Forgotten,
    PreparedUpdate,
    Selection,
    TripletKey,
    session_key_of,
    t_index_of,
)
from recallm.stores.cypher import changes as writes
from recallm.stores.cypher import lookups as cypher
from recallm.stores.neo4j.changes import write_changes
from recallm.stores.neo4j.stored import stored_updates
from recallm.stores.neo4j.transaction import AlreadyWrittenError, Row, Tx
from recallm.stores.neo4j.values import (
    counted_in,
    element_key,
    fresh_key,
    fresh_rows,
    item_key,
    key_of,
    keys_of,
    moment_of,
)
from recallm.stores.semantics.reading import evidence_of, mapping_of, open_session_of
from recallm.stores.semantics.rows import (
    Changes,
    ConceptTotals,
    ElementRow,
    Evidence,
    Keys,
    NamespaceTotals,
    Opened,
    Pair,
    RelationTotals,
    SessionTotals,
    Totals,
    microseconds,
    selected_by,
    timestamp_text,
)

_EVERY_T = {"t": LARGEST_NUMBER, "before": LARGEST_NUMBER}
"""Parameters of queries that leave out what is later than a t."""

_REMEMBERED = 900_000
"""Milliseconds after which a writer has learnt what became of its latest write: 15 minutes."""


def _opened(found: Row, by_key: Mapping[str, tuple[tuple[str, ...], str]]) -> Opened:
    """The row of ``LOCK``; ``by_key`` are the items that were looked up."""
    node = found["namespace"]
    opened = Opened(
        totals=NamespaceTotals(
            t=node["t"],
            statements=node["statements"],
            terms=node["terms"],
            sessions=node["sessions"],
            model=node["model"],
            origin=node["origin"],
            revision=node["revision"] or 0,
            vocabulary=node["vocabulary"] or 0,
            vector_sizes=dict(mapping_of(node["vector_bytes"])),
            open_session=open_session_of(*found["open_session"]),
        ),
        passages={id: (t, text) for id, t, text, _ in found["passages"]},
        withdrawn={id for id, _, _, withdrawn_t in found["passages"] if withdrawn_t is not None},
        has_expired=found["expired"],
    )
    for item, t, id in found["items"]:
        opened.items.setdefault(by_key[item], {})[t] = id
    return opened


class Neo4jRows:
    """The rows of one namespace inside one write transaction. ``key`` and ``rows`` are those of a
    node without a name."""

    def __init__(
        self, tx: Tx, namespace: str | None, *, key: str = "", rows: int | None = None
    ) -> None:
        self.rows = fresh_rows() if rows is None else rows
        """The property ``namespace`` of all rows."""
        self._tx = tx
        self._given = {"key": key or key_of(namespace or ""), "name": namespace}

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        now: datetime | None = None,
    ) -> Opened:
        by_key = {item_key(*item): item for item in items}
        found = self.opened(ids=keys_of(ids), items=list(by_key), now=moment_of(now))
        self.rows = found["namespace"]["rows"]
        return _opened(found, by_key)

    def opened(self, **parameters: Any) -> Row:
        """The row of ``LOCK``.

        Raises:
            AlreadyWrittenError: an earlier try of this write was committed.
        """
        stamp = {"writer": self._tx.stamp.writer, "write": self._tx.stamp.write}
        given = {**self._given, "fresh": self.rows, "remembered": _REMEMBERED, **stamp}
        found = self._tx.rows(cypher.LOCK, {**given, **parameters})[0]
        if found["written"]:
            raise AlreadyWrittenError
        return found

    def rows_of(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        """Run a query in the namespace."""
        return self._tx.rows(query, {"namespace": self.rows, **parameters})

    def look_up(self, keys: Keys) -> Totals:
        concepts = keys_of(keys.concepts.union(*keys.relations))
        places = {key: place for place, key in enumerate(concepts)}
        by_key = {element_key(element): element for element in keys.elements}
        found = self.rows_of(
            cypher.LOOK_UP,
            concepts=concepts,
            terms=keys_of(keys.terms),
            sessions=keys_of(keys.sessions),
            relations=[[places[key_of(a)], places[key_of(b)]] for a, b in keys.relations],
            elements=list(by_key),
            predicates=keys_of(keys.predicates),
        )[0]
        names = [name for name, *_ in found["concepts"]]
        return Totals(
            concepts={
                name: ConceptTotals(*row)
                for name, *row in [*found["concepts"], *found["their_concepts"]]
                if name is not None
            },
            terms=dict(found["terms"]),
            sessions={name: SessionTotals(*row) for name, *row in found["sessions"]},
            relations={
                (names[a], names[b]): RelationTotals(*row) for a, b, *row in found["relations"]
            },
            elements={
                by_key[key]: ElementRow(
                    type,
                    ConceptMention(name=name, label=label, kind=kind),
                    mapping_of(properties),
                    at,
                )
                for key, type, name, label, kind, properties, at in found["elements"]
            },
            predicates=dict(found["predicates"]),
        )

    def write(self, changes: Changes) -> None:
        write_changes(self.rows_of, changes)

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        return stored_updates(self.rows_of, sorted(ts))

    def evidence(self, elements: Collection[ElementKey]) -> dict[ElementKey, dict[int, Evidence]]:
        by_key = {element_key(element): element for element in elements}
        evidence: dict[ElementKey, dict[int, Evidence]] = {}
        for row in self.rows_of(cypher.EVIDENCE, elements=list(by_key)):
            key, at = by_key[row["key"]], row["at"]
            shown = evidence_of(key, at, row["properties"], row["description"])
            evidence.setdefault(key, {})[at] = shown
        return evidence

    def relation_evidence(self, since: Mapping[Pair, int]) -> dict[Pair, list[int]]:
        relations = [[key_of(a), key_of(b)] for a, b in since]
        found = self.rows_of(cypher.RELATION_EVIDENCE, relations=relations)
        return {(row["a"], row["b"]): row["ts"] for row in found}

    def count_touches(self, left: Mapping[str, tuple[int, int] | None]) -> dict[str, ConceptTotals]:
        names = keys_of(left.keys())
        return counted_in(self.rows_of(cypher.COUNT_TOUCHES, names=names, **_EVERY_T))

    def select(self, selection: Selection) -> list[int]:
        kind, value = selected_by(selection)
        given: dict[str, Any] = {"value": value if isinstance(value, int) else key_of(value)}
        if kind == "session":
            given = {
                "value": key_of(session_key_of(str(value), None) or ""),
                "source": given["value"],
            }
        limit = LARGEST_NUMBER if selection.limit is None else selection.limit
        return [row["t"] for row in self.rows_of(cypher.SELECT[kind], limit=limit, **given)]

    def touching(self, concept: str) -> tuple[list[int], list[str]]:
        found = self.rows_of(cypher.TOUCHING, concept=key_of(concept), name=concept)[0]
        return found["keys"], found["entities"]

    def referring(self, ids: Collection[str]) -> list[int]:
        return [row["t"] for row in self.rows_of(cypher.REFERRING, ids=keys_of(ids))] if ids else []

    def triplets_of(self, entities: Collection[str]) -> set[TripletKey]:
        found = self.rows_of(cypher.TRIPLETS_OF, entities=keys_of(entities))
        return {(row["subject"], row["predicate"], row["object"]) for row in found}

    def drop_summaries(self, first: Mapping[str, int]) -> int:
        dropped = [{"concept": key_of(name), "t": t} for name, t in first.items()]
        return cast(int, self.rows_of(writes.DELETE_SUMMARIES, rows=dropped)[0]["summaries"])

    def context_version(self, concept: str) -> ContextVersion | None:
        found = self.rows_of(cypher.CONTEXT_VERSION, concept=key_of(concept))
        if not found or found[0]["latest"] is None:
            return None
        return ContextVersion(
            t_index=t_index_of(found[0]["latest"]),
            statements=found[0]["statements"],
            summary_t=found[0]["summary_t"],
        )

    def set_expiry(self, expires_at: Mapping[str, datetime | None]) -> int:
        changed = [
            {
                "id": key_of(id),
                "expires_at": timestamp_text(moment),
                "expires": microseconds(moment),
            }
            for id, moment in expires_at.items()
        ]
        return cast(int, self.rows_of(writes.EXPIRE, rows=changed)[0]["passages"])

    def withdraw(self, ts: Collection[int], withdrawn_t: int | None) -> None:
        self.rows_of(writes.WITHDRAW, ts=list(ts), withdrawn=withdrawn_t)

    def delete_everything(self) -> Forgotten:
        """Let the namespace stand on fresh rows; ``generations.purge`` deletes the others."""
        fresh = fresh_rows()
        given = {"fresh": fresh, "garbage": fresh_key(), **_EVERY_T}
        counts = dict(self.rows_of(writes.FORGET_EVERYTHING, **given)[0])
        self.rows = fresh
        del counts["sessions"], counts["vectors"]
        return Forgotten(**counts)
