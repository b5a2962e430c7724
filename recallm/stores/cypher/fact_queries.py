"""Queries of readers about what facts are read from: evidence of triplets, predicates, words of
entities; parameters as in ``recallm.stores.cypher.reader_queries``."""

from __future__ import annotations

from itertools import product
from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled


def _triplet_evidence(by_subjects: bool, by_predicates: bool, by_objects: bool) -> LiteralString:
    """The query for the conditions that are given. Where an update is deleted in the middle, its
    namespace is null, and by ``t_index`` the row is known to be incomplete."""
    index: LiteralString = "predicate"
    if by_subjects:
        index = "subject, object" if by_objects else "subject, predicate"
    elif by_objects:
        index = "object, predicate"
    subject: LiteralString = "IN $subjects" if by_subjects else "IS NOT NULL"
    predicate: LiteralString = "IN $predicates" if by_predicates else "IS NOT NULL"
    object: LiteralString = "IN $objects" if by_objects else "IS NOT NULL"
    return spelled(
        f"""
MATCH (x:RecallMTriplet)
USING INDEX SEEK x:RecallMTriplet(namespace, {index})
WHERE x.namespace = $namespace AND x.subject {subject} AND x.predicate {predicate}
    AND x.object {object}
"""
        """
CALL (x) { MATCH (x)-[:SUBJECT]->(subject) RETURN subject }
CALL (x) { MATCH (x)-[:OBJECT]->(object) RETURN object }
WITH x, subject, object
WHERE EXISTS { MATCH (subject)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
    AND EXISTS { MATCH (object)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
MATCH (x)-[shown:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}}
WITH x, subject, object, shown, u
ORDER BY shown.key DESC, subject.id, x.name, object.id LIMIT $limit
RETURN subject.id AS subject, subject.label AS subject_label, subject.concept AS subject_concept,
    x.name AS predicate, object.id AS object, object.label AS object_label,
    object.concept AS object_concept, object.type AS object_type, shown.properties AS properties,
    shown.key % 1048576 AS position, u.id AS passage, u.timestamp AS timestamp, u.source AS source,
    CASE WHEN u.namespace IS NOT NULL THEN u.t END AS t_index
"""
    )


_BOTH = (False, True)

TRIPLET_EVIDENCE: Final[dict[tuple[bool, bool, bool], LiteralString]] = {
    given: _triplet_evidence(*given) for given in product(_BOTH, _BOTH, _BOTH)
}
"""By whether the subjects, the predicates and the objects are given."""

PREDICATES: Final[LiteralString] = """
MATCH (p:RecallMPredicate)
WHERE p.namespace = $namespace AND p.key IS NOT NULL
CALL (p) {
    WITH p WHERE p.t_index <= $t
    RETURN p.triplets AS triplets
    UNION ALL
    UNWIND CASE WHEN p.t_index > $t THEN [p.key] ELSE [] END AS key
    MATCH (x:RecallMTriplet)
    USING INDEX SEEK x:RecallMTriplet(namespace, predicate)
    WHERE x.namespace = $namespace AND x.predicate = key
        AND EXISTS { MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t }
    RETURN count(x) AS triplets
}
WITH p, triplets WHERE triplets > 0
RETURN p.name AS predicate, triplets
"""
"""``$t`` is the counter: no horizon hides a predicate. After a WHERE in place of the CASE, the
planner would read the triplets of all predicates first."""

ENTITIES_BY_WORDS: Final[LiteralString] = spelled("""
UNWIND $words AS word
CALL (word) {
    MATCH (e:RecallMEntity)-[bears:BEARS]->(:RecallMEntity)
    USING INDEX SEEK bears:BEARS(namespace, word)
    WHERE bears.namespace = $namespace AND bears.word = word
        AND EXISTS { MATCH (e)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }
    RETURN DISTINCT e LIMIT $limit
}
RETURN word, e.id AS id
""")
