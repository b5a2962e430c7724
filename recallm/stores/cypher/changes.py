"""Writes of the shared write semantics (``recallm.stores.semantics.rows.Changes``): final values of
rows, and rows to delete. They run after ``LOCK``, but for ``GUARDED``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, LiteralString

from recallm.stores.cypher.postings import DELETE_POSTINGS, postings_added
from recallm.stores.cypher.reader_queries import STATS

DELETE_TOTALS: Final[LiteralString] = """
CALL () {
    UNWIND $concepts AS key
    MATCH (c:RecallMConcept {namespace: $namespace, key: key})
    DETACH DELETE c
}
CALL () {
    UNWIND $stems AS key
    MATCH (w:RecallMStem {namespace: $namespace, key: key})
    DETACH DELETE w
}
CALL () {
    UNWIND $sessions AS key
    MATCH (x:RecallMSession {namespace: $namespace, key: key})
    DETACH DELETE x
}
CALL () {
    UNWIND $predicates AS key
    MATCH (p:RecallMPredicate {namespace: $namespace, key: key})
    DELETE p
}
"""
"""Totals that became 0."""


def _properties(
    names: Iterable[LiteralString], columns: LiteralString, row: LiteralString
) -> LiteralString:
    """The entries of a map of properties, each from a row of its column."""
    return ", ".join([name + ": " + columns + "." + name + "[" + row + "]" for name in names])


UPDATE_COLUMNS: Final = (
    "t", "id", "id_key", "text", "source", "source_key", "session", "session_key", "lane",
    "speaker", "speaker_concept", "timestamp", "said", "metadata", "metadata_entries", "path",
    "key", "item_key", "paths", "expires_at", "expires", "withdrawn",
    "neighbours",
)  # fmt: skip
"""Properties of updates."""

STATEMENT_COLUMNS: Final = (
    "key", "text", "own_text", "start", "end", "content", "length", "traits", "model", "blob",
)  # fmt: skip
"""Properties of statements that they do not share with their updates."""

SHARED_COLUMNS: Final = (
    "lane", "session_key", "paths", "speaker", "metadata_entries", "item_key", "said", "expires",
    "withdrawn",
)  # fmt: skip
"""Properties that statements repeat from their updates."""

_SESSIONS: Final[LiteralString] = """
UNWIND range(0, size($sessions.key) - 1) AS i
MERGE (x:RecallMSession {namespace: $namespace, key: $sessions.key[i]})
ON CREATE SET x.name = $sessions.name[i], x.number = $sessions.number[i]
SET x.statements = $sessions.statements[i], x.terms = $sessions.terms[i], x.t_index = $t
WITH x, i ORDER BY i
RETURN [0] + collect(x.number) AS numbers
"""

_CONCEPTS: Final[LiteralString] = (
    """
UNWIND range(0, size($concepts.key) - 1) AS i
MERGE (x:RecallMConcept {namespace: $namespace, key: $concepts.key[i]})
ON CREATE SET x.name = coalesce($concepts.name[i], x.key)
SET x.label = $concepts.label[i], x.kind = $concepts.kind[i], x.t_index = $concepts.t_index[i],
    x.updates = $concepts.updates[i], x.statements = $concepts.statements[i]
"""
    + postings_added("$concepts", "'c'", "null")
    + """
WITH x, i ORDER BY i
RETURN collect(x) AS concepts
"""
)

_STEMS: Final[LiteralString] = """
UNWIND range(0, size($stems.key) - 1) AS i
MERGE (x:RecallMStem {namespace: $namespace, key: $stems.key[i]})
ON CREATE SET x.name = coalesce($stems.name[i], x.key)
SET x.documents = $stems.documents[i], x.t_index = $t
""" + postings_added("$stems", "'s'", "coalesce($stems.counts[i], [place IN $stems.places[i] | 1])")

_PREDICATES: Final[LiteralString] = """
UNWIND range(0, size($predicates.key) - 1) AS i
MERGE (x:RecallMPredicate {namespace: $namespace, key: $predicates.key[i]})
ON CREATE SET x.name = $predicates.name[i], x.triplets = 0
WITH x, i WHERE x.triplets <> $predicates.triplets[i]
SET x.triplets = $predicates.triplets[i]
"""

_NAMESPACE: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n += $totals
"""

