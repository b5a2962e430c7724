"""What a write adds to the graph, or changes in place: one query, and its parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, LiteralString

from recallm.ground.entity_words import codes_of, name_words
from recallm.model import ElementKey, PreparedUpdate, statement_key
from recallm.stores.cypher.lookups import NOTE_WRITE, WRITES
from recallm.stores.cypher.postings import postings_added
from recallm.stores.cypher.schema import TOTALS
from recallm.stores.neo4j import values
from recallm.stores.semantics.rows import (
    Changes,
    ElementRow,
    Evidence,
    NamespaceTotals,
    Pair,
    description_of,
    stored_session_key,
    t_of,
)
from recallm.stores.semantics.writing import antecedents_in, pairs_of

_SESSIONS: Final[LiteralString] = """
UNWIND range(0, size($sessions) - 1) AS i
WITH i, $sessions[i] AS row
MERGE (x:RecallMSession {namespace: $namespace, key: row[0]})
ON CREATE SET x.name = row[1], x.number = row[2]
SET x.statements = row[3], x.terms = row[4], x.t_index = $t
WITH x, i ORDER BY i
RETURN [0] + collect(x.number) AS numbers
"""

_CONCEPTS: Final[LiteralString] = (
    """
UNWIND range(0, size($concepts) - 1) AS i
WITH i, numbers, $concepts[i] AS row
MERGE (x:RecallMConcept {namespace: $namespace, key: row[0]})
ON CREATE SET x.name = row[1]
SET x.label = row[4], x.kind = row[5], x.t_index = row[6], x.updates = row[7],
    x.statements = row[8]
"""
    + postings_added("'c'")
    + """
WITH x, i ORDER BY i
RETURN collect(x) AS concepts
"""
)

_STEMS: Final[LiteralString] = """
UNWIND $stems AS row
WITH row, numbers
MERGE (x:RecallMStem {namespace: $namespace, key: row[0]})
ON CREATE SET x.name = row[1]
SET x.documents = row[4], x.t_index = $t
""" + postings_added("'s'")

_PREDICATES: Final[LiteralString] = """
UNWIND $predicates AS row
MERGE (x:RecallMPredicate {namespace: $namespace, key: row[0]})
ON CREATE SET x.name = row[1], x.triplets = 0
WITH x, row WHERE x.triplets <> row[2]
SET x.triplets = row[2]
"""

_NAMESPACE: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n += $totals
"""

_UPDATES: Final[LiteralString] = """
UNWIND range(0, size($updates) - 1) AS i
CREATE (u:RecallMUpdate {namespace: $namespace})
SET u += $updates[i]
FOREACH (path IN coalesce(u.paths, []) |
    CREATE (u)-[:UNDER {namespace: $namespace, path: path, t: u.t}]->(u)
)
WITH u, i ORDER BY i
RETURN collect(u) AS updates
"""

_STATEMENTS: Final[LiteralString] = """
UNWIND $statements AS row
WITH row, concepts, updates[row[0]] AS u
CREATE (u)-[:HAS]->(s:RecallMStatement {namespace: $namespace, lane: u.lane})
SET s += row[4]
WITH s, row, concepts
UNWIND row[2] AS place
WITH s, concepts[place] AS c
CREATE (s)-[:MENTIONS]->(c)
"""

_RELATIONS: Final[LiteralString] = """
UNWIND $relations AS row
WITH row, concepts[row[0]] AS a, concepts[row[1]] AS b
MERGE (a)-[r:RELATED]->(b)
SET r.ts = coalesce(r.ts, []) + row[2]
"""

_REFERENCES: Final[LiteralString] = """
UNWIND $references AS row
MATCH (s:RecallMStatement {namespace: $namespace, key: row[0]})
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: row[1]})
CREATE (s)-[:REFERS_TO]->(u)
"""

_SET_WORDS: Final[LiteralString] = """
CALL (x, row) {
    WITH x, row, COLLECT { MATCH (x)-[b:BEARS]->(x) WHERE b.model = row.model_key RETURN b } AS old
    FOREACH (word IN [word IN row.words WHERE NOT word IN [b IN old | b.word]] |
        CREATE (x)-[:BEARS {namespace: $namespace, word: word, model: row.model_key}]->(x)
    )
    FOREACH (b IN [b IN old WHERE NOT b.word IN row.words] | DELETE b)
}
"""
"""The words that the entity ``x`` bears by its vector under a model, or by its concept, become
those of ``row``."""

