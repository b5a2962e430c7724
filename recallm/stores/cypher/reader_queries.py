"""Queries of readers; their conditions, with the parameters of all, stand in ``conditions``.
Parameters are never null: Neo4j plans a query anew for each type that one takes.

A query has one column, ``row``. A list in that column has no null, unless a node was deleted while
the query read it (``recallm.stores.neo4j.joining``): what may be null stands in a list or a map
within the list.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.cypher.conditions import spelled

NAMESPACES: Final[LiteralString] = """
MATCH (n:RecallMNamespace)
WHERE n.name IS NOT NULL AND (n.t > 0 OR EXISTS {
    MATCH (u:RecallMUpdate) WHERE u.namespace = n.rows AND u.t IS NOT NULL
})
RETURN n.name AS row
"""

_CORPUS: Final[LiteralString] = """[
    coalesce(n.t, 0), coalesce(n.statements, 0), coalesce(n.terms, 0), coalesce(n.sessions, 0)
]"""

OPEN: Final[LiteralString] = (
    """
OPTIONAL MATCH (n:RecallMNamespace {key: $key})
RETURN [coalesce(n.rows, -1), EXISTS {
        MATCH (u:RecallMUpdate) WHERE u.namespace = n.rows AND u.expires <= $now
    } OR EXISTS {
        MATCH (u:RecallMUpdate) WHERE u.namespace = n.rows AND u.withdrawn <= $withdrawn_by
    }, """
    + _CORPUS
    + """, coalesce(n.vector_bytes, '{}'), coalesce(n.vocabulary, 0),
    [n.model, n.origin, n.revision]
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


def _passages(match: LiteralString, order: LiteralString = "u.t DESC") -> LiteralString:
    """Passages that a pattern with conditions finds; the filter's bounds of t stand in ``$after``
    and ``$last``."""
    return spelled(
        match
        + """
    AND u.t > $after AND u.t <= $last AND {{PASSAGE_FOUND}}
RETURN [u.id, u.t, u.text, u.metadata, u {
    .source, .session, .speaker, .timestamp, .path, .key, .expires_at, .withdrawn
}] AS row ORDER BY """
        + order
        + " LIMIT $limit"
    )


PASSAGES: Final[dict[str, LiteralString]] = {
    "ids": _passages("""
UNWIND $entry AS id
MATCH (u:RecallMUpdate {namespace: $namespace, id_key: id})
USING INDEX SEEK u:RecallMUpdate(namespace, id_key)
WHERE u.id IS NOT NULL"""),
    "item": _passages("""
MATCH (u:RecallMUpdate)
USING INDEX SEEK u:RecallMUpdate(namespace, item_key)
WHERE u.namespace = $namespace AND u.item_key = $entry"""),
    "path": _passages(
        """
MATCH (u:RecallMUpdate)-[under:UNDER]->(:RecallMUpdate)
WHERE under.namespace = $namespace AND under.path = $entry
    AND under.t > $after AND under.t <= $last""",
        "under.namespace DESC, under.path DESC, under.t DESC",
    ),
    "session": _passages("""
MATCH (u:RecallMUpdate)
USING INDEX SEEK u:RecallMUpdate(namespace, lane)
WHERE u.namespace = $namespace AND u.lane = $entry"""),
    "t": _passages(
        """
MATCH (u:RecallMUpdate)
USING INDEX SEEK u:RecallMUpdate(namespace, t)
WHERE u.namespace = $namespace""",
        "u.namespace DESC, u.t DESC",
    ),
}
"""By where the search enters: the ids or the item ``$entry``, what is at or below the path
``$entry``, what is in the lane ``$entry``, else all passages."""

PATHS: Final[LiteralString] = spelled("""
MATCH (u:RecallMUpdate)-[under:UNDER]->(:RecallMUpdate)
WHERE under.namespace = $namespace AND under.path = $root AND under.t > 0 AND {{UPDATE_SEEN}}
RETURN DISTINCT u.path AS row
""")

_STATEMENT_ROWS: Final[LiteralString] = """
RETURN [s.key, u.id, s.text, u.metadata, s.content, s.traits, s.start, s.end, [
    u.timestamp, u.speaker, u.speaker_concept, u.source, u.session, u.session_key,
    head(COLLECT {
        MATCH (other:RecallMStatement)
        WHERE other.namespace = $namespace AND other.lane = s.lane AND other.key < s.key
            AND {{NEIGHBOUR_SEEN}}
        RETURN other.key
        ORDER BY other.namespace DESC, other.lane DESC, other.key DESC LIMIT 1
    }),
    head(COLLECT {
        MATCH (other:RecallMStatement)
        WHERE other.namespace = $namespace AND other.lane = s.lane AND other.key > s.key
            AND {{NEIGHBOUR_SEEN}}
        RETURN other.key ORDER BY other.namespace, other.lane, other.key LIMIT 1
    }),
    CASE WHEN u.key IS NOT NULL THEN u.path END
]] AS row
"""

STATEMENTS: Final[LiteralString] = spelled(
    """
CALL () {
    UNWIND $keys AS key
    MATCH (asked:RecallMStatement {namespace: $namespace, key: key})
    CALL (asked) {
        RETURN asked AS s
        UNION ALL
        MATCH (other:RecallMStatement)
        WHERE other.namespace = $namespace AND other.lane = asked.lane AND other.key < asked.key
            AND {{NEIGHBOUR_SEEN}}
        RETURN other AS s
        ORDER BY other.namespace DESC, other.lane DESC, other.key DESC LIMIT $ahead
        UNION ALL
        MATCH (other:RecallMStatement)
        WHERE other.namespace = $namespace AND other.lane = asked.lane AND other.key > asked.key
            AND {{NEIGHBOUR_SEEN}}
        RETURN other AS s ORDER BY other.namespace, other.lane, other.key LIMIT $ahead
    }
    RETURN DISTINCT s
}
MATCH (s)<-[:HAS]-(u:RecallMUpdate)
WHERE {{SHOWN}}"""
    + _STATEMENT_ROWS
    + "ORDER BY s.key\n"
)
"""Statements, and up to ``$ahead`` of their lane before and after each."""

_SESSIONS_COUNTED: Final[LiteralString] = """COUNT {
    MATCH (x:RecallMSession)
    WHERE x.namespace = $namespace AND x.number <= $t AND x.statements > 0
        AND (x.t_index <= $t OR EXISTS {
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
    CALL (x, lane) {
        WITH x WHERE x.t_index <= $t
        RETURN x.statements AS counted, x.terms AS length
        // The plan would put a WHERE of its own behind the search, and read every statement.
        UNION ALL
        UNWIND CASE WHEN x.t_index > $t THEN [lane] ELSE [] END AS later
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

T_INDEXES: Final[LiteralString] = spelled("""
MATCH (u:RecallMUpdate)
USING INDEX SEEK u:RecallMUpdate(namespace, t)
WHERE u.namespace = $namespace AND u.t > $after AND u.t <= $last AND {{PASSAGE_FOUND}}
RETURN u.t AS row ORDER BY u.namespace, u.t
""")

STATS: Final[LiteralString] = (
    """
CALL () {
    MATCH (s:RecallMStatement) WHERE s.namespace = $namespace AND s.key < $before
    RETURN count(s) AS statements, count(s.model) AS vectors
}
CALL () {
    MATCH (c:RecallMConcept)
    WHERE c.namespace = $namespace AND c.key IS NOT NULL AND (EXISTS {
        MATCH (s:RecallMStatement)-[:MENTIONS]->(c) WHERE s.key < $before
    } OR EXISTS {
        MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t
    })
    RETURN count(c) AS concepts, count(CASE WHEN c.summary_t <= $t THEN 1 END) AS summaries
}
RETURN {
    statements: statements, vectors: vectors, concepts: concepts, summaries: summaries,
    sessions: """
    + _SESSIONS_COUNTED
    + """,
    passages: COUNT {
        MATCH (u:RecallMUpdate)
        WHERE u.namespace = $namespace AND u.t > 0 AND u.t <= $t AND u.id IS NOT NULL
    },
    relations: COUNT {
        MATCH (a:RecallMConcept)-[r:RELATED]->()
        WHERE a.namespace = $namespace AND a.key IS NOT NULL AND r.ts[0] <= $t
    },
    entities: COUNT {
        MATCH (x:RecallMEntity)
        WHERE x.namespace = $namespace AND x.key IS NOT NULL
            AND EXISTS { MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t }
    },
    triplets: COUNT {
        MATCH (x:RecallMTriplet)
        WHERE x.namespace = $namespace AND x.predicate IS NOT NULL
            AND EXISTS { MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE u.t <= $t }
    }
} AS row
"""
)
