"""The graph on the Neo4j server: nodes, relationships, constraints, indexes, schema version.

Every key begins with the namespace:

* ``(:RecallMNamespace)``: the counter t, totals, the ``VectorState`` of its statements (``model``,
  ``origin``, ``revision``), ``vector_bytes`` (JSON: the size of a vector under each model),
  ``vocabulary`` (that of ``NamespaceState``), ``open_t`` (the t of the update whose session the
  next one may continue), and the lock that a writer takes first. All other nodes of the namespace
  have its ``rows``, a number, as their ``namespace``.
* ``(:RecallMUpdate)-[:HAS]->(:RecallMStatement)``: a knowledge update, a passage where it has an
  ``id``, and its statements. ``content`` of a statement is JSON: its terms, and its concepts. Its
  vector is ``blob``, under a ``model``. ``said`` and ``expires`` are microseconds since 1970,
  ``withdrawn`` is a t. ``lane`` is the resolved session, or a value of the update's own where it
  has none.
* ``(item)-[:UNDER]->(item)``, a loop for each path that an item is at or below, with its t,
  indexed, so that the newest come first; ``paths`` of the item lists them. ``item_key`` is made of
  the item's path and key.
* ``(:RecallMConcept)``, ``(:RecallMStem)``: at each begins the list of the statements that mention
  the concept, or hold the stem.
* ``(statement)-[:REFERS_TO]->(update)``: to each other passage that its pronouns refer to.
* ``(a)-[:RELATED]->(b)`` between concepts (a < b), with the t of each update that shows the
  relation in ``ts``, ascending. ``neighbours`` of an update are JSON: the relations that the
  update shows, with the positions of the statements that do.
* ``(:RecallMElement:RecallMEntity)-[:STANDS_ON]->(concept)`` is an entity,
  ``(:RecallMElement:RecallMTriplet)-[:SUBJECT|OBJECT]->(entity)`` a triplet;
  ``(element)-[:SHOWN]->(update)`` is their evidence, with a statement's key, its properties, and
  its ``description`` (``recallm.stores.semantics.rows.Evidence``);
  ``latest`` of an element is the greatest of these keys. ``subject``, ``predicate`` and ``object``
  of a triplet are keys; each two of them have an index.
* ``(entity)-[:BEARS]->(entity)``, a loop for each word that the entity bears
  (``recallm.ground.entity_words``), indexed: by its vector under a ``model``, or by its concept.
* ``(:RecallMPredicate)``: how many triplets have a predicate.
* ``(entity)-[:EMBEDDED]->(entity)``, a loop for each vector of the entity, indexed by the model's
  key; ``name`` is that of the model.
* ``(:RecallMSession)``: a session, with its ``number``, the t of an update that was written with
  it first. A concept has its ``summary``.
* ``totals`` of a concept, a stem or a session: the t of their last change, then how many updates
  and statements touch the concept, statements hold the stem, statements and terms the session has.

**Posting lists.** A list has one posting for each such statement: the statement's key, the number
of its session (0 where it has none) and how often the statement holds the stem (1 for a mention).
Three lists of numbers of equal length hold the postings: ``keys``, ``sessions`` and ``counts``,
ordered by key. The postings stand in blocks of at most 64, the nodes ``(:RecallMPostings)``. A
block has the ``key`` of its list, and its ``first``: the least key that stood in the block. The
node of the stem or the concept is the first block, whose ``first`` is 0. That node also has the
``first`` of the ``last`` block, and how many postings the last block got (``filled``). A posting
never moves, so that a reader beside a writer misses none. A posting costs a few bytes; a
relationship with an index over it would cost 200.

**Isolation.** Neo4j reads what is committed at the moment of reading. So that a reader keeps one
state, every row carries its t and every total the t of its last change: a reader at t leaves out
later rows, and counts the rows beneath a total that was changed after t. Totals and their t are one
property, read once: a commit may come between the reads of two. Deleted rows disappear for an open
reader at once, also in the middle of a read: ``recallm.stores.neo4j.reader``.
"""

from __future__ import annotations

from typing import Final, LiteralString

VERSION: Final = 3
"""The version of this graph; SQLite's tables have their own."""

READ_VERSION: Final[LiteralString] = """
OPTIONAL MATCH (schema:RecallMSchema {key: 'schema'})
RETURN schema.version AS row
"""

WRITE_VERSION: Final[LiteralString] = """
MERGE (schema:RecallMSchema {key: 'schema'})
ON CREATE SET schema.version = $version
RETURN schema.version AS row
"""

