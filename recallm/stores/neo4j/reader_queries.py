"""Queries of readers; their conditions, with the parameters of all, stand in ``queries``.
Parameters are never null: Neo4j plans a query anew for each type that one takes.

A query has one column, ``row``. A list in that column has no null, unless a node was deleted while
the query read it (``recallm.stores.neo4j.reader``): what may be null stands in a list or a map
within the list.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.neo4j.queries import spelled

NAMESPACES: Final[LiteralString] = """
MATCH (n:RecallMNamespace)
WHERE n.name IS NOT NULL AND n.t > 0
RETURN n.name AS row
"""

_CORPUS: Final[LiteralString] = """[
    coalesce(n.t, 0), coalesce(n.statements, 0), coalesce(n.terms, 0), coalesce(n.sessions, 0)
]"""

OPEN: Final[LiteralString] = (
    """
OPTIONAL MATCH (n:RecallMNamespace {key: $key})
OPTIONAL MATCH (open:RecallMUpdate {namespace: n.rows, t: n.open_t})
WHERE open.expires IS NULL OR open.expires > $now
RETURN [coalesce(n.rows, -1), EXISTS {
        MATCH (u:RecallMUpdate) WHERE u.namespace = n.rows AND u.expires <= $now
    } OR EXISTS {
        MATCH (u:RecallMUpdate) WHERE u.namespace = n.rows AND u.withdrawn <= $withdrawn_by
    }, """
    + _CORPUS
    + """, coalesce(n.vector_bytes, '{}'), coalesce(n.vocabulary, 0),
    [n.model, n.origin, n.revision], [open.t, open.session_key, open.said, open.source]
] AS row
"""
)
"""No row has -1, the ``rows`` of a namespace that there is not."""

LATEST_SAID: Final[LiteralString] = """
MATCH (u:RecallMUpdate)
USING INDEX SEEK u:RecallMUpdate(namespace, said, t)
WHERE u.namespace = $namespace AND u.said <= $said AND u.t <= $t
WITH coalesce(max(u.t), 0) AS t, count(u) AS shown
RETURN [t, shown = COUNT {
    MATCH (u:RecallMUpdate) WHERE u.namespace = $namespace AND u.t > 0 AND u.t <= t
}] AS row
"""
"""The latest t that was said by a moment, and whether all updates up to that t were."""


def _passages(
    match: LiteralString,
    order: LiteralString = "u.t DESC",
    row: LiteralString = """[u.id, u.t, u.text, u.metadata, u {
    .source, .session, .speaker, .timestamp, .path, .key, .expires_at, .withdrawn
}]""",
) -> LiteralString:
    """Passages that a pattern with conditions finds; the filter's bounds of t stand in ``$after``
    and ``$last``."""
    return spelled(
        f"""
MATCH {match} AND u.t > $after AND u.t <= $last AND {{{{PASSAGE_FOUND}}}}
RETURN {row} AS row ORDER BY {order} LIMIT $limit"""
    )


def _by(index: LiteralString) -> LiteralString:
    return f"""(u:RecallMUpdate)
USING INDEX SEEK u:RecallMUpdate(namespace, {index})
WHERE u.namespace = $namespace"""


PASSAGES: Final[dict[str, LiteralString]] = {
    "id_key": _passages(_by("id_key") + " AND u.id_key IN $entries"),
    "item_key": _passages(_by("item_key") + " AND u.item_key IN $entries"),
    "lane": _passages(_by("lane") + " AND u.lane IN $entries"),
    "path": _passages(
        """(u:RecallMUpdate)-[under:UNDER]->(:RecallMUpdate)
