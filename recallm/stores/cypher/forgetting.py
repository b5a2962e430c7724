"""Queries of ``forget`` and ``delete_graph``; they run after ``LOCK``."""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = [
    "COUNT_EVERYTHING",
    "DELETE_EMPTY_UPDATES",
    "DELETE_ENTITIES",
    "DELETE_STATEMENTS",
    "DELETE_STEMS",
    "DELETE_SUMMARIES",
    "DELETE_TRIPLETS",
    "DELETE_UNTOUCHED",
    "DELETE_UPDATES",
    "DROP_EVIDENCE",
    "DROP_SHOWN",
    "ENTITIES_ON",
    "FORGET_EVERYTHING",
    "LOST_CONCEPTS",
    "PARTIAL",
    "RECOMPUTE_NAMESPACE",
    "RECOMPUTE_RELATIONS",
    "RECOMPUTE_SESSIONS",
    "REDACT",
    "SELECT",
    "SELECT_CONCEPT",
    "SELECT_STATEMENT",
    "UNSHOWN_ENTITIES",
    "UNSHOWN_TRIPLETS",
]

_WHOLE: Final[LiteralString] = """
RETURN u.t AS t, COLLECT { MATCH (u)-[:HAS]->(s) RETURN s.key } AS keys, true AS whole,
    u.session IS NULL AND u.source IS NULL AND u.said IS NOT NULL AS derived
"""

SELECT: Final[dict[str, LiteralString]] = {
    "id": "MATCH (u:RecallMUpdate {namespace: $namespace, id_key: $value})" + _WHOLE,
    "source": "MATCH (u:RecallMUpdate {namespace: $namespace, source_key: $value})" + _WHOLE,
    "session": "MATCH (u:RecallMUpdate {namespace: $namespace, lane: $value})" + _WHOLE,
    "before": ("MATCH (u:RecallMUpdate) WHERE u.namespace = $namespace AND u.t < $value" + _WHOLE),
    "said before": (
        "MATCH (u:RecallMUpdate) WHERE u.namespace = $namespace AND u.said < $value" + _WHOLE
    ),
    "expired": (
        """MATCH (u:RecallMUpdate) WHERE u.namespace = $namespace AND u.expires <= $value
        WITH u ORDER BY u.expires, u.t LIMIT $limit"""
        + _WHOLE
    ),
    "ts": "UNWIND $value AS t MATCH (u:RecallMUpdate {namespace: $namespace, t: t})" + _WHOLE,
}
"""Whole updates, by what selects them."""

_PART: Final[LiteralString] = """
WITH u, collect(s.key) AS keys
WITH u, keys, u.key IS NOT NULL OR COUNT { (u)-[:HAS]->() } = size(keys) AS whole
RETURN u.t AS t, CASE WHEN whole THEN COLLECT { MATCH (u)-[:HAS]->(s) RETURN s.key } ELSE keys END
        AS keys, whole,
    u.session IS NULL AND u.source IS NULL AND u.said IS NOT NULL AS derived
"""

SELECT_STATEMENT: Final[LiteralString] = (
    """
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: $id})-[:HAS]->(s:RecallMStatement)
WHERE s.key = u.t * 1048576 + $position
"""
    + _PART
)

SELECT_CONCEPT: Final[LiteralString] = (
    """
MATCH (:RecallMConcept {namespace: $namespace, key: $value})<-[:MENTIONS]-(s)<-[:HAS]-(u)
"""
    + _PART
)

ENTITIES_ON: Final[LiteralString] = """
MATCH (:RecallMConcept {namespace: $namespace, key: $value})<-[:STANDS_ON]-(e:RecallMEntity)
RETURN e.key AS entity
"""

LOST_CONCEPTS: Final[LiteralString] = """
UNWIND $keys AS key
MATCH (s:RecallMStatement {namespace: $namespace, key: key})-[:MENTIONS]->(c)
RETURN c.key AS concept, min(s.key) / 1048576 AS t
"""

DELETE_STEMS: Final[LiteralString] = """
UNWIND $keys AS key
MATCH (:RecallMStatement {namespace: $namespace, key: key})-[:HOLDS]->(w)
WITH w, count(*) AS lost
SET w.documents = w.documents - lost
WITH w WHERE w.documents = 0
DETACH DELETE w
"""

