"""Stored updates as ``PreparedUpdate`` values: for forgetting, and for ``GraphReader.dump``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any, Final, LiteralString

from recallm.model import PreparedUpdate, Summary
from recallm.stores.neo4j.values import content_in
from recallm.stores.semantics.reading import (
    dump_records,
    evidence_of,
    passage_fields,
    summary_of,
    update_of,
)

_Ask = Callable[..., Sequence[Any]]
"""Runs a query with its parameters, by name, in the namespace; the rows."""

_WITH_PARTS: Final[LiteralString] = """
RETURN [u.t, u { .* },
    COLLECT { MATCH (u)-[:HAS]->(s:RecallMStatement) RETURN [
        s.key, s.start, s.end, s.content, s.traits, [s.model, s.blob]
    ] },
    COLLECT {
        MATCH (u)<-[shown:SHOWN]-(x:RecallMEntity)
        RETURN [x.id, shown.key, shown.properties, shown.description, CASE WHEN EXISTS {
                MATCH (x)-[earlier:SHOWN]->() WHERE earlier.key < shown.key
            } THEN [] ELSE COLLECT {
                MATCH (x)-[:EMBEDDED]->(v:RecallMEntityVector) RETURN [v.model, v.blob]
            } END
        ]
    },
    COLLECT {
        MATCH (u)<-[shown:SHOWN]-(x:RecallMTriplet)
        RETURN [[
                head(COLLECT { MATCH (x)-[:SUBJECT]->(e) RETURN e.id }), x.name,
                head(COLLECT { MATCH (x)-[:OBJECT]->(e) RETURN e.id })
            ], shown.key, shown.properties, [], []
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

_PAGE: Final[LiteralString] = """
MATCH (u:RecallMUpdate)
WHERE u.namespace = $namespace AND u.t > $after AND u.t <= $t
WITH u ORDER BY u.t LIMIT $limit
"""

UPDATES: Final[LiteralString] = _PAGE + _WITH_PARTS

UPDATES_ALONE: Final[LiteralString] = (
    _PAGE + "RETURN [u.t, u { .* }, COUNT { (u)<-[:SHOWN]-() }] AS row ORDER BY u.t"
)
"""The same updates, with how many entities and triplets they show."""

SUMMARIES: Final[LiteralString] = """
MATCH (c:RecallMConcept)
WHERE c.namespace = $namespace AND c.key IS NOT NULL AND c.summary_t <= $t
RETURN [c.name, c.summary_t, c.summary, c.summary_terms, c.summary_traits] AS row
"""


def stored_updates(ask: _Ask, ts: Sequence[int]) -> list[PreparedUpdate]:
    """The updates at these t, ascending, as ``GraphReader.dump`` gives them."""
    return [_update(*row) for row in ask(UPDATES_AT, ts=list(ts))]


def dump(ask: _Ask) -> Iterator[PreparedUpdate | Summary]:
    """``GraphReader.dump`` without a snapshot: other writers may forget while it is read."""

    def page(after: int, limit: int) -> list[PreparedUpdate]:
        while found := ask(UPDATES, after=after, limit=limit):
            # An update that is still as it was had all its parts until now. From the first one on
            # that was forgotten, cut or joined meanwhile, the page is read again.
            now = ask(UPDATES_ALONE, after=after, limit=limit)
            pairs = zip(found, now, strict=False)
            if stable := [_update(*row) for row, _ in takewhile(_is_unchanged, pairs)]:
                return stable
        return []

    return dump_records(page, lambda: [summary_of(*row) for row in ask(SUMMARIES)])


def _is_unchanged(versions: tuple[list[Any], list[Any]]) -> bool:
    """Whether an update with its parts is what it is in a later row without them."""
    (t, node, _, entities, triplets), now = versions
    return [t, node, len(entities) + len(triplets)] == now


def _update(
    t: int,
    node: dict[str, Any],
    said: list[list[Any]],
    entities: list[list[Any]],
    triplets: list[list[Any]],
) -> PreparedUpdate:
    is_passage = node.get("id") is not None
    return update_of(
        t,
        passage_fields(node, node.get("path") or ()) if is_passage else None,
        session_key=node.get("session_key"),
        speaker_concept=node.get("speaker_concept"),
        neighbours=json.loads(node.get("neighbours") or "[]"),
        said=[
            (key, start, end, *content_in(content), traits)
            for key, start, end, content, traits, *_ in said
        ],
        # Else the vector is being written.
        vectors=[(key, *vector) for key, *_, vector in said if None not in vector],
        shown=[
            evidence_of(
                key if isinstance(key, str) else tuple(key),
                at,
                properties,
                description,
                dict(vectors),
            )
            for key, at, properties, description, vectors in [*entities, *triplets]
        ],
    )
