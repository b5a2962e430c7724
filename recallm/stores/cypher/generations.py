"""Queries about the generations of a namespace's rows.

What a namespace holds carries the name that its node has in ``rows``. To forget everything, or to
fill a namespace from an archive, ``rows`` is pointed at other rows in one small transaction:
however much is deleted or written, it happens at once, and no transaction grows with it. Rows that
nothing points at stand under a namespace node without a name, which has ``purge_after``: from that
moment (milliseconds since 1970) they are to be deleted.
"""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = ["CLEAR", "DISCARD", "GARBAGE", "LOCK_GARBAGE", "PUBLISH", "PURGE", "STAGE"]

STAGE: Final[LiteralString] = """
CREATE (:RecallMNamespace {
    key: $stage, rows: $stage, t: 0, statements: 0, terms: 0, sessions: 0,
    purge_after: timestamp() + $patience
})
"""

PUBLISH: Final[LiteralString] = """
MATCH (n:RecallMNamespace {rows: $namespace})
MATCH (staged:RecallMNamespace {key: $stage})
WITH n, staged, staged {
    .t, .statements, .terms, .sessions, .open_session, .open_said, .model, .origin, .revision,
    .vector_bytes
} AS totals
DELETE staged
SET n += totals, n.rows = $stage
RETURN n.t AS t
"""

CLEAR: Final[LiteralString] = """
MATCH (staged:RecallMNamespace {key: $stage})
SET staged.purge_after = 0
"""

GARBAGE: Final[LiteralString] = """
MATCH (n:RecallMNamespace)
WHERE n.purge_after <= timestamp()
RETURN n.key AS key, n.rows AS rows
"""

LOCK_GARBAGE: Final[LiteralString] = """
MATCH (n:RecallMNamespace {key: $key})
SET n.locked = true
RETURN n.key AS key
"""

PURGE: Final[tuple[LiteralString, ...]] = (
    """MATCH (x:RecallMVector)
    WHERE x.namespace = $namespace AND x.key IS NOT NULL AND x.model IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMEntityVector)
    WHERE x.namespace = $namespace AND x.model_key IS NOT NULL AND x.entity IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMStatement) WHERE x.namespace = $namespace AND x.key IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (:RecallMConcept)-[x:EVIDENCE]->(:RecallMConcept)
    WHERE x.namespace = $namespace AND x.t IS NOT NULL
    WITH x LIMIT $limit DELETE x RETURN count(*) AS deleted""",
    """MATCH (a:RecallMConcept)-[x:RELATES]->(:RecallMConcept)
    WHERE a.namespace = $namespace AND a.key IS NOT NULL
    WITH x LIMIT $limit DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMSummary)
    WHERE x.namespace = $namespace AND x.concept IS NOT NULL AND x.t_index IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMUpdate) WHERE x.namespace = $namespace AND x.t IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMTriplet) WHERE x.namespace = $namespace AND x.predicate IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMEntity) WHERE x.namespace = $namespace AND x.key IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMConcept) WHERE x.namespace = $namespace AND x.key IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMStem) WHERE x.namespace = $namespace AND x.key IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
    """MATCH (x:RecallMSession) WHERE x.namespace = $namespace AND x.key IS NOT NULL
    WITH x LIMIT $limit DETACH DELETE x RETURN count(*) AS deleted""",
)
"""Each is run until it deletes nothing."""

DISCARD: Final[LiteralString] = """
MATCH (n:RecallMNamespace {key: $key})
DELETE n
"""
