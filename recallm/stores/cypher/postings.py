"""Posting lists: which statements hold a stem, and which mention a concept.

A list has one posting for each such statement: the statement's key, the number of its session (0
where it has none) and, for a stem, how often the statement holds the stem. The list is kept in
three lists of numbers of equal length, ``keys``, ``sessions`` and ``counts``, ordered by key.

The newest postings stand at the node of the stem or the concept itself. The earlier ones stand in
blocks of 64, the nodes ``(:RecallMPostings)``. A block has the name of its ``list``, and its
``last``: the keys in the block are not greater, the keys behind the block are.

For example, a stem in 70 statements has one block with its first 64 postings, and its node has the
other 6. A posting costs a few bytes. A relationship with an index over it would cost 200.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled


def postings_added(
    rows: LiteralString, prefix: LiteralString, counts: LiteralString
) -> LiteralString:
    """The clauses that append postings to the list of the stem or the concept ``x``. All of them
    are later than those in the list. What no longer fits at the node becomes blocks.

    Column 0 of ``rows`` has the key of ``x``, in row ``i``, and column 2 the places of its
    statements in ``$statements``, of which column 1 is the place of the session in ``numbers`` and
    column 3 the key. ``counts`` is an expression: how often each of these statements holds the
    stem, null for a concept. The name of the list begins with ``prefix``.
    """
    return spelled(
        """
WITH *, {{ROWS}}[2][i] AS places,
    [place IN {{ROWS}}[2][i] | numbers[$statements[1][place]]] AS located
WITH *, coalesce(x.keys, []) + [place IN places | $statements[3][place]] AS keys,
    coalesce(x.counts, []) + {{COUNTS}} AS counts, coalesce(x.sessions, []) + located AS sessions
WITH *, CASE places WHEN [] THEN 0 ELSE (size(keys) - 1) / 64 END AS full
FOREACH (block IN range(0, full - 1) | CREATE (:RecallMPostings {
    namespace: $namespace, list: {{PREFIX}} + {{ROWS}}[0][i], last: keys[64 * block + 63],
    keys: keys[64 * block .. 64 * block + 64], counts: counts[64 * block .. 64 * block + 64],
    sessions: sessions[64 * block .. 64 * block + 64]
}))
FOREACH (element IN CASE places WHEN [] THEN [] ELSE [x] END |
    SET element.keys = keys[64 * full ..], element.counts = counts[64 * full ..],
        element.sessions = sessions[64 * full ..]
)
""",
        ROWS=rows,
        PREFIX=prefix,
        COUNTS=counts,
    )


_DELETED: Final[LiteralString] = """
UNWIND {{ROWS}} AS row
MATCH (x:{{LABEL}} {namespace: $namespace, key: row[0]})
WITH x, row, [x] + COLLECT {
    UNWIND row[1] AS key
    CALL (row, key) {
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = {{PREFIX}} + row[0] AND p.last >= key
        RETURN p ORDER BY p.namespace, p.list, p.last LIMIT 1
    }
    RETURN DISTINCT p
} AS holders
UNWIND holders AS holder
WITH x, row, holder, coalesce(holder.keys, []) AS keys, holder.counts AS counts,
    holder.sessions AS sessions
WITH *, [i IN range(0, size(keys) - 1) WHERE NOT keys[i] IN row[1]] AS left
SET holder.keys = [i IN left | keys[i]], holder.sessions = [i IN left | sessions[i]],
    holder.counts = CASE WHEN counts IS NOT NULL THEN [i IN left | counts[i]] END
WITH x, holder WHERE holder <> x AND size(holder.keys) = 0
DELETE holder
"""

POSTINGS_DELETED: Final = (
    spelled(_DELETED, LABEL="RecallMStem", PREFIX="'s'", ROWS="$stem_postings"),
    spelled(_DELETED, LABEL="RecallMConcept", PREFIX="'c'", ROWS="$concept_postings"),
)
"""Each takes the keys of the statements in a row out of the list with the key of the row. A block
that is empty then is deleted."""


_READ: Final[LiteralString] = """
UNWIND {{NAMES}} AS name
MATCH (x:{{LABEL}} {namespace: $namespace, key: name})
WITH x, {{LIST}} + name AS list, coalesce(x.keys, []) AS newest, x.counts AS counted,
    x.sessions AS located
