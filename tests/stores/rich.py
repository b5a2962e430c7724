"""An update with a bit of everything, and all that a store says."""

from __future__ import annotations

from recallm.model import Horizon, PreparedUpdate
from recallm.stores.neo4j import Neo4jStore
from recallm.testing.everything import everything
from recallm.testing.marked_text import entity, prepared, triplet

__all__ = ["rich", "seen"]


def rich(id: str) -> PreparedUpdate:
    return prepared(
        id,
        "[Ann] met [Bo]",
        "They sang",
        session="s",
        entities=(entity("e", "Ann"), entity("f", "Bo")),
        triplets=(triplet("e", "met", "f"),),
    )


def seen(store: Neo4jStore, namespace: str) -> dict[str, object]:
    with store.reader(namespace, Horizon()) as reader:
        return everything(reader)
