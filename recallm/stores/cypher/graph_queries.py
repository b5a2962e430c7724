"""Queries of readers about concepts, relations, entities, triplets and summaries; parameters as in
``recallm.stores.cypher.reader_queries``."""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled

_WITH_SUMMARY: Final[LiteralString] = spelled("""
OPTIONAL MATCH (c)<-[:SUMMARISES]-(summary:RecallMSummary)
WHERE summary.t_index <= $t AND ($plain OR NOT EXISTS {
    MATCH (s:RecallMStatement)-[:MENTIONS]->(c)
    WHERE s.key < (summary.t_index + 1) * 1048576 AND {{STATEMENT_HIDDEN}}
})
WITH c, summary, size(COLLECT {
    WITH summary WHERE summary IS NOT NULL
    MATCH (c)<-[:MENTIONS]-(s:RecallMStatement)
    WHERE s.key >= (summary.t_index + 1) * 1048576 AND s.key < $before
    RETURN s.key / 1048576 AS t
    UNION
    WITH summary WHERE summary IS NOT NULL
    MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate)
    WHERE u.t > summary.t_index AND u.t <= $t
    RETURN u.t AS t
}) AS later
RETURN [c.name, c.label, c.kind, c.t_index, c.updates, c.statements] AS totals, summary, later
""")
"""The concepts ``c`` with their summaries in force and the number of updates after those."""

CONCEPTS_NAMED: Final[LiteralString] = (
    spelled("""
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
WHERE {{CONCEPT_SEEN}}
""")
    + _WITH_SUMMARY
)

CONCEPTS_LATEST: Final[LiteralString] = (
    spelled("""
CALL () {
    MATCH (c:RecallMConcept)
    WHERE c.namespace = $namespace AND c.t_index > $t AND {{CONCEPT_SEEN}}
    RETURN c
    UNION ALL
    MATCH (c:RecallMConcept)
    WHERE c.namespace = $namespace AND c.t_index <= $t AND {{CONCEPT_SEEN}}
    RETURN c
    ORDER BY c.namespace DESC, c.t_index DESC, c.name LIMIT $limit
}
""")
    + _WITH_SUMMARY
)

RELATIONS: Final[LiteralString] = spelled("""
UNWIND $names AS name
MATCH (a:RecallMConcept {namespace: $namespace, key: name})
CALL (a) {
    CALL (a) {
        MATCH (a)-[r:RELATED]-(b:RecallMConcept) WHERE r.t_index <= $t AND {{RELATION_SEEN}}
        RETURN b, startNode(r) = a AS out, r.strength AS strength, r.t_index AS t_index
        UNION ALL
        MATCH (a)-[r:RELATED]-(b:RecallMConcept)
        WHERE r.t_index > $t AND r.ts[0] <= $t AND {{RELATION_SEEN}}
        WITH a, b, r, [t IN r.ts WHERE t <= $t] AS shown
        RETURN b, startNode(r) = a AS out, size(shown) AS strength, shown[-1] AS t_index
    }
    RETURN b, out, strength, t_index
    ORDER BY t_index DESC, strength DESC, b.name LIMIT $limit
}
RETURN DISTINCT CASE WHEN out THEN a.name ELSE b.name END AS a,
    CASE WHEN out THEN b.name ELSE a.name END AS b, strength, t_index
""")

RELATIONS_AMONG: Final[LiteralString] = spelled("""
MATCH (a:RecallMConcept)
WHERE a.namespace = $namespace AND a.key IN $names
MATCH (a)-[r:RELATED]->(b:RecallMConcept)
WHERE b.key IN $names AND {{RELATION_SEEN}}
CALL (r) {
    WITH r WHERE r.t_index <= $t
    RETURN r.strength AS strength, r.t_index AS t_index
    UNION ALL
    WITH [t IN r.ts WHERE t <= $t] AS shown WHERE r.t_index > $t
    RETURN size(shown) AS strength, shown[-1] AS t_index
}
WITH a, b, strength, t_index WHERE strength > 0
RETURN a.name AS a, b.name AS b, strength, t_index
""")

