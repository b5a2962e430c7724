"""Queries of readers. Parameters of all: ``$namespace``, ``$t`` (the latest t to be seen),
``$before`` (the first key after it), ``$dated`` and ``$said`` (whether the horizon is a datetime,
and which), ``$now`` (what expired by then is not seen), ``$plain`` (nothing is hidden but by its
t). Parameters are never null: Neo4j plans a query anew for each type that one takes."""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = [
    "CONCEPTS_COUNTED",
    "CONCEPTS_LATEST",
    "CONCEPTS_NAMED",
    "CORPUS_COUNTED",
    "CORPUS_TOTALS",
    "ENTITIES",
    "LATEST_SEEN",
    "LINKED_END",
    "LINKED_HOP",
    "LINKED_START",
    "MENTIONS",
    "NAMESPACES",
    "OPEN",
    "PASSAGE",
    "POSTINGS",
    "RELATIONS",
    "RELATIONS_AMONG",
    "SESSIONS",
    "STATEMENTS",
    "STATS",
    "SUMMARIES",
    "SUMMARISED",
    "TRIPLETS",
    "VECTORS",
]

_UPDATE_SEEN: Final[LiteralString] = """(
    u.t <= $t AND ($plain OR (NOT $dated OR u.said <= $said)
        AND (u.expires IS NULL OR u.expires > $now))
)"""

_STATEMENT_SEEN: Final[LiteralString] = """(
    s.key < $before AND ($plain OR (NOT $dated OR s.said <= $said)
        AND (s.expires IS NULL OR s.expires > $now))
)"""

_EVIDENCE_SEEN: Final[LiteralString] = """(
    e.t <= $t AND ($plain OR (NOT $dated OR e.said <= $said)
        AND (e.expires IS NULL OR e.expires > $now))
)"""

_NEIGHBOUR_SEEN: Final[LiteralString] = """(
    s.key < $before AND ($plain OR (NOT $dated OR other.said <= $said)
        AND (other.expires IS NULL OR other.expires > $now))
)"""

_STATEMENT_HIDDEN: Final[LiteralString] = """(
    $dated AND coalesce(s.said > $said, true) OR coalesce(s.expires <= $now, false)
)"""

_RELATION_SEEN: Final[LiteralString] = (
    """(
    $plain AND r.first <= $t
    OR NOT $plain AND EXISTS { MATCH (a)-[e:EVIDENCE]->(b) WHERE """
    + _EVIDENCE_SEEN
    + """ }
)"""
)

_MEETS: Final[LiteralString] = """(
    NOT $filtered OR (
        s.key >= $since_key AND s.key < $until_key
        AND (NOT $timed OR s.said >= $since_said AND s.said <= $until_said)
        AND ($lanes = [] OR s.lane IN $lanes)
        AND ($speakers = [] AND $metadata = [] OR EXISTS {
            MATCH (s)<-[:HAS]-(u:RecallMUpdate)
            WHERE ($speakers = [] OR u.speaker IN $speakers)
                AND all(entry IN $metadata WHERE entry IN u.metadata)
        })
    )
)"""

NAMESPACES: Final[LiteralString] = """
MATCH (n:RecallMNamespace)
WHERE n.t > 0 OR EXISTS { MATCH (u:RecallMUpdate) WHERE u.namespace = n.key }
RETURN n.name AS name
"""

OPEN: Final[LiteralString] = """
OPTIONAL MATCH (n:RecallMNamespace {key: $namespace})
RETURN coalesce(n.t, 0) AS t, EXISTS {
    MATCH (u:RecallMUpdate) WHERE u.namespace = $namespace AND u.expires <= $now
} AS expired
"""

LATEST_SEEN: Final[LiteralString] = (
    """
MATCH (u:RecallMUpdate)
WHERE u.namespace = $namespace AND u.said <= $said AND """
    + _UPDATE_SEEN
    + """
RETURN coalesce(max(u.t), 0) AS t
"""
)

PASSAGE: Final[LiteralString] = (
    """
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: $id})
WHERE """
    + _UPDATE_SEEN
    + """
RETURN u AS update
"""
)

