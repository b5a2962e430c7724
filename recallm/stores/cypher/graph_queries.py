"""Queries of readers about concepts, relations, entities, triplets with their evidence, and words;
parameters as in ``recallm.stores.cypher.reader_queries``."""

from __future__ import annotations

from itertools import product
from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled

_WITH_SUMMARY: Final[LiteralString] = spelled("""
WITH c, CASE WHEN c.summary_t <= $t AND ($plain OR NOT EXISTS {
    MATCH (c)<-[:MENTIONS]-(:RecallMStatement)<-[:HAS]-(u:RecallMUpdate)
    WHERE u.t <= c.summary_t
        AND ($dated AND coalesce(u.said > $said, true) OR coalesce(u.expires <= $now, false))
}) THEN [c.name, c.summary_t, c.summary, c.summary_terms, c.summary_traits] END AS summary
WITH c, summary, size(COLLECT {
    WITH summary WHERE summary IS NOT NULL
    MATCH (c)<-[:MENTIONS]-(s:RecallMStatement)
    WHERE s.key >= (summary[1] + 1) * 1048576 AND s.key < $before
    RETURN s.key / 1048576 AS t
    UNION
    WITH summary WHERE summary IS NOT NULL
    MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate)
    WHERE u.t > summary[1] AND u.t <= $t
    RETURN u.t AS t
}) AS later
RETURN [c.name, c.label, c.kind, c.t_index, c.updates, c.statements, later, [summary]] AS row
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
    MATCH (a)-[r:RELATED]-(b:RecallMConcept) WHERE {{RELATION_SEEN}}
    WITH a, b, r, [t IN r.ts WHERE t <= $t] AS ts WHERE ts <> []
    WITH b, startNode(r) = a AS out, size(ts) AS strength, ts[-1] AS t_index
    RETURN b, out, strength, t_index
    ORDER BY t_index DESC, strength DESC, b.name LIMIT $limit
}
RETURN DISTINCT [
    CASE WHEN out THEN a.name ELSE b.name END, CASE WHEN out THEN b.name ELSE a.name END,
    strength, t_index, []
] AS row
""")

RELATIONS_AMONG: Final[LiteralString] = spelled("""
MATCH (a:RecallMConcept)
WHERE a.namespace = $namespace AND a.key IN $names
MATCH (a)-[r:RELATED]->(b:RecallMConcept)
WHERE b.key IN $names AND {{RELATION_SEEN}}
WITH a, b, [t IN r.ts WHERE t <= $t] AS ts WHERE ts <> []
RETURN [a.name, b.name, size(ts), ts[-1], []] AS row
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
RETURN [e.id, e.type, e.label, e.concept, e.properties, t_index, updates, [source]] AS row
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
RETURN [e.id, v.blob] AS row
""")


def _by_index(by_subjects: bool, by_predicates: bool, by_objects: bool) -> LiteralString:
    """The clauses that find triplets ``x`` by the conditions that are given."""
    index: LiteralString = "predicate"
    if by_subjects:
        index = "subject, object" if by_objects else "subject, predicate"
    elif by_objects:
        index = "object, predicate"
    subject: LiteralString = "IN $subjects" if by_subjects else "IS NOT NULL"
    predicate: LiteralString = "IN $predicates" if by_predicates else "IS NOT NULL"
    object: LiteralString = "IN $objects" if by_objects else "IS NOT NULL"
    return f"""
MATCH (x:RecallMTriplet)
USING INDEX SEEK x:RecallMTriplet(namespace, {index})
WHERE x.namespace = $namespace AND x.subject {subject} AND x.predicate {predicate}
    AND x.object {object}
"""


_BOTH = (False, True)
_FOUND: Final[dict[tuple[bool, bool, bool], LiteralString]] = {
    given: _by_index(*given) for given in product(_BOTH, _BOTH, _BOTH)
}

_SHOWN: Final[LiteralString] = """
CALL (x) { MATCH (x)-[:SUBJECT]->(subject) RETURN subject }
CALL (x) { MATCH (x)-[:OBJECT]->(object) RETURN object }
WITH x, subject, object
WHERE EXISTS { MATCH (subject)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
    AND EXISTS { MATCH (object)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
MATCH (x)-[shown:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}}
"""
"""The visible evidence of the triplets ``x`` whose ends are visible."""


def _triplets(found: LiteralString) -> LiteralString:
    return spelled(
        found
        + """WITH DISTINCT x
WHERE (NOT $by_subjects OR x.subject IN $subjects)
    AND (NOT $by_predicates OR x.predicate IN $predicates)
    AND (NOT $by_objects OR x.object IN $objects)
    AND (NOT $by_ends OR x.subject IN $ends OR x.object IN $ends)"""
        + _SHOWN
        + """WITH x, subject, object, count(DISTINCT u.t) AS strength, max(u.t) AS t_index,
    max(CASE WHEN u.id IS NOT NULL THEN [u.t, u.id] END)[1] AS source
RETURN [subject.id, x.name, object.id, x.properties, strength, t_index, [source]] AS row
"""
    )


TRIPLETS: Final[dict[tuple[bool, bool, bool], LiteralString]] = {
    given: _triplets(found) for given, found in _FOUND.items()
}
"""By whether the subjects, the predicates and the objects are given."""

TRIPLETS_AT: Final[LiteralString] = _triplets("""
UNWIND $ends AS id
MATCH (:RecallMEntity {namespace: $namespace, key: id})<-[:SUBJECT|OBJECT]-(x:RecallMTriplet)
""")

TRIPLETS_OF_PASSAGES: Final[LiteralString] = _triplets("""
UNWIND $passages AS id
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: id}) WHERE {{UPDATE_SEEN}}
MATCH (u)<-[:SHOWN]-(x:RecallMTriplet)
""")

TRIPLET_EVIDENCE: Final[dict[tuple[bool, bool, bool], LiteralString]] = {
    given: spelled(
        found
        + _SHOWN
        + """WITH x, subject, object, shown, u
ORDER BY shown.key DESC, subject.id, x.name, object.id LIMIT $limit
RETURN [
    subject.id, subject.label, subject.concept, x.name, object.id, object.label, object.concept,
    object.type, coalesce(shown.properties, ''), CASE WHEN u.namespace IS NOT NULL THEN u.t END,
    shown.key % 1048576, [u.id, u.timestamp, u.source]
] AS row
"""
    )
    for given, found in _FOUND.items()
}
"""By whether the subjects, the predicates and the objects are given. Where an update is deleted in
the middle, its namespace is null, and by its t the row is known to be incomplete."""

PREDICATES: Final[LiteralString] = """
MATCH (p:RecallMPredicate)
WHERE p.namespace = $namespace AND p.key IS NOT NULL AND p.name IS NOT NULL AND p.triplets > 0
RETURN [p.name, p.triplets] AS row
"""

ENTITIES_BY_WORDS: Final[LiteralString] = spelled("""
UNWIND $words AS word
CALL (word) {
    MATCH (e:RecallMEntity)-[bears:BEARS]->(:RecallMEntity)
    USING INDEX SEEK bears:BEARS(namespace, word)
    WHERE bears.namespace = $namespace AND bears.word = word
        AND EXISTS { MATCH (e)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
    RETURN DISTINCT e LIMIT $limit
}
RETURN [word, e.id] AS row
""")
