"""Queries of ``apply``, ``restore`` and ``revise``; they run after ``LOCK``."""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = [
    "CHANGE_VECTORS",
    "CLOSE",
    "CONCEPTS_AND_STEMS",
    "CONTEXT_VERSION",
    "ENTITIES",
    "ENTITY_VECTORS",
    "EXPIRE",
    "IS_EMPTY",
    "JOINED",
    "KNOWN_ENTITIES",
    "KNOWN_TRIPLETS",
    "LOCK",
    "OPEN_SESSION",
    "PIN_VECTORS",
    "RECOMPUTE_CONCEPTS",
    "RELATIONS",
    "SUMMARY",
    "TRIPLETS",
    "UNEMBEDDED",
    "UPDATES",
    "VECTORS",
]

LOCK: Final[LiteralString] = """
MERGE (n:RecallMNamespace {key: $key})
ON CREATE SET n.name = $name, n.rows = $key, n.t = 0,
    n.statements = 0, n.terms = 0, n.sessions = 0
SET n.locked = true
WITH n, coalesce(n.writes, []) AS writes
WITH n, any(it IN writes WHERE it ENDS WITH $write) AS written, [
    it IN writes WHERE NOT it STARTS WITH $writer
        AND toInteger(split(it, ' ')[1]) > timestamp() - $remembered
] AS others
SET n.writes = others + [$writer + ' ' + timestamp() + ' ' + $write]
WITH n, written
CALL (n) {
    UNWIND $ids AS id
    MATCH (u:RecallMUpdate {namespace: n.rows, id_key: id})
    RETURN collect([id, u.t, u.digest]) AS known
}
CALL (n) {
    UNWIND $items AS item
    MATCH (u:RecallMUpdate {namespace: n.rows, item_key: item})
    RETURN collect([item, u.t, u.id_key]) AS kept
}
RETURN n.rows AS rows, n.t AS t, n.open_session AS open_session, n.open_said AS open_said,
    n.model AS model, coalesce(n.vector_bytes, '{}') AS vector_bytes, written, known, kept
"""
"""Setting a property locks the node until the transaction ends: what is read after it, t above
all, no other writer of the namespace can change. ``rows`` is the namespace of all other queries.

``writes`` has the latest write of each writer, with its milliseconds since 1970: who lost the reply
to a commit learns from it, as ``written``, that the write is done.
"""

OPEN_SESSION: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
RETURN n.open_session AS open_session, n.open_said AS open_said
"""

KNOWN_ENTITIES: Final[LiteralString] = """
UNWIND $ids AS id
MATCH (e:RecallMEntity {namespace: $namespace, key: id})
RETURN id, e.properties AS properties, e.told_at AS told_at, e.concept AS concept
"""

KNOWN_TRIPLETS: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (x:RecallMTriplet {
    namespace: $namespace, subject: row[0], predicate: row[1], object: row[2]
})
USING INDEX SEEK x:RecallMTriplet(namespace, subject, predicate, object)
RETURN row, x.properties AS properties, x.told_at AS told_at
"""

CONCEPTS_AND_STEMS: Final[LiteralString] = """
CALL () {
    UNWIND $concepts AS row
    MERGE (c:RecallMConcept {namespace: $namespace, key: row.key})
    ON CREATE SET c.name = row.name, c.sort = row.sort, c.label = row.label, c.kind = row.kind,
        c.t_index = row.t, c.updates = row.updates, c.merges = row.updates - 1,
        c.statements = row.statements
    ON MATCH SET
        c.label = CASE c.statements WHEN 0 THEN row.label ELSE c.label END,
        c.kind = CASE c.statements WHEN 0 THEN row.kind ELSE c.kind END,
        c.t_index = row.t, c.updates = c.updates + row.updates,
        c.merges = c.merges + row.updates, c.statements = c.statements + row.statements
}
CALL () {
    UNWIND $stems AS row
    MERGE (w:RecallMStem {namespace: $namespace, key: row.key})
    ON CREATE SET w.name = row.name, w.documents = row.documents, w.t_index = row.t
    ON MATCH SET w.documents = w.documents + row.documents, w.t_index = row.t
}
"""

