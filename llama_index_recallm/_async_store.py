"""A property graph store whose async methods run the sync ones in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.graph_stores.types import (
    LabelledNode,
    PropertyGraphStore,
    Relation,
)
from llama_index.core.graph_stores.types import Triplet as Path
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import VectorStoreQuery

__all__ = ["ThreadedPropertyGraphStore"]


class ThreadedPropertyGraphStore(PropertyGraphStore):
    """Calls of the async methods do not block the event loop, as LlamaIndex's own do."""

    async def aget(
        self, properties: dict[str, Any] | None = None, ids: list[str] | None = None
    ) -> list[LabelledNode]:
        """``get``, off the event loop."""
        return await asyncio.to_thread(self.get, properties, ids)

    async def aget_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Path]:
        """``get_triplets``, off the event loop."""
        return await asyncio.to_thread(
            self.get_triplets, entity_names, relation_names, properties, ids
        )

    async def aget_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Path]:
        """``get_rel_map``, off the event loop."""
        return await asyncio.to_thread(self.get_rel_map, graph_nodes, depth, limit, ignore_rels)

    async def aget_llama_nodes(self, node_ids: list[str]) -> list[BaseNode]:
        """``get_llama_nodes``, off the event loop."""
        return await asyncio.to_thread(self.get_llama_nodes, node_ids)

    async def aupsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        """``upsert_nodes``, off the event loop."""
        await asyncio.to_thread(self.upsert_nodes, nodes)

    async def aupsert_llama_nodes(self, llama_nodes: Sequence[BaseNode]) -> None:
        """``upsert_llama_nodes``, off the event loop."""
        await asyncio.to_thread(self.upsert_llama_nodes, list(llama_nodes))

    async def aupsert_relations(self, relations: list[Relation]) -> None:
        """``upsert_relations``, off the event loop."""
        await asyncio.to_thread(self.upsert_relations, relations)

    async def adelete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> None:
        """``delete``, off the event loop."""
        await asyncio.to_thread(self.delete, entity_names, relation_names, properties, ids)

    async def adelete_llama_nodes(
        self, node_ids: list[str] | None = None, ref_doc_ids: list[str] | None = None
    ) -> None:
        """``delete_llama_nodes``, off the event loop."""
        await asyncio.to_thread(self.delete_llama_nodes, node_ids, ref_doc_ids)

    async def astructured_query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:
        """``structured_query``, off the event loop."""
        return await asyncio.to_thread(self.structured_query, query, param_map)

    async def avector_query(
        self, query: VectorStoreQuery, **kwargs: Any
    ) -> tuple[list[LabelledNode], list[float]]:
        """``vector_query``, off the event loop."""
        return await asyncio.to_thread(self.vector_query, query, **kwargs)

    async def aget_schema(self, refresh: bool = False) -> Any:
        """``get_schema``, off the event loop."""
        return await asyncio.to_thread(self.get_schema, refresh)

    async def aget_schema_str(self, refresh: bool = False) -> str:
        """``get_schema_str``, off the event loop."""
        return await asyncio.to_thread(self.get_schema_str, refresh)