_UPDATES: Final[LiteralString] = (
    """
UNWIND range(0, size($updates.t) - 1) AS i
CREATE (u:RecallMUpdate {namespace: $namespace, """
    + _properties(UPDATE_COLUMNS, "$updates", "i")
    + """})
FOREACH (path IN coalesce($updates.paths[i], []) |
    CREATE (u)-[:UNDER {namespace: $namespace, path: path, t: $updates.t[i]}]->(u)
)
WITH u, i ORDER BY i
RETURN collect(u) AS updates
"""
)

_STATEMENTS: Final[LiteralString] = (
    """
UNWIND range(0, size($statements.key) - 1) AS i
WITH concepts, i, $statements.update[i] AS of, updates[$statements.update[i]] AS u
CREATE (u)-[:HAS]->(s:RecallMStatement {namespace: $namespace, """
    + _properties(STATEMENT_COLUMNS, "$statements", "i")
    + ", "
    + _properties(SHARED_COLUMNS, "$updates", "of")
    + """})
WITH concepts, s, i
UNWIND $statements.concepts[i] AS place
WITH s, concepts[place] AS c
CREATE (s)-[:MENTIONS]->(c)
"""
)

_RELATIONS: Final[LiteralString] = """
UNWIND range(0, size($relations.a) - 1) AS i
WITH i, concepts[$relations.a[i]] AS a, concepts[$relations.b[i]] AS b
MERGE (a)-[r:RELATED]->(b)
SET r.strength = $relations.strength[i], r.t_index = $relations.t_index[i],
    r.ts = coalesce(r.ts, []) + $relations.ts[i]
"""

_REFERENCES: Final[LiteralString] = """
UNWIND $references AS row
MATCH (s:RecallMStatement {namespace: $namespace, key: row[0]})
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: row[1]})
CREATE (s)-[:REFERS_TO]->(u)
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

_VECTORS: Final[LiteralString] = """
UNWIND $vectors AS row
MATCH (s:RecallMStatement {namespace: $namespace, key: row.key})
SET s.model = row.model, s.blob = row.blob
"""
"""Of statements that are stored already."""

CUT_PASSAGES: Final[LiteralString] = """
UNWIND $passages AS row
MATCH (u:RecallMUpdate {namespace: $namespace, t: row.t})
SET u.text = row.text, u.neighbours = row.neighbours, u.cuts = coalesce(u.cuts, 0) + 1,
    u.metadata = row.metadata, u.metadata_entries = row.metadata_entries
WITH row, u
FOREACH (said IN COLLECT { MATCH (u)-[:HAS]->(s:RecallMStatement) RETURN s } |
    SET said.metadata_entries = row.metadata_entries
)
WITH row
CALL (row) {
    UNWIND row.statements AS said
    MATCH (s:RecallMStatement {namespace: $namespace, key: said.key})
    SET s += said.properties
    WITH s, said WHERE said.concepts IS NOT NULL
    FOREACH (gone IN COLLECT {
        MATCH (s)-[gone:MENTIONS]->(c) WHERE NOT c.key IN said.concepts RETURN gone
        UNION ALL
        MATCH (s)-[gone:REFERS_TO]->(u) WHERE NOT u.id_key IN said.references RETURN gone
    } | DELETE gone)
}
"""
"""``cuts`` changes with any part of the passage, so that a dump notices it. Of a statement that
loses mentions, ``concepts`` and ``references`` are left."""

DELETE_STATEMENTS: Final[LiteralString] = (
    DELETE_POSTINGS
    + """
