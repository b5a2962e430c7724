"""Constraints, indexes, schema version."""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = [
    "ALL_ROWS",
    "AWAIT_INDEXES",
    "CREATE",
    "DROP_OTHERS",
    "FIRST_VECTOR",
    "FIRST_VECTORS",
    "LOCK_ROWS",
    "MARK_ITEMS",
    "NAME_CONCEPTS",
    "READ_VERSION",
    "TELL_ENTITIES",
    "TELL_TRIPLETS",
    "UNMARKED_ITEMS",
    "WRITE_VERSION",
]

READ_VERSION: Final[LiteralString] = """
OPTIONAL MATCH (schema:RecallMSchema {key: 'schema'})
RETURN schema.version AS version
"""

WRITE_VERSION: Final[LiteralString] = """
MERGE (schema:RecallMSchema {key: 'schema'})
ON CREATE SET schema.version = $version
ON MATCH SET schema.version =
    CASE WHEN schema.version < $version THEN $version ELSE schema.version END
RETURN schema.version AS version
"""

UNMARKED_ITEMS: Final[LiteralString] = """
MATCH (u:RecallMUpdate)
WHERE u.key IS NOT NULL AND u.item_key IS NULL
RETURN u.namespace AS namespace, u.t AS t, u.path AS path, u.key AS key
"""
"""Items that version 1 wrote; the one query that reads the rows of all namespaces."""

MARK_ITEMS: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (u:RecallMUpdate {namespace: row.namespace, t: row.t})
SET u.item_key = row.item_key, u.paths = row.paths
WITH u, row
CALL (u, row) {
    MATCH (u)-[:HAS]->(s:RecallMStatement)
    SET s.paths = row.paths
}
WITH u, row
UNWIND row.paths AS path
MERGE (u)-[:UNDER {namespace: row.namespace, path: path, t: row.t}]->(u)
"""
"""Setting a property locks the node first: stores that do this at once make each loop once."""

ALL_ROWS: Final[LiteralString] = "MATCH (n:RecallMNamespace) RETURN n.rows AS namespace"

LOCK_ROWS: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
SET n.locked = true
RETURN n.rows AS namespace
"""

FIRST_VECTORS: Final[LiteralString] = """
MATCH (v:RecallMVector)
WHERE v.namespace = $namespace AND v.key IS NOT NULL AND v.model IS NOT NULL
WITH v.model AS model, min(v.key) AS key
MATCH (v:RecallMVector {namespace: $namespace, key: key, model: model})
RETURN model, v.blob AS blob
"""

FIRST_VECTOR: Final[LiteralString] = """
MATCH (v:RecallMVector)
WHERE v.namespace = $namespace AND v.key >= 0 AND v.model IS NOT NULL
RETURN v.model AS model, v.blob AS blob ORDER BY v.namespace, v.key, v.model LIMIT 1
"""

DROP_OTHERS: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace}) WHERE n.model IS NOT NULL
MATCH (v:RecallMVector)
WHERE v.namespace = $namespace AND v.key >= $after
    AND (v.model <> n.model OR size(v.blob) <> n.vector_size)
WITH v, v.key AS key ORDER BY v.namespace, v.key LIMIT $limit
DETACH DELETE v
RETURN max(key) AS last
"""

NAME_CONCEPTS: Final[LiteralString] = """
MATCH (e:RecallMEntity)
WHERE e.namespace = $namespace AND e.key >= $after AND e.concept IS NULL
WITH e ORDER BY e.namespace, e.key LIMIT $limit
OPTIONAL MATCH (e)-[:STANDS_ON]->(c)
SET e.concept = coalesce(c.name, '')
RETURN max(e.key) AS last
"""
"""Entities of version 2 do not say themselves on which concept they stand."""

TELL_ENTITIES: Final[LiteralString] = """
MATCH (e:RecallMEntity)
WHERE e.namespace = $namespace AND e.key >= $after
    AND e.told_at IS NULL AND e.properties <> '{}'
WITH e ORDER BY e.namespace, e.key LIMIT $limit
CALL (e) {
    MATCH (e)-[shown:SHOWN]->(:RecallMUpdate)
    RETURN shown ORDER BY shown.key DESC LIMIT 1
}
SET shown.properties = e.properties, e.told_at = shown.key
RETURN max(e.key) AS last
"""
"""The evidence of version 2 does not say what it was told with: the latest takes all of it."""

TELL_TRIPLETS: Final[LiteralString] = """
MATCH (x:RecallMTriplet)
USING INDEX SEEK x:RecallMTriplet(namespace, subject, predicate, object)
WHERE x.namespace = $namespace AND x.subject >= $after
    AND x.predicate IS NOT NULL AND x.object IS NOT NULL
    AND x.told_at IS NULL AND x.properties <> '{}'
