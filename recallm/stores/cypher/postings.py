"""Posting lists: which statements hold a stem, and which mention a concept.

A list has one posting for each such statement: the statement's key, the number of its session (0
where it has none) and, for a stem, how often the statement holds the stem. The list is kept in
three lists of numbers of equal length, ``keys``, ``sessions`` and ``counts``, ordered by key.

The first 64 postings stand at the node of the stem or the concept itself, later ones in blocks of
64, the nodes ``(:RecallMPostings)``. A block has the name of its ``list``, and its ``first``: the
least key that stood in the block. The node has the ``first`` of the ``last`` block. A posting never
moves, so that a reader beside a writer misses none.

A posting costs a few bytes. A relationship with an index over it would cost 200.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled


def postings_added(prefix: LiteralString) -> LiteralString:
    """The clauses that append postings to the list of the stem or the concept ``x``, whose name
    begins with ``prefix``. All of them are later than those in the list.

    ``row`` has the key of ``x``, its name, the places of its statements in ``$statements``, and how
    often each of them holds the stem (null for a concept). Of a statement, column 1 is the place
    of its session in ``numbers``, and column 3 its key.
    """
    return spelled(
        """
WITH *, {{PREFIX}} + row[0] AS list, row[2] AS places, row[3] AS counts
OPTIONAL MATCH (p:RecallMPostings {namespace: $namespace, list: list, first: x.last})
WITH *, [place IN places | $statements[place][3]] AS keys,
    [place IN places | numbers[$statements[place][1]]] AS sessions,
    CASE WHEN x.last IS NULL THEN x ELSE p END AS block
WITH *, CASE WHEN block IS NULL THEN 0 ELSE 64 - size(coalesce(block.keys, [])) END AS room
FOREACH (b IN CASE WHEN room > 0 AND places <> [] THEN [block] ELSE [] END |
    SET b.keys = coalesce(b.keys, []) + keys[..room],
        b.sessions = coalesce(b.sessions, []) + sessions[..room],
        b.counts = coalesce(b.counts, []) + counts[..room]
)
FOREACH (at IN CASE WHEN size(keys) > room THEN range(room, size(keys) - 1, 64) ELSE [] END |
    CREATE (:RecallMPostings {
        namespace: $namespace, list: list, first: keys[at], keys: keys[at .. at + 64],
        sessions: sessions[at .. at + 64], counts: counts[at .. at + 64]
    })
    SET x.last = keys[at]
)
""",
        PREFIX=prefix,
    )


_DELETED: Final[LiteralString] = """
UNWIND {{ROWS}} AS row
MATCH (x:{{LABEL}} {namespace: $namespace, key: row[0]})
UNWIND row[1] AS key
CALL (row, key) {
    OPTIONAL MATCH (p:RecallMPostings)
    WHERE p.namespace = $namespace AND p.list = {{PREFIX}} + row[0] AND p.first <= key
    RETURN p ORDER BY p.namespace DESC, p.list DESC, p.first DESC LIMIT 1
}
WITH DISTINCT x, row[1] AS gone, coalesce(p, x) AS block
WITH x, block, block.keys AS keys, block.sessions AS sessions, block.counts AS counts,
    [i IN range(0, size(block.keys) - 1) WHERE NOT block.keys[i] IN gone] AS left
SET block.keys = [i IN left | keys[i]], block.sessions = [i IN left | sessions[i]],
    block.counts = CASE WHEN counts IS NOT NULL THEN [i IN left | counts[i]] END
WITH x, block, left WHERE block <> x AND left = []
DELETE block
"""

POSTINGS_DELETED: Final = (
    spelled(_DELETED, LABEL="RecallMStem", PREFIX="'s'", ROWS="$stem_postings"),
    spelled(_DELETED, LABEL="RecallMConcept", PREFIX="'c'", ROWS="$concept_postings"),
)
"""Each takes the keys of the statements in a row out of the list with the key of the row. A block
that is empty then is deleted."""


_READ: Final[LiteralString] = """
UNWIND $names AS name
MATCH (x:{{LABEL}} {namespace: $namespace, key: name})
CALL (x, name) {
    WITH x WHERE x.t_index <= $t
    RETURN x.{{TOTAL}} AS total
    UNION ALL
    WITH x, name WHERE coalesce(x.t_index, $t + 1) > $t
    RETURN size([key IN x.keys WHERE key < $before]) + reduce(sum = 0, count IN COLLECT {
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = {{PREFIX}} + name AND p.first < $before
        RETURN size([key IN p.keys WHERE key < $before])
    } | sum + count) AS total
}
WITH * WHERE coalesce(total, 1) > 0
WITH x, total, COLLECT {
    CALL (x, name) {
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = {{PREFIX}} + name AND p.first < $before
        RETURN p AS block ORDER BY p.namespace DESC, p.list DESC, p.first DESC
        UNION ALL
        RETURN x AS block
    }
    WITH coalesce(block.keys, []) AS keys, block.sessions AS sessions, block.counts AS counts
    WITH keys, CASE WHEN size(sessions) = size(keys) THEN sessions END AS sessions,
        CASE WHEN size(counts) = size(keys) THEN counts END AS counts
    UNWIND range(size(keys) - 1, 0, -1) AS place
    WITH keys[place] AS key, sessions[place] AS session, counts[place] AS count
    WHERE key < $before AND (NOT $filtered OR key >= $since_key AND key < $until_key)
        AND ($plain AND NOT $filtered OR EXISTS {
            MATCH (u:RecallMUpdate {namespace: $namespace, t: key / 1048576})
            USING INDEX SEEK u:RecallMUpdate(namespace, t)
            WHERE {{SHOWN}} AND (NOT $filtered OR {{MEETS}})
        })
    RETURN {{POSTING}} LIMIT $limit
} AS rows
RETURN [x.name, total, CASE
    WHEN none(row IN rows WHERE any(value IN row WHERE value IS NULL))
    THEN [first IN range(0, size(rows) - 1, 100) |
        reduce(text = '', row IN rows[first .. first + 100] |
            text + reduce(numbers = '', value IN row | numbers + value + ' ')
        )
    ] END,
    COLLECT {
        UNWIND rows AS row
        WITH DISTINCT row[1] AS number WHERE number > 0
        MATCH (session:RecallMSession {namespace: $namespace, number: number})
        RETURN [number, session.name]
    }] AS row"""
"""The query that reads the lists of some stems or concepts: how many statements each has up to
``$t``, and its newest postings that meet a filter, and the number and the name of each session.

The numbers of the postings are texts. The driver reads a list number by number, which takes
longer than the server needs to find them.

Where another transaction writes a block meanwhile, its lists may have different lengths. The
postings are null then, and the row is read again."""

POSTINGS: Final[LiteralString] = spelled(
    _READ,
    LABEL="RecallMStem",
    PREFIX="'s'",
    TOTAL="documents",
    POSTING="[key, session, count]",
)

MENTIONS: Final[LiteralString] = spelled(
    _READ,
    LABEL="RecallMConcept",
    PREFIX="'c'",
    TOTAL="statements",
    POSTING="[key, session, 1]",
)
