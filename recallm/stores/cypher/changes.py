"""What a write puts and deletes: a query for each, with a list of rows for every kind.

Rows are put by the parameter with the name of their kind, and deleted by ``gone_KIND``. A row
begins with its key. What a row refers to, it names by key.
"""

from __future__ import annotations

import re
from typing import Final, LiteralString

from recallm.stores.cypher.schema import COUNTED
from recallm.stores.semantics.reader import literal

_NODES: Final[tuple[tuple[LiteralString, LiteralString, LiteralString], ...]] = (
    ("updates", "RecallMUpdate", "t"),
    ("statements", "RecallMStatement", "key"),
    ("entities", "RecallMElement:RecallMEntity", "key"),
    ("triplets", "RecallMElement:RecallMTriplet", "key"),
    ("summaries", "RecallMConcept", "key"),
)
"""Kinds of nodes: labels, and the property that is the key. A row has a map of properties."""

_STATEMENT: Final[LiteralString] = "RecallMStatement {namespace: $namespace, key: "
_ELEMENT: Final[LiteralString] = "RecallMElement {namespace: $namespace, key: "
_UPDATE: Final[LiteralString] = "RecallMUpdate {namespace: $namespace, t: "
_PASSAGE: Final[LiteralString] = "RecallMUpdate {namespace: $namespace, id_key: "

_NEW: Final[tuple[tuple[LiteralString, ...], ...]] = (
    ("has", _UPDATE, "HAS", _STATEMENT),
    ("references", _STATEMENT, "REFERS_TO", _PASSAGE),
)
"""Kinds of relationships of which each that is put is new: from which node, type, to which node. A
row has the key of the first node, and, for each relationship, that of the other."""

_KEPT: Final[tuple[tuple[LiteralString, ...], ...]] = (
    ("paths", _UPDATE, "UNDER {namespace: $namespace, path: end[1]}", _UPDATE),
    ("subjects", _ELEMENT, "SUBJECT", _ELEMENT),
    ("objects", _ELEMENT, "OBJECT", _ELEMENT),
    ("evidence", _ELEMENT, "SHOWN {key: end[1]}", _UPDATE),
    ("vectors", _ELEMENT, "EMBEDDED {namespace: $namespace, model: end[1]}", _ELEMENT),
)
"""Kinds of relationships that may be there already. For each relationship, a row also has the
property by which those of the same two nodes differ, and a map of others."""

RELATIONSHIPS: Final = tuple([kind for kind, *_ in (*_NEW, *_KEPT)])


def _counted_put(
    kind: LiteralString, labels: LiteralString, more: LiteralString, columns: LiteralString
) -> LiteralString:
    places = enumerate(columns.split(), 1)
    properties = literal(", ".join([f"x.{name} = row[{place}]" for place, name in places]))
    return f"""
UNWIND ${kind} AS row
MERGE (x:{labels} {{namespace: $namespace, key: row[0]{more}}})
SET {properties}
"""


def _nodes_put(kind: LiteralString, labels: LiteralString, key: LiteralString) -> LiteralString:
    return f"""
UNWIND ${kind} AS row
MERGE (x:{labels} {{namespace: $namespace, {key}: row[0]}})
SET x += row[1]
"""


def _nodes_deleted(kind: LiteralString, labels: LiteralString, key: LiteralString) -> LiteralString:
    return f"""
UNWIND $gone_{kind} AS row
MATCH (x:{labels} {{namespace: $namespace, {key}: row[0]}})
DETACH DELETE x
"""


def _related(
    kind: LiteralString, one: LiteralString, other: LiteralString, change: LiteralString
) -> LiteralString:
    """Does ``change`` with the two nodes of each relationship, ``a`` and ``b``."""
    return f"""
UNWIND ${kind} AS row
MATCH (a:{one}row[0]}})
UNWIND row[1] AS end
MATCH (b:{other}end[0]}})
WITH a, b, end
{change}
"""


_POSTINGS: Final[LiteralString] = """
UNWIND $postings AS row
MERGE (p:RecallMPostings {namespace: $namespace, key: row[0], first: row[1]})
SET p.keys = coalesce(p.keys, []) + row[2], p.sessions = coalesce(p.sessions, []) + row[3],
    p.counts = coalesce(p.counts, []) + row[4]
"""

