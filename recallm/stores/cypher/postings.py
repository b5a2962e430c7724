"""Posting lists: the statements that hold a stem, and those that mention a concept.

The node of a stem or a concept has the newest postings of its list: ``keys``, those of the
statements, ascending; ``sessions``, for each statement the ``number`` of its session, 0 where it
has none; and of a stem ``counts``, how often each statement holds the stem. Earlier postings stand
in blocks, ``(:RecallMPostings)``, each with the ``list`` that it is of, and ``last``: no key of the
block is greater, and all keys after the block are.

A list costs a few bytes a posting; a relationship with an index over it would cost 200.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled

__all__ = [
    "DELETE_POSTINGS",
    "INSERT_POSTINGS",
    "MENTIONS",
    "POSTINGS",
    "mention_lists",
    "newest_mention",
    "postings_added",
]


def postings_added(
    rows: LiteralString, list: LiteralString, counts: LiteralString
) -> LiteralString:
    """The clauses that append postings, later than all others, to the list of the stem or the
    concept ``x``, the row ``i`` of the columns ``rows``: the ``places`` of its statements in
    ``$statements``. ``counts`` is an expression: how often each statement holds a stem, null for a
    concept. ``numbers`` are those of the sessions by their places. 64 postings make a block."""
    return (
        """
WITH *, {{ROWS}}.places[i] AS places,
    [it IN {{ROWS}}.places[i] | numbers[$statements.session[it]]] AS located,
    {{COUNTS}} AS counted
WITH *, coalesce(x.keys, []) + [it IN places | $statements.key[it]] AS keys,
    coalesce(x.counts, []) + counted AS counts, coalesce(x.sessions, []) + located AS sessions
WITH *, CASE places WHEN [] THEN 0 ELSE (size(keys) - 1) / 64 END AS full
FOREACH (block IN range(0, full - 1) | CREATE (:RecallMPostings {
    namespace: $namespace, list: {{LIST}} + {{ROWS}}.key[i], last: keys[64 * block + 63],
    keys: keys[64 * block .. 64 * block + 64], counts: counts[64 * block .. 64 * block + 64],
    sessions: sessions[64 * block .. 64 * block + 64]
}))
FOREACH (it IN CASE places WHEN [] THEN [] ELSE [x] END |
    SET it.keys = keys[64 * full ..], it.counts = counts[64 * full ..],
        it.sessions = sessions[64 * full ..]
)
""".replace("{{COUNTS}}", counts)
        .replace("{{ROWS}}", rows)
        .replace("{{LIST}}", list)
    )


def _of_both(query: LiteralString) -> LiteralString:
    """A write for the lists of stems, and for those of concepts, which have no counts."""
    of_stems = (
        query.replace("{{LABEL}}", "RecallMStem")
        .replace("{{LIST}}", "'s' + row.key")
        .replace("{{ROWS}}", "$stem_postings")
    )
    of_concepts = (
        query.replace("{{LABEL}}", "RecallMConcept")
        .replace("{{LIST}}", "'c' + row.key")
        .replace("{{ROWS}}", "$concept_postings")
    )
    return "CALL () {" + of_stems + "}\nCALL () {" + of_concepts + "}\n"


_BLOCK: Final[LiteralString] = """
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = {{LIST}} AND p.last >= key
        RETURN p ORDER BY p.namespace, p.list, p.last LIMIT 1
"""
"""The block that has ``key``, or would have it; none where the stem or the concept has it."""

INSERT_POSTINGS: Final[LiteralString] = _of_both(
    """
    UNWIND {{ROWS}} AS row
    UNWIND range(0, size(row.keys) - 1) AS place
    CALL (row, place) {
        WITH row, row.keys[place] AS key, row.counts[place..place + 1] AS count, head(COLLECT {
            MATCH (session:RecallMSession {namespace: $namespace, key: row.sessions[place]})
            RETURN session.number
        }) AS number
        MATCH (x:{{LABEL}} {namespace: $namespace, key: row.key})
        WITH key, count, coalesce(number, 0) AS number, coalesce(head(COLLECT {"""
    + _BLOCK
    + """}), x) AS x
        WITH *, coalesce(x.keys, []) AS keys, coalesce(x.sessions, []) AS sessions,
            x.counts AS counts
        WITH *, size([it IN keys WHERE it < key]) AS before
        SET x.keys = keys[..before] + [key] + keys[before..],
            x.counts = counts[..before] + count + counts[before..],
            x.sessions = sessions[..before] + [number] + sessions[before..]
    }
