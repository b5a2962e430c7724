"""The graph on the Neo4j server: nodes, relationships, constraints, indexes, schema version.

Every key begins with the namespace:

* ``(:RecallMNamespace)``: the counter t, totals, the ``VectorState`` of its statements (``model``,
  ``origin``, ``revision``), ``vector_bytes`` (JSON: the size of a vector under each model),
  ``vocabulary`` (that of ``NamespaceState``), ``open_t`` (the t of the update whose session the
  next one may continue), and the lock that a writer takes first. All other nodes of the namespace
  have its ``rows``, a number, as their ``namespace`` (``recallm.stores.neo4j.generations``).
* ``(:RecallMUpdate)-[:HAS]->(:RecallMStatement)``: a knowledge update, a passage where it has an
  ``id``, and its statements, of which propositions have an ``own_text``. ``content`` of a
  statement is JSON: its terms, and its concepts.
  ``said`` and ``expires`` are microseconds since 1970, ``withdrawn`` is a t. ``lane`` is the
  resolved session, or a value of the update's own where it has none.
* ``(item)-[:UNDER]->(item)``, a loop for each path that an item is at or below, with its t,
  indexed, so that the newest come first; ``paths`` of the item and of its statements lists them.
  A statement repeats what filters ask of its update: ``speaker``, ``metadata_entries`` and
  ``item_key``, which is made of the item's path and key.
* ``(statement)-[:MENTIONS]->(:RecallMConcept)``. Which statements mention a concept, or hold a
  stem, newest first, says a posting list (``recallm.stores.cypher.postings``) at the concept or at
  the ``(:RecallMStem)``; its earlier parts are ``(:RecallMPostings)``.
* ``(statement)-[:REFERS_TO]->(update)``: to each other passage that its pronouns refer to.
* ``(a)-[:RELATED]->(b)`` between concepts (a < b), with the t of each update that shows the
  relation in ``ts``, ascending. ``neighbours`` of an update are numbers: the relations that the
  update shows, with the positions of the statements that do.
* ``(:RecallMElement:RecallMEntity)-[:STANDS_ON]->(concept)`` is an entity,
  ``(:RecallMElement:RecallMTriplet)-[:SUBJECT|OBJECT]->(entity)`` a triplet;
  ``(element)-[:SHOWN]->(update)`` is their evidence, with a statement's key and its properties;
  ``latest`` of an element is the greatest of these keys. ``subject``, ``predicate`` and ``object``
  of a triplet are keys; each two of them have an index.
* ``(entity)-[:BEARS]->(entity)``, a loop for each word that the entity bears
  (``recallm.entity_words``), indexed: by its vector under a ``model``, or by its concept.
* ``Concept``, ``Update``, ``Statement``, ``Entity`` and ``Triplet`` are the same nodes under the
  names of the paper and of the glossary, for a user's own queries; the indexes on them serve no
  query of ours. A concept has the name of its namespace in ``namespace_name``.
* ``(:RecallMPredicate)``: how many triplets have a predicate.
* ``(:RecallMSummary)-[:SUMMARISES]->(concept)``, ``(statement)-[:EMBEDDED]->(:RecallMVector)``,
  ``(:RecallMSession)``: the size of a session, and its ``number``, the t of an update that was
  written with it first.
* In a namespace that is ``indexed``, the nodes of vectors have floats beside their ``blob``
  (``recallm.stores.neo4j.vector_index``).

**Isolation.** Neo4j reads what is committed at the moment of reading. So that a reader keeps one
state, every row carries its t and every total the t of its last change: a reader at t leaves out
later rows, and counts the rows beneath a total that was changed after t. Deleted rows disappear for
an open reader at once, also in the middle of a read: ``recallm.stores.neo4j.torn_reads``.
"""

from __future__ import annotations

from typing import Final, LiteralString

VERSION: Final = 8
"""The version of this graph; SQLite's tables have their own."""

