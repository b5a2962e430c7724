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
from recallm.stores.neo4j import values
from recallm.stores.neo4j.changes import DELETE, PUT, namespace_properties, parameters_of
from recallm.stores.neo4j.connection import AlreadyWrittenError, NeedsLockError, Tx
from recallm.stores.neo4j.queries import spelled
from recallm.stores.neo4j.reader_queries import STATS, UPDATES_AT
from recallm.stores.neo4j.schema import COUNTED, NO_TOTALS, TOTALS, UNIQUE
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
    SessionTotals,
    Totals,
    selected_by,
)

_ELEMENT: Final[LiteralString] = "key type concept label kind properties latest"

_STORED: Final[tuple[tuple[LiteralString, ...], ...]] = (
    *[
        (kind, "$" + kind if kind != "sessions" else "session_keys", f"(x:{labels} {{KEY}})", names)
        for kind, labels, _, names in COUNTED
    ],
    ("elements", "$elements", "(x:RecallMElement {KEY})", _ELEMENT),
    ("their_concepts", "$elements", "(:RecallMElement {KEY})-[:STANDS_ON]->(x)", COUNTED[0][3]),
)
"""Kinds of rows that are looked up by lists of keys, and their columns."""


def _collected(
    kind: LiteralString, keys: LiteralString, pattern: LiteralString, columns: LiteralString
) -> LiteralString:
    matched = pattern.replace("KEY", "namespace: n.rows, key: key")
    properties = ", ".join(["x." + name for name in columns.split()])
    return f"""
CALL (n, session_keys) {{
    UNWIND {keys} AS key
    MATCH {matched}
    RETURN collect([{properties}]) AS {kind}
}}"""


_LOOK_UP: Final[LiteralString] = (
    "".join([_collected(*kind) for kind in _STORED])
    + "\nRETURN n { "
    + ", ".join([kind for kind, *_ in _STORED])
)

LOOK_UP: Final[LiteralString] = (
    "WITH {rows: $namespace} AS n, $sessions AS session_keys" + _LOOK_UP + " } AS row\n"
)

LOCK: Final[LiteralString] = (
    """
MERGE (n:RecallMNamespace {key: $key})
ON CREATE SET n += $fresh
SET n.locked = true
WITH n, coalesce(last(n.writes), '') AS latest, $write IN coalesce(n.writes, []) AS written
CALL (n) {
    UNWIND $ids AS id
    MATCH (u:RecallMUpdate {namespace: n.rows, id_key: id})
    RETURN collect([u.id, u.t, u.text, u.withdrawn]) AS passages
}
CALL (n) {
    UNWIND $items AS item
    MATCH (u:RecallMUpdate {namespace: n.rows, item_key: item})
    RETURN collect([item, u.t, u.id]) AS items
}
OPTIONAL MATCH (open:RecallMUpdate {namespace: n.rows, t: n.open_t})
WITH *, $sessions + [open.lane] AS session_keys"""
    + _LOOK_UP
    + """, latest, written, passages, items, .rows, .vector_bytes,
    totals: n { """
    + ", ".join([f".{name}" for name in TOTALS])
    + """ }, open_session: [open.t, open.session_key, open.said, open.source],
    expired: EXISTS { MATCH (u:RecallMUpdate) WHERE u.namespace = n.rows AND u.expires <= $now }
} AS row
"""
)
"""Setting a property locks the node until the transaction ends: what is read after that, t above
all, no other writer of the namespace can change. ``latest`` is the name of the latest write,
``written`` says whether this write is done, and ``rows`` is the namespace of all other queries.
What ``LOOK_UP`` finds is there too, with the session that is open."""

EVIDENCE: Final[LiteralString] = """
UNWIND $elements AS key
MATCH (x:RecallMElement {namespace: $namespace, key: key})-[shown:SHOWN]->()
USING INDEX SEEK x:RecallMElement(namespace, key)
RETURN [key, shown.key, shown.properties, coalesce(shown.description, [])] AS row
"""

COUNT_TOUCHES: Final[LiteralString] = spelled("""
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
CALL (c) {
    {{MENTIONED_AT}} WITH at WHERE at < $before
    RETURN at / 1048576 AS t, at AS key, null AS shown
    UNION ALL
    MATCH (c)<-[:STANDS_ON]-(x:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t
    RETURN u.t AS t, null AS key, [u.t, x.id, x.label, x.kind] AS shown
}
WITH c, max(t) AS t_index, count(DISTINCT t) AS updates, count(key) AS statements,
    min(key) AS first, min(shown) AS entity
OPTIONAL MATCH (s:RecallMStatement {namespace: $namespace, key: first})
RETURN [
    c.name, coalesce(s.content, ''), coalesce(entity[2], ''), coalesce(entity[3], ''),
    t_index, updates, statements
] AS row
""")
"""The totals of concepts up to ``$t``, counted; ``$before`` is the first key after it. With them
come the content of the earliest statement that mentions the concept, and the label and the kind
that hold where none does."""

