"""Conditions on what a reader may see, by the names under which they stand in queries.

Parameters: ``$t`` (the latest t to be seen), ``$before`` (the first key after it), ``$dated`` and
``$said`` (whether the horizon is a datetime, and which), ``$now`` (passages that expired by then
are hidden), ``$plain`` (nothing is hidden but later updates).
"""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = ["spelled"]

_SHOWN: Final[LiteralString] = """(
    $plain OR (NOT $dated OR it.said <= $said) AND (it.expires IS NULL OR it.expires > $now)
)"""


def _shown(variable: LiteralString) -> LiteralString:
    """That the update to which a node or relationship belongs is not hidden but by its t."""
    return _SHOWN.replace("it.", variable + ".")


_UPDATE_SEEN: Final[LiteralString] = "(u.t <= $t AND " + _shown("u") + ")"
_STATEMENT_SEEN: Final[LiteralString] = "(s.key < $before AND " + _shown("s") + ")"
_EVIDENCE_SEEN: Final[LiteralString] = "(e.t <= $t AND " + _shown("e") + ")"

_PASSAGE_MEETS: Final[LiteralString] = """(
    ($speakers = [] OR u.speaker IN $speakers)
    AND all(entry IN $metadata WHERE entry IN u.metadata_entries)
    AND ($items = [] OR u.item_key IN $items)
)"""

_UPDATE_MEETS: Final[LiteralString] = """(
    NOT $filtered OR (
        (NOT $timed OR u.said >= $since_said AND u.said <= $until_said)
        AND ($lanes = [] OR u.lane IN $lanes)
        AND ($paths = [] OR any(path IN $paths WHERE path IN u.paths))
        AND {{PASSAGE_MEETS}}
    )
)""".replace("{{PASSAGE_MEETS}}", _PASSAGE_MEETS)
"""That a passage meets a filter, but for bounds of t: the query's index knows those."""

_STATEMENT_MEETS: Final[LiteralString] = """(
    NOT $filtered OR (
        s.key >= $since_key AND s.key < $until_key
        AND (NOT $timed OR s.said >= $since_said AND s.said <= $until_said)
        AND ($lanes = [] OR s.lane IN $lanes)
        AND ($paths = [] OR any(path IN $paths WHERE path IN s.paths))
        AND ($speakers = [] AND $metadata = [] AND $items = [] OR EXISTS {
            MATCH (s)<-[:HAS]-(u:RecallMUpdate) WHERE {{PASSAGE_MEETS}}
        })
    )
)""".replace("{{PASSAGE_MEETS}}", _PASSAGE_MEETS)

_CONDITIONS: Final[dict[LiteralString, LiteralString]] = {
    "{{UPDATE_SEEN}}": _UPDATE_SEEN,
    "{{PASSAGE_FOUND}}": "u.id IS NOT NULL AND " + _UPDATE_SEEN + " AND " + _UPDATE_MEETS,
    "{{STATEMENT_SEEN}}": _STATEMENT_SEEN,
    # Of a statement that is found by its key: with a second condition on the key, the planner may
    # take that one, and read all keys.
    "{{STATEMENT_SHOWN}}": _shown("s"),
    "{{STATEMENT_FOUND}}": _STATEMENT_SEEN + " AND " + _STATEMENT_MEETS,
    "{{STATEMENT_HIDDEN}}": """(
        $dated AND coalesce(s.said > $said, true) OR coalesce(s.expires <= $now, false)
    )""",
    "{{NEIGHBOUR_SEEN}}": "(other.key < $before AND " + _shown("other") + ")",
    "{{VECTOR_SEEN}}": "($plain OR EXISTS { MATCH (v)<-[:EMBEDDED]-(s:RecallMStatement) WHERE "
    + _shown("s")
    + " })",
    "{{RELATION_SEEN}}": "($plain OR EXISTS { MATCH (a)-[e:EVIDENCE]-(b) WHERE "
    + _EVIDENCE_SEEN
    + " })",
    # Where nothing but later updates is hidden, a concept's totals say whether one touches it.
    "{{CONCEPT_SEEN}}": """(
        $plain OR EXISTS { MATCH (c)<-[:MENTIONS]-(s:RecallMStatement) WHERE """
    + _STATEMENT_SEEN
    + """ } OR EXISTS {
            MATCH (c)<-[:STANDS_ON]-(:RecallMEntity)-[:SHOWN]->(u:RecallMUpdate) WHERE """
    + _UPDATE_SEEN
    + """
        }
    )""",
}


def spelled(query: LiteralString) -> LiteralString:
    """A query with its conditions in place of their names."""
    for name, condition in _CONDITIONS.items():
        query = query.replace(name, condition)
    return query