STATEMENTS: Final[LiteralString] = (
    """
UNWIND $keys AS key
MATCH (s:RecallMStatement {namespace: $namespace, key: key})<-[:HAS]-(u:RecallMUpdate)
WHERE """
    + _STATEMENT_SEEN
    + """
RETURN s AS statement, u {
        .id, .timestamp, .speaker, .speaker_concept, .source, .session, .session_key, .metadata
    } AS update,
    head(COLLECT {
        MATCH (other:RecallMStatement)
        WHERE other.namespace = $namespace AND other.lane = s.lane AND other.key < s.key
            AND """
    + _NEIGHBOUR_SEEN
    + """
        RETURN other.key
        ORDER BY other.namespace DESC, other.lane DESC, other.key DESC LIMIT 1
    }) AS previous,
    head(COLLECT {
        MATCH (other:RecallMStatement)
        WHERE other.namespace = $namespace AND other.lane = s.lane
            AND other.key > s.key AND other.key < $before
            AND """
    + _NEIGHBOUR_SEEN
    + """
        RETURN other.key ORDER BY other.namespace, other.lane, other.key LIMIT 1
    }) AS next
"""
)

POSTINGS: Final[LiteralString] = (
    """
UNWIND $stems AS stem
MATCH (w:RecallMStem {namespace: $namespace, key: stem})
CALL (w) {
    WITH w WHERE $plain AND w.t_index <= $t
    RETURN w.documents AS documents
    UNION ALL
    WITH w WHERE NOT ($plain AND w.t_index <= $t)
    MATCH (s:RecallMStatement)-[:HOLDS]->(w) WHERE """
    + _STATEMENT_SEEN
    + """
    RETURN count(s) AS documents
}
WITH w, stem, documents WHERE documents > 0
RETURN w.name AS name, documents, COLLECT {
    MATCH (s:RecallMStatement)-[h:HOLDS]->(:RecallMStem)
    WHERE h.namespace = $namespace AND h.stem = stem AND h.key < $before AND """
    + _STATEMENT_SEEN
    + " AND "
    + _MEETS
    + """
    RETURN [h.key, h.count, s.session_key]
    ORDER BY h.namespace DESC, h.stem DESC, h.key DESC LIMIT $limit
} AS rows
"""
)

MENTIONS: Final[LiteralString] = (
    """
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
CALL (c) {
    WITH c WHERE $plain AND c.t_index <= $t
    RETURN c.statements AS statements
    UNION ALL
    WITH c WHERE NOT ($plain AND c.t_index <= $t)
    MATCH (s:RecallMStatement)-[:MENTIONS]->(c) WHERE """
    + _STATEMENT_SEEN
    + """
    RETURN count(s) AS statements
}
WITH c, name, statements WHERE statements > 0
RETURN c.name AS name, statements, COLLECT {
    MATCH (s:RecallMStatement)-[m:MENTIONS]->(:RecallMConcept)
    WHERE m.namespace = $namespace AND m.concept = name AND m.key < $before AND """
    + _STATEMENT_SEEN
    + " AND "
    + _MEETS
    + """
    RETURN m.key
    ORDER BY m.namespace DESC, m.concept DESC, m.key DESC LIMIT $limit
} AS keys
"""
)

CONCEPTS_NAMED: Final[LiteralString] = """
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
RETURN c AS concept
"""

CONCEPTS_LATEST: Final[LiteralString] = """
CALL () {
    MATCH (c:RecallMConcept)
    WHERE c.namespace = $namespace AND c.t_index > $t
    RETURN c
    UNION ALL
    MATCH (c:RecallMConcept)
    WHERE c.namespace = $namespace AND c.t_index <= $t
    RETURN c
    ORDER BY c.namespace DESC, c.t_index DESC, coalesce(c.sort, c.name) LIMIT $limit
}
RETURN c AS concept
"""

CONCEPTS_COUNTED: Final[LiteralString] = (
    """
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
CALL (c) {
    MATCH (c)<-[:MENTIONS]-(s:RecallMStatement) WHERE """
    + _STATEMENT_SEEN
    + """
    RETURN s.key AS shown, 1 AS mention, null AS entity
    UNION ALL
    MATCH (c)<-[:STANDS_ON]-(x:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + """
    RETURN u.t * 1048576 AS shown, 0 AS mention, x AS entity
}
WITH c, sum(mention) AS statements, collect(DISTINCT shown / 1048576) AS ts,
    min(CASE mention WHEN 1 THEN shown END) AS first_mention,
    min(CASE mention WHEN 0 THEN
        [shown / 1048576, coalesce(entity.sort, entity.id), entity.label, entity.kind]
    END) AS first_entity