// A block that is written while this is read has postings that were read already.
WITH *, coalesce(newest[0], 9223372036854775807) AS first
CALL (x, list, newest, first) {
    WITH x WHERE x.t_index <= $t
    RETURN x.{{TOTAL}} AS total
    UNION ALL
    WITH x, list, newest, first WHERE coalesce(x.t_index, $t + 1) > $t
    RETURN size([key IN newest WHERE key < $before]) + reduce(sum = 0, count IN COLLECT {
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = list AND p.last < first
        RETURN size([key IN p.keys WHERE key < $before])
    } | sum + count) AS total
}
WITH * WHERE coalesce(total, 1) > 0
WITH x, total, size(newest) <> size(coalesce(located, [])) AS is_torn, COLLECT {
    CALL (list, newest, counted, located, first) {
        RETURN newest AS keys, counted AS counts, located AS sessions
        UNION ALL
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = list AND p.last < first
        RETURN p.keys AS keys, p.counts AS counts, p.sessions AS sessions
        ORDER BY p.namespace DESC, p.list DESC, p.last DESC
    }
    WITH keys, CASE WHEN size(counts) = size(keys) THEN counts END AS counts,
        CASE WHEN size(sessions) = size(keys) THEN sessions END AS sessions
    UNWIND range(size(keys) - 1, 0, -1) AS place
    WITH keys[place] AS key, counts[place] AS count, sessions[place] AS session
    WHERE key < $before AND (NOT $filtered OR key >= $since_key AND key < $until_key)
        AND ($plain AND NOT $filtered OR EXISTS {
            MATCH (u:RecallMUpdate {namespace: $namespace, t: key / 1048576})
            USING INDEX SEEK u:RecallMUpdate(namespace, t)
            WHERE {{SHOWN}} AND (NOT $filtered OR {{MEETS}})
        })
    RETURN {{POSTING}} LIMIT $limit
} AS rows
RETURN [x.name, total, CASE
    WHEN NOT is_torn AND none(row IN rows WHERE any(value IN row WHERE value IS NULL))
        AND (size(rows) = total OR size(rows) >= $limit OR $filtered OR NOT $plain)
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

Another transaction may write the list meanwhile. Then some properties of the node are missing
or older than others, or a new block is not in its index yet. Such a read shows itself: lists
have different lengths, or there are too few postings though nothing is hidden. The postings are
null then, and the row is read again."""

POSTINGS: Final[LiteralString] = spelled(
    _READ,
    NAMES="$stems",
    LABEL="RecallMStem",
    LIST="'s'",
    TOTAL="documents",
    POSTING="[key, session, count]",
)

MENTIONS: Final[LiteralString] = spelled(
    _READ,
    NAMES="$names",
    LABEL="RecallMConcept",
    LIST="'c'",
    TOTAL="statements",
    POSTING="[key, session]",
)


NEWEST_MENTION: Final[LiteralString] = """
coalesce(c.keys[-1], head(COLLECT {
    MATCH (p:RecallMPostings)
    WHERE p.namespace = $namespace AND p.list = 'c' + $concept AND p.last >= 0
    RETURN p.keys[-1] ORDER BY p.namespace DESC, p.list DESC, p.last DESC LIMIT 1
}))"""
"""The key of the latest statement that mentions the concept ``c``, whose key is ``$concept``."""

MENTION_LISTS: Final[LiteralString] = """
WITH c, coalesce(c.keys, []) AS newest
WITH c, newest, coalesce(newest[0], 9223372036854775807) AS first
WITH c, COLLECT {
    MATCH (p:RecallMPostings)
    WHERE p.namespace = $namespace AND p.list = 'c' + c.key AND p.last < first
    RETURN p.keys ORDER BY p.namespace, p.list, p.last
} + [newest] AS lists
"""
"""The ``lists`` of keys of the statements that mention the concept ``c``, in ascending order."""