UNWIND $keys AS key
MATCH (s:RecallMStatement {namespace: $namespace, key: key})
DETACH DELETE s
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

_ELEMENTS: Final[LiteralString] = (
    """
UNWIND $elements AS row
MERGE (x:RecallMElement {namespace: $namespace, key: row.key})
SET x += row.properties
FOREACH (element IN CASE WHEN row.subject IS NULL THEN [x] ELSE [] END | SET element:RecallMEntity)
FOREACH (element IN CASE WHEN row.subject IS NULL THEN [] ELSE [x] END | SET element:RecallMTriplet)
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
SET shown.properties = place[1], shown.description = place[2]
"""
)

_ENTITY_VECTORS: Final[LiteralString] = (
    """
UNWIND $entity_vectors AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row.entity})
MERGE (v:RecallMEntityVector {
    namespace: $namespace, model_key: row.model_key, entity: row.entity
})
SET v.model = row.model, v.blob = row.blob
MERGE (x)-[:EMBEDDED]->(v)
WITH x, row"""
    + _SET_WORDS
)

ADD: Final[LiteralString] = (
    "\nCALL () {"
    + _SESSIONS
    + "}\nCALL (numbers) {"
    + _CONCEPTS
    + "}\nCALL (numbers) {"
    + _STEMS
    + "}\nCALL () {"
    + _PREDICATES
    + "}\nCALL () {"
    + _NAMESPACE
    + "}\nCALL () {"
    + _UPDATES
    + "}\nCALL (concepts, updates) {"
    + _STATEMENTS
    + "}\nCALL (concepts) {"
    + _RELATIONS
    + "}\nCALL () {"
    + _REFERENCES
    + "}\nCALL () {"
    + _VECTORS
    + "}\nCALL () {"
    + _ELEMENTS
    + "}\nCALL () {"
    + _ENTITY_VECTORS
    + "}\n"
)
"""New updates, and totals and elements, new or changed. ``$t`` is the counter. A stem or a
session has no t of its own: at an earlier t it is counted.

Most parameters are maps of columns, which are much shorter than lists of maps; a column of nulls
alone is left out. A ``name`` is null where it is the key, and ``counts`` of a stem where all are 1.
What a row refers to is given by its place in another parameter: ``update`` and ``concepts`` of a
statement, the ends of a relation, the ``places`` in ``$statements`` of the postings of a stem or a
concept, the ``session`` of a statement, which counts from 1 (0: none)."""

GUARDED: Final[LiteralString] = (
    """
MATCH (n:RecallMNamespace {key: $key})
SET n.locked = true
WITH n, coalesce(n.writes, []) AS writes
WHERE last(writes) = $latest
SET n.writes = [
    earlier IN writes WHERE NOT earlier STARTS WITH $writer
        AND toInteger(split(earlier, ' ')[1]) > timestamp() - $remembered
] + [$writer + ' ' + timestamp() + ' ' + $write]
WITH n"""
    + ADD
    + "RETURN true AS written"
)
"""``ADD`` without ``LOCK`` before: it does nothing, and has no row, if the latest of the ``writes``
is not ``$latest`` any more. Every write becomes the latest."""

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
SET c += row.properties
"""

DELETE_SUMMARIES: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (c:RecallMConcept {namespace: $namespace, key: row.concept})
WHERE c.summary_t >= row.t
SET c += {summary: null, summary_t: null, summary_terms: null, summary_traits: null}
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

WITHDRAW: Final[LiteralString] = """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
SET u.withdrawn = $withdrawn
WITH u
MATCH (u)-[:HAS]->(s:RecallMStatement)
SET s.withdrawn = $withdrawn
"""

FORGET_EVERYTHING: Final[LiteralString] = (
    """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.rows = $fresh
CREATE (:RecallMNamespace {key: $garbage, rows: $namespace, purge_after: timestamp()})
WITH n"""
    + STATS
)
"""The namespace stands on fresh rows; those that it had are garbage (``generations``)."""