OPTIONAL MATCH (s:RecallMStatement {namespace: $namespace, key: first_mention})
WITH *, head([i IN range(0, coalesce(size(s.names), 0) - 1) WHERE s.names[i] = c.name]) AS place
RETURN c.name AS name, statements, ts,
    CASE WHEN s IS NULL THEN first_entity[2] ELSE s.labels[place] END AS label,
    CASE WHEN s IS NULL THEN first_entity[3] ELSE s.kinds[place] END AS kind
"""
)

RELATIONS: Final[LiteralString] = (
    """
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
CALL (c) {
    CALL (c) {
        MATCH (c)-[r:RELATES]-(o:RecallMConcept) WHERE $plain AND r.t_index <= $t
        RETURN o, startNode(r) = c AS out, r.strength AS strength, r.t_index AS t_index
        UNION ALL
        MATCH (c)-[r:RELATES]-(o:RecallMConcept) WHERE NOT ($plain AND r.t_index <= $t)
        MATCH (c)-[e:EVIDENCE]-(o) WHERE """
    + _EVIDENCE_SEEN
    + """
        RETURN o, startNode(e) = c AS out, count(e) AS strength, max(e.t) AS t_index
    }
    RETURN o, out, strength, t_index
    ORDER BY t_index DESC, strength DESC, coalesce(o.sort, o.name) LIMIT $limit
}
RETURN DISTINCT CASE WHEN out THEN c.name ELSE o.name END AS a,
    CASE WHEN out THEN o.name ELSE c.name END AS b, strength, t_index
"""
)

RELATIONS_AMONG: Final[LiteralString] = (
    """
MATCH (a:RecallMConcept)
WHERE a.namespace = $namespace AND a.key IN $names
MATCH (a)-[r:RELATES]->(b:RecallMConcept)
WHERE b.key IN $names
CALL (a, b, r) {
    WITH r WHERE $plain AND r.t_index <= $t
    RETURN r.strength AS strength, r.t_index AS t_index
    UNION ALL
    WITH a, b, r WHERE NOT ($plain AND r.t_index <= $t)
    MATCH (a)-[e:EVIDENCE]->(b) WHERE """
    + _EVIDENCE_SEEN
    + """
    RETURN count(e) AS strength, max(e.t) AS t_index
}
WITH a, b, strength, t_index WHERE strength > 0
RETURN a.name AS a, b.name AS b, strength, t_index
"""
)

LINKED_START: Final[LiteralString] = """
MATCH (start:RecallMConcept {namespace: $namespace, key: $start})
WITH start, [start] AS reached
"""

LINKED_HOP: Final[LiteralString] = (
    """
CALL (reached) {
    UNWIND reached AS a
    MATCH (a)-[r:RELATES]->(b) WHERE """
    + _RELATION_SEEN
    + """
    RETURN b AS other
    UNION
    UNWIND reached AS b
    MATCH (b)<-[r:RELATES]-(a) WHERE """
    + _RELATION_SEEN
    + """
    RETURN a AS other
    UNION
    UNWIND reached AS other
    RETURN other
}
WITH start, collect(other) AS reached
"""
)
"""One more hop: what is reached, and all that is related to it."""

LINKED_END: Final[LiteralString] = """
UNWIND reached AS c
WITH c WHERE c <> start
    AND ($plain AND (c.t_index >= $oldest AND c.t_index <= $newest OR c.t_index > $t)
        OR NOT $plain)
RETURN c AS concept
"""

SUMMARIES: Final[LiteralString] = (
    """
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})<-[:SUMMARISES]-(y:RecallMSummary)
WHERE y.t_index <= $t_index AND ($plain OR NOT EXISTS {
    MATCH (s:RecallMStatement)-[:MENTIONS]->(c)
    WHERE s.key < (y.t_index + 1) * 1048576 AND """
    + _STATEMENT_HIDDEN
    + """
})
RETURN c.name AS name, y AS summary ORDER BY y.t_index
"""
)

SUMMARISED: Final[LiteralString] = """
MATCH (y:RecallMSummary) WHERE y.namespace = $namespace
RETURN DISTINCT y.name AS name
"""

ENTITIES: Final[LiteralString] = (
    """
