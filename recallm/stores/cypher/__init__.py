"""All Cypher of recallm. Every query is a ``LiteralString``: values enter as parameters alone.

The graph, one node or relationship a row; every key begins with the namespace:

* ``(:RecallMNamespace)``: the counter t, totals, what its statement vectors are (``model``,
  ``origin``, ``revision``), ``vector_bytes`` (JSON: the size of a vector under each model), and the
  lock that a writer takes first. All other nodes of the namespace have its ``rows`` as their
  ``namespace`` (``recallm.stores.cypher.generations``).
* ``(:RecallMUpdate)-[:HAS]->(:RecallMStatement)``: a knowledge update, a passage where it has an
  ``id``, and its statements. ``said`` and ``expires`` are microseconds since 1970. ``lane`` is the
  resolved session, or a value of the update's own where it has none.
* ``(item)-[:UNDER]->(item)``, a loop for each path that an item is at or below, with its t,
  indexed, so that the newest come first; ``paths`` of the item and of its statements lists them.
  ``item_key`` is made of the item's path and key.
* ``(statement)-[:MENTIONS]->(:RecallMConcept)``, ``(statement)-[:HOLDS]->(:RecallMStem)``: with
  the name of the other end and the statement's key, indexed, so that the newest come first.
* ``(a)-[:RELATES]->(b)`` between concepts (a < b): totals over ``(a)-[:EVIDENCE]->(b)``, one for
  each update that shows the relation, with the positions of the statements that show it.
* ``(:RecallMEntity)-[:STANDS_ON]->(concept)``, ``(:RecallMTriplet)-[:SUBJECT|OBJECT]->(entity)``;
  ``(entity or triplet)-[:SHOWN]->(update)`` is their evidence, with a statement's key and its
  properties; ``latest`` of an entity or triplet is the greatest of these keys.
* ``(:RecallMSummary)-[:SUMMARISES]->(concept)``, ``(statement)-[:EMBEDDED]->(:RecallMVector)``,
  ``(:RecallMSession)``: the size of a session.

**Isolation.** Neo4j reads what is committed at the moment of reading. So that a reader keeps one
state, every row carries its t and every total the t of its last change: a reader at t leaves out
later rows, and counts the rows beneath a total that was changed after t. Deleted rows disappear for
an open reader at once, half read ones too: ``recallm.stores.neo4j.torn_reads``.
"""

from __future__ import annotations

__all__: list[str] = []
