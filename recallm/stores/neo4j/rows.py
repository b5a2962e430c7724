"""``Rows`` of the shared write semantics, in Cypher."""

from __future__ import annotations

from abc import ABC, abstractmethod
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
from recallm.stores.neo4j.transaction import AlreadyWrittenError, NeedsLockError, Row, Tx
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
from recallm.stores.semantics import writing
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

REMEMBERED = 900_000
"""Milliseconds after which a writer has learnt what became of its latest write: 15 minutes."""


def look_up_parameters(keys: Keys) -> dict[str, Any]:
    """The parameters of ``LOOK_UP``; the ends of the relations are among the concepts."""
    concepts = keys_of(keys.concepts.union(*keys.relations))
    places = {key: place for place, key in enumerate(concepts)}
    return {
        "concepts": concepts,
        "terms": keys_of(keys.terms),
        "sessions": keys_of(keys.sessions),
        "relations": [[places[key_of(a)], places[key_of(b)]] for a, b in keys.relations],
        "elements": [element_key(element) for element in keys.elements],
        "predicates": keys_of(keys.predicates),
    }


def totals_of(found: Row, elements: Collection[ElementKey]) -> Totals:
    """The row of ``LOOK_UP``; ``elements`` are those that were looked up."""
    by_key = {element_key(element): element for element in elements}
    names = [name for name, *_ in found["concepts"]]
    return Totals(
        concepts={
            name: ConceptTotals(*row)
            for name, *row in [*found["concepts"], *found["their_concepts"]]
            if name is not None
        },
        terms=dict(found["terms"]),
        sessions={name: SessionTotals(*row) for name, *row in found["sessions"]},
        relations={(names[a], names[b]): RelationTotals(*row) for a, b, *row in found["relations"]},
        elements={
            by_key[key]: ElementRow(
                type, ConceptMention(name=name, label=label, kind=kind), mapping_of(properties), at
            )
            for key, type, name, label, kind, properties, at in found["elements"]
        },
        predicates=dict(found["predicates"]),
    )


def _opened(found: Row, by_key: Mapping[str, tuple[tuple[str, ...], str]]) -> Opened:
    """The row of ``LOCK`` or ``PREPARE``; ``by_key`` are the items that were looked up."""
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


class Neo4jRows(ABC):
    """The rows of one namespace, but for how it is opened and how a query is run."""

    def __init__(self, namespace: str, rows: int) -> None:
        self.namespace = namespace
        self.rows = rows
        """The property ``namespace`` of all rows."""

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

    @abstractmethod
    def opened(self, **parameters: Any) -> Row:
        """The row of ``LOCK``, or of a query that finds the same.

        Raises:
            AlreadyWrittenError: an earlier try of this write was committed.
        """

    @abstractmethod
    def rows_of(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        """Run a query in the namespace."""

    def look_up(self, keys: Keys) -> Totals:
        return totals_of(self.rows_of(cypher.LOOK_UP, **look_up_parameters(keys))[0], keys.elements)

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


class LockedRows(Neo4jRows):
    """The rows of a namespace inside one write transaction. ``key`` and ``rows`` are those of a
    node without a name."""

    def __init__(
        self, tx: Tx, namespace: str | None, *, key: str = "", rows: int | None = None
    ) -> None:
        super().__init__(namespace or "", fresh_rows() if rows is None else rows)
        self._tx = tx
        self._given = {"key": key or key_of(self.namespace), "name": namespace}

    def opened(self, **parameters: Any) -> Row:
        stamp = {"writer": self._tx.stamp.writer, "write": self._tx.stamp.write}
        given = {**self._given, "fresh": self.rows, "remembered": REMEMBERED, **stamp}
        found = self._tx.rows(cypher.LOCK, {**given, **parameters})[0]
        if found["written"]:
            raise AlreadyWrittenError
        return found

    def rows_of(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        return self._tx.rows(query, {"namespace": self.rows, **parameters})


class UnlockedRows(Neo4jRows):
    """The rows of a namespace for ``updates`` that only add to them; no lock between queries.

    ``open`` looks up the rows of all updates too (``PREPARE``). ``write`` keeps the changes until
    the transaction is committed; then they go as one query (``GUARDED``), which writes only if
    nobody wrote since. The lock of the namespace is held while the server runs a query, never while
    it waits for a client. What else a write needs is refused with ``NeedsLockError``.
    """

    def __init__(self, tx: Tx, namespace: str, updates: Sequence[PreparedUpdate]) -> None:
        super().__init__(namespace, fresh_rows())
        self._tx = tx
        self._key = key_of(namespace)
        self._keys = writing.keys_of(updates)
        self._found: Row = {}
        self._recorded: dict[str, Any] | None = None

    def opened(self, **parameters: Any) -> Row:
        given = {"key": self._key, "write": self._tx.stamp.write, **look_up_parameters(self._keys)}
        rows = self._tx.rows(cypher.PREPARE, {**given, **parameters})
        if not rows or rows[0]["latest"] is None:  # the namespace was never written
            raise NeedsLockError
        if rows[0]["written"]:
            raise AlreadyWrittenError
        self._found = rows[0]
        return self._found

    def look_up(self, keys: Keys) -> Totals:
        """The rows that ``open`` found; none for a session that begins with this write."""
        sessions = [*self._found["sessions"], *self._found["open_sessions"]]
        known = totals_of({**self._found, "sessions": sessions}, self._keys.elements)
        unknown = keys.sessions - self._keys.sessions - known.sessions.keys()
        if not all(map(self._is_new, unknown)):
            raise NeedsLockError
        found = {"sessions": _only(known.sessions, keys.sessions)}
        for name in ("concepts", "terms", "relations", "elements", "predicates"):
            wanted = getattr(keys, name)
            if not wanted <= getattr(self._keys, name):
                raise NeedsLockError
            found[name] = _only(getattr(known, name), wanted)
        names = {row.concept.name for row in found["elements"].values()}
        found["concepts"] |= _only(known.concepts, names)
        return Totals(**found)

    def write(self, changes: Changes) -> None:
        if self._recorded is not None:
            raise NeedsLockError
        recorded: dict[str, Any] = {}

        def record(query: LiteralString, **parameters: Any) -> Sequence[Row]:
            if query != writes.ADD:
                raise NeedsLockError
            recorded.update(parameters)
            return ()

        write_changes(record, changes)
        self._recorded = {
            **recorded,
            "key": self._key,
            "namespace": self.rows,
            "latest": self._found["latest"],
            "writer": self._tx.stamp.writer,
            "write": self._tx.stamp.write,
            "remembered": REMEMBERED,
        }
        self._tx.write_at_commit(writes.GUARDED, self._recorded)

    def _is_new(self, session_key: str) -> bool:
        """Whether the session begins with an update that is not yet written."""
        return session_key.startswith("@") and int(session_key[1:]) > self._found["namespace"]["t"]

    def rows_of(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        # What reads after the changes must see them.
        if query != cypher.EVIDENCE or self._recorded is not None:
            raise NeedsLockError
        return self._tx.rows(query, {"namespace": self.rows, **parameters})


def _only(rows: dict[Any, Any], keys: set[Any]) -> dict[Any, Any]:
    return {key: row for key, row in rows.items() if key in keys}
