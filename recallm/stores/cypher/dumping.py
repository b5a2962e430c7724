"""Queries of ``dump``: a page of updates, and what belongs to each."""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = [
    "ENTITIES",
    "ENTITY_VECTORS",
    "EVIDENCE",
    "STATEMENTS",
    "SUMMARIES",
    "TRIPLETS",
    "UPDATES",
    "UPDATES_AT",
    "VECTORS",
]

UPDATES: Final[LiteralString] = """
MATCH (u:RecallMUpdate)
WHERE u.namespace = $namespace AND u.t > $after AND u.t <= $t
RETURN u AS update ORDER BY u.t LIMIT $limit
"""

UPDATES_AT: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
RETURN u AS update ORDER BY t
"""

STATEMENTS: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (:RecallMUpdate {namespace: $namespace, t: t})-[:HAS]->(s:RecallMStatement)
RETURN t, s AS statement
"""

VECTORS: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (v:RecallMVector)
WHERE v.namespace = $namespace AND v.key >= t * 1048576 AND v.key < (t + 1) * 1048576
    AND v.model IS NOT NULL
RETURN t, v.key AS key, v.model AS model, v.blob AS blob
"""

EVIDENCE: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (a:RecallMConcept)-[e:EVIDENCE]->(b:RecallMConcept)
WHERE e.namespace = $namespace AND e.t = t
RETURN t, a.name AS a, b.name AS b, e.earlier AS earlier, e.later AS later
"""

ENTITIES: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})<-[shown:SHOWN]-(x:RecallMEntity)
USING INDEX SEEK u:RecallMUpdate(namespace, t)
RETURN t, shown.key AS key, shown.properties AS evidence_properties, x AS entity,
    NOT EXISTS {
        MATCH (x)-[later:SHOWN]->() WHERE later.key > shown.key AND later.key < $before
    } AS latest
"""

ENTITY_VECTORS: Final[LiteralString] = """
UNWIND $ids AS id
MATCH (e:RecallMEntity {namespace: $namespace, key: id})-[:EMBEDDED]->(v:RecallMEntityVector)
USING INDEX SEEK e:RecallMEntity(namespace, key)
RETURN e.id AS id, v.model AS model, v.blob AS blob
"""

TRIPLETS: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})<-[shown:SHOWN]-(x:RecallMTriplet)
USING INDEX SEEK u:RecallMUpdate(namespace, t)
RETURN t, shown.key AS key, shown.properties AS evidence_properties, x.name AS predicate,
    head(COLLECT { MATCH (x)-[:SUBJECT]->(e) RETURN e.id }) AS subject,
    head(COLLECT { MATCH (x)-[:OBJECT]->(e) RETURN e.id }) AS object
"""

SUMMARIES: Final[LiteralString] = """
MATCH (y:RecallMSummary)
WHERE y.namespace = $namespace AND y.concept IS NOT NULL AND y.t_index <= $t
RETURN y AS summary
"""
