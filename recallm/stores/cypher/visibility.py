"""What a reader may see of a node or relationship, as conditions inside of its queries."""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = [
    "CONCEPT_SEEN",
    "EVIDENCE_SEEN",
    "MEETS",
    "NEIGHBOUR_SEEN",
    "RELATION_SEEN",
    "STATEMENT_HIDDEN",
    "STATEMENT_SEEN",
    "STATEMENT_SHOWN",
    "UPDATE_MEETS",
    "UPDATE_SEEN",
]

UPDATE_SEEN: Final[LiteralString] = """(
    u.t <= $t AND ($plain OR (NOT $dated OR u.said <= $said)
        AND (u.expires IS NULL OR u.expires > $now))
)"""

STATEMENT_SHOWN: Final[LiteralString] = """(
    $plain OR (NOT $dated OR s.said <= $said) AND (s.expires IS NULL OR s.expires > $now)
)"""
"""For statements that are found by their key: with a second condition on the key, the planner may
take that one, and read all keys."""

STATEMENT_SEEN: Final[LiteralString] = "(s.key < $before AND " + STATEMENT_SHOWN + ")"

EVIDENCE_SEEN: Final[LiteralString] = """(
    e.t <= $t AND ($plain OR (NOT $dated OR e.said <= $said)
        AND (e.expires IS NULL OR e.expires > $now))
)"""

NEIGHBOUR_SEEN: Final[LiteralString] = """(
    other.key < $before AND ($plain OR (NOT $dated OR other.said <= $said)
        AND (other.expires IS NULL OR other.expires > $now))
)"""

STATEMENT_HIDDEN: Final[LiteralString] = """(
    $dated AND coalesce(s.said > $said, true) OR coalesce(s.expires <= $now, false)
)"""

RELATION_SEEN: Final[LiteralString] = (
    """(
    $plain AND r.first <= $t
    OR NOT $plain AND EXISTS { MATCH (a)-[e:EVIDENCE]->(b) WHERE """
    + EVIDENCE_SEEN
    + """ }
)"""
)

CONCEPT_SEEN: Final[LiteralString] = (
    """(
    $plain OR EXISTS { MATCH (c)<-[:MENTIONS]-(s:RecallMStatement) WHERE """
    + STATEMENT_SEEN
    + """ } OR EXISTS {
        MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + UPDATE_SEEN
    + """
    }
)"""
)
"""Whether something that is shown touches a concept. Where nothing but later updates is hidden, its
totals say whether something does."""

_PASSAGE_MEETS: Final[LiteralString] = """(
    ($speakers = [] OR u.speaker IN $speakers)
    AND all(entry IN $metadata WHERE entry IN u.metadata)
    AND ($items = [] OR u.item_key IN $items)
)"""

MEETS: Final[LiteralString] = (
    """(
    NOT $filtered OR (
        s.key >= $since_key AND s.key < $until_key
        AND (NOT $timed OR s.said >= $since_said AND s.said <= $until_said)
        AND ($lanes = [] OR s.lane IN $lanes)
        AND ($paths = [] OR any(path IN $paths WHERE path IN s.paths))
        AND ($speakers = [] AND $metadata = [] AND $items = [] OR EXISTS {
            MATCH (s)<-[:HAS]-(u:RecallMUpdate)
            WHERE """
    + _PASSAGE_MEETS
    + """
        })
    )
)"""
)
"""Whether a statement meets a filter."""

UPDATE_MEETS: Final[LiteralString] = (
    """(
    NOT $filtered OR (
        (NOT $timed OR u.said >= $since_said AND u.said <= $until_said)
        AND ($lanes = [] OR u.lane IN $lanes)
        AND ($paths = [] OR any(path IN $paths WHERE path IN u.paths))
        AND """
    + _PASSAGE_MEETS
    + """
    )
)"""
)
"""Whether a passage meets a filter, but for bounds of t: the query's index knows those."""