CALL () {
    UNWIND $ids AS id
    MATCH (e:RecallMEntity {namespace: $namespace, key: id})
    RETURN e
    UNION
    UNWIND $concepts AS name
    MATCH (e:RecallMEntity)-[:STANDS_ON]->(:RecallMConcept {namespace: $namespace, key: name})
    RETURN e
    UNION
    WITH 1 AS one WHERE $all
    MATCH (e:RecallMEntity) WHERE e.namespace = $namespace
    RETURN e
}
MATCH (e)-[:STANDS_ON]->(c:RecallMConcept)
MATCH (e)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + """
RETURN e AS entity, c.name AS concept, count(DISTINCT u.t) AS updates, max(u.t) AS t_index
"""
)

TRIPLETS: Final[LiteralString] = (
    """
CALL () {
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
MATCH (x)-[:SUBJECT]->(subject), (x)-[:OBJECT]->(object)
WHERE EXISTS { MATCH (subject)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + """ }
    AND EXISTS { MATCH (object)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + """ }
MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + """
RETURN subject.id AS subject, x.name AS predicate, object.id AS object,
    x.properties AS properties, count(DISTINCT u.t) AS strength, max(u.t) AS t_index
"""
)

CORPUS_TOTALS: Final[LiteralString] = """
OPTIONAL MATCH (n:RecallMNamespace {key: $namespace})
RETURN coalesce(n.t, 0) AS t, coalesce(n.statements, 0) AS statements,
    coalesce(n.terms, 0) AS terms, coalesce(n.sessions, 0) AS sessions
"""

CORPUS_COUNTED: Final[LiteralString] = (
    """
MATCH (s:RecallMStatement)
WHERE s.namespace = $namespace AND """
    + _STATEMENT_SEEN
    + """
RETURN count(s) AS statements, coalesce(sum(s.length), 0) AS terms,
    count(DISTINCT s.session_key) AS sessions
"""
)

SESSIONS: Final[LiteralString] = (
    """
UNWIND $lanes AS lane
MATCH (x:RecallMSession {namespace: $namespace, key: lane})
CALL (x, lane) {
    WITH x WHERE $plain AND x.t_index <= $t
    RETURN x.statements AS statements, x.terms AS terms
    UNION ALL
    WITH x, lane WHERE NOT ($plain AND x.t_index <= $t)
    MATCH (s:RecallMStatement) WHERE s.namespace = $namespace AND s.lane = lane AND """
    + _STATEMENT_SEEN
    + """
    RETURN count(s) AS statements, coalesce(sum(s.length), 0) AS terms
}
WITH x, statements, terms WHERE statements > 0
RETURN x.name AS name, statements, terms
"""
)

VECTORS: Final[LiteralString] = (
    """
UNWIND $keys AS key
MATCH (v:RecallMVector {namespace: $namespace, key: key, model: $model})
MATCH (v)<-[:EMBEDDED]-(s:RecallMStatement) WHERE """
    + _STATEMENT_SEEN
    + """
RETURN key, v.blob AS blob
"""
)

STATS: Final[LiteralString] = (
    """
CALL () {
    MATCH (u:RecallMUpdate)
    WHERE u.namespace = $namespace AND u.t > 0 AND u.id IS NOT NULL AND """
    + _UPDATE_SEEN
    + """
    RETURN count(u) AS passages
}
CALL () {
    MATCH (s:RecallMStatement) WHERE s.namespace = $namespace AND """
    + _STATEMENT_SEEN
    + """
    RETURN count(s) AS statements, count(DISTINCT s.session_key) AS sessions,
        coalesce(sum(COUNT { (s)-[:EMBEDDED]->() }), 0) AS vectors
}
CALL () {
    MATCH (c:RecallMConcept) WHERE c.namespace = $namespace AND (EXISTS {
        MATCH (s:RecallMStatement)-[:MENTIONS]->(c) WHERE """
    + _STATEMENT_SEEN
    + """
    } OR EXISTS {
        MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + """
    })
    RETURN count(c) AS concepts
}
CALL () {
    MATCH (a:RecallMConcept)-[r:RELATES]->(b) WHERE a.namespace = $namespace AND """
    + _RELATION_SEEN
    + """
    RETURN count(r) AS relations
}
CALL () {
    MATCH (x:RecallMEntity) WHERE x.namespace = $namespace AND EXISTS {
        MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + """
    }
    RETURN count(x) AS entities
}
RETURN passages, statements, sessions, vectors, concepts, relations, entities
"""
)
