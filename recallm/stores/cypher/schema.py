"""Constraints, indexes, schema version."""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = [
    "AWAIT_INDEXES",
    "CREATE",
    "READ_VERSION",
    "WRITE_VERSION",
]

READ_VERSION: Final[LiteralString] = """
OPTIONAL MATCH (schema:RecallMSchema {key: 'schema'})
RETURN schema.version AS version
"""

WRITE_VERSION: Final[LiteralString] = """
MERGE (schema:RecallMSchema {key: 'schema'})
ON CREATE SET schema.version = $version
RETURN schema.version AS version
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
