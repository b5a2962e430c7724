"""Queries about the properties of entities and triplets; they run after ``LOCK``.

``SHOWN`` has as ``properties`` the JSON text of those that this evidence was told with, nothing
where there are none. The node has all of them merged, and as ``told_at`` the key of the latest
evidence that has some.
"""

from __future__ import annotations

from typing import Final, LiteralString

__all__ = ["MERGED_ENTITIES", "MERGED_TRIPLETS", "TOLD_OF_ENTITIES", "TOLD_OF_TRIPLETS"]

TOLD_OF_ENTITIES: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (e:RecallMEntity {namespace: $namespace, key: row})
RETURN row, COLLECT {
    MATCH (e)-[shown:SHOWN]->(:RecallMUpdate) WHERE shown.properties IS NOT NULL
    RETURN [shown.key, shown.properties]
} AS places
"""

TOLD_OF_TRIPLETS: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (x:RecallMTriplet {
    namespace: $namespace, subject: row[0], predicate: row[1], object: row[2]
})
USING INDEX SEEK x:RecallMTriplet(namespace, subject, predicate, object)
RETURN row, COLLECT {
    MATCH (x)-[shown:SHOWN]->(:RecallMUpdate) WHERE shown.properties IS NOT NULL
    RETURN [shown.key, shown.properties]
} AS places
"""

MERGED_ENTITIES: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (e:RecallMEntity {namespace: $namespace, key: row[0]})
SET e += row[1]
"""

MERGED_TRIPLETS: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (x:RecallMTriplet {
    namespace: $namespace, subject: row[0][0], predicate: row[0][1], object: row[0][2]
})
USING INDEX SEEK x:RecallMTriplet(namespace, subject, predicate, object)
SET x += row[1]
"""