"""
)
"""Puts postings where they belong by their keys; ``sessions`` of a row are the keys of sessions,
``counts`` those of a stem."""

DELETE_POSTINGS: Final[LiteralString] = _of_both(
    """
    UNWIND {{ROWS}} AS row
    MATCH (x:{{LABEL}} {namespace: $namespace, key: row.key})
    WITH x, row, [x] + COLLECT {
        UNWIND row.keys AS key
        CALL (row, key) {"""
    + _BLOCK
    + """}
        RETURN DISTINCT p
    } AS holders
    UNWIND holders AS holder
    WITH x, row, holder, coalesce(holder.keys, []) AS keys, holder.counts AS counts,
        holder.sessions AS sessions
    WITH *, [i IN range(0, size(keys) - 1) WHERE NOT keys[i] IN row.keys] AS left
    SET holder.keys = [i IN left | keys[i]], holder.sessions = [i IN left | sessions[i]],
        holder.counts = CASE WHEN counts IS NOT NULL THEN [i IN left | counts[i]] END
    WITH x, holder WHERE holder <> x AND size(holder.keys) = 0
    DELETE holder
"""
)
"""Takes postings out of their lists, ``keys`` of a row."""


def _read(
    names: LiteralString,
    label: LiteralString,
    list: LiteralString,
    total: LiteralString,
    posting: LiteralString,
) -> LiteralString:
    """The lists of some stems or concepts, with how many statements they have up to ``$t``, and
    the newest postings that meet a filter.

    ``postings`` are the numbers of all postings, joined to texts: Python unpacks a list number by
    number, in more time than the server takes to find them. ``sessions`` has the number and the
    name of each session.

    Of a node that is being written, some properties may be missing, or older than others, and a new
    block may not be in its index yet: lists of different lengths, and too few postings where
    nothing is hidden, make ``postings`` null, and the row is read anew."""
    query: LiteralString = """
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
    RETURN size([key IN newest WHERE key < $before]) + reduce(sum = 0, it IN COLLECT {
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = list AND p.last < first
        RETURN size([key IN p.keys WHERE key < $before])
    } | sum + it) AS total
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
        AND ($listed AND NOT $filtered AND NOT key / 1048576 IN $hidden OR EXISTS {
            MATCH (s:RecallMStatement {namespace: $namespace, key: key})
            USING INDEX SEEK s:RecallMStatement(namespace, key)
            WHERE {{STATEMENT_MEETS}}
        })
    RETURN {{POSTING}} LIMIT $limit
} AS rows
RETURN x.name AS name, total, CASE
    WHEN NOT is_torn AND none(row IN rows WHERE any(it IN row WHERE it IS NULL))
        AND (size(rows) = total OR size(rows) >= $limit OR $filtered OR NOT $plain)
    THEN [first IN range(0, size(rows) - 1, 100) |
        reduce(text = '', row IN rows[first .. first + 100] |
            text + reduce(numbers = '', it IN row | numbers + it + ' ')
        )
    ] END AS postings,
    COLLECT {
        UNWIND rows AS row
        WITH DISTINCT row[1] AS number WHERE number > 0
        MATCH (session:RecallMSession {namespace: $namespace, number: number})
        RETURN [number, session.name]
    } AS sessions"""
    query = query.replace("{{NAMES}}", names).replace("{{LABEL}}", label)
    query = query.replace("{{LIST}}", list).replace("{{TOTAL}}", total)
    return spelled(query.replace("{{POSTING}}", posting))


POSTINGS: Final[LiteralString] = _read(
    "$stems", "RecallMStem", "'s'", "documents", "[key, session, count]"
)

MENTIONS: Final[LiteralString] = _read(
    "$names", "RecallMConcept", "'c'", "statements", "[key, session]"
)


def newest_mention() -> LiteralString:
    """The expression of the key of the latest statement that mentions the concept ``c``, whose key
    is ``$concept``."""
    return """
coalesce(c.keys[-1], head(COLLECT {
    MATCH (p:RecallMPostings)
    WHERE p.namespace = $namespace AND p.list = 'c' + $concept AND p.last >= 0
    RETURN p.keys[-1] ORDER BY p.namespace DESC, p.list DESC, p.last DESC LIMIT 1
}))"""


def mention_lists() -> LiteralString:
    """The clauses that find the ``lists`` of keys of the statements that mention the concept ``c``,
    in ascending order."""
    return """
WITH c, coalesce(c.keys, []) AS newest
WITH c, newest, coalesce(newest[0], 9223372036854775807) AS first
WITH c, COLLECT {
    MATCH (p:RecallMPostings)
    WHERE p.namespace = $namespace AND p.list = 'c' + c.key AND p.last < first
    RETURN p.keys ORDER BY p.namespace, p.list, p.last
} + [newest] AS lists
"""
