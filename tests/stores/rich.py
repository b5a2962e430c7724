"""An update with a bit of everything, and all that a store says."""

from __future__ import annotations

from recallm.model import Horizon, PreparedUpdate
from recallm.stores.neo4j import Neo4jStore
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.snapshots import snapshot

__all__ = ["rich", "snapshot_of"]


def rich(id: str) -> PreparedUpdate:
    return prepared(
        id,
        "[Ann] met [Bo]",
        "{They>ann} sang",
        session="s",
        entities=(entity("e", "Ann"), entity("f", "Bo")),
        triplets=(triplet("e", "met", "f"),),
    )


def snapshot_of(store: Neo4jStore, namespace: str) -> dict[str, object]:
    with store.reader(namespace, Horizon()) as reader:
        return snapshot(reader)
