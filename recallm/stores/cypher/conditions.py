"""Conditions on what a reader may see and on what it looks for, by their names in queries.

Parameters: ``$t`` (the latest t to be seen), ``$before`` (the first key after it), ``$dated`` and
``$said`` (whether the horizon is a datetime, and which), ``$now`` (passages that expired by then
are hidden), ``$withdrawn_by`` (passages that are withdrawn from that t or an earlier one on are
hidden), ``$plain`` (nothing is hidden but later updates); those of a filter in
``recallm.stores.neo4j.reader``. A list of all that is hidden would be shorter to say: with 20,000
hidden updates, each query took 200 ms longer.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.semantics.reader import literal

_SHOWN: Final[LiteralString] = """(
    $plain OR (NOT $dated OR u.said <= $said) AND (u.expires IS NULL OR u.expires > $now)
        AND (u.withdrawn IS NULL OR u.withdrawn > $withdrawn_by)
)"""

_CONDITIONS: Final[dict[LiteralString, LiteralString]] = {
    # But for the filter's bounds of t: the query's index knows those.
    "PASSAGE_FOUND": "u.id IS NOT NULL AND {{UPDATE_SEEN}} AND (NOT $filtered OR {{MEETS}})",
    "STATEMENT_SHOWN": """(
        $plain OR EXISTS { MATCH (s)<-[:HAS]-(u:RecallMUpdate) WHERE {{SHOWN}} }
    )""",
    # Where it is named, ``u`` is the update of another statement.
    "NEIGHBOUR_SEEN": """(other.key < $before AND ($plain OR EXISTS {
        MATCH (other)<-[:HAS]-(of:RecallMUpdate) WHERE """
    + _SHOWN.replace("u.", "of.")
    + """
    }))""",
    "RELATION_SEEN": """(
        $plain OR EXISTS {
        UNWIND range(size(r.ts) - 1, 0, -1) AS place
        WITH r.ts[place] AS t WHERE t <= $t
        MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
        USING INDEX SEEK u:RecallMUpdate(namespace, t)
        WHERE {{SHOWN}}
        RETURN u
    })""",
    # Where nothing but later updates is hidden, a concept's totals say whether one touches it.
    "CONCEPT_SEEN": """(
        $plain OR EXISTS {
            {{MENTIONED_AT}} MATCH (u:RecallMUpdate {namespace: $namespace, t: at / 1048576})
            USING INDEX SEEK u:RecallMUpdate(namespace, t)
            WHERE {{UPDATE_SEEN}}
            RETURN u
        } OR EXISTS {
            MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate)
            WHERE {{UPDATE_SEEN}}
        }
    )""",
    # Clauses: the keys of the statements that mention the concept ``c``.
    "MENTIONED_AT": """
        MATCH (p:RecallMPostings)
        WHERE p.namespace = $namespace AND p.key = c.key AND p.first >= 0
        UNWIND p.keys AS at
    """,
    "UPDATE_SEEN": "(u.t <= $t AND {{SHOWN}})",
    "SHOWN": _SHOWN,
    "MEETS": """(
        (NOT $timed OR u.said >= $since_said AND u.said <= $until_said)
        AND ($lanes = [] OR u.lane IN $lanes)
        AND (NOT $sessionless OR u.session_key IS NULL)
        AND ($paths = [] OR any(path IN $paths WHERE path IN u.paths))
        AND ($speakers = [] OR u.speaker IN $speakers)
        AND all(entry IN $metadata WHERE entry IN u.metadata_entries)
        AND ($items = [] OR u.item_key IN $items)
    )""",
}
"""A condition may name those after it."""


def spelled(query: LiteralString, **parts: LiteralString) -> LiteralString:
    """A query with its parts and its conditions in place of their names."""
    for name, part in (*parts.items(), *_CONDITIONS.items()):
        query = query.replace(literal("{{" + name + "}}"), part)
    return query
