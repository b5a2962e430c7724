"""The temporal graph on a Neo4j server (5.23 or newer; 5.26 LTS is what the tests run on)."""

from __future__ import annotations

from recallm.stores.neo4j.store import Neo4jStore

__all__ = ["Neo4jStore"]