_ELEMENTS: Final[LiteralString] = (
    """
UNWIND $elements AS row
MERGE (x:RecallMElement {namespace: $namespace, key: row.key})
SET x += row.properties
FOREACH (element IN CASE WHEN x.subject IS NULL THEN [x] ELSE [] END | SET element:RecallMEntity)
FOREACH (element IN CASE WHEN x.subject IS NULL THEN [] ELSE [x] END | SET element:RecallMTriplet)
WITH x, row"""
    + _SET_WORDS
    + """
CALL (x, row) {
    MATCH (x)-[old:STANDS_ON]->(other)
    WHERE row.stands_on IS NULL OR other.key <> row.stands_on
    DELETE old
}
CALL (x, row) {
    MATCH (c:RecallMConcept {namespace: $namespace, key: row.stands_on})
    MERGE (x)-[:STANDS_ON]->(c)
}
CALL (x) {
    MATCH (e:RecallMElement {namespace: $namespace, key: x.subject})
    MERGE (x)-[:SUBJECT]->(e)
}
CALL (x) {
    MATCH (e:RecallMElement {namespace: $namespace, key: x.object})
    MERGE (x)-[:OBJECT]->(e)
}
WITH x, row
UNWIND row.shown AS place
MATCH (u:RecallMUpdate {namespace: $namespace, t: place[0] / 1048576})
MERGE (x)-[shown:SHOWN {key: place[0]}]->(u)
SET shown.properties = place[1], shown.description = place[2]
"""
)

_ENTITY_VECTORS: Final[LiteralString] = (
    """
UNWIND $entity_vectors AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row.entity})
MERGE (v:RecallMEntityVector {
    namespace: $namespace, model_key: row.model_key, entity: row.entity
})
SET v.model = row.model, v.blob = row.blob
MERGE (x)-[:EMBEDDED]->(v)
WITH x, row"""
    + _SET_WORDS
)

_SUMMARIES: Final[LiteralString] = """
UNWIND $summaries AS row
MATCH (c:RecallMConcept {namespace: $namespace, key: row.concept})
SET c += row.properties
"""

_PARTS: Final[tuple[tuple[LiteralString, LiteralString], ...]] = (
    ("", _SESSIONS),
    ("numbers", _CONCEPTS),
    ("numbers", _STEMS),
    ("", _PREDICATES),
    ("", _NAMESPACE),
    ("", _UPDATES),
    ("concepts, updates", _STATEMENTS),
    ("concepts", _RELATIONS),
    ("", _REFERENCES),
    ("", _ELEMENTS),
    ("", _ENTITY_VECTORS),
    ("", _SUMMARIES),
)
"""What each part of ``ADD`` takes from those before, and its clauses."""

ADD: Final[LiteralString] = "".join([f"\nCALL ({known}) {{{part}}}" for known, part in _PARTS])
"""New updates, and totals, elements and summaries, new or changed. ``$t`` is the counter. A stem or
a session has no t of its own: at an earlier t it is counted.

What a row refers to is given by its place in another parameter: the update and the concepts of a
statement, the ends of a relation, the statements of the postings of a stem or a concept, the
session of a statement, which counts from 1 (0: none)."""

GUARDED: Final[LiteralString] = (
    """
MATCH (n:RecallMNamespace {key: $key})"""
    + WRITES
    + "WHERE latest = $latest"
    + NOTE_WRITE
    + "WITH n"
    + ADD
    + "\nRETURN true AS row"
)
"""``ADD`` without ``LOCK`` before: it does nothing, and has no row, if the latest of the ``writes``
is not ``$latest`` any more."""


