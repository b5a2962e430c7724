"""Look-ups of the shared write semantics (``recallm.stores.semantics.rows.Rows``). They run after
``LOCK`` in the transaction that writes."""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.postings import newest_mention

LOCK: Final[LiteralString] = """
MERGE (n:RecallMNamespace {key: $key})
ON CREATE SET n.name = $name, n.rows = $fresh, n.t = 0,
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
    RETURN collect([u.id, u.t, u.text]) AS passages
}
CALL (n) {
    UNWIND $items AS item
    MATCH (u:RecallMUpdate {namespace: n.rows, item_key: item})
    RETURN collect([item, u.t, u.id]) AS items
}
OPTIONAL MATCH (latest:RecallMUpdate {namespace: n.rows, t: n.open_t})
RETURN n {
    .rows, .t, .statements, .terms, .sessions, .model, .origin, .revision, .vocabulary,
    .vector_bytes, .indexed
} AS namespace, [latest.t, latest.session_key, latest.said, latest.source] AS open_session,
    written, passages, items, EXISTS {
        MATCH (u:RecallMUpdate) WHERE u.namespace = n.rows AND u.expires <= $now
    } AS expired
"""
"""Setting a property locks the node until the transaction ends: what is read after it, t above
all, no other writer of the namespace can change. ``rows`` is the namespace of all other queries.

``writes`` has the latest write of each writer, with its milliseconds since 1970: who lost the reply
to a commit learns from it, as ``written``, that the write is done.
"""

LOOK_UP: Final[LiteralString] = """
CALL () {
    UNWIND range(0, size($concepts) - 1) AS place
    OPTIONAL MATCH (c:RecallMConcept {namespace: $namespace, key: $concepts[place]})
    WITH c, place ORDER BY place
    RETURN collect([c]) AS nodes,
        collect([c.name, c.label, c.kind, c.t_index, c.updates, c.statements]) AS concepts
}
CALL () {
    UNWIND $terms AS key
    MATCH (w:RecallMStem {namespace: $namespace, key: key})
    RETURN collect([w.name, w.documents]) AS terms
}
CALL () {
    UNWIND $sessions AS key
    MATCH (x:RecallMSession {namespace: $namespace, key: key})
    RETURN collect([x.name, x.statements, x.terms]) AS sessions
}
CALL (nodes) {
    UNWIND $relations AS pair
    WITH pair, nodes[pair[0]][0] AS a, nodes[pair[1]][0] AS b
    MATCH (a)-[r:RELATED]->(b)
    RETURN collect([pair[0], pair[1], r.strength, r.t_index]) AS relations
}
CALL () {
    UNWIND $elements AS key
    MATCH (x:RecallMElement {namespace: $namespace, key: key})
    OPTIONAL MATCH (x)-[:STANDS_ON]->(c:RecallMConcept)
    RETURN collect([x.key, x.type, x.concept, x.label, x.kind, x.properties, x.latest]) AS elements,
        collect([c.name, c.label, c.kind, c.t_index, c.updates, c.statements]) AS their_concepts
}
CALL () {
    UNWIND $predicates AS key
    MATCH (p:RecallMPredicate {namespace: $namespace, key: key})
    RETURN collect([p.name, p.triplets]) AS predicates
}
RETURN concepts, terms, sessions, relations, elements, their_concepts, predicates
"""
"""A relation is given, and found, by the places of its ends in ``$concepts``; ``concepts`` has a
row for each, of nulls where there is none."""

PREPARE: Final[LiteralString] = (
    """
MATCH (n:RecallMNamespace {key: $key})
SET n.locked = true
WITH n, n.rows AS namespace, coalesce(n.writes, []) AS writes
CALL (namespace) {
    UNWIND $ids AS id
    MATCH (u:RecallMUpdate {namespace: namespace, id_key: id})
    RETURN collect([u.id, u.t, u.text]) AS passages
}
CALL (namespace) {
    UNWIND $items AS item
    MATCH (u:RecallMUpdate {namespace: namespace, item_key: item})
    RETURN collect([item, u.t, u.id]) AS items
}
OPTIONAL MATCH (latest:RecallMUpdate {namespace: namespace, t: n.open_t})
CALL (namespace, latest) {
    MATCH (x:RecallMSession {namespace: namespace, key: latest.lane})
    RETURN collect([x.name, x.statements, x.terms]) AS open_sessions
}
"""
    + LOOK_UP.replace("CALL () {", "CALL (namespace) {").replace("$namespace", "namespace")
    + """, n {
    .rows, .t, .statements, .terms, .sessions, .model, .origin, .revision, .vocabulary,
    .vector_bytes, .indexed
} AS namespace, [latest.t, latest.session_key, latest.said, latest.source] AS open_session,
    passages, items, open_sessions, last(writes) AS latest,
    any(it IN writes WHERE it ENDS WITH $write) AS written, EXISTS {
        MATCH (u:RecallMUpdate) WHERE u.namespace = namespace AND u.expires <= $now
    } AS expired
"""
)
"""What ``LOCK`` and ``LOOK_UP`` find, for a write that ``GUARDED`` does later. The lock, which ends
with the query, keeps it from reading half of another writer's commit. ``open_sessions`` has the
session that is open. No row: the namespace was never written."""