_SELECTED: Final[LiteralString] = """
MATCH (u:RecallMUpdate) WHERE u.namespace = $namespace AND {{CONDITION}}
RETURN u.t AS row"""

_SELECTIONS: Final[tuple[tuple[LiteralString, LiteralString, LiteralString], ...]] = (
    ("id", "u.id_key = $value", ""),
    ("source", "u.source_key = $value", ""),
    (
        "session",
        "u.lane = $value AND u.session IS NOT NULL",
        " UNION"
        + _SELECTED.replace("{{CONDITION}}", "u.source_key = $source AND u.session IS NULL"),
    ),
    ("before", "u.t < $value", ""),
    ("said before", "u.said < $value AND u.t > 0", ""),
    ("expired", "u.expires <= $value", " ORDER BY u.expires, u.t"),
)

SELECT: Final[dict[str, LiteralString]] = {
    kind: _SELECTED.replace("{{CONDITION}}", condition) + order
    for kind, condition, order in _SELECTIONS
}
"""Whole updates, by what selects them."""

TOUCHING: Final[LiteralString] = spelled("""
OPTIONAL MATCH (c:RecallMConcept {namespace: $namespace, key: $concept})
RETURN [COLLECT {
        {{MENTIONED_AT}} RETURN at AS key
        UNION ALL
        MATCH (x:RecallMEntity)-[shown:SHOWN]->()
        WHERE x.namespace = $namespace AND x.key IS NOT NULL AND shown.description[1] = $name
        RETURN shown.key AS key
    },
    COLLECT { MATCH (c)<-[:STANDS_ON]-(e:RecallMEntity) RETURN e.id }
] AS row
""")

REFERRING: Final[LiteralString] = """
UNWIND $ids AS id
MATCH (:RecallMUpdate {namespace: $namespace, id_key: id})<-[:REFERS_TO]-(s:RecallMStatement)
RETURN DISTINCT s.key / 1048576 AS row
"""

TRIPLETS_OF: Final[LiteralString] = """
UNWIND $entities AS key
MATCH (e:RecallMElement {namespace: $namespace, key: key})<-[:SUBJECT|OBJECT]-(x:RecallMTriplet)
USING INDEX SEEK e:RecallMElement(namespace, key)
MATCH (x)-[:SUBJECT]->(subject:RecallMEntity)
MATCH (x)-[:OBJECT]->(object:RecallMEntity)
RETURN DISTINCT [subject.id, x.name, object.id] AS row
"""

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
            LOCK,
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
            passages={id: (t, text, since) for id, t, text, since in found["passages"]},
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
        found = self._found or self.rows_of(LOOK_UP, **look_up_parameters(keys))[0]
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

    def write(self, changes: Changes) -> int:
        """See `Rows`; before the commit of a try without a lock, none has gone."""
        put, gone = parameters_of(changes, self._ends, self._numbers)
        if any(gone.values()):
            self.rows_of(DELETE, **gone)
        given: dict[str, Any] = {
            "key": self._key,
            "totals": namespace_properties(changes.namespace),
        }
        given |= {"latest": self._latest, "write": self._tx.write, **put}
        if self._tx.raw is None:
            self._tx.write_at_commit(PUT, {"namespace": self.rows, **given})
            return 0
        [relations] = self.rows_of(PUT, **given)
        self._latest = self._tx.write
        return int(relations)

    def updates(self, ts: Collection[int]) -> list[PreparedUpdate]:
        found = self.rows_of(UPDATES_AT, ts=sorted(ts))
        return [values.update_in(row) for row in found]

    def evidence(self, elements: Collection[ElementKey]) -> dict[ElementKey, dict[int, Evidence]]:
        by_key = {values.element_key(element): element for element in elements}
        evidence: dict[ElementKey, dict[int, Evidence]] = {}
        for name, at, *shown in self.rows_of(EVIDENCE, elements=list(by_key)):
            key = by_key[name]
            evidence.setdefault(key, {})[at] = evidence_of(key, at, *shown)
        return evidence

    def count_touches(self, names: Collection[str]) -> dict[str, ConceptTotals]:
        keys = values.keys_of(names)
        return values.counted_in(self.rows_of(COUNT_TOUCHES, names=keys, **_EVERY_T))

    def select(self, selection: Selection) -> list[int]:
        kind, value = selected_by(selection)
        given: dict[str, Any] = {"value": value if isinstance(value, int) else values.key_of(value)}
        if kind == "session":
            given = {
                "value": values.key_of(session_key_of(str(value), None) or ""),
                "source": given["value"],
            }
        return self.rows_of(SELECT[kind], **given)

    def touching(self, concept: str) -> tuple[list[int], list[str]]:
        [(keys, entities)] = self.rows_of(TOUCHING, concept=values.key_of(concept), name=concept)
        return keys, entities

    def referring(self, ids: Collection[str]) -> list[int]:
        return self.rows_of(REFERRING, ids=values.keys_of(ids)) if ids else []

    def triplets_of(self, entities: Collection[str]) -> set[TripletKey]:
        found = self.rows_of(TRIPLETS_OF, entities=values.keys_of(entities))
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
