"""Conditions on what a reader may see and on what it looks for, by their names in queries.

Parameters: ``$t`` (the latest t to be seen), ``$before`` (the first key after it), ``$hidden`` (the
t up to it of what has expired, is withdrawn, or was said later), ``$plain`` (there is no such t);
those of a filter in ``recallm.stores.neo4j.reader``.
"""

from __future__ import annotations

from typing import Final, LiteralString

from recallm.stores.semantics.reader import literal

_CONDITIONS: Final[dict[LiteralString, LiteralString]] = {
    # But for the filter's bounds of t: the query's index knows those.
    "PASSAGE_FOUND": "u.id IS NOT NULL AND {{UPDATE_SEEN}} AND (NOT $filtered OR {{MEETS}})",
    "NEIGHBOUR_SEEN": "(other.key < $before AND NOT other.key / 1048576 IN $hidden)",
    "RELATION_SEEN": "any(t IN r.ts WHERE t <= $t AND NOT t IN $hidden)",
    # Where nothing but later updates is hidden, a concept's totals say whether one touches it.
    "CONCEPT_SEEN": """(
        $plain OR EXISTS {
            MATCH (c)<-[:MENTIONS]-(s:RecallMStatement)
            WHERE s.key < $before AND {{STATEMENT_SHOWN}}
        } OR EXISTS {
            MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate)
            WHERE {{UPDATE_SEEN}}
        }
    )""",
    "STATEMENT_SHOWN": "NOT s.key / 1048576 IN $hidden",
    "UPDATE_SEEN": "(u.t <= $t AND NOT u.t IN $hidden)",
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