_POSTINGS_DELETED: Final[LiteralString] = """
UNWIND $gone_postings AS row
UNWIND row[1] AS at
CALL (row, at) {
    MATCH (p:RecallMPostings)
    WHERE p.namespace = $namespace AND p.key = row[0] AND p.first <= at[0]
    RETURN p ORDER BY p.namespace DESC, p.key DESC, p.first DESC LIMIT 1
}
WITH DISTINCT p, row[1] AS gone
WITH p, p.keys AS keys, p.sessions AS sessions, p.counts AS counts,
    [i IN range(0, size(p.keys) - 1) WHERE NOT [p.keys[i]] IN gone] AS left
SET p.keys = [i IN left | keys[i]], p.sessions = [i IN left | sessions[i]],
    p.counts = [i IN left | counts[i]]
WITH p, left WHERE left = [] AND p.first > 0
DELETE p
"""
"""Takes the postings with some keys out of the blocks of a list. A block that is empty then goes,
but for the first."""

_RELATIONS: Final[LiteralString] = """
UNWIND $relations AS row
MATCH (a:RecallMConcept {namespace: $namespace, key: row[0]})
MATCH (b:RecallMConcept {namespace: $namespace, key: row[1]})
MERGE (a)-[r:RELATED]->(b)
SET r.ts = [t IN coalesce(r.ts, []) WHERE NOT t IN row[2]] + row[3]
WITH r WHERE r.ts = []
DELETE r
"""
"""A row has the t that show a relation no more, and those that show it from now on."""

_STANDING: Final[LiteralString] = """
UNWIND $standing AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row[0]})
CALL (x, row) { MATCH (x)-[old:STANDS_ON]->(c) WHERE c.key <> row[1] DELETE old }
MATCH (c:RecallMConcept {namespace: $namespace, key: row[1]})
MERGE (x)-[:STANDS_ON]->(c)
"""

_WORDS: Final[LiteralString] = """
UNWIND $words AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row[0]})
CALL (x, row) { MATCH (x)-[b:BEARS {model: row[1]}]->(x) WHERE NOT b.word IN row[2] DELETE b }
UNWIND row[2] AS word
MERGE (x)-[:BEARS {namespace: $namespace, model: row[1], word: word}]->(x)
"""
"""The words that an entity bears by its vector under a model, or by its concept."""


def _in_turn(*parts: str) -> LiteralString:
    """A query that does the ``parts``, which are literals, one after the other."""
    return literal("".join(["\nCALL () {" + part + "}" for part in parts]))


PUT: Final[LiteralString] = (
    """
MATCH (n:RecallMNamespace {key: $key})
SET n.locked = true
WITH n, coalesce(n.writes, []) AS writes
WHERE coalesce(last(writes), '') = $latest
SET n += $totals, n.writes = [name IN writes WHERE name <> $write][-99..] + $write
WITH n"""
    + _in_turn(
        *[_counted_put(*kind) for kind in COUNTED],
        *[_nodes_put(*kind) for kind in _NODES],
        _POSTINGS,
        _RELATIONS,
        *[_related(kind, a, b, f"CREATE (a)-[:{type}]->(b)") for kind, a, type, b in _NEW],
        *[
            _related(kind, a, b, f"MERGE (a)-[r:{type}]->(b) SET r += end[2]")
            for kind, a, type, b in _KEPT
        ],
        _STANDING,
        _WORDS,
    )
    + "\nRETURN true AS row"
)
"""Puts all rows, and has a row. It puts nothing, and has no row, where the latest write of the
namespace is not ``$latest`` any more. ``writes`` has the names of the latest hundred: whoever lost
the reply to a commit finds there that the write is done."""

DELETE: Final[LiteralString] = _in_turn(
    _POSTINGS_DELETED,
    *[
        _related("gone_" + kind, a, b, f"MATCH (a)-[r:{type}]->(b) DELETE r")
        for kind, a, type, b in (*_NEW, *_KEPT)
    ],
    *[_nodes_deleted(kind, labels, "key") for kind, labels, *_ in COUNTED],
    *[_nodes_deleted(*kind) for kind in _NODES],
)

KINDS: Final = {query: re.findall(r"UNWIND \$(?:gone_)?(\w+)", query) for query in (PUT, DELETE)}
"""The kinds whose rows a query needs."""
