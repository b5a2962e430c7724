"""Conditions on what a reader may see and on what it looks for, by their names in queries, and the
queries of ``recallm.stores.semantics.reading.Reader``.

Parameters: ``$t`` (the latest t to be seen), ``$before`` (the first key after it), ``$dated`` and
``$said`` (whether the horizon is a datetime, and which), ``$now`` (passages that expired by then
are hidden), ``$withdrawn_by`` (passages that are withdrawn from that t or an earlier one on are
hidden), ``$plain`` (nothing is hidden but later updates); those of a filter in
``recallm.stores.neo4j.reader``. A list of all that is hidden would be shorter to say: with 20,000
hidden updates, each query took 200 ms longer.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.semantics.reading import literal

_SHOWN: Final[LiteralString] = """(
    $plain OR (NOT $dated OR u.said <= $said) AND (u.expires IS NULL OR u.expires > $now)
        AND (u.withdrawn IS NULL OR u.withdrawn > $withdrawn_by)
)"""

_CONDITIONS: Final[dict[LiteralString, LiteralString]] = {
    # But for the filter's bounds of t: the query's index knows those.
    "PASSAGE_FOUND": "u.id IS NOT NULL AND {{UPDATE_SEEN}} AND (NOT $filtered OR {{MEETS}})",
    "STATEMENT_SHOWN": """(
        $plain OR EXISTS { MATCH (s)<-[:HAS]-(u:RecallMUpdate) WHERE {{SHOWN}} }
    )""",
    # Where it is named, ``u`` is the update of another statement.
    "NEIGHBOUR_SEEN": """(other.key < $before AND ($plain OR EXISTS {
        MATCH (other)<-[:HAS]-(of:RecallMUpdate) WHERE """
    + _SHOWN.replace("u.", "of.")
    + """
    }))""",
    "RELATION_SEEN": """(
        $plain OR EXISTS {
        UNWIND range(size(r.ts) - 1, 0, -1) AS place
        WITH r.ts[place] AS t WHERE t <= $t
        MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
        USING INDEX SEEK u:RecallMUpdate(namespace, t)
        WHERE {{SHOWN}}
        RETURN u
    })""",
    # Where nothing but later updates is hidden, a concept's totals say whether one touches it.
    "CONCEPT_SEEN": """(
        $plain OR EXISTS {
            {{MENTIONED_AT}} MATCH (u:RecallMUpdate {namespace: $namespace, t: at / 1048576})
            USING INDEX SEEK u:RecallMUpdate(namespace, t)
            WHERE {{UPDATE_SEEN}}
            RETURN u
        } OR EXISTS {
            MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate)
            WHERE {{UPDATE_SEEN}}
        }
    )""",
    # Clauses: the keys of the statements that mention the concept ``c``.
    "MENTIONED_AT": """
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.key = c.key AND p.first >= 0
        UNWIND p.keys AS at
    """,
    "UPDATE_SEEN": "(u.t <= $t AND {{SHOWN}})",
    "SHOWN": _SHOWN,
    "MEETS": """(
        (NOT $timed OR u.said >= $since_said AND u.said <= $until_said)
        AND ($lanes = [] OR u.lane IN $lanes)
        AND (NOT $sessionless OR u.session_key IS NULL)
        AND ($paths = [] OR any(path IN $paths WHERE path IN u.paths))
        AND ($speakers = [] OR u.speaker IN $speakers)
        AND all(entry IN $metadata WHERE entry IN u.metadata_entries)
        AND ($items = [] OR u.item_key IN $items)
    )""",
}
"""A condition may name those after it."""


def spelled(query: LiteralString) -> LiteralString:
    """A query with its conditions in place of their names."""
    for name, condition in _CONDITIONS.items():
        query = query.replace(literal("{{" + name + "}}"), condition)
    return query


_WITH_SUMMARY: Final[LiteralString] = """
WITH c, c.summary_t <= $t AND ($plain OR NOT EXISTS {
    {{MENTIONED_AT}} MATCH (u:RecallMUpdate {namespace: $namespace, t: at / 1048576})
    USING INDEX SEEK u:RecallMUpdate(namespace, t)
    WHERE u.t <= c.summary_t
        AND ($dated AND coalesce(u.said > $said, true) OR coalesce(u.expires <= $now, false))
    RETURN u
}) AS holds
RETURN [c.name, c.label, c.kind] + coalesce(c.totals, [null]) + CASE WHEN holds
    THEN [[c.summary_t, c.summary, c.summary_terms, c.summary_traits, size(COLLECT {
        {{MENTIONED_AT}} WITH at WHERE at >= (c.summary_t + 1) * 1048576 AND at < $before
        RETURN at / 1048576 AS t
        UNION
        MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate)
        WHERE u.t > c.summary_t AND u.t <= $t
        RETURN u.t AS t
    })]] ELSE [[null, null, null, null, null]] END AS row