EVIDENCE: Final[LiteralString] = """
UNWIND $elements AS key
MATCH (x:RecallMElement {namespace: $namespace, key: key})-[shown:SHOWN]->()
USING INDEX SEEK x:RecallMElement(namespace, key)
RETURN key, shown.key AS at, shown.properties AS properties
"""

RELATION_EVIDENCE: Final[LiteralString] = """
UNWIND $relations AS pair
MATCH (a:RecallMConcept {namespace: $namespace, key: pair[0]})-[r:RELATED]->
    (b:RecallMConcept {namespace: $namespace, key: pair[1]})
// Without hints the plan would read all relations of a hub.
USING INDEX SEEK a:RecallMConcept(namespace, key)
USING INDEX SEEK b:RecallMConcept(namespace, key)
RETURN a.name AS a, b.name AS b, r.ts AS ts
"""

COUNT_TOUCHES: Final[LiteralString] = """
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
CALL (c) {
    MATCH (c)<-[:MENTIONS]-(s:RecallMStatement) WHERE s.key < $before
    RETURN s.key AS shown, 1 AS mention, null AS entity
    UNION ALL
    MATCH (c)<-[:STANDS_ON]-(x:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t
    RETURN u.t * 1048576 AS shown, 0 AS mention, x AS entity
}
WITH c, sum(mention) AS statements, collect(DISTINCT shown / 1048576) AS ts,
    min(CASE mention WHEN 1 THEN shown END) AS first_mention,
    min(CASE mention WHEN 0 THEN
        [shown / 1048576, entity.id, entity.label, entity.kind]
    END) AS first_entity
WHERE size(ts) > 0
OPTIONAL MATCH (s:RecallMStatement {namespace: $namespace, key: first_mention})
RETURN c.name AS name, statements, ts, coalesce(s.content, '') AS content,
    coalesce(first_entity[2], '') AS label, coalesce(first_entity[3], '') AS kind
"""
"""The totals of concepts up to ``$t``, counted; ``$before`` is the first key after it. ``content``
is that of the earliest statement that mentions the concept; ``label`` and ``kind`` hold where none
does."""

SELECT: Final[dict[str, LiteralString]] = {
    "id": "MATCH (u:RecallMUpdate {namespace: $namespace, id_key: $value}) RETURN u.t AS t",
    "source": "MATCH (u:RecallMUpdate {namespace: $namespace, source_key: $value}) RETURN u.t AS t",
    "session": """MATCH (u:RecallMUpdate {namespace: $namespace, lane: $value})
        WHERE u.session IS NOT NULL RETURN u.t AS t
        UNION MATCH (u:RecallMUpdate {namespace: $namespace, source_key: $source})
        WHERE u.session IS NULL RETURN u.t AS t""",
    "before": """MATCH (u:RecallMUpdate)
        WHERE u.namespace = $namespace AND u.t < $value RETURN u.t AS t""",
    "said before": """MATCH (u:RecallMUpdate)
        WHERE u.namespace = $namespace AND u.said < $value RETURN u.t AS t""",
    "expired": """MATCH (u:RecallMUpdate)
        WHERE u.namespace = $namespace AND u.expires <= $value
        RETURN u.t AS t ORDER BY u.expires, u.t LIMIT $limit""",
}
"""Whole updates, by what selects them."""

TOUCHING: Final[LiteralString] = """
MATCH (c:RecallMConcept {namespace: $namespace, key: $concept})
RETURN COLLECT { MATCH (c)<-[:MENTIONS]-(s:RecallMStatement) RETURN s.key } AS keys,
    COLLECT { MATCH (c)<-[:STANDS_ON]-(e:RecallMEntity) RETURN e.id } AS entities
"""

REFERRING: Final[LiteralString] = """
UNWIND $ids AS id
MATCH (:RecallMUpdate {namespace: $namespace, id_key: id})<-[:REFERS_TO]-(s:RecallMStatement)
RETURN DISTINCT s.key / 1048576 AS t
"""

TRIPLETS_OF: Final[LiteralString] = """
UNWIND $entities AS key
MATCH (e:RecallMElement {namespace: $namespace, key: key})<-[:SUBJECT|OBJECT]-(x:RecallMTriplet)
USING INDEX SEEK e:RecallMElement(namespace, key)
MATCH (x)-[:SUBJECT]->(subject:RecallMEntity)
MATCH (x)-[:OBJECT]->(object:RecallMEntity)
RETURN DISTINCT subject.id AS subject, x.name AS predicate, object.id AS object
"""

CONTEXT_VERSION: Final[LiteralString] = (
    """
MATCH (c:RecallMConcept {namespace: $namespace, key: $concept})
WHERE c.statements > 0
RETURN c.statements AS statements, """
    + newest_mention()
    + """ AS latest,
    head(COLLECT { MATCH (c)<-[:SUMMARISES]-(y:RecallMSummary) RETURN y.t_index }) AS summary_t
"""
)

UNEMBEDDED: Final[LiteralString] = """
UNWIND $keys AS key
MATCH (s:RecallMStatement {namespace: $namespace, key: key})
WHERE NOT EXISTS { (s)-[:EMBEDDED]->() }
RETURN key
"""