TOTALS: Final = (
    "t", "statements", "terms", "sessions", "model", "origin", "revision", "vocabulary",
)  # fmt: skip
"""The properties of a namespace that are fields of ``NamespaceTotals``."""

NO_TOTALS: Final = dict.fromkeys(
    ("t", "statements", "terms", "sessions", "revision", "vocabulary"), 0
)
"""Those of an empty namespace that are numbers."""

COUNTED: Final[tuple[tuple[LiteralString, ...], ...]] = (
    (
        *("concepts", "RecallMConcept:RecallMPostings", ", first: 0"),
        "name label kind totals t_index last filled",
    ),
    (
        *("terms", "RecallMStem:RecallMPostings", ", first: 0"),
        "name totals last filled",
    ),
    ("sessions", "RecallMSession", "", "name totals number"),
    ("predicates", "RecallMPredicate", "", "name triplets"),
)
"""Kinds of nodes with totals: labels, what a node has beside its key from the beginning, and the
properties, in the order in which rows have them."""

AWAIT_INDEXES: Final[LiteralString] = "CALL db.awaitIndexes(300)"

_Rows = tuple[tuple[LiteralString, LiteralString, LiteralString], ...]
"""Names of constraints or indexes, each with a label (or a type) and the properties."""

UNIQUE: Final[_Rows] = (
    ("recallm_schema", "RecallMSchema", "key"),
    ("recallm_namespace", "RecallMNamespace", "key"),
    ("recallm_rows", "RecallMNamespace", "rows"),
    ("recallm_statement", "RecallMStatement", "namespace, key"),
    ("recallm_update", "RecallMUpdate", "namespace, t"),
    ("recallm_passage", "RecallMUpdate", "namespace, id_key"),
    ("recallm_concept", "RecallMConcept", "namespace, key"),
    ("recallm_stem", "RecallMStem", "namespace, key"),
    ("recallm_postings", "RecallMPostings", "namespace, key, first"),
    ("recallm_session", "RecallMSession", "namespace, key"),
    ("recallm_session_number", "RecallMSession", "namespace, number"),
    ("recallm_entity", "RecallMEntity", "namespace, key"),
    ("recallm_element", "RecallMElement", "namespace, key"),
    ("recallm_predicate", "RecallMPredicate", "namespace, key"),
)

_INDEXED: Final[_Rows] = (
    ("recallm_update_source", "RecallMUpdate", "namespace, source_key"),
    ("recallm_update_lane", "RecallMUpdate", "namespace, lane"),
    ("recallm_update_said", "RecallMUpdate", "namespace, said, t"),
    ("recallm_update_expires", "RecallMUpdate", "namespace, expires"),
    ("recallm_update_withdrawn", "RecallMUpdate", "namespace, withdrawn"),
    ("recallm_update_item", "RecallMUpdate", "namespace, item_key"),
    ("recallm_statement_lane", "RecallMStatement", "namespace, lane, key"),
    ("recallm_concept_t_index", "RecallMConcept", "namespace, t_index"),
    ("recallm_triplet_subject", "RecallMTriplet", "namespace, subject, predicate"),
    ("recallm_triplet_ends", "RecallMTriplet", "namespace, subject, object"),
    ("recallm_triplet_object", "RecallMTriplet", "namespace, object, predicate"),
    ("recallm_triplet_predicate", "RecallMTriplet", "namespace, predicate"),
)

_INDEXED_RELATIONSHIPS: Final[_Rows] = (
    ("recallm_under", "UNDER", "namespace, path, t"),
    ("recallm_bears", "BEARS", "namespace, word"),
    ("recallm_embedded", "EMBEDDED", "namespace, model"),
)


def _created(statement: LiteralString, rows: _Rows) -> tuple[LiteralString, ...]:
    """``statement`` for each row: its name, its label and its properties stand in braces."""
    return tuple(
        statement.replace("{name}", name)
        .replace("{label}", label)
        .replace("{properties}", ", ".join(["n." + key for key in properties.split(", ")]))
        for name, label, properties in rows
    )


CREATE: Final[tuple[LiteralString, ...]] = (
    *_created(
        "CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{label}) REQUIRE ({properties}) IS UNIQUE",
        UNIQUE,
    ),
    *_created("CREATE INDEX {name} IF NOT EXISTS FOR (n:{label}) ON ({properties})", _INDEXED),
    *_created(
        "CREATE INDEX {name} IF NOT EXISTS FOR ()-[n:{label}]-() ON ({properties})",
        _INDEXED_RELATIONSHIPS,
    ),
)