"""
"""The concepts ``c`` with their summaries in force. These cover nothing that is hidden, but what is
withdrawn."""

_ENDS_SHOWN: Final[LiteralString] = """
CALL (x) { MATCH (x)-[:SUBJECT]->(subject) RETURN subject }
CALL (x) { MATCH (x)-[:OBJECT]->(object) RETURN object }
WITH x, subject, object
WHERE EXISTS { MATCH (subject)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
    AND EXISTS { MATCH (object)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
MATCH (x)-[shown:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}}
"""
"""The visible evidence of the triplets ``x`` whose ends are visible."""

_OF_PASSAGES: Final[LiteralString] = """
{?passages:UNWIND $passages AS id
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: id})
USING INDEX SEEK u:RecallMUpdate(namespace, id_key)
WHERE {{UPDATE_SEEN}}
MATCH (u)<-[:SHOWN]-(x:RecallMElement)
WITH DISTINCT x?}
"""

_TRIPLETS: Final[LiteralString] = """
MATCH (x:RecallMTriplet)
{?passages:?:USING INDEX SEEK x:RecallMTriplet(namespace, {?subjects:
    {?objects:subject, object?:subject, predicate?}?:{?objects:object, predicate?:predicate?}?})?}
WHERE x.namespace = $namespace AND x.subject {?subjects:IN $subjects?:IS NOT NULL?}
    AND x.predicate {?predicates:IN $predicates?:IS NOT NULL?}
    AND x.object {?objects:IN $objects?:IS NOT NULL?}
"""


_UPDATES: Final[LiteralString] = "count(DISTINCT u.t) AS updates"
_LATEST: Final[LiteralString] = """max(u.t) AS t_index,
    max(CASE WHEN u.id IS NOT NULL THEN [u.t, u.id] END)[1] AS source
"""

_QUERIES: Final[dict[str, LiteralString]] = {
    "sessions": """
MATCH (u:RecallMUpdate)
USING INDEX SEEK u:RecallMUpdate(namespace, t)
WHERE u.namespace = $namespace AND u.t > 0 AND u.session_key IS NOT NULL AND {{UPDATE_SEEN}}
WITH u.session_key AS key, count(u) AS passages, min(u.t) AS first_t, max(u.t) AS latest_t,
    min(u.said) AS began, max(u.said) AS ended
RETURN [key, passages, first_t, latest_t, [began, ended]] AS row ORDER BY latest_t DESC
""",
    "statement keys": """
MATCH (s:RecallMStatement)
WHERE s.namespace = $namespace AND s.key > $after AND s.key < $before
    AND s.model {?embedded:IS NOT NULL?:IS NULL?} AND {{STATEMENT_SHOWN}}
RETURN [s.key, []] AS row ORDER BY s.namespace, s.key{?limit: LIMIT $limit?}
""",
    "vectors": """
{?keys:UNWIND $keys AS key?}
MATCH (s:RecallMStatement {namespace: $namespace{?keys:, key: key?}})
USING INDEX SEEK s:RecallMStatement(namespace, key)
WHERE s.key > $after AND s.key < $before AND s.model = $model AND {{STATEMENT_SHOWN}}
RETURN [s.key, s.blob, []] AS row ORDER BY s.namespace, s.key{?limit: LIMIT $limit?}
""",
    "entity vectors": """
