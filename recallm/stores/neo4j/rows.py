"""``Rows`` of the shared write semantics, in Cypher."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Final, LiteralString

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
from recallm.stores.cypher import lookups as cypher
from recallm.stores.cypher.reader_queries import STATS
from recallm.stores.cypher.schema import NO_TOTALS
from recallm.stores.neo4j import values
from recallm.stores.neo4j.adding import ADD, GUARDED, added_by
from recallm.stores.neo4j.removing import REMOVE, removed_by
from recallm.stores.neo4j.stored import stored_updates
from recallm.stores.neo4j.transaction import AlreadyWrittenError, NeedsLockError, Tx
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

_SET: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (u:RecallMUpdate {namespace: $namespace, {{KEY}}: row[0]})
SET u += row[1]
FOREACH (said IN COLLECT { MATCH (u)-[:HAS]->(s:RecallMStatement) RETURN s } |
    SET said += row[2]
)
RETURN count(u) AS row
"""
"""Properties of updates, and those that their statements repeat."""

EXPIRE: Final[LiteralString] = _SET.replace("{{KEY}}", "id_key")
WITHDRAW: Final[LiteralString] = _SET.replace("{{KEY}}", "t")

DELETE_SUMMARIES: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (c:RecallMConcept {namespace: $namespace, key: row[0]})
WHERE c.summary_t >= row[1]
SET c += {summary: null, summary_t: null, summary_terms: null, summary_traits: null}
RETURN count(*) AS row
"""

FORGET_EVERYTHING: Final[LiteralString] = (
    """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.rows = $fresh
