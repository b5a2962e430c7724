"""Look-ups of the shared write semantics (``recallm.stores.semantics.rows.Rows``), in the
transaction that writes, or before it."""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled
from recallm.stores.cypher.schema import COUNTED, TOTALS

_ELEMENT: Final[LiteralString] = "key type concept label kind properties latest"

_STORED: Final[tuple[tuple[LiteralString, ...], ...]] = (
    *[
        (kind, "$" + kind if kind != "sessions" else "session_keys", f"(x:{labels} {{KEY}})", names)
        for kind, labels, _, names in COUNTED
    ],
    ("elements", "$elements", "(x:RecallMElement {KEY})", _ELEMENT),
    ("their_concepts", "$elements", "(:RecallMElement {KEY})-[:STANDS_ON]->(x)", COUNTED[0][3]),
)
"""Kinds of rows that are looked up by lists of keys, and their columns."""


def _collected(
    kind: LiteralString, keys: LiteralString, pattern: LiteralString, columns: LiteralString
) -> LiteralString:
    matched = pattern.replace("KEY", "namespace: n.rows, key: key")
    properties = ", ".join(["x." + name for name in columns.split()])
    return f"""
CALL (n, session_keys) {{
    UNWIND {keys} AS key
    MATCH {matched}
    RETURN collect([{properties}]) AS {kind}
}}"""


_LOOK_UP: Final[LiteralString] = (
    "".join([_collected(*kind) for kind in _STORED])
    + "\nRETURN n { "
    + ", ".join([kind for kind, *_ in _STORED])
)

LOOK_UP: Final[LiteralString] = (
    "WITH {rows: $namespace} AS n, $sessions AS session_keys" + _LOOK_UP + " } AS row\n"
)

LOCK: Final[LiteralString] = (
    """
MERGE (n:RecallMNamespace {key: $key})
ON CREATE SET n += $fresh
SET n.locked = true
WITH n, coalesce(last(n.writes), '') AS latest, $write IN coalesce(n.writes, []) AS written
CALL (n) {
    UNWIND $ids AS id
    MATCH (u:RecallMUpdate {namespace: n.rows, id_key: id})
    RETURN collect([u.id, u.t, u.text, u.withdrawn]) AS passages
}
CALL (n) {
    UNWIND $items AS item
    MATCH (u:RecallMUpdate {namespace: n.rows, item_key: item})
    RETURN collect([item, u.t, u.id]) AS items
}
OPTIONAL MATCH (open:RecallMUpdate {namespace: n.rows, t: n.open_t})
WITH *, $sessions + [open.lane] AS session_keys"""
    + _LOOK_UP
    + """, latest, written, passages, items, .rows, .vector_bytes,
    totals: n { """
    + ", ".join([f".{name}" for name in TOTALS])
    + """ }, open_session: [open.t, open.session_key, open.said, open.source],
    expired: EXISTS { MATCH (u:RecallMUpdate) WHERE u.namespace = n.rows AND u.expires <= $now }
} AS row
"""
)
"""Setting a property locks the node until the transaction ends: what is read after that, t above
all, no other writer of the namespace can change. ``latest`` is the name of the latest write,
``written`` says whether this write is done, and ``rows`` is the namespace of all other queries.
What ``LOOK_UP`` finds is there too, with the session that is open."""

EVIDENCE: Final[LiteralString] = """
UNWIND $elements AS key
MATCH (x:RecallMElement {namespace: $namespace, key: key})-[shown:SHOWN]->()
USING INDEX SEEK x:RecallMElement(namespace, key)
RETURN [key, shown.key, shown.properties, coalesce(shown.description, [])] AS row
"""

COUNT_RELATIONS: Final[LiteralString] = """
UNWIND $relations AS pair
MATCH (a:RecallMConcept {namespace: $namespace, key: pair[0]})-[r:RELATED]->
    (b:RecallMConcept {namespace: $namespace, key: pair[1]})
// Without hints the plan would read all relations of a hub.
USING INDEX SEEK a:RecallMConcept(namespace, key)
USING INDEX SEEK b:RecallMConcept(namespace, key)
RETURN count(r) AS row
"""

COUNT_TOUCHES: Final[LiteralString] = spelled("""
UNWIND $names AS name
MATCH (c:RecallMConcept {namespace: $namespace, key: name})
CALL (c) {
    {{MENTIONED_AT}} WITH at WHERE at < $before
    RETURN at / 1048576 AS t, at AS key, null AS shown
    UNION ALL
    MATCH (c)<-[:STANDS_ON]-(x:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t
    RETURN u.t AS t, null AS key, [u.t, x.id, x.label, x.kind] AS shown
}
WITH c, max(t) AS t_index, count(DISTINCT t) AS updates, count(key) AS statements,
    min(key) AS first, min(shown) AS entity
OPTIONAL MATCH (s:RecallMStatement {namespace: $namespace, key: first})
RETURN [
    c.name, coalesce(s.content, ''), coalesce(entity[2], ''), coalesce(entity[3], ''),
    t_index, updates, statements
] AS row
""")
"""The totals of concepts up to ``$t``, counted; ``$before`` is the first key after it. With them
come the content of the earliest statement that mentions the concept, and the label and the kind
that hold where none does."""

_SELECTED: Final[LiteralString] = """
MATCH (u:RecallMUpdate) WHERE u.namespace = $namespace AND {{CONDITION}}
RETURN u.t AS row"""

_SELECTIONS: Final[tuple[tuple[LiteralString, LiteralString, LiteralString], ...]] = (
    ("id", "u.id_key = $value", ""),
    ("source", "u.source_key = $value", ""),
    (
        "session",
        "u.lane = $value AND u.session IS NOT NULL",
        " UNION"
        + _SELECTED.replace("{{CONDITION}}", "u.source_key = $source AND u.session IS NULL"),
    ),
    ("before", "u.t < $value", ""),
    ("said before", "u.said < $value AND u.t > 0", ""),
    ("expired", "u.expires <= $value", " ORDER BY u.expires, u.t"),
)

SELECT: Final[dict[str, LiteralString]] = {
    kind: _SELECTED.replace("{{CONDITION}}", condition) + order
    for kind, condition, order in _SELECTIONS
}
"""Whole updates, by what selects them."""

TOUCHING: Final[LiteralString] = spelled("""
OPTIONAL MATCH (c:RecallMConcept {namespace: $namespace, key: $concept})
RETURN [COLLECT {
        {{MENTIONED_AT}} RETURN at AS key
        UNION ALL
        MATCH (x:RecallMEntity)-[shown:SHOWN]->()
        WHERE x.namespace = $namespace AND x.key IS NOT NULL AND shown.description[1] = $name
        RETURN shown.key AS key
    },
    COLLECT { MATCH (c)<-[:STANDS_ON]-(e:RecallMEntity) RETURN e.id }
] AS row
""")

REFERRING: Final[LiteralString] = """
UNWIND $ids AS id
MATCH (:RecallMUpdate {namespace: $namespace, id_key: id})<-[:REFERS_TO]-(s:RecallMStatement)
RETURN DISTINCT s.key / 1048576 AS row
"""

TRIPLETS_OF: Final[LiteralString] = """
UNWIND $entities AS key
MATCH (e:RecallMElement {namespace: $namespace, key: key})<-[:SUBJECT|OBJECT]-(x:RecallMTriplet)
USING INDEX SEEK e:RecallMElement(namespace, key)
MATCH (x)-[:SUBJECT]->(subject:RecallMEntity)
MATCH (x)-[:OBJECT]->(object:RecallMEntity)
RETURN DISTINCT [subject.id, x.name, object.id] AS row
"""