UPDATES: Final[LiteralString] = """
UNWIND $updates AS row
CREATE (u:RecallMUpdate)
SET u = row.properties
WITH u, row
CALL (u, row) {
    UNWIND row.paths AS path
    CREATE (u)-[:UNDER {namespace: $namespace, path: path, t: u.t}]->(u)
}
WITH u, row
UNWIND row.statements AS said
CREATE (u)-[:HAS]->(s:RecallMStatement)
SET s = said.properties
WITH s, said
CALL (s, said) {
    UNWIND said.concepts AS concept
    MATCH (c:RecallMConcept {namespace: $namespace, key: concept})
    CREATE (s)-[:MENTIONS {namespace: $namespace, concept: concept, key: s.key}]->(c)
}
CALL (s, said) {
    UNWIND said.stems AS stem
    MATCH (w:RecallMStem {namespace: $namespace, key: stem[0]})
    CREATE (s)-[:HOLDS {namespace: $namespace, stem: stem[0], key: s.key, count: stem[1]}]->(w)
}
"""

VECTORS: Final[LiteralString] = """
UNWIND $vectors AS row
MATCH (s:RecallMStatement {namespace: $namespace, key: row.key})
CREATE (s)-[:EMBEDDED]->(v:RecallMVector)
SET v = row
"""

RELATIONS: Final[LiteralString] = """
UNWIND $relations AS row
MATCH (a:RecallMConcept {namespace: $namespace, key: row.a})
MATCH (b:RecallMConcept {namespace: $namespace, key: row.b})
MERGE (a)-[r:RELATES]->(b)
ON CREATE SET r.strength = size(row.evidence), r.first = row.first, r.t_index = row.t
ON MATCH SET r.strength = r.strength + size(row.evidence), r.t_index = row.t
WITH a, b, row
UNWIND row.evidence AS shown
CREATE (a)-[e:EVIDENCE]->(b)
SET e = shown
"""

ENTITIES: Final[LiteralString] = """
UNWIND $entities AS row
MERGE (e:RecallMEntity {namespace: $namespace, key: row.key})
ON CREATE SET e.properties = '{}'
SET e += row.properties
WITH e, row
CALL (e, row) {
    MATCH (e)-[old:STANDS_ON]->(other)
    WHERE NOT row.stays AND (row.stands_on IS NULL OR other.key <> row.stands_on.key)
    DELETE old
}
CALL (e, row) {
    WITH e, row WHERE row.stands_on IS NOT NULL
    MERGE (c:RecallMConcept {namespace: $namespace, key: row.stands_on.key})
    ON CREATE SET c = row.stands_on
    MERGE (e)-[:STANDS_ON]->(c)
}
WITH e, row
UNWIND row.shown AS place
MATCH (u:RecallMUpdate {namespace: $namespace, t: place[0] / 1048576})
MERGE (e)-[shown:SHOWN {key: place[0]}]->(u)
SET shown.properties = coalesce(place[1], shown.properties)
"""
"""What joins an update may be shown there already."""

ENTITY_VECTORS: Final[LiteralString] = """
UNWIND $vectors AS row
MATCH (e:RecallMEntity {namespace: $namespace, key: row.entity})
MERGE (v:RecallMEntityVector {
    namespace: $namespace, model_key: row.model_key, entity: row.entity
})
SET v.model = row.model, v.blob = row.blob
MERGE (e)-[:EMBEDDED]->(v)
"""

PIN_VECTORS: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.vector_bytes = $vector_bytes
WITH n WHERE n.model IS NULL AND $model <> ''
SET n.model = $model, n.vector_size = $size, n.origin = coalesce(n.origin, $origin),
    n.revision = coalesce(n.revision, 0)
"""
"""``$vector_bytes`` is the JSON of the size of a vector under each model, ``$model`` that of
statement vectors."""

UNEMBEDDED: Final[LiteralString] = """
UNWIND $keys AS key
MATCH (s:RecallMStatement {namespace: $namespace, key: key})
WHERE NOT EXISTS { (s)-[:EMBEDDED]->() }
RETURN key
"""

CHANGE_VECTORS: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.revision = n.revision + 1
"""

TRIPLETS: Final[LiteralString] = """
UNWIND $triplets AS row
MATCH (subject:RecallMEntity {namespace: $namespace, key: row.subject})
MATCH (object:RecallMEntity {namespace: $namespace, key: row.object})
MERGE (x:RecallMTriplet {
    namespace: $namespace, subject: row.subject, predicate: row.predicate, object: row.object
})
ON CREATE SET x.name = row.name, x.properties = '{}'
SET x += row.properties
MERGE (x)-[:SUBJECT]->(subject)
MERGE (x)-[:OBJECT]->(object)
WITH x, row
UNWIND row.shown AS place
MATCH (u:RecallMUpdate {namespace: $namespace, t: place[0] / 1048576})
MERGE (x)-[shown:SHOWN {key: place[0]}]->(u)
SET shown.properties = coalesce(place[1], shown.properties)
"""