WHERE under.namespace = $namespace AND under.path = $entries[0]
    AND under.t > $after AND under.t <= $last""",
        "under.namespace DESC, under.path DESC, under.t DESC",
    ),
    "t": _passages(_by("t"), "u.namespace DESC, u.t DESC"),
}
"""By the index in which the search enters: that of the ids, the item or the lane ``$entries``, of
what is at or below the path ``$entries``, else of all passages."""

T_INDEXES: Final[LiteralString] = _passages(_by("t"), "u.namespace, u.t", "u.t")

PATHS: Final[LiteralString] = spelled("""
MATCH (u:RecallMUpdate)-[under:UNDER]->(:RecallMUpdate)
WHERE under.namespace = $namespace AND under.path = $root AND under.t > 0 AND {{UPDATE_SEEN}}
RETURN DISTINCT u.path AS row
""")

POSTINGS: Final[LiteralString] = spelled("""
UNWIND $lists AS name
MATCH (x:RecallMPostings {namespace: $namespace, key: name, first: 0})
WITH name, x, x.totals AS totals
CALL (name, totals) {
    WITH totals WHERE totals[0] <= $t
    RETURN last(totals) AS total
    UNION ALL
    WITH name, totals WHERE coalesce(totals[0], $t + 1) > $t
    RETURN reduce(sum = 0, count IN COLLECT {
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.key = name AND p.first < $before
        RETURN size([key IN coalesce(p.keys, []) WHERE key < $before])
    } | sum + count) AS total
}
WITH * WHERE coalesce(total, 1) > 0
WITH x, total, COLLECT {
    CALL (name) {
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.key = name AND p.first < $before
        RETURN p ORDER BY p.namespace DESC, p.key DESC, p.first DESC
    }
    WITH coalesce(p.keys, []) AS keys, p.sessions AS sessions, p.counts AS counts
    WITH keys, CASE WHEN size(sessions) = size(keys) THEN sessions END AS sessions,
        CASE WHEN size(counts) = size(keys) THEN counts END AS counts
    UNWIND range(size(keys) - 1, 0, -1) AS place
    WITH keys[place] AS key, sessions[place] AS session, counts[place] AS count
    WHERE key >= ($after + 1) * 1048576 AND key < ($last + 1) * 1048576
        AND ($plain AND NOT $filtered OR EXISTS {
            MATCH (u:RecallMUpdate {namespace: $namespace, t: key / 1048576})
            USING INDEX SEEK u:RecallMUpdate(namespace, t)
            WHERE {{SHOWN}} AND (NOT $filtered OR {{MEETS}})
        })
    RETURN [key, session, count] LIMIT $limit
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
    }] AS row
""")
"""Of some posting lists: how many statements each has up to ``$t``, and its newest postings that
meet a filter, and the number and the name of each session.

The numbers of the postings are texts. The driver reads a list number by number, which takes
longer than the server needs to find them.

Where another transaction writes a block meanwhile, its lists may have different lengths. The
postings are null then, and the row is read again."""


def _beside(
    side: LiteralString, of: LiteralString, row: LiteralString, limit: LiteralString
) -> LiteralString:
    """The nearest statements before (<) or after (>) one in its lane."""
    order: LiteralString = " DESC" if side == "<" else ""
    return f"""
        MATCH (other:RecallMStatement)
        WHERE other.namespace = $namespace AND other.lane = {of}.lane AND other.key {side} {of}.key
            AND {{{{NEIGHBOUR_SEEN}}}}
        RETURN {row}
        ORDER BY other.namespace{order}, other.lane{order}, other.key{order} LIMIT {limit}
    """


STATEMENTS: Final[LiteralString] = spelled(
    """
CALL () {
    UNWIND $keys AS key
    MATCH (asked:RecallMStatement {namespace: $namespace, key: key})
    CALL (asked) {
        RETURN asked AS s
        UNION ALL"""
    + _beside("<", "asked", "other AS s", "$ahead")
    + "UNION ALL"
    + _beside(">", "asked", "other AS s", "$ahead")
    + """}
    RETURN DISTINCT s
}
MATCH (s)<-[:HAS]-(u:RecallMUpdate)
WHERE {{SHOWN}}
RETURN [s.key, u.id, s.text, u.metadata, s.content, s.traits, s.start, s.end, [
    u.timestamp, u.speaker, u.speaker_concept, u.source, u.session, u.session_key,
    head(COLLECT {"""
    + _beside("<", "s", "other.key", "1")
    + "}), head(COLLECT {"
    + _beside(">", "s", "other.key", "1")
    + """}),
    CASE WHEN u.key IS NOT NULL THEN u.path END
], u.t] AS row
ORDER BY s.key
"""
)
"""Statements, and up to ``$ahead`` of their lane before and after each. The update's t stands last:
null where a writer removed the update while the row was made."""

_SESSIONS_COUNTED: Final[LiteralString] = """COUNT {
    MATCH (x:RecallMSession)
    WHERE x.namespace = $namespace AND x.number <= $t
        AND (x.totals[0] <= $t OR EXISTS {
            MATCH (s:RecallMStatement)
            WHERE s.namespace = $namespace AND s.lane = x.key AND s.key < $before
        })
}"""

CORPUS: Final[LiteralString] = (
    """
OPTIONAL MATCH (n:RecallMNamespace {rows: $namespace})
CALL () {
    MATCH (s:RecallMStatement)
    WHERE s.namespace = $namespace AND s.key >= $first AND s.key < $end
    RETURN count(s) AS statements, coalesce(sum(s.length), 0) AS terms
}
RETURN ["""
    + _CORPUS
    + ", statements, terms, "
    + _SESSIONS_COUNTED
    + """] AS row