def added_by(changes: Changes) -> dict[str, Any]:
    """The parameters of ``ADD``."""
    # A graph-only update that brings nothing is not stored.
    new = [
        after
        for before, after in changes.passages
        if before is None and after is not None
        if after.text is not None or after.elements
    ]
    nodes = [values.update_out(update, stored_session_key(update)) for update in new]
    concepts = {name: row for name, row in changes.concepts.items() if row is not None}
    sessions = {key: row for key, row in changes.sessions.items() if row.statements}
    numbers: dict[str | None, int] = {}
    for update in new:
        numbers.setdefault(stored_session_key(update), t_of(update))
    place_of = {name: place for place, name in enumerate(concepts)}
    statements = _statements(new, nodes, place_of, {key: i for i, key in enumerate(sessions, 1)})
    said = {row[3]: place for place, row in enumerate(statements)}
    holding, mentioning = values.postings_of((update, update.statements) for update in new)
    shown: defaultdict[Pair, list[int]] = defaultdict(list)
    for update in new:
        for pair in pairs_of(update):
            shown[pair].append(t_of(update))
    return {
        "t": changes.namespace.t,
        "totals": _totals(changes.namespace),
        "sessions": [
            [values.key_of(key), key, numbers.get(key, 0), row.statements, row.terms]
            for key, row in sessions.items()
        ],
        "concepts": [
            [
                *(values.key_of(name), name, [said[key] for key in mentioning.get(name, ())], None),
                *(row.label, row.kind, row.t_index, row.updates, row.statements),
            ]
            for name, row in concepts.items()
        ],
        "stems": [
            [values.key_of(stem), stem, [*map(said.get, held)], [*held.values()], documents]
            for stem, documents in changes.terms.items()
            if documents
            for held in [holding.get(stem, {})]
        ],
        "predicates": [
            [values.key_of(name), name, number]
            for name, number in changes.predicates.items()
            if number
        ],
        "updates": nodes,
        "statements": statements,
        "relations": [[place_of[a], place_of[b], ts] for (a, b), ts in shown.items()],
        "references": [
            [statement_key(t_of(update), statement.position), values.key_of(id)]
            for update in new
            for statement in update.statements
            for id in antecedents_in(statement)
        ],
        "elements": [
            _element(key, row, changes.element_evidence.get(key, {}))
            for key, row in changes.elements.items()
            if row is not None
        ],
        "entity_vectors": [
            {
                "entity": values.key_of(id),
                "model": model,
                "model_key": values.key_of(model),
                "blob": blob,
                "words": values.keys_of(codes_of(model, blob)),
            }
            for (id, model), blob in changes.entity_vectors.items()
        ],
        "summaries": [values.summary_out(summary) for summary in changes.summaries],
    }


def _totals(totals: NamespaceTotals) -> dict[str, Any]:
    return {name: getattr(totals, name) for name in TOTALS} | {
        "open_t": totals.open_session.t_index if totals.open_session else 0,
        "vector_bytes": values.json_out(totals.vector_sizes),
    }


def _statements(
    new: list[PreparedUpdate],
    nodes: list[dict[str, Any]],
    concepts: Mapping[str, int],
    sessions: Mapping[str | None, int],
) -> list[list[Any]]:
    """The rows of statements; ``nodes`` are the properties of their updates."""
    rows: list[list[Any]] = []
    for place, (update, node) in enumerate(zip(new, nodes, strict=True)):
        session = sessions.get(node.get("session_key"), 0)
        vectors = {vector.position: vector for vector in update.vectors}
        for said in update.statements:
            mentioned = [concepts[mention.name] for mention in said.concepts]
            properties = values.statement_out(update, said, vectors.get(said.position))
            rows.append([place, session, mentioned, properties["key"], properties])
    return rows


def _element(
    key: ElementKey, row: ElementRow, evidence: Mapping[int, Evidence | None]
) -> dict[str, Any]:
    """A row for the query that writes entities and triplets."""
    own: dict[str, Any] = {"id": key}
    if not isinstance(key, str):
        subject, predicate, object = map(values.key_of, key)
        own = {"name": key[1], "subject": subject, "predicate": predicate, "object": object}
    concept = row.concept
    return {
        "key": values.element_key(key),
        "stands_on": values.key_of(concept.name) if concept.name else None,
        "model_key": values.CONCEPT_WORDS,
        "words": values.keys_of(name_words(concept.name)),
        "properties": {
            "type": row.type,
            "concept": concept.name,
            "label": concept.label,
            "kind": concept.kind,
            "properties": values.json_out(row.properties),
            "latest": row.latest,
            **own,
        },
        "shown": [
            [
                at,
                values.json_out(shown.properties) if shown.properties else None,
                description_of(shown) or None,
            ]
            for at, shown in evidence.items()
            if shown is not None
        ],
    }