JOINED: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
SET u.joined = coalesce(u.joined, 0) + 1
"""
"""Lets whoever dumps the update at this moment see that it is another now."""

CLOSE: Final[LiteralString] = """
CALL () {
    UNWIND $sessions AS row
    MERGE (x:RecallMSession {namespace: $namespace, key: row.key})
    ON CREATE SET x.name = row.name, x.statements = 0, x.terms = 0
    WITH x, row, x.statements = 0 AS fresh
    SET x.statements = x.statements + row.statements, x.terms = x.terms + row.terms,
        x.t_index = row.t
    RETURN sum(CASE WHEN fresh THEN 1 ELSE 0 END) AS sessions
}
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.t = $t, n.statements = n.statements + $statements, n.terms = n.terms + $terms,
    n.sessions = n.sessions + sessions, n.open_session = $open_session, n.open_said = $open_said
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
CALL (u, row) {
    MATCH (:RecallMConcept)-[e:EVIDENCE]->(:RecallMConcept)
    WHERE e.namespace = $namespace AND e.t = u.t
    SET e.expires = row.expires
}
RETURN count(u) AS passages
"""
"""All that has the expiry of its update."""

IS_EMPTY: Final[LiteralString] = """
RETURN NOT EXISTS { MATCH (u:RecallMUpdate) WHERE u.namespace = $namespace AND u.t > 0 } AS empty
"""

CONTEXT_VERSION: Final[LiteralString] = """
MATCH (c:RecallMConcept {namespace: $namespace, key: $concept})
WHERE c.statements > 0
RETURN c.statements AS statements,
    head(COLLECT {
        MATCH (:RecallMStatement)-[m:MENTIONS]->()
        WHERE m.namespace = $namespace AND m.concept = $concept AND m.key >= 0
        RETURN m.key ORDER BY m.namespace DESC, m.concept DESC, m.key DESC LIMIT 1
    }) AS latest,
    head(COLLECT {
        MATCH (y:RecallMSummary)
        WHERE y.namespace = $namespace AND y.concept = $concept AND y.t_index >= 0
        RETURN y.t_index ORDER BY y.namespace DESC, y.concept DESC, y.t_index DESC LIMIT 1
    }) AS summary_t
"""

SUMMARY: Final[LiteralString] = """
UNWIND $summaries AS row
MATCH (c:RecallMConcept {namespace: $namespace, key: row.concept})
MERGE (y:RecallMSummary {
    namespace: $namespace, concept: row.concept, t_index: row.t_index
})
SET y += row.properties
MERGE (y)-[:SUMMARISES]->(c)
"""

RECOMPUTE_CONCEPTS: Final[LiteralString] = """
UNWIND $concepts AS key
MATCH (c:RecallMConcept {namespace: $namespace, key: key})
CALL (c) {
    OPTIONAL MATCH (c)<-[:SUMMARISES]-(y:RecallMSummary)
    RETURN coalesce(max(y.t_index), -1) AS revised
}
CALL (c) {
    MATCH (c)<-[m:MENTIONS]-(:RecallMStatement)
    RETURN m.key AS shown, 1 AS mention, null AS entity
    UNION ALL
    MATCH (c)<-[:STANDS_ON]-(e:RecallMEntity)-[x:SHOWN]->(:RecallMUpdate)
    RETURN x.key AS shown, 0 AS mention, e AS entity
}
WITH c, revised, sum(mention) AS statements, count(DISTINCT shown / 1048576) AS updates,
    count(DISTINCT CASE WHEN shown / 1048576 > revised THEN shown / 1048576 END) AS later,
    max(shown) / 1048576 AS t_index,
    min(CASE mention WHEN 1 THEN shown END) AS first_mention,
    min(CASE mention WHEN 0 THEN
        [shown / 1048576, coalesce(entity.sort, entity.id), entity.label, entity.kind]
    END) AS first_entity
OPTIONAL MATCH (s:RecallMStatement {namespace: $namespace, key: first_mention})
WITH *, head([i IN range(0, coalesce(size(s.names), 0) - 1) WHERE s.names[i] = c.name]) AS place
SET c.statements = statements, c.updates = updates, c.t_index = t_index,
    c.merges = CASE WHEN revised < 0 THEN updates - 1 ELSE later END,
    c.label = CASE WHEN s IS NULL THEN first_entity[2] ELSE s.labels[place] END,
    c.kind = CASE WHEN s IS NULL THEN first_entity[3] ELSE s.kinds[place] END
"""
"""Concepts that nothing touches are left as they are: ``DELETE_UNTOUCHED`` takes them away."""