CREATE (:RecallMNamespace {key: $garbage, rows: $namespace, purge_after: timestamp()})
WITH n"""
    + STATS
)
"""The namespace stands on fresh rows; those that it had are garbage (``generations``)."""


def look_up_parameters(keys: Keys) -> dict[str, Any]:
    """The parameters of ``LOOK_UP``; the ends of the relations are among the concepts."""
    concepts = values.keys_of(keys.concepts.union(*keys.relations))
    places = {key: place for place, key in enumerate(concepts)}
    return {
        "concepts": concepts,
        "terms": values.keys_of(keys.terms),
        "sessions": values.keys_of(keys.sessions),
        "relations": [
            [places[values.key_of(a)], places[values.key_of(b)]] for a, b in keys.relations
        ],
        "elements": [values.element_key(element) for element in keys.elements],
        "predicates": values.keys_of(keys.predicates),
    }


def totals_of(found: Mapping[str, Any], keys: Keys) -> Totals:
    """What the row of ``LOOK_UP`` has of some keys that were looked up."""
    by_key = {values.element_key(element): element for element in keys.elements}
    names = [name for name, *_ in found["concepts"]]
    elements = {
        by_key[key]: ElementRow(
            type, ConceptMention(name=name, label=label, kind=kind), mapping_of(properties), at
        )
        for key, type, name, label, kind, properties, at in found["elements"]
        if key in by_key
    }
    pairs = {(names[a], names[b]): row for a, b, *row in found["relations"]}
    concepts = keys.concepts | {row.concept.name for row in elements.values()}
    return Totals(
        concepts={
            name: ConceptTotals(*row)
            for name, *row in [*found["concepts"], *found["their_concepts"]]
            if name in concepts
        },
        terms={stem: documents for stem, documents in found["terms"] if stem in keys.terms},
        sessions={
            key: SessionTotals(*row) for key, *row in found["sessions"] if key in keys.sessions
        },
        relations={
            pair: RelationTotals(*row) for pair, row in pairs.items() if pair in keys.relations
        },
        elements=elements,
        predicates={name: n for name, n in found["predicates"] if name in keys.predicates},
    )


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
        by_key = {values.item_key(*item): item for item in items}
        found = self.opened(ids=values.keys_of(ids), items=list(by_key), now=values.moment_of(now))
        self.rows = found["rows"]
        totals = NamespaceTotals(
            **found["totals"],
            vector_sizes=dict(mapping_of(found["vector_bytes"])),
            open_session=open_session_of(*found["open_session"]),
        )
        opened = Opened(
            totals=totals,
            passages={id: (t, text) for id, t, text, _ in found["passages"]},
            withdrawn={id for id, _, _, since in found["passages"] if since is not None},
            has_expired=found["expired"],
        )
        for item, t, id in found["items"]:
            opened.items.setdefault(by_key[item], {})[t] = id
        return opened

    @abstractmethod
    def opened(self, **parameters: Any) -> Mapping[str, Any]:
        """The row of ``LOCK``, or of a query that finds the same.

        Raises:
            AlreadyWrittenError: an earlier try of this write was committed.
        """

    @abstractmethod
    def rows_of(self, query: LiteralString, **parameters: Any) -> list[Any]:
        """Run a query in the namespace."""

    def look_up(self, keys: Keys) -> Totals:
        return totals_of(self.rows_of(cypher.LOOK_UP, **look_up_parameters(keys))[0], keys)

    def write(self, changes: Changes) -> None:
        removed = removed_by(changes)
        if any(removed.values()):
            self.rows_of(REMOVE, **removed)
        self.rows_of(ADD, **added_by(changes))

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        return stored_updates(self.rows_of, sorted(ts))

    def evidence(self, elements: Collection[ElementKey]) -> dict[ElementKey, dict[int, Evidence]]:
        by_key = {values.element_key(element): element for element in elements}
        evidence: dict[ElementKey, dict[int, Evidence]] = {}
        for name, at, *shown in self.rows_of(cypher.EVIDENCE, elements=list(by_key)):
            key = by_key[name]
            evidence.setdefault(key, {})[at] = evidence_of(key, at, *shown)
        return evidence

    def relation_evidence(self, since: Mapping[Pair, int]) -> dict[Pair, list[int]]:
        relations = [[values.key_of(a), values.key_of(b)] for a, b in since]
        found = self.rows_of(cypher.RELATION_EVIDENCE, relations=relations)
        return {(a, b): ts for a, b, ts in found}

    def count_touches(self, left: Mapping[str, tuple[int, int] | None]) -> dict[str, ConceptTotals]:
        names = values.keys_of(left.keys())
        return values.counted_in(self.rows_of(cypher.COUNT_TOUCHES, names=names, **_EVERY_T))

    def select(self, selection: Selection) -> list[int]:
        kind, value = selected_by(selection)
        given: dict[str, Any] = {"value": value if isinstance(value, int) else values.key_of(value)}
        if kind == "session":
            given = {
                "value": values.key_of(session_key_of(str(value), None) or ""),
                "source": given["value"],
            }
        limit = LARGEST_NUMBER if selection.limit is None else selection.limit
        return self.rows_of(cypher.SELECT[kind], limit=limit, **given)

    def touching(self, concept: str) -> tuple[list[int], list[str]]:
        [(keys, entities)] = self.rows_of(
            cypher.TOUCHING, concept=values.key_of(concept), name=concept
        )
        return keys, entities

    def referring(self, ids: Collection[str]) -> list[int]:
        return self.rows_of(cypher.REFERRING, ids=values.keys_of(ids)) if ids else []

    def triplets_of(self, entities: Collection[str]) -> set[TripletKey]:
        found = self.rows_of(cypher.TRIPLETS_OF, entities=values.keys_of(entities))
        return {(subject, predicate, object) for subject, predicate, object in found}

    def drop_summaries(self, first: Mapping[str, int]) -> int:
        dropped = [[values.key_of(name), t] for name, t in first.items()]
        [count] = self.rows_of(DELETE_SUMMARIES, rows=dropped)
        return int(count)

    def context_version(self, concept: str) -> ContextVersion | None:
        for statements, summary_t, latest in self.rows_of(
            cypher.CONTEXT_VERSION, concept=values.key_of(concept)
        ):
            if latest is not None:
                return ContextVersion(
                    t_index=t_index_of(latest), statements=statements, summary_t=summary_t
                )
        return None

    def set_expiry(self, expires_at: Mapping[str, datetime | None]) -> int:
        changed: list[Any] = []
        for id, moment in expires_at.items():
            own = {"expires": microseconds(moment)}
            changed.append([values.key_of(id), {"expires_at": timestamp_text(moment), **own}, own])
        [count] = self.rows_of(EXPIRE, rows=changed)
        return int(count)

    def withdraw(self, ts: Collection[int], withdrawn_t: int | None) -> None:
        own = {"withdrawn": withdrawn_t}
        self.rows_of(WITHDRAW, rows=[[t, own, own] for t in ts])

    def delete_everything(self) -> Forgotten:
        """Let the namespace stand on fresh rows; ``generations.purge`` deletes the others."""
        fresh = values.fresh_rows()
        given = {"fresh": fresh, "garbage": values.fresh_key(), **_EVERY_T}
        [counts] = self.rows_of(FORGET_EVERYTHING, **given)
        self.rows = fresh
        del counts["sessions"], counts["vectors"]
        return Forgotten(**counts)


class LockedRows(Neo4jRows):
    """The rows of a namespace inside one write transaction. ``key`` and ``rows`` are those of a
    node without a name."""

    def __init__(
        self, tx: Tx, namespace: str | None, *, key: str = "", rows: int | None = None
    ) -> None:
        super().__init__(namespace or "", values.fresh_rows() if rows is None else rows)
        self._tx = tx
        self._key = key or values.key_of(self.namespace)
        self._name = namespace

    def opened(self, **parameters: Any) -> Mapping[str, Any]:
        fresh = {**NO_TOTALS, "name": self._name, "rows": self.rows}
        given = {"key": self._key, "fresh": fresh, **look_up_parameters(Keys()), **self._tx.stamp}
        [found] = self._tx.rows(cypher.LOCK, {**given, **parameters})
        if found["written"]:
            raise AlreadyWrittenError
        return dict(found)

    def rows_of(self, query: LiteralString, **parameters: Any) -> list[Any]:
        return self._tx.rows(query, {"namespace": self.rows, **parameters})


class UnlockedRows(Neo4jRows):
    """The rows of a namespace for ``updates`` that only add to them; no lock between queries.

    ``open`` looks up the rows of all updates too (``PREPARE``). ``write`` keeps the changes until
    the transaction is committed; then they go as one query (``GUARDED``), which writes only if
    nobody wrote since. The lock of the namespace is held while the server runs a query, never while
    it waits for a client. What else a write needs is refused with ``NeedsLockError``.
    """

    def __init__(self, tx: Tx, namespace: str, updates: Sequence[PreparedUpdate]) -> None:
        super().__init__(namespace, values.fresh_rows())
        self._tx = tx
        self._key = values.key_of(namespace)
        self._keys = writing.keys_of(updates)
        self._found: Mapping[str, Any] = {}

    def opened(self, **parameters: Any) -> Mapping[str, Any]:
        given = {"key": self._key, **look_up_parameters(self._keys), **self._tx.stamp}
        rows = self._tx.rows(cypher.PREPARE, {**given, **parameters})
        if not rows:  # the namespace was never written
            raise NeedsLockError
        [self._found] = rows
        if self._found["written"]:
            raise AlreadyWrittenError
        return self._found

    def look_up(self, keys: Keys) -> Totals:
        """The rows that ``open`` found; none for a session that begins with this write."""
        for kind in fields(Keys):
            unknown = getattr(keys, kind.name) - getattr(self._keys, kind.name)
            if kind.name == "sessions":
                opened = {key for key, *_ in self._found["open_sessions"]}
                unknown = {key for key in unknown - opened if not self._is_new(key)}
            if unknown:
                raise NeedsLockError
        sessions = self._found["sessions"] + self._found["open_sessions"]
        return totals_of({**self._found, "sessions": sessions}, keys)

    def write(self, changes: Changes) -> None:
        if self._tx.at_commit is not None or any(removed_by(changes).values()):
            raise NeedsLockError
        given = {"key": self._key, "namespace": self.rows, "latest": self._found["latest"]}
        self._tx.write_at_commit(GUARDED, {**given, **self._tx.stamp, **added_by(changes)})

    def _is_new(self, session_key: str) -> bool:
        """Whether the session begins with an update that is not yet written."""
        return session_key.startswith("@") and int(session_key[1:]) > self._found["totals"]["t"]

    def rows_of(self, query: LiteralString, **parameters: Any) -> list[Any]:
        # What reads after the changes must see them.
        if query != cypher.EVIDENCE or self._tx.at_commit is not None:
            raise NeedsLockError
        return self._tx.rows(query, {"namespace": self.rows, **parameters})