MATCH (e:RecallMEntity)-[v:EMBEDDED]->(:RecallMEntity)
USING INDEX SEEK {?ids:e:RecallMEntity(namespace, key)?:v:EMBEDDED(namespace, model)?}
WHERE v.namespace = $namespace AND v.model = $model
    AND e.namespace = $namespace AND e.key {?ids:IN $ids?:IS NOT NULL?}
    AND EXISTS { MATCH (e)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
RETURN [e.id, v.blob, []] AS row
""",
    "concepts": """
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
WHERE {{CONCEPT_SEEN}}
"""
    + _WITH_SUMMARY,
    "latest concepts": """
CALL () {
    MATCH (c:RecallMConcept)
    WHERE c.namespace = $namespace AND c.t_index <= $t AND {{CONCEPT_SEEN}}
    RETURN c
    ORDER BY c.namespace DESC, c.t_index DESC, c.name{?limit: LIMIT $limit?}
    // These come last: a concept that another writer touches meanwhile is found in both.
    UNION ALL
    MATCH (c:RecallMConcept)
    WHERE c.namespace = $namespace AND c.t_index > $t AND {{CONCEPT_SEEN}}
    RETURN c
}
"""
    + _WITH_SUMMARY,
    "relations": """
UNWIND $names AS name
MATCH (a:RecallMConcept {namespace: $namespace, key: name})
CALL (a) {
    MATCH (a)-[r:RELATED]-(b:RecallMConcept) WHERE {{RELATION_SEEN}}
    WITH a, b, r, [t IN r.ts WHERE t <= $t] AS ts WHERE ts <> []
    WITH b, startNode(r) = a AS out, size(ts) AS strength, ts[-1] AS t_index
    RETURN b, out, strength, t_index
    ORDER BY t_index DESC, strength DESC, b.name{?limit: LIMIT $limit?}
}
RETURN DISTINCT [
    CASE WHEN out THEN a.name ELSE b.name END, CASE WHEN out THEN b.name ELSE a.name END,
    strength, t_index, []
] AS row
""",
    "relations among": """
MATCH (a:RecallMConcept)
WHERE a.namespace = $namespace AND a.key IN $names
MATCH (a)-[r:RELATED]->(b:RecallMConcept)
WHERE b.key IN $names AND {{RELATION_SEEN}}
WITH a, b, [t IN r.ts WHERE t <= $t] AS ts WHERE ts <> []
RETURN [a.name, b.name, size(ts), ts[-1], []] AS row
""",
    "entities": _OF_PASSAGES
    + """
{?concepts:MATCH (x:RecallMEntity)-[:STANDS_ON]->(c:RecallMConcept)
WHERE c.namespace = $namespace AND c.key IN $concepts
WITH x?}
MATCH (x:RecallMEntity)
WHERE x.namespace = $namespace AND x.key {?ids:IN $ids?:IS NOT NULL?}
MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}}
WITH x, """
    + _UPDATES
    + ", "
    + _LATEST
    + """
RETURN [x.id, x.type, x.label, x.concept, x.properties, t_index, updates, [source]] AS row
""",
    "triplets": _OF_PASSAGES
    + _TRIPLETS
    + _ENDS_SHOWN
    + "WITH x, subject, object, "
    + _UPDATES
    + ", "
    + _LATEST
    + """
RETURN [subject.id, x.name, object.id, x.properties, updates, t_index, [source]] AS row
""",
    # Where an update is deleted in the middle, its namespace is null.
    "evidence": _TRIPLETS
    + _ENDS_SHOWN
    + """
WITH x, subject, object, shown, u
ORDER BY shown.key DESC, subject.id, x.name, object.id{?limit: LIMIT $limit?}
RETURN [
    subject.id, subject.label, subject.concept, x.name, object.id, object.label, object.concept,
    object.type, coalesce(shown.properties, ''), CASE WHEN u.namespace IS NOT NULL THEN shown.key
    END, [u.id, u.timestamp, u.source]
] AS row
""",
    "summaries": """
MATCH (c:RecallMConcept)
WHERE c.namespace = $namespace AND c.key IS NOT NULL AND c.summary_t <= $t
RETURN [c.name, c.summary_t, c.summary, c.summary_terms, c.summary_traits, []] AS row
""",
    "predicates": """
MATCH (p:RecallMPredicate)
WHERE p.namespace = $namespace AND p.key IS NOT NULL AND p.name IS NOT NULL AND p.triplets > 0
RETURN [p.name, p.triplets, []] AS row
""",
    "bearers": """
UNWIND $words AS word
CALL (word) {
    MATCH (e:RecallMEntity)-[bears:BEARS]->(:RecallMEntity)
    USING INDEX SEEK bears:BEARS(namespace, word)
    WHERE bears.namespace = $namespace AND bears.word = word
        AND EXISTS { MATCH (e)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
    RETURN DISTINCT e LIMIT $limit
}
RETURN [word, e.id, []] AS row
""",
}
QUERIES: Final = {name: spelled(query) for name, query in _QUERIES.items()}
"""By their names in ``Reader``. What may be null stands in a list at the end of a row."""
