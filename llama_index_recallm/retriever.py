"""``RecallMRetriever``: what a memory recalls, as LlamaIndex nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_recallm._recall import Order, recalling
from recallm import InvalidInputError, RecallM

__all__ = ["RecallMRetriever"]


class RecallMRetriever(BaseRetriever):
    """Recalls statements of a memory, the oldest first, one node each.

    ``memory``: the memory; ``namespace``: whose, where it is not the memory's own. A retriever for
    each user costs nothing.

    ``limit``: at most so many statements (with ``ranking="paper"`` concepts' contexts); None: as
    many as ``max_tokens`` allows, or else the memory's own ``limit``, 10: a statement is a
    sentence, so that is no more text than the two chunks of other retrievers.
    ``similarity_top_k`` is LlamaIndex's name for it. ``max_tokens``, ``as_of``, ``since``,
    ``until``, ``speaker``, ``session``, ``path``, ``min_score`` are those of ``RecallM.recall``;
    ``where`` is its ``metadata``: values that are compared for equality, no operators.

    ``order``: "time", as things became true, or "score", the best first; "score" and ``min_score``
    need the default ranking, which alone gives probabilities. A
    ``QueryFusionRetriever`` sorts by score itself, whatever the order, and wants an ``llm`` even
    where ``num_queries=1`` asks it nothing; ``examples/llama_index/fusion.py`` puts the newest
    last again.

    A node's ``id_`` is the statement's, its ``text`` the statement as it was given, its source
    (``ref_doc_id``) the passage, its score the probability that it helps. ``metadata`` holds
    ``t_index``, ``timestamp`` (ISO 8601 text), ``speaker``, ``source``, ``session``, ``concepts``
    (names) and ``passage`` (an id), None where unknown, and the statement's own metadata beside
    them. What is named like one of these, or ``score``, stands under ``own``. A language model is
    shown the time and the speaker, where they are known, and an embedding model the speaker. Nodes
    carry no delimiters: whoever writes them into a prompt says that they are data.

    The question is the query's text; ``custom_embedding_strs`` and embeddings are for retrievers
    of vectors. An empty one recalls nothing.

    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> _ = memory.update("Brandon loves coffee", speaker="Anna", metadata={"channel": "general"})
    >>> _ = memory.update("Brandon drinks tea now")
    >>> retriever = RecallMRetriever(memory=memory, limit=5)
    >>> [found.text for found in retriever.retrieve("What does Brandon drink?")]
    ['Brandon loves coffee', 'Brandon drinks tea now']
    >>> [first] = RecallMRetriever(memory=memory, speaker="Anna").retrieve("Brandon?")
    >>> first.metadata["t_index"], first.metadata["channel"], first.node.get_content("llm")
    (1, 'general', '[speaker: Anna] Brandon loves coffee')

    Raises:
        InvalidInputError: an argument, or in a call the question, cannot be used.
        ClosedError: the memory is closed.
        StoreError: in a call, where the store failed.

    """

    def __init__(
        self,
        memory: RecallM,
        *,
        namespace: str | None = None,
        limit: int | None = None,
        similarity_top_k: int | None = None,
        max_tokens: int | None = None,
        as_of: int | datetime | None = None,
        since: int | datetime | None = None,
        until: int | datetime | None = None,
        speaker: str | None = None,
        session: str | None = None,
        where: Mapping[str, Any] | None = None,
        path: Sequence[str] | None = None,
        min_score: float | None = None,
        order: Order = "time",
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        if limit is not None and similarity_top_k is not None:
            raise InvalidInputError(
                "limit and similarity_top_k are the same; give one", argument="similarity_top_k"
            )
        self._recalling = recalling(
            memory,
            namespace,
            limit=similarity_top_k if limit is None else limit,
            max_tokens=max_tokens,
            as_of=as_of,
            since=since,
            until=until,
            speaker=speaker,
            session=session,
            where=where,
            path=path,
            min_score=min_score,
            order=order,
        )
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._recalling.nodes(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._recalling.nodes, query_bundle)
