"""The nearest vectors by Neo4j's own search.

An index has the vectors of all namespaces of a database, and is asked for so many that enough of
them should be of this namespace. Where fewer than wanted are left, the server compares all vectors
that may be found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString

from recallm.stores.cypher.conditions import spelled
from recallm.stores.neo4j.stored import Ask
from recallm.stores.neo4j.values import key_of
from recallm.stores.neo4j.vector_index import Kind, VectorIndexes, floats_name

__all__ = ["NamespaceShare", "read_nearest_entities", "read_nearest_statements"]

_LEAST_STATEMENTS: Final = 2000
"""Statements from which on the index is asked: fewer vectors are read, and compared in memory, as
fast."""

_LEAST_SHARE: Final = 0.05
"""Of a namespace in the vectors of its database, likewise."""

_OVER_FETCH: Final = 2
"""Times as many vectors as wanted are asked for."""

_OVER_FETCH_ENTITIES: Final = 8
"""Likewise for entities, whose share is not known."""

_MOST: Final = 10_000
"""Vectors that are asked for at once."""


def _query(match: LiteralString, row: LiteralString, every: LiteralString) -> LiteralString:
    """The index's nearest that meet a pattern with conditions; all that do, compared, where these
    are fewer than wanted."""
    return spelled(
        """
CALL () {
    UNWIND $indexes AS index
    CALL db.index.vector.queryNodes(index, $fetched, $vector) YIELD node AS v, score
    WHERE v.namespace = $namespace
    MATCH """
        + match
        + """
    RETURN collect(["""
        + row
        + """, score]) AS near
}
CALL (near) {
    UNWIND CASE WHEN size(near) < $limit THEN [] ELSE near END AS it
    RETURN it[0] AS place, it[1] AS score
    UNION ALL
    // The plan would put a WHERE of its own behind the search.
    UNWIND CASE WHEN size(near) < $limit THEN [1] ELSE [] END AS wanting
    MATCH """
        + every
        + """
    MATCH """
        + match
        + """ AND v[$floats_name] IS NOT NULL
    WITH """
        + row
        + """ AS place, vector.similarity.cosine(v[$floats_name], $vector) AS score
    RETURN place, score ORDER BY score DESC, place LIMIT $limit
}
RETURN place, score ORDER BY score DESC LIMIT $limit
"""
    )


NEAREST_STATEMENTS: Final[LiteralString] = _query(
    "(v)<-[:EMBEDDED]-(s:RecallMStatement) WHERE {{STATEMENT_FOUND}}",
    "s.key",
    "(s:RecallMStatement) WHERE s.namespace = $namespace AND s.key < $before",
)

NEAREST_ENTITIES: Final[LiteralString] = _query(
    """(v)<-[:EMBEDDED]-(e:RecallMEntity)
    WHERE EXISTS { MATCH (e)-[:SHOWN]->(u:RecallMUpdate) WHERE {{UPDATE_SEEN}} }""",
    "e.id",
    """(v:RecallMEntityVector)
    WHERE v.namespace = $namespace AND v.model_key = $model_key AND v.entity IS NOT NULL""",
)
"""``$indexes`` has the name of an index, or nothing. A score is (1 + cosine) / 2."""


class NamespaceShare:
    """How many of the vectors of statements in a database are of one namespace."""

    def __init__(self, statements: int, all_vectors: int) -> None:
        self._statements = statements
        self._all = max(all_vectors, statements, 1)

    @property
    def is_large(self) -> bool:
        """Whether the index finds the namespace's vectors faster than a comparison in memory."""
        enough = self._statements >= _LEAST_STATEMENTS
        return enough and self._statements >= _LEAST_SHARE * self._all

    def fetched(self, limit: int) -> int:
        """How many vectors to ask the index for, so that ``limit`` should be of the namespace."""
        return min(_OVER_FETCH * limit * self._all // max(self._statements, 1) + 1, _MOST)


def read_nearest_statements(
    ask: Ask,
    indexes: VectorIndexes,
    vector: Sequence[float],
    *,
    model: str,
    limit: int,
    share: NamespaceShare,
    conditions: Mapping[str, Any],
) -> list[tuple[int, float]]:
    """``VectorSearchReader.nearest_statements``; ``conditions`` are the parameters of a filter."""
    given = {"fetched": share.fetched(limit), **conditions}
    found = _nearest(ask, NEAREST_STATEMENTS, "statement", indexes, vector, model, limit, given)
    return sorted(found, key=lambda it: (-it[1], -it[0]))


def read_nearest_entities(
    ask: Ask, indexes: VectorIndexes, vector: Sequence[float], *, model: str, limit: int
) -> list[tuple[str, float]]:
    """``VectorSearchReader.nearest_entities``."""
    given = {"fetched": min(_OVER_FETCH_ENTITIES * limit, _MOST), "model_key": key_of(model)}
    found = _nearest(ask, NEAREST_ENTITIES, "entity", indexes, vector, model, limit, given)
    return sorted(found, key=lambda it: (-it[1], it[0]))


def _nearest(
    ask: Ask,
    query: LiteralString,
    kind: Kind,
    indexes: VectorIndexes,
    vector: Sequence[float],
    model: str,
    limit: int,
    given: Mapping[str, Any],
) -> list[tuple[Any, float]]:
    floats = floats_name(model, 2 * len(vector))
    if floats is None or limit <= 0:
        return []
    found = ask(
        query,
        indexes=indexes.usable(kind, floats),
        floats_name=floats,
        vector=[float(it) for it in vector],
        limit=limit,
        **given,
    )
    return [(row["place"], min(max(2 * row["score"] - 1, -1.0), 1.0)) for row in found]
