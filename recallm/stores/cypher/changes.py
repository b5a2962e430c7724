"""Writes of the shared write semantics (``recallm.stores.semantics.rows.Changes``): final values of
rows, and rows to delete. They run after ``LOCK``."""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.postings import (
    ADD_POSTINGS,
    DELETE_POSTINGS,
    INSERT_POSTINGS,
)

TOTALS: Final[LiteralString] = """
CALL () {
    UNWIND $concepts AS row
    MERGE (c:RecallMConcept {namespace: $namespace, key: row.key})
    ON CREATE SET c.name = row.name, c.namespace_name = $name
    SET c.label = row.label, c.kind = row.kind, c.t_index = row.t_index, c.updates = row.updates,
        c.statements = row.statements
    FOREACH (it IN CASE WHEN row.key = row.name THEN [c] ELSE [] END | SET it:Concept)
}
CALL () {
    UNWIND $untouched AS key
    MATCH (c:RecallMConcept {namespace: $namespace, key: key})
    DETACH DELETE c
}
CALL () {
    UNWIND $terms AS row
    MERGE (w:RecallMStem {namespace: $namespace, key: row.key})
    ON CREATE SET w.name = row.name
    SET w.documents = row.documents, w.t_index = $t
}
CALL () {
    UNWIND $unused AS key
    MATCH (w:RecallMStem {namespace: $namespace, key: key})
    DETACH DELETE w
}
CALL () {
    UNWIND $sessions AS row
    MERGE (x:RecallMSession {namespace: $namespace, key: row.key})
    ON CREATE SET x.name = row.name
    SET x.statements = row.statements, x.terms = row.terms, x.t_index = $t
}
CALL () {
    UNWIND $empty AS key
    MATCH (x:RecallMSession {namespace: $namespace, key: key})
    DETACH DELETE x
}
CALL () {
    UNWIND $predicates AS row
    MERGE (p:RecallMPredicate {namespace: $namespace, key: row.key})
    ON CREATE SET p.name = row.name, p.triplets = 0
    WITH p, row WHERE p.triplets <> row.triplets
    SET p.triplets = row.triplets, p.t_index = $t
}
CALL () {
    UNWIND $unused_predicates AS key
    MATCH (p:RecallMPredicate {namespace: $namespace, key: key})
    DELETE p
}
MATCH (n:RecallMNamespace {rows: $namespace})
SET n += $totals
"""
"""``$t`` is the counter. A stem, a session or a predicate has no t of its own: at an earlier t it
is counted. A concept has the label ``Concept`` if an index can hold its name."""


def with_floats(query: LiteralString) -> LiteralString:
    """A query that also gives floats to the vector ``v``, where its ``row`` has some."""
    return (
        query
        + """
CALL (v, row) {
    WITH v, row WHERE row.floats IS NOT NULL
    CALL db.create.setNodeVectorProperty(v, row.floats_name, row.floats)
}
"""
    )


_CREATE_STATEMENT: Final[LiteralString] = """
CREATE (u)-[:HAS]->(s:RecallMStatement:Statement)
SET s = said.properties
WITH s, said
CALL (s, said) {
    UNWIND said.concepts AS concept
    MATCH (c:RecallMConcept {namespace: $namespace, key: concept})
    CREATE (s)-[:MENTIONS]->(c)
}
"""

UPDATES: Final[LiteralString] = (
    ADD_POSTINGS
    + """
UNWIND $updates AS row
CREATE (u:RecallMUpdate:Update)
SET u = row.properties
WITH u, row
CALL (u, row) {
    UNWIND row.paths AS path
    CREATE (u)-[:UNDER {namespace: $namespace, path: path, t: u.t}]->(u)
}
WITH u, row
UNWIND row.statements AS said"""
    + _CREATE_STATEMENT
)

STATEMENTS: Final[LiteralString] = (
    INSERT_POSTINGS
    + """
UNWIND $statements AS said
MATCH (u:RecallMUpdate {namespace: $namespace, t: said.t})"""
    + _CREATE_STATEMENT
)
"""Statements of passages that are stored."""

REFERENCES: Final[LiteralString] = """
UNWIND $references AS row
MATCH (s:RecallMStatement {namespace: $namespace, key: row[0]})
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: row[1]})
CREATE (s)-[:REFERS_TO]->(u)
"""