DROP_EVIDENCE: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (a:RecallMConcept)-[e:EVIDENCE]->(b:RecallMConcept)
WHERE e.namespace = $namespace AND e.t = row.t
WITH a, b, e, [
    i IN range(0, size(e.earlier) - 1)
    WHERE NOT (row.whole OR e.earlier[i] IN row.positions OR e.later[i] IN row.positions)
] AS kept
WHERE size(kept) < size(e.earlier)
SET e.earlier = [i IN kept | e.earlier[i]], e.later = [i IN kept | e.later[i]]
WITH a, b, e, kept WHERE size(kept) = 0
DELETE e
RETURN DISTINCT a.key AS a, b.key AS b
"""

RECOMPUTE_RELATIONS: Final[LiteralString] = """
UNWIND $pairs AS pair
MATCH (a:RecallMConcept {namespace: $namespace, key: pair[0]})
MATCH (b:RecallMConcept {namespace: $namespace, key: pair[1]})
CALL (a, b) { MATCH (a)-[r:RELATES]->(b) RETURN r }
OPTIONAL MATCH (a)-[e:EVIDENCE]->(b)
WITH r, count(e) AS strength, min(e.t) AS first, max(e.t) AS t_index
CALL (r, strength, first, t_index) {
    WITH r, strength, first, t_index WHERE strength > 0
    SET r.strength = strength, r.first = first, r.t_index = t_index
}
CALL (r, strength) {
    WITH r, strength WHERE strength = 0
    DELETE r
}
RETURN sum(CASE strength WHEN 0 THEN 1 ELSE 0 END) AS relations
"""

DROP_SHOWN: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (u:RecallMUpdate {namespace: $namespace, t: row.t})<-[shown:SHOWN]-(x)
WHERE row.whole OR shown.key IN row.keys
WITH x, shown, shown.properties IS NOT NULL AS told
DELETE shown
WITH told, CASE WHEN x:RecallMEntity THEN x.key END AS entity,
    CASE WHEN x:RecallMTriplet THEN [x.subject, x.predicate, x.object] END AS triplet
RETURN collect(DISTINCT entity) AS entities, collect(DISTINCT triplet) AS triplets,
    collect(DISTINCT CASE WHEN told THEN entity END) AS told_entities,
    collect(DISTINCT CASE WHEN told THEN triplet END) AS told_triplets
"""

UNSHOWN_ENTITIES: Final[LiteralString] = """
UNWIND $entities AS key
MATCH (e:RecallMEntity {namespace: $namespace, key: key})
RETURN key AS entity, e.concept AS concept, EXISTS { (e)-[:SHOWN]->() } AS shown
"""

UNSHOWN_TRIPLETS: Final[LiteralString] = """
UNWIND $triplets AS row
MATCH (x:RecallMTriplet {
    namespace: $namespace, subject: row[0], predicate: row[1], object: row[2]
})
WHERE NOT EXISTS { (x)-[:SHOWN]->() }
RETURN row AS triplet
"""

DELETE_ENTITIES: Final[LiteralString] = """
UNWIND $entities AS key
MATCH (e:RecallMEntity {namespace: $namespace, key: key})
OPTIONAL MATCH (e)<-[:SUBJECT|OBJECT]-(x:RecallMTriplet)
WITH collect(DISTINCT e) AS entities, collect(DISTINCT x) AS triplets
CALL (entities) {
    UNWIND entities AS gone
    MATCH (gone)-[:EMBEDDED]->(v:RecallMEntityVector)
    DETACH DELETE v
}
CALL (entities, triplets) {
    UNWIND entities + triplets AS gone
    MATCH (gone)-[:SHOWN]->(u)
    RETURN collect(DISTINCT u.t) AS ts
}
WITH entities, triplets, size(entities) AS entity_count, size(triplets) AS triplet_count, ts
FOREACH (x IN triplets | DETACH DELETE x)
FOREACH (e IN entities | DETACH DELETE e)
RETURN entity_count AS entities, triplet_count AS triplets, ts
"""

DELETE_TRIPLETS: Final[LiteralString] = """
UNWIND $triplets AS row
MATCH (x:RecallMTriplet {
    namespace: $namespace, subject: row[0], predicate: row[1], object: row[2]
})
WITH collect(DISTINCT x) AS triplets
CALL (triplets) {
    UNWIND triplets AS gone
    MATCH (gone)-[:SHOWN]->(u)
    RETURN collect(DISTINCT u.t) AS ts
}
WITH triplets, size(triplets) AS triplet_count, ts
FOREACH (x IN triplets | DETACH DELETE x)
RETURN triplet_count AS triplets, ts
"""

DELETE_EMPTY_UPDATES: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
WHERE u.id IS NULL AND NOT EXISTS { (u)<-[:SHOWN]-() }
DETACH DELETE u
"""

DELETE_STATEMENTS: Final[LiteralString] = """
UNWIND $keys AS key
MATCH (s:RecallMStatement {namespace: $namespace, key: key})
OPTIONAL MATCH (s)-[:EMBEDDED]->(v:RecallMVector)
WITH s, s.length AS length, s.lane AS lane, s.session_key AS session_key,
    collect(v) AS vectors