READ_VERSION: Final[LiteralString] = """
OPTIONAL MATCH (schema:RecallMSchema {key: 'schema'})
RETURN schema.version AS version, EXISTS {
    MATCH (n:RecallMNamespace) WHERE n.purge_after <= timestamp()
} AS garbage
"""
"""``garbage``: whether rows that no namespace points at are to be deleted (``generations``)."""

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
    """CREATE CONSTRAINT recallm_postings IF NOT EXISTS
    FOR (n:RecallMPostings) REQUIRE (n.namespace, n.list, n.last) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_session IF NOT EXISTS
    FOR (n:RecallMSession) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_session_number IF NOT EXISTS
    FOR (n:RecallMSession) REQUIRE (n.namespace, n.number) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_entity IF NOT EXISTS
    FOR (n:RecallMEntity) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_element IF NOT EXISTS
    FOR (n:RecallMElement) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_predicate IF NOT EXISTS
    FOR (n:RecallMPredicate) REQUIRE (n.namespace, n.key) IS UNIQUE""",
    """CREATE CONSTRAINT recallm_summary IF NOT EXISTS
    FOR (n:RecallMSummary) REQUIRE (n.namespace, n.concept) IS UNIQUE""",
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
    FOR (n:RecallMUpdate) ON (n.namespace, n.said, n.t)""",
    """CREATE INDEX recallm_update_expires IF NOT EXISTS
    FOR (n:RecallMUpdate) ON (n.namespace, n.expires)""",
    """CREATE INDEX recallm_update_withdrawn IF NOT EXISTS
    FOR (n:RecallMUpdate) ON (n.namespace, n.withdrawn)""",
    """CREATE INDEX recallm_update_item IF NOT EXISTS
    FOR (n:RecallMUpdate) ON (n.namespace, n.item_key)""",
    """CREATE INDEX recallm_statement_lane IF NOT EXISTS
    FOR (n:RecallMStatement) ON (n.namespace, n.lane, n.key)""",
    """CREATE INDEX recallm_concept_t_index IF NOT EXISTS
    FOR (n:RecallMConcept) ON (n.namespace, n.t_index)""",
    """CREATE INDEX recallm_triplet_subject IF NOT EXISTS
    FOR (n:RecallMTriplet) ON (n.namespace, n.subject, n.predicate)""",
    """CREATE INDEX recallm_triplet_ends IF NOT EXISTS
    FOR (n:RecallMTriplet) ON (n.namespace, n.subject, n.object)""",
    """CREATE INDEX recallm_triplet_object IF NOT EXISTS
    FOR (n:RecallMTriplet) ON (n.namespace, n.object, n.predicate)""",
    """CREATE INDEX recallm_triplet_predicate IF NOT EXISTS
    FOR (n:RecallMTriplet) ON (n.namespace, n.predicate)""",
    """CREATE INDEX recallm_own_concept_name IF NOT EXISTS
    FOR (n:Concept) ON (n.name)""",
    """CREATE INDEX recallm_own_concept IF NOT EXISTS
    FOR (n:Concept) ON (n.namespace)""",
    """CREATE INDEX recallm_own_concept_named IF NOT EXISTS
    FOR (n:Concept) ON (n.namespace, n.name)""",
    """CREATE INDEX recallm_own_update IF NOT EXISTS
    FOR (n:Update) ON (n.namespace)""",
    """CREATE INDEX recallm_own_statement IF NOT EXISTS
    FOR (n:Statement) ON (n.namespace)""",
    """CREATE INDEX recallm_own_entity IF NOT EXISTS
    FOR (n:Entity) ON (n.namespace)""",
    """CREATE INDEX recallm_own_triplet IF NOT EXISTS
    FOR (n:Triplet) ON (n.namespace)""",
    """CREATE INDEX recallm_under IF NOT EXISTS
    FOR ()-[n:UNDER]-() ON (n.namespace, n.path, n.t)""",
    """CREATE INDEX recallm_bears IF NOT EXISTS
    FOR ()-[n:BEARS]-() ON (n.namespace, n.word)""",
)