RELATIONS: Final[LiteralString] = """
UNWIND $relations AS row
MATCH (a:RecallMConcept {namespace: $namespace, key: row.a})
MATCH (b:RecallMConcept {namespace: $namespace, key: row.b})
MERGE (a)-[r:RELATED]->(b)
SET r.strength = row.strength, r.t_index = row.t_index, r.ts = coalesce(r.ts, []) + row.ts
"""

DELETE_RELATIONS: Final[LiteralString] = """
UNWIND $relations AS row
MATCH (a:RecallMConcept {namespace: $namespace, key: row.a})
MATCH (b:RecallMConcept {namespace: $namespace, key: row.b})
CALL (a, b, row) {
    MATCH (a)-[r:RELATED]->(b) WHERE row.strength > 0
    SET r.strength = row.strength, r.t_index = row.t_index,
        r.ts = [t IN r.ts WHERE NOT t IN row.ts]
}
CALL (a, b, row) {
    MATCH (a)-[r:RELATED]->(b) WHERE row.strength = 0
    DELETE r
}
"""

VECTORS: Final[LiteralString] = with_floats("""
UNWIND $vectors AS row
MATCH (s:RecallMStatement {namespace: $namespace, key: row.properties.key})
CREATE (s)-[:EMBEDDED]->(v:RecallMVector)
SET v = row.properties
WITH v, row""")

CUT_PASSAGES: Final[LiteralString] = """
UNWIND $passages AS row
MATCH (u:RecallMUpdate {namespace: $namespace, t: row.t})
SET u.text = row.text, u.neighbours = row.neighbours, u.cuts = coalesce(u.cuts, 0) + 1
WITH row
CALL (row) {
    UNWIND row.spans AS span
    MATCH (s:RecallMStatement {namespace: $namespace, key: span[0]})
    SET s.start = span[1], s.end = span[2]
}
"""
"""``cuts`` changes with any part of the passage, so that a dump notices it."""

DELETE_STATEMENTS: Final[LiteralString] = (
    DELETE_POSTINGS
    + """
UNWIND $keys AS key
MATCH (s:RecallMStatement {namespace: $namespace, key: key})
OPTIONAL MATCH (s)-[:EMBEDDED]->(v:RecallMVector)
DETACH DELETE s, v
"""
)

DELETE_PASSAGES: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
DETACH DELETE u
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

ELEMENTS: Final[LiteralString] = (
    """
UNWIND $elements AS row
MERGE (x:RecallMElement {namespace: $namespace, key: row.key})
SET x += row.properties
FOREACH (it IN CASE WHEN row.subject IS NULL THEN [x] ELSE [] END | SET it:RecallMEntity:Entity)
FOREACH (it IN CASE WHEN row.subject IS NULL THEN [] ELSE [x] END | SET it:RecallMTriplet:Triplet)
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
CALL (x, row) {
    MATCH (e:RecallMElement {namespace: $namespace, key: row.subject})
    MERGE (x)-[:SUBJECT]->(e)
}
CALL (x, row) {
    MATCH (e:RecallMElement {namespace: $namespace, key: row.object})
    MERGE (x)-[:OBJECT]->(e)
}
WITH x, row
UNWIND row.shown AS place
MATCH (u:RecallMUpdate {namespace: $namespace, t: place[0] / 1048576})
MERGE (x)-[shown:SHOWN {key: place[0]}]->(u)
SET shown.properties = coalesce(place[1], shown.properties)
"""
)

ENTITY_VECTORS: Final[LiteralString] = with_floats(
    """
UNWIND $entity_vectors AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row.entity})
MERGE (v:RecallMEntityVector {
    namespace: $namespace, model_key: row.model_key, entity: row.entity
})
SET v = {
    namespace: $namespace, model_key: row.model_key, entity: row.entity, model: row.model,
    blob: row.blob
}
MERGE (x)-[:EMBEDDED]->(v)
WITH x, v, row"""
    + _SET_WORDS
)
"""A vector loses the floats of the earlier one."""

