"""``Rows`` of the shared write semantics, in Cypher."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString

from recallm.model import (
    LARGEST_NUMBER,
    ConceptMention,
    ElementKey,
    Forgotten,
    PreparedUpdate,
    Selection,
    TripletKey,
    session_key_of,
)
from recallm.stores.cypher import changes as writes
from recallm.stores.cypher import lookups as cypher
from recallm.stores.cypher.reader_queries import STATS, UPDATES_AT
from recallm.stores.cypher.schema import NO_TOTALS, UNIQUE
from recallm.stores.neo4j import values
from recallm.stores.neo4j.changes import ChangedRows, namespace_properties
from recallm.stores.neo4j.connection import AlreadyWrittenError, NeedsLockError, Tx
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
    SessionTotals,
    Totals,
    selected_by,
)

_EVERY_T = {"t": LARGEST_NUMBER, "before": LARGEST_NUMBER}
"""Parameters of queries that leave out what is later than a t."""

DELETE_SUMMARIES: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (c:RecallMConcept {namespace: $namespace, key: row[0]})
WHERE c.summary_t >= row[1]
SET c += {summary: null, summary_t: null, summary_terms: null, summary_traits: null}
RETURN count(*) AS row
"""

DELETE_EVERYTHING: Final[LiteralString] = "".join(
    [
        "CALL () { MATCH (x:" + label + ") WHERE x.namespace = $namespace"
        + "".join([" AND x." + name + " IS NOT NULL" for name in key.split(", ")[1:]])
        + " DETACH DELETE x }\n"
        for _, label, key in UNIQUE
        if key.startswith("namespace, ")
    ]
)  # fmt: skip
"""All nodes but the namespace's own, found by the indexes of constraints: a condition names each of
their properties."""


def look_up_parameters(keys: Keys) -> dict[str, Any]:
    """The parameters of ``LOOK_UP``."""
    return {
        "concepts": values.keys_of(keys.concepts),
        "terms": [*map(values.stem_key, keys.terms)],
        "sessions": values.keys_of(keys.sessions),
        "elements": [values.element_key(element) for element in keys.elements],
        "predicates": values.keys_of(keys.predicates),
    }


class Neo4jRows:
    """The rows of one namespace in one try of a write.

    With the lock comes what ``updates``, which the write adds, need of the graph: it serves until
    another query is run. In a try without the lock between its queries (``Tx``), ``write`` keeps
    the changes until the commit; then they go as one query, which writes only if nobody wrote
    since. What else such a try needs is refused with ``NeedsLockError``.
    """

    def __init__(self, tx: Tx, namespace: str, updates: Sequence[PreparedUpdate] = ()) -> None:
        # Of a new namespace: random, so that writers need not agree on the next one. A constraint
        # refuses a number that other rows have.
        self.rows = secrets.randbits(63)
        """The property ``namespace`` of all rows."""
        self._tx = tx
        self._name = namespace
        self._key = values.key_of(namespace)
        self._updates = updates
        self._latest = ""
        self._found: Mapping[str, Any] | None = None
        self._ends: dict[str, tuple[int, int]] = {}
        self._numbers: dict[str | None, int] = {}

    def open(
        self,
        *,
        ids: Collection[str] = (),
        items: Collection[tuple[tuple[str, ...], str]] = (),
        now: datetime | None = None,
    ) -> Opened:
        """The rows with the lock of the namespace.

        Raises:
            AlreadyWrittenError: an earlier try of this write was committed.
        """
        by_key = {values.item_key(*item): item for item in items}
        [found] = self._tx.rows(
            cypher.LOCK,
            {
                "key": self._key,
                "fresh": {**NO_TOTALS, "name": self._name, "rows": self.rows},
                "write": self._tx.write,
                "ids": values.keys_of(ids),
                "items": list(by_key),
                "now": values.moment_of(now),
                **look_up_parameters(writing.keys_of(self._updates)),
            },
        )
        if found["written"]:
            raise AlreadyWrittenError
        self.rows, self._latest = found["rows"], found["latest"]
        self._found = found if self._updates else None
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

    def rows_of(self, query: LiteralString, **parameters: Any) -> list[Any]:
        """Run a query in the namespace."""
        if self._tx.raw is None:
            raise NeedsLockError
        self._found = None
        return self._tx.rows(query, {"namespace": self.rows, **parameters})

    def look_up(self, keys: Keys) -> Totals:
        found = self._found or self.rows_of(cypher.LOOK_UP, **look_up_parameters(keys))[0]
        totals = Totals()
        by_key = {values.element_key(element): element for element in keys.elements}
        for key, type, name, label, kind, properties, at in found["elements"]:
            if key in by_key:
                mention = ConceptMention(name=name, label=label, kind=kind)
                row = ElementRow(type, mention, mapping_of(properties), at)
                totals.elements[by_key[key]] = row
        names = keys.concepts | {row.concept.name for row in totals.elements.values()}
        concepts = [*found["concepts"], *found["their_concepts"]]
        for name, label, kind, counted, _, last, filled in concepts:
            if name in names:
                totals.concepts[name] = ConceptTotals(label, kind, *counted)
                self._ends[values.key_of(name)] = last, filled
        for stem, (_, statements), last, filled in found["terms"]:
            if stem in keys.terms:
                totals.terms[stem] = statements
                self._ends[values.stem_key(stem)] = last, filled
        for name, (_, statements, terms), number in found["sessions"]:
            if name in keys.sessions:
                totals.sessions[name] = SessionTotals(statements, terms)
                self._numbers[name] = number
        totals.predicates |= {name: n for name, n in found["predicates"] if name in keys.predicates}
        return totals

    def write(self, changes: Changes) -> None:
        rows = ChangedRows(changes, self._ends, self._numbers)
        if any(rows.gone.values()):
            gone = {"gone_" + kind: rows.gone[kind] for kind in writes.KINDS[writes.DELETE]}
            self.rows_of(writes.DELETE, **gone)
        given: dict[str, Any] = {kind: rows.put[kind] for kind in writes.KINDS[writes.PUT]}
        given |= {"key": self._key, "totals": namespace_properties(changes.namespace)}
        given |= {"latest": self._latest, "write": self._tx.write}
        if self._tx.raw is not None:
            self.rows_of(writes.PUT, **given)
            self._latest = self._tx.write
        else:
            self._tx.write_at_commit(writes.PUT, {"namespace": self.rows, **given})

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        found = self.rows_of(UPDATES_AT, ts=sorted(ts))
        return [values.update_in(row) for row in found]

    def evidence(self, elements: Collection[ElementKey]) -> dict[ElementKey, dict[int, Evidence]]:
        by_key = {values.element_key(element): element for element in elements}
        evidence: dict[ElementKey, dict[int, Evidence]] = {}
        for name, at, *shown in self.rows_of(cypher.EVIDENCE, elements=list(by_key)):
            key = by_key[name]
            evidence.setdefault(key, {})[at] = evidence_of(key, at, *shown)
        return evidence

    def count_relations(self, pairs: Collection[Pair]) -> int:
        relations = [[values.key_of(a), values.key_of(b)] for a, b in pairs]
        [count] = self.rows_of(cypher.COUNT_RELATIONS, relations=relations)
        return int(count)

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
        return self.rows_of(cypher.SELECT[kind], **given)

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

    def delete_everything(self) -> Forgotten:
        [counts] = self.rows_of(STATS, **_EVERY_T)
        self.rows_of(DELETE_EVERYTHING)
        del counts["sessions"], counts["vectors"]
        return Forgotten(**counts)