"""
)
"""The totals of the namespace, the statements and terms from the key ``$first`` to ``$end``, and
the sessions up to ``$t``."""

SIZES: Final[LiteralString] = (
    """
OPTIONAL MATCH (n:RecallMNamespace {rows: $namespace})
WITH """
    + _CORPUS
    + """ AS totals, COLLECT {
    UNWIND $lanes AS lane
    MATCH (x:RecallMSession {namespace: $namespace, key: lane})
    WITH lane, x, x.totals AS totals
    CALL (lane, totals) {
        WITH totals WHERE totals[0] <= $t
        RETURN totals[1] AS counted, totals[2] AS length
        // The plan would put a WHERE of its own behind the search, and read every statement.
        UNION ALL
        UNWIND CASE WHEN totals[0] > $t THEN [lane] ELSE [] END AS later
        MATCH (s:RecallMStatement)
        WHERE s.namespace = $namespace AND s.lane = later AND s.key < $before
        RETURN count(s) AS counted, coalesce(sum(s.length), 0) AS length
    }
    WITH x, counted, length WHERE counted > 0 AND x.name IS NOT NULL
    RETURN [x.name, counted, length]
} AS by_session
RETURN [totals, by_session] AS row
"""
)

_SHOWN_BY_T: Final = "EXISTS { MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t }"

_COUNTED: Final[tuple[tuple[LiteralString, ...], ...]] = (
    ("statements", "(x:RecallMStatement)", "x.key < $before"),
    ("vectors", "(x:RecallMStatement)", "x.key < $before AND x.model IS NOT NULL"),
    ("passages", "(x:RecallMUpdate)", "x.t > 0 AND x.t <= $t AND x.id IS NOT NULL"),
    (
        *("concepts", "(x:RecallMConcept)"),
        """x.key IS NOT NULL AND (EXISTS {
            MATCH (p:RecallMPostings)
            WHERE p.namespace = $namespace AND p.key = x.key AND p.first >= 0
                AND any(key IN p.keys WHERE key < $before)
        } OR EXISTS {
            MATCH (x)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t
        })""",
    ),
    ("summaries", "(x:RecallMConcept)", "x.key IS NOT NULL AND x.summary_t <= $t"),
    (
        *("relations", "(x:RecallMConcept)-[r:RELATED]->()"),
        "x.key IS NOT NULL AND r.ts[0] <= $t",
    ),
    ("entities", "(x:RecallMEntity)", "x.key IS NOT NULL AND " + _SHOWN_BY_T),
    ("triplets", "(x:RecallMTriplet)", "x.predicate IS NOT NULL AND " + _SHOWN_BY_T),
)

STATS: Final[LiteralString] = (
    "RETURN {"
    + "".join(
        [
            f"\n    {name}: COUNT {{ MATCH {pattern} WHERE x.namespace = $namespace AND {holds} }},"
            for name, pattern, holds in _COUNTED
        ]
    )
    + "\n    sessions: "
    + _SESSIONS_COUNTED
    + "\n} AS row"
)

_WITH_PARTS: Final[LiteralString] = """
RETURN [u.t, u { .* },
    COLLECT { MATCH (u)-[:HAS]->(s:RecallMStatement) RETURN [
        s.key, s.start, s.end, s.content, s.traits, [s.model, s.blob]
    ] },
    COLLECT {
        MATCH (u)<-[shown:SHOWN]-(x:RecallMElement)
        RETURN [coalesce(x.id, [
                head(COLLECT { MATCH (x)-[:SUBJECT]->(e) RETURN e.id }), x.name,
                head(COLLECT { MATCH (x)-[:OBJECT]->(e) RETURN e.id })
            ]), shown.key, shown.properties, coalesce(shown.description, []), CASE WHEN EXISTS {
                MATCH (x)-[earlier:SHOWN]->() WHERE earlier.key < shown.key
            } THEN [] ELSE COLLECT {
                MATCH (x)-[v:EMBEDDED]->(x) RETURN [v.name, v.blob]
            } END
        ]
    }
] AS row ORDER BY u.t
"""
"""The updates ``u`` with all that belongs to them; an entity's vectors stand at its first
evidence."""

UPDATES_AT: Final[LiteralString] = (
    """
UNWIND $ts AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
"""
    + _WITH_PARTS
)

UPDATES: Final[LiteralString] = (
    """
MATCH (u:RecallMUpdate)
WHERE u.namespace = $namespace AND u.t > $after AND u.t <= $t
WITH u ORDER BY u.t LIMIT $limit
"""
    + _WITH_PARTS
)
