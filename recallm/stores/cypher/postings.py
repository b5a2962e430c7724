"""Posting lists: the statements that hold a stem, and those that mention a concept.

The node of a stem or a concept has the newest postings of its list: ``keys``, those of the
statements, ascending, and of a stem ``counts``, how often each statement holds the stem. Earlier
postings stand in blocks, ``(:RecallMPostings)``, each with the ``list`` that it is of, and
``last``: no key of the block is greater, and all keys after the block are.

A list costs a few bytes a posting; a relationship with an index over it would cost 200.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled

__all__ = [
    "ADD_POSTINGS",
    "DELETE_POSTINGS",
    "INSERT_POSTINGS",
    "MENTIONS",
    "POSTINGS",
    "newest_mention",
]


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


ADD_POSTINGS: Final[LiteralString] = _of_both("""
    UNWIND {{ROWS}} AS row
    MATCH (x:{{LABEL}} {namespace: $namespace, key: row.key})
    WITH x, row, coalesce(x.keys, []) + row.keys AS keys,
        coalesce(x.counts, []) + row.counts AS counts
    WITH x, row, keys, counts, (size(keys) - 1) / 64 AS full
    FOREACH (i IN range(0, full - 1) | CREATE (p:RecallMPostings {
        namespace: $namespace, list: {{LIST}}, last: keys[64 * i + 63],
        keys: keys[64 * i .. 64 * i + 64], counts: counts[64 * i .. 64 * i + 64]
    }))
    SET x.keys = keys[64 * full ..], x.counts = counts[64 * full ..]
""")
"""Appends postings that are later than all others of their lists; 64 make a block. A row has the
``keys`` and the ``counts`` of one list; the counts of a concept are empty."""

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
        WITH row, row.keys[place] AS key, row.counts[place..place + 1] AS count
        MATCH (x:{{LABEL}} {namespace: $namespace, key: row.key})
        WITH key, count, coalesce(head(COLLECT {"""
    + _BLOCK
    + """}), x) AS x
        WITH x, key, count, coalesce(x.keys, []) AS keys, coalesce(x.counts, []) AS counts
        WITH x, key, count, keys, counts, size([it IN keys WHERE it < key]) AS before
        SET x.keys = keys[..before] + [key] + keys[before..],
            x.counts = counts[..before] + count + counts[before..]
    }
"""
)
"""Puts postings where they belong by their keys."""

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
    WITH x, row, holder, coalesce(holder.keys, []) AS keys, holder.counts AS counts
    WITH x, holder, keys, counts,
        [i IN range(0, size(keys) - 1) WHERE NOT keys[i] IN row.keys] AS left
    SET holder.keys = [i IN left | keys[i]],
        holder.counts = [i IN left WHERE size(counts) > 0 | counts[i]]
    WITH x, holder WHERE holder <> x AND size(holder.keys) = 0
    DELETE holder
"""
)
"""Takes postings out of their lists, ``keys`` of a row."""


def _read(
    names: LiteralString, label: LiteralString, list: LiteralString, total: LiteralString
) -> LiteralString:
    """The lists of some stems or concepts, with how many statements they have up to ``$t``, and
    the newest that meet a filter."""
    query: LiteralString = """
UNWIND {{NAMES}} AS name
MATCH (x:{{LABEL}} {namespace: $namespace, key: name})
WITH x, {{LIST}} + name AS list, coalesce(x.keys, []) AS newest, coalesce(x.counts, []) AS counted
// A block that is written while this is read has postings that were read already.
WITH x, list, newest, counted, coalesce(newest[0], 9223372036854775807) AS first
CALL (x, list, newest, first) {
    WITH x WHERE x.t_index <= $t
    RETURN x.{{TOTAL}} AS total
    UNION ALL
    WITH x, list, newest, first WHERE x.t_index > $t
    RETURN size([key IN newest WHERE key < $before]) + reduce(sum = 0, it IN COLLECT {
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = list AND p.last < first
        RETURN size([key IN p.keys WHERE key < $before])
    } | sum + it) AS total
}
WITH x, list, newest, counted, first, total WHERE total > 0
WITH x, total, COLLECT {
    CALL (list, newest, counted, first) {
        RETURN newest AS keys, counted AS counts
        UNION ALL
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.list = list AND p.last < first
        RETURN p.keys AS keys, p.counts AS counts
        ORDER BY p.namespace DESC, p.list DESC, p.last DESC
    }
    WITH keys, CASE WHEN size(counts) = size(keys) THEN counts END AS counts
    UNWIND range(size(keys) - 1, 0, -1) AS place
    WITH keys[place] AS key, counts[place] AS count
    WHERE key < $before AND (NOT $filtered OR key >= $since_key AND key < $until_key)
    MATCH (s:RecallMStatement {namespace: $namespace, key: key})
    USING INDEX SEEK s:RecallMStatement(namespace, key)
    WHERE {{STATEMENT_MEETS}}
    RETURN [key, s.session_key, count] LIMIT $limit
} AS rows
RETURN x.name AS name, total, [row IN rows | row[0]] AS keys, [row IN rows | row[1]] AS sessions"""
    query = query.replace("{{NAMES}}", names).replace("{{LABEL}}", label)
    return spelled(query.replace("{{LIST}}", list).replace("{{TOTAL}}", total))


POSTINGS: Final[LiteralString] = (
    _read("$stems", "RecallMStem", "'s'", "documents")
    + """,
    CASE WHEN none(row IN rows WHERE row[2] IS NULL) THEN [row IN rows | row[2]] END AS counts
"""
)
"""``counts`` are null where a list was changed between its keys and its counts."""

MENTIONS: Final[LiteralString] = _read("$names", "RecallMConcept", "'c'", "statements")


def newest_mention() -> LiteralString:
    """The expression of the key of the latest statement that mentions the concept ``c``, whose key
    is ``$concept``."""
    return """
coalesce(c.keys[-1], head(COLLECT {
    MATCH (p:RecallMPostings)
    WHERE p.namespace = $namespace AND p.list = 'c' + $concept AND p.last >= 0
    RETURN p.keys[-1] ORDER BY p.namespace DESC, p.list DESC, p.last DESC LIMIT 1
}))"""
