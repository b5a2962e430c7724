"""Conditions on what a reader may see and on what it looks for, by their names in queries.

Parameters: ``$t`` (the latest t to be seen), ``$before`` (the first key after it), ``$dated`` and
``$said`` (whether the horizon is a datetime, and which), ``$now`` (passages that expired by then
are hidden), ``$withdrawn_by`` (passages that are withdrawn from that t or an earlier one on are
hidden), ``$plain`` (nothing is hidden but later updates); those of a filter in
``recallm.stores.neo4j.reader``.
"""

from __future__ import annotations

from typing import Final, LiteralString


def _shown(variable: LiteralString) -> LiteralString:
    """That the update to which a node or relationship belongs is not hidden but by its t."""
    return """(
    $plain OR (NOT $dated OR it.said <= $said) AND (it.expires IS NULL OR it.expires > $now)
        AND (it.withdrawn IS NULL OR it.withdrawn > $withdrawn_by)
)""".replace("it.", variable + ".")


_UPDATE_SEEN: Final[LiteralString] = "(u.t <= $t AND " + _shown("u") + ")"
_STATEMENT_SEEN: Final[LiteralString] = "(s.key < $before AND " + _shown("s") + ")"

_MEETS: Final[LiteralString] = """
    (NOT $timed OR it.said >= $since_said AND it.said <= $until_said)
    AND ($lanes = [] OR it.lane IN $lanes)
    AND (NOT $sessionless OR it.session_key IS NULL)
    AND ($paths = [] OR any(path IN $paths WHERE path IN it.paths))
    AND ($speakers = [] OR it.speaker IN $speakers)
    AND all(entry IN $metadata WHERE entry IN it.metadata_entries)
    AND ($items = [] OR it.item_key IN $items)
"""

_CONDITIONS: Final[dict[LiteralString, LiteralString]] = {
    "UPDATE_SEEN": _UPDATE_SEEN,
    # But for the filter's bounds of t: the query's index knows those.
    "PASSAGE_FOUND": "u.id IS NOT NULL AND "
    + _UPDATE_SEEN
    + " AND (NOT $filtered OR "
    + _MEETS.replace("it.", "u.")
    + ")",
    # Of a statement that is found by its key: with a second condition on the key, the planner may
    # take that one, and read all keys.
    "STATEMENT_SHOWN": _shown("s"),
    "STATEMENT_MEETS": "("
    + _shown("s")
    + " AND (NOT $filtered OR "
    + _MEETS.replace("it.", "s.")
    + "))",
    "STATEMENT_HIDDEN": """(
        $dated AND coalesce(s.said > $said, true) OR coalesce(s.expires <= $now, false)
    )""",
    "NEIGHBOUR_SEEN": "(other.key < $before AND " + _shown("other") + ")",
    "RELATION_SEEN": """(
        $plain OR EXISTS {
        UNWIND range(size(r.ts) - 1, 0, -1) AS place
        WITH r.ts[place] AS t WHERE t <= $t
        MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
        USING INDEX SEEK u:RecallMUpdate(namespace, t)
        WHERE """
    + _shown("u")
    + """
        RETURN u
    })""",
    # Where nothing but later updates is hidden, a concept's totals say whether one touches it.
    "CONCEPT_SEEN": "($plain OR EXISTS { MATCH (c)<-[:MENTIONS]-(s:RecallMStatement) WHERE "
    + _STATEMENT_SEEN
    + """ } OR EXISTS {
        MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + " })",
}


def literal(text: str) -> LiteralString:
    """A text that is made of literals and numbers alone, for the type checker."""
    return text  # pyright: ignore[reportReturnType]


def spelled(query: LiteralString, **parts: LiteralString) -> LiteralString:
    """A query with its parts and its conditions in place of their names."""
    for name, part in (*parts.items(), *_CONDITIONS.items()):
        query = query.replace(literal("{{" + name + "}}"), part)
    return query