WITH x ORDER BY x.namespace, x.subject LIMIT $limit
CALL (x) {
    MATCH (x)-[shown:SHOWN]->(:RecallMUpdate)
    RETURN shown ORDER BY shown.key DESC LIMIT 1
}
SET shown.properties = x.properties, x.told_at = shown.key
RETURN max(x.subject) AS last
"""

AWAIT_INDEXES: Final[LiteralString] = "CALL db.awaitIndexes(300)"

CREATE: Final[tuple[LiteralString, ...]] = (
    """CREATE CONSTRAINT recallm_schema IF NOT EXISTS
    FOR (n:RecallMSchema) REQUIRE n.key IS UNIQUE""",
    """CREATE CONSTRAINT recallm_namespace IF NOT EXISTS
    FOR (n:RecallMNamespace) REQUIRE n.key IS UNIQUE""",
    """CREATE CONSTRAINT recallm_rows IF NOT EXISTS
    FOR (n:RecallMNamespace) REQUIRE n.rows IS UNIQUE""",
    """CREATE CONSTRAINT recallm_update IF NOT EXISTS
    FOR (n:RecallMUpdate) REQUIRE (n.namespace, n.t) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_passage IF NOT EXISTS
    FOR (n:RecallMUpdate) REQUIRE (n.namespace, n.id_key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_statement IF NOT EXISTS
    FOR (n:RecallMStatement) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_concept IF NOT EXISTS
    FOR (n:RecallMConcept) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_stem IF NOT EXISTS
    FOR (n:RecallMStem) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_session IF NOT EXISTS
    FOR (n:RecallMSession) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_entity IF NOT EXISTS
    FOR (n:RecallMEntity) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_triplet IF NOT EXISTS
    FOR (n:RecallMTriplet) REQUIRE (n.namespace, n.subject, n.predicate, n.object) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_summary IF NOT EXISTS
    FOR (n:RecallMSummary) REQUIRE (n.namespace, n.concept, n.t_index) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_vector IF NOT EXISTS
    FOR (n:RecallMVector) REQUIRE (n.namespace, n.key, n.model) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_entity_vector IF NOT EXISTS
    FOR (n:RecallMEntityVector) REQUIRE (n.namespace, n.model_key, n.entity) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_vector_size IF NOT EXISTS
    FOR (n:RecallMVectorSize) REQUIRE (n.namespace, n.model_key) IS UNIQUE""",
    """CREATE INDEX recallm_purge_after IF NOT EXISTS
    FOR (n:RecallMNamespace) ON (n.purge_after)""",
    """CREATE INDEX recallm_update_source IF NOT EXISTS
    FOR (n:RecallMUpdate) ON (n.namespace, n.source_key)""",
    """CREATE INDEX recallm_update_lane IF NOT EXISTS
    FOR (n:RecallMUpdate) ON (n.namespace, n.lane)""",
    """CREATE INDEX recallm_update_said IF NOT EXISTS
    FOR (n:RecallMUpdate) ON (n.namespace, n.said)""",
    """CREATE INDEX recallm_update_expires IF NOT EXISTS
    FOR (n:RecallMUpdate) ON (n.namespace, n.expires)""",
    """CREATE INDEX recallm_update_item IF NOT EXISTS
    FOR (n:RecallMUpdate) ON (n.namespace, n.item_key)""",
    """CREATE INDEX recallm_statement_lane IF NOT EXISTS
    FOR (n:RecallMStatement) ON (n.namespace, n.lane, n.key)""",
    """CREATE INDEX recallm_concept_t_index IF NOT EXISTS
    FOR (n:RecallMConcept) ON (n.namespace, n.t_index)""",
    """CREATE INDEX recallm_triplet_predicate IF NOT EXISTS
    FOR (n:RecallMTriplet) ON (n.namespace, n.predicate)""",
    """CREATE INDEX recallm_mentions IF NOT EXISTS
    FOR ()-[n:MENTIONS]-() ON (n.namespace, n.concept, n.key)""",
    """CREATE INDEX recallm_holds IF NOT EXISTS
    FOR ()-[n:HOLDS]-() ON (n.namespace, n.stem, n.key)""",
    """CREATE INDEX recallm_evidence IF NOT EXISTS
    FOR ()-[n:EVIDENCE]-() ON (n.namespace, n.t)""",
    """CREATE INDEX recallm_under IF NOT EXISTS
    FOR ()-[n:UNDER]-() ON (n.namespace, n.path, n.t)""",
)
"""Schema version 4. Version 3 had no ``model`` of a namespace. Version 2 had no
``recallm_entity_vector`` and ``recallm_vector_size``, its
entities had no ``concept``, and neither they nor its triplets a ``told_at``, nor ``SHOWN``
``properties``. Version 1 had no ``recallm_update_item`` and ``recallm_under`` either,
and its items had no ``item_key``, ``paths`` and ``UNDER``."""
