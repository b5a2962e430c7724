"""Neo4j's vector indexes over the vectors of statements and of entities.

An index covers one property of one label, whose vectors all have one dimension. So the floats of a
vector stand in a property that is named after the vector's model and dimension; each such property
has an index over statements and one over entities, in which all namespaces of the database are.

A namespace is ``indexed`` (a property of its node) once all of its vectors have their floats: from
its first vector on, where a store with ``vector_index=True`` wrote it, else after
``recallm.stores.neo4j.indexing``. Every store that writes into such a namespace writes the floats
too.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Literal, LiteralString

import numpy as np
from neo4j.exceptions import Neo4jError

from recallm.errors import StoreError
from recallm.model import AddVectors, PreparedUpdate
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.failures import has_code
from recallm.stores.neo4j.transaction import Tx

__all__ = [
    "Kind",
    "VectorIndexes",
    "float_row",
    "floats_name",
    "vector_sizes",
]

Kind = Literal["statement", "entity"]

_MAX_DIMENSION: Final = 4096
"""Of a vector in an index. Vectors of more are compared in memory."""

_SET_ASIDE: Final = 60.0
"""Seconds for which no index is asked after a search has failed."""

_CREATE: Final[Mapping[Kind, LiteralString]] = {
    "statement": """
CREATE VECTOR INDEX $name IF NOT EXISTS FOR (v:RecallMVector) ON v.{{FLOATS_NAME}} OPTIONS $options
""",
    "entity": """
CREATE VECTOR INDEX $name IF NOT EXISTS FOR (v:RecallMEntityVector) ON v.{{FLOATS_NAME}}
OPTIONS $options
""",
}
"""The name of a property cannot be a parameter: ``{{FLOATS_NAME}}`` stands for it."""

_log = logging.getLogger(__name__)


def floats_name(model: str, size: int) -> str | None:
    """The property with the floats of vectors under ``model`` of ``size`` bytes in half precision;
    None: no index takes this dimension."""
    if not 0 < size <= 2 * _MAX_DIMENSION or size % 2:
        return None
    return "floats_" + hashlib.sha256(f"{size} {model}".encode()).hexdigest()[:16]


def float_row(model: str, blob: bytes) -> dict[str, Any]:
    """What ``with_floats`` takes of a stored vector; no floats for one of zeros, which no index
    holds."""
    name = floats_name(model, len(blob))
    floats = None
    if name is not None:
        vector = np.frombuffer(blob, "<f2").astype(np.float32)
        length = float(np.linalg.norm(vector))
        floats = (vector / length).tolist() if 0 < length < np.inf else None
    return {"floats_name": name, "floats": floats}


def index_name(kind: Kind, floats: str) -> str:
    """The name of the index over a property with floats."""
    return f"recallm_{kind}_{floats}"


def vector_sizes(update: PreparedUpdate | AddVectors) -> Iterator[tuple[Kind, str, int]]:
    """The kind, the model and the bytes of each vector that a write brings."""
    if isinstance(update, AddVectors):
        for blob in update.vectors.values():
            yield "statement", update.model, len(blob)
        return
    for vector in update.vectors:
        yield "statement", vector.model, len(vector.blob)
    for entity in update.entities:
        for model, blob in entity.vectors.items():
            yield "entity", model, len(blob)


class VectorIndexes:
    """The vector indexes of a database, as far as one store knows them.

    Args:
        connection: of the database.
        wanted: whether this store makes indexes, and begins a namespace as an indexed one.
    """

    def __init__(self, connection: Connection, *, wanted: bool) -> None:
        self.wanted = wanted
        self._connection = connection
        self._made: set[str] = set()
        self._aside_until = -float("inf")

    def make(self, sizes: Iterable[tuple[Kind, str, int]]) -> None:
        """Make the indexes for vectors of these kinds, models and sizes, if they are wanted and
        missing."""
        if not self.wanted:
            return
        for kind, model, size in set(sizes):
            floats = floats_name(model, size)
            if floats is None or (name := index_name(kind, floats)) in self._made:
                continue
            # A digest in hexadecimal is the only value that enters a query as text.
            query: Any = _CREATE[kind].replace("{{FLOATS_NAME}}", floats)
            config = {
                "vector.dimensions": size // 2,
                "vector.similarity_function": "cosine",
                "vector.quantization.enabled": False,
            }
            given = {"name": name, "options": {"indexConfig": config}}
            self._connection.write(partial(Tx.rows, query=query, parameters=given), locks=False)
            self._made.add(name)

    def usable(self, kind: Kind, floats: str) -> list[str]:
        """The name of the index to ask; empty while indexes are set aside."""
        return [] if time.monotonic() < self._aside_until else [index_name(kind, floats)]

    def set_aside(self, error: StoreError) -> bool:
        """Ask no index for a while, if ``error`` is that of an index: an index that is missing, or
        that the server is still filling. Returns whether that is new."""
        cause = error.__cause__
        is_set_aside = time.monotonic() < self._aside_until
        if is_set_aside or not isinstance(cause, Neo4jError):
            return False
        if not has_code(cause, ".ProcedureCallFailed"):
            return False
        self._aside_until = time.monotonic() + _SET_ASIDE
        _log.warning(
            "recallm compares all vectors on the server for %g s, since its vector index failed: "
            "%s; memory.embed() makes missing indexes",
            _SET_ASIDE,
            cause,
        )
        return True

    def forget_made(self) -> None:
        """Make every index again that is wanted: somebody may have dropped one."""
        self._made.clear()