ENTITIES: Final[LiteralString] = spelled("""
CALL () {
    UNWIND $ids AS id
    MATCH (e:RecallMEntity {namespace: $namespace, key: id})
    RETURN e
    UNION
    UNWIND $concepts AS name
    MATCH (e:RecallMEntity)-[:STANDS_ON]->(:RecallMConcept {namespace: $namespace, key: name})
    RETURN e
    UNION
    UNWIND $passages AS id
    MATCH (u:RecallMUpdate {namespace: $namespace, id_key: id})
    USING INDEX SEEK u:RecallMUpdate(namespace, id_key)
    WHERE {{UPDATE_SEEN}}
    MATCH (e:RecallMEntity)-[:SHOWN]->(u)
    RETURN e
    UNION
    WITH 1 AS one WHERE $all
    MATCH (e:RecallMEntity) WHERE e.namespace = $namespace AND e.key IS NOT NULL
    RETURN e
}
MATCH (e)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}}
WITH e, count(DISTINCT u.t) AS updates, max(u.t) AS t_index,
    max(CASE WHEN u.id IS NOT NULL THEN [u.t, u.id] END)[1] AS source
RETURN e.id AS id, e.type AS type, e.label AS label, e.concept AS concept,
    e.properties AS properties, updates, t_index, source
""")

ENTITY_VECTORS: Final[LiteralString] = spelled("""
CALL () {
    UNWIND $ids AS id
    MATCH (v:RecallMEntityVector {namespace: $namespace, model_key: $model, entity: id})
    RETURN v
    UNION
    WITH 1 AS one WHERE $all
    MATCH (v:RecallMEntityVector)
    WHERE v.namespace = $namespace AND v.model_key = $model AND v.entity IS NOT NULL
    RETURN v
}
MATCH (v)<-[:EMBEDDED]-(e:RecallMEntity)
WHERE EXISTS { MATCH (e)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
RETURN e.id AS id, v.blob AS blob
""")

TRIPLETS: Final[LiteralString] = spelled("""
CALL () {
    WITH 1 AS one WHERE $entry = 'passages'
    UNWIND $passages AS id
    MATCH (u:RecallMUpdate {namespace: $namespace, id_key: id})
    MATCH (x:RecallMTriplet)-[:SHOWN]->(u)
    RETURN x
    UNION
    WITH 1 AS one WHERE $entry = 'subjects'
    UNWIND $subjects AS id
    MATCH (x:RecallMTriplet)-[:SUBJECT]->(:RecallMEntity {namespace: $namespace, key: id})
    RETURN x
    UNION
    WITH 1 AS one WHERE $entry = 'objects'
    UNWIND $objects AS id
    MATCH (x:RecallMTriplet)-[:OBJECT]->(:RecallMEntity {namespace: $namespace, key: id})
    RETURN x
    UNION
    WITH 1 AS one WHERE $entry = 'ends'
    UNWIND $ends AS id
    MATCH (x:RecallMTriplet)-[:SUBJECT|OBJECT]->(:RecallMEntity {namespace: $namespace, key: id})
    RETURN x
    UNION
    WITH 1 AS one WHERE $entry = 'predicates'
    UNWIND $predicates AS predicate
    MATCH (x:RecallMTriplet) WHERE x.namespace = $namespace AND x.predicate = predicate
    RETURN x
    UNION
    WITH 1 AS one WHERE $entry = 'all'
    MATCH (x:RecallMTriplet) WHERE x.namespace = $namespace AND x.predicate IS NOT NULL
    RETURN x
}
WITH x
WHERE (NOT $by_subjects OR x.subject IN $subjects)
    AND (NOT $by_predicates OR x.predicate IN $predicates)
    AND (NOT $by_objects OR x.object IN $objects)
    AND (NOT $by_ends OR x.subject IN $ends OR x.object IN $ends)
    AND (NOT $by_passages OR EXISTS {
        MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE u.id_key IN $passages AND {{UPDATE_SEEN}}
    })
CALL (x) { MATCH (x)-[:SUBJECT]->(subject) RETURN subject }
CALL (x) { MATCH (x)-[:OBJECT]->(object) RETURN object }
WITH x, subject, object
WHERE EXISTS { MATCH (subject)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
    AND EXISTS { MATCH (object)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}}
RETURN subject.id AS subject, x.name AS predicate, object.id AS object,
    x.properties AS properties, count(DISTINCT u.t) AS strength, max(u.t) AS t_index,
    max(CASE WHEN u.id IS NOT NULL THEN [u.t, u.id] END)[1] AS source
""")