FOREACH (v IN vectors | DETACH DELETE v)
DETACH DELETE s
RETURN count(*) AS statements, sum(length) AS terms, sum(size(vectors)) AS vectors,
    collect(DISTINCT CASE WHEN session_key IS NOT NULL THEN lane END) AS lanes
"""

DELETE_UPDATES: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
WITH u, CASE WHEN u.id IS NULL THEN 0 ELSE 1 END AS passage
DETACH DELETE u
RETURN sum(passage) AS passages
"""

PARTIAL: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
RETURN t, u.text AS text, COLLECT {
    MATCH (u)-[:HAS]->(s) RETURN [s.key, s.start, s.end] ORDER BY s.key
} AS spans
"""

REDACT: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (u:RecallMUpdate {namespace: $namespace, t: row.t})
SET u.text = row.text, u.digest = row.digest
WITH row
UNWIND row.spans AS span
MATCH (s:RecallMStatement {namespace: $namespace, key: span[0]})
SET s.start = span[1], s.end = span[2]
"""

DELETE_SUMMARIES: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (y:RecallMSummary)
WHERE y.namespace = $namespace AND y.concept = row.concept AND y.t_index >= row.t
DETACH DELETE y
RETURN count(*) AS summaries
"""

DELETE_UNTOUCHED: Final[LiteralString] = """
UNWIND $concepts AS key
MATCH (c:RecallMConcept {namespace: $namespace, key: key})
WHERE NOT EXISTS { (c)<-[:MENTIONS]-() } AND NOT EXISTS { (c)<-[:STANDS_ON]-() }
DETACH DELETE c
RETURN count(*) AS concepts
"""

RECOMPUTE_SESSIONS: Final[LiteralString] = """
UNWIND $lanes AS lane
OPTIONAL MATCH (s:RecallMStatement)
WHERE s.namespace = $namespace AND s.lane = lane AND s.key IS NOT NULL
WITH lane, count(s) AS statements, sum(s.length) AS terms, max(s.key) / 1048576 AS t_index,
    head(collect(s.session_key)) AS name
CALL (lane, statements, terms, t_index, name) {
    WITH lane, statements, terms, t_index, name WHERE statements > 0
    MERGE (x:RecallMSession {namespace: $namespace, key: lane})
    SET x.name = name, x.statements = statements, x.terms = terms, x.t_index = t_index
}
CALL (lane, statements) {
    WITH lane, statements WHERE statements = 0
    MATCH (x:RecallMSession {namespace: $namespace, key: lane})
    DELETE x
}
"""

RECOMPUTE_NAMESPACE: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.statements = n.statements - $statements, n.terms = n.terms - $terms,
    n.sessions = COUNT {
        MATCH (x:RecallMSession) WHERE x.namespace = $namespace AND x.key IS NOT NULL
    }
"""

FORGET_EVERYTHING: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.rows = $fresh, n.statements = 0, n.terms = 0, n.sessions = 0,
    n.open_session = null, n.open_said = null,
    n.model = null, n.vector_size = null, n.vector_bytes = null, n.revision = n.revision + 1
CREATE (:RecallMNamespace {key: $garbage, rows: $namespace, purge_after: timestamp()})
"""

COUNT_EVERYTHING: Final[LiteralString] = """
RETURN COUNT { MATCH (x:RecallMUpdate)
        WHERE x.namespace = $namespace AND x.t > 0 AND x.id IS NOT NULL } AS passages,
    COUNT { MATCH (x:RecallMStatement)
        WHERE x.namespace = $namespace AND x.key IS NOT NULL } AS statements,
    COUNT { MATCH (x:RecallMConcept)
        WHERE x.namespace = $namespace AND x.key IS NOT NULL } AS concepts,
    COUNT { MATCH (x:RecallMConcept)-[:RELATES]->()
        WHERE x.namespace = $namespace AND x.key IS NOT NULL } AS relations,
    COUNT { MATCH (x:RecallMEntity)
        WHERE x.namespace = $namespace AND x.key IS NOT NULL } AS entities,
    COUNT { MATCH (x:RecallMTriplet)
        WHERE x.namespace = $namespace AND x.predicate IS NOT NULL } AS triplets,
    COUNT { MATCH (x:RecallMSummary) WHERE x.namespace = $namespace
        AND x.concept IS NOT NULL AND x.t_index IS NOT NULL } AS summaries
"""
