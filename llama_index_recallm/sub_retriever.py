"""``RecallMSubRetriever``: recall beside the other retrievers of a property graph."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from llama_index.core.callbacks import CallbackManager
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph.sub_retrievers.base import (
    DEFAULT_PREAMBLE,
    BasePGRetriever,
)
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from llama_index_recallm._recall import recalling
from llama_index_recallm.property_graph_store import RecallMPropertyGraphStore
from recallm import InvalidInputError, RecallM
from recallm.adapting import checked_memory

__all__ = ["RecallMSubRetriever"]


class RecallMSubRetriever(BasePGRetriever):
    """Recalls statements for a ``PGRetriever``, the oldest first; no model is asked.

    ``graph_store``: a ``RecallMPropertyGraphStore``, whose memory is asked; or ``memory`` in its
    place. Each statement is a node, as ``RecallMRetriever`` gives them. With ``include_text``
    LlamaIndex shows the chunks that they come from in their place: a chunk is one node with all of
    its statements above its text, its score that of the best of them, the newest chunk last. A
    statement that comes from no chunk stands alone. The other arguments are those of
    ``RecallMRetriever``.

    >>> from llama_index.core import PropertyGraphIndex
    >>> from llama_index.core.schema import TextNode
    >>> from recallm import RecallM
    >>> from llama_index_recallm import RecallMExtractor, RecallMPropertyGraphStore
    >>> memory = RecallM()
    >>> store = RecallMPropertyGraphStore(memory=memory)
    >>> index = PropertyGraphIndex(
    ...     [TextNode(text="Ann lives in Porto. She has a cat.")],
    ...     kg_extractors=[RecallMExtractor(memory=memory)],
    ...     property_graph_store=store,
    ...     embed_kg_nodes=False,
    ... )
    >>> retriever = index.as_retriever(
    ...     sub_retrievers=[RecallMSubRetriever(store)]
    ... )
    >>> [found.text for found in retriever.retrieve("Where does Ann live?")]
    ['Ann lives in Porto.', 'She has a cat.']

    Raises:
        InvalidInputError: an argument, or in a call the question, cannot be used.
        ClosedError: the memory is closed.
        StoreError: in a call, where the store failed.

    """

    def __init__(
        self,
        graph_store: PropertyGraphStore | None = None,
        *,
        memory: RecallM | None = None,
        include_text: bool = False,
        include_text_preamble: str | None = DEFAULT_PREAMBLE,
        limit: int | None = None,
        max_tokens: int | None = None,
        as_of: int | datetime | None = None,
        since: int | datetime | None = None,
        until: int | datetime | None = None,
        speaker: str | None = None,
        session: str | None = None,
        where: Mapping[str, Any] | None = None,
        path: Sequence[str] | None = None,
        min_score: float | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        store = _graph_of(graph_store, memory)
        self._recalling = recalling(
            store.memory,
            None,
            limit=limit,
            max_tokens=max_tokens,
            as_of=as_of,
            since=since,
            until=until,
            speaker=speaker,
            session=session,
            where=where,
            path=path,
            min_score=min_score,
        )
        super().__init__(
            graph_store=store,
            include_text=include_text,
            include_text_preamble=include_text_preamble,
            callback_manager=callback_manager,
        )

    def retrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The statements that are recalled for the query's text."""
        return self._recalling.nodes(query_bundle)

    async def aretrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """``retrieve_from_graph``, off the event loop."""
        return await asyncio.to_thread(self._recalling.nodes, query_bundle)

    def _add_source_text(
        self, retrieved_nodes: list[NodeWithScore], og_node_map: dict[str, BaseNode]
    ) -> list[NodeWithScore]:
        """LlamaIndex gives a chunk once for each of its statements."""
        shown: dict[str, NodeWithScore] = {}
        for found in super()._add_source_text(retrieved_nodes, og_node_map):
            first = shown.setdefault(found.node_id, found)
            if found.score is not None:
                first.score = max(found.score, first.score or 0.0)
        return list(shown.values())


def _graph_of(
    graph_store: PropertyGraphStore | None, memory: RecallM | None
) -> RecallMPropertyGraphStore:
    """The store that is asked.

    Raises:
        InvalidInputError: none, or both, or a store of another kind was given.

    """
    if (graph_store is None) == (memory is None):
        raise InvalidInputError(
            "give graph_store=, a RecallMPropertyGraphStore, or memory=, one of the two",
            argument="graph_store",
        )
    if graph_store is None:
        return RecallMPropertyGraphStore(memory=checked_memory(memory))
    if not isinstance(graph_store, RecallMPropertyGraphStore):
        raise InvalidInputError(
            "graph_store must be a RecallMPropertyGraphStore, which has a memory to ask, not "
            f"{type(graph_store).__name__} (a memory is given as memory=); beside another store "
            "use RecallMRetriever in a "
            "QueryFusionRetriever",
            argument="graph_store",
        )
    return graph_store