GUARDED: Final[LiteralString] = (
    """
MATCH (n:RecallMNamespace {key: $key})
SET n.locked = true
WITH n, coalesce(n.writes, []) AS writes
WHERE last(writes) = $latest
SET n.writes = [
    it IN writes WHERE NOT it STARTS WITH $writer
        AND toInteger(split(it, ' ')[1]) > timestamp() - $remembered
] + [$writer + ' ' + timestamp() + ' ' + $write]
WITH n
CALL () {"""
    + TOTALS
    + "}\nCALL () {"
    + UPDATES
    + "}\nCALL () {"
    + RELATIONS
    + "}\nCALL () {"
    + REFERENCES
    + "}\nCALL () {"
    + VECTORS
    + "}\nCALL () {"
    + ELEMENTS
    + "}\nCALL () {"
    + ENTITY_VECTORS
    + "}\nRETURN true AS written"
)
"""New updates in one query, which needs no ``LOCK`` before: it does nothing, and has no row, if the
latest of the ``writes`` is not ``$latest`` any more. Every write becomes the latest."""

DELETE_EVIDENCE: Final[LiteralString] = """
UNWIND $evidence AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row[0]})-[shown:SHOWN {key: row[1]}]->()
USING INDEX SEEK x:RecallMElement(namespace, key)
DELETE shown
WITH DISTINCT row[1] / 1048576 AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
WHERE u.id IS NULL AND NOT EXISTS { (u)<-[:SHOWN]-() }
DETACH DELETE u
"""
"""Evidence of entities and triplets, and graph-only updates that show no other."""

DELETE_ELEMENTS: Final[LiteralString] = """
UNWIND $elements AS key
MATCH (x:RecallMElement {namespace: $namespace, key: key})
USING INDEX SEEK x:RecallMElement(namespace, key)
OPTIONAL MATCH (x)-[:EMBEDDED]->(v:RecallMEntityVector)
WITH x, collect(v) AS vectors,
    COLLECT { MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE u.id IS NULL RETURN u } AS shown
FOREACH (v IN vectors | DETACH DELETE v)
DETACH DELETE x
WITH shown
UNWIND shown AS u
WITH DISTINCT u WHERE NOT EXISTS { (u)<-[:SHOWN]-() }
DETACH DELETE u
"""

SUMMARIES: Final[LiteralString] = """
UNWIND $summaries AS row
MATCH (c:RecallMConcept {namespace: $namespace, key: row.concept})
MERGE (y:RecallMSummary {namespace: $namespace, concept: row.concept})
SET y += row.properties
MERGE (y)-[:SUMMARISES]->(c)
"""

DELETE_SUMMARIES: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (y:RecallMSummary)
WHERE y.namespace = $namespace AND y.concept = row.concept AND y.t_index >= row.t
DETACH DELETE y
RETURN count(*) AS summaries
"""

EXPIRE: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: row.id})
SET u.expires_at = row.expires_at, u.expires = row.expires
WITH u, row
CALL (u, row) {
    MATCH (u)-[:HAS]->(s:RecallMStatement)
    SET s.expires = row.expires
}
RETURN count(u) AS passages
"""
"""All that has the expiry of its update."""

FORGET_EVERYTHING: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.rows = $fresh
CREATE (:RecallMNamespace {key: $garbage, rows: $namespace, purge_after: timestamp()})
RETURN COUNT { MATCH (x:RecallMUpdate)
        WHERE x.namespace = $namespace AND x.t > 0 AND x.id IS NOT NULL } AS passages,
    COUNT { MATCH (x:RecallMStatement)
        WHERE x.namespace = $namespace AND x.key IS NOT NULL } AS statements,
    COUNT { MATCH (x:RecallMConcept)
        WHERE x.namespace = $namespace AND x.key IS NOT NULL } AS concepts,
    COUNT { MATCH (x:RecallMConcept)-[:RELATED]->()
        WHERE x.namespace = $namespace AND x.key IS NOT NULL } AS relations,
    COUNT { MATCH (x:RecallMEntity)
        WHERE x.namespace = $namespace AND x.key IS NOT NULL } AS entities,
    COUNT { MATCH (x:RecallMTriplet)
        WHERE x.namespace = $namespace AND x.predicate IS NOT NULL } AS triplets,
    COUNT { MATCH (x:RecallMSummary)
        WHERE x.namespace = $namespace AND x.concept IS NOT NULL } AS summaries
"""
"""The namespace stands on fresh rows; those that it had are garbage (``generations``)."""
