"""LlamaIndex's ``VectorMemoryBlock``: ``pip install llama-index-core onnxruntime tokenizers``.

The block that needs no language model. A turn is a batch of its own, so that a text that is found
is a turn. ``llama-index-core`` has one vector store, which keeps no texts; the block wants one that
does, so that this store keeps the nodes beside it, and finds the nearest as it does.
"""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.outside.serving import DEPTH, Embed, FoundTexts, Said, headed, serve


def search(turns: list[Said], question: str, embed: Embed) -> FoundTexts:
    """What a new block finds."""
    return asyncio.run(_search(turns, question, embed))


async def _search(turns: list[Said], question: str, embed: Embed) -> FoundTexts:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import VectorMemoryBlock
    from llama_index.core.vector_stores import SimpleVectorStore

    class MiniLM(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            vector: list[float] = embed([text])[0].tolist()
            return vector

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    class WithTexts(SimpleVectorStore):
        stores_text: bool = True

        def add(self, nodes: Any, **options: Any) -> list[str]:
            kept.update({node.node_id: node for node in nodes})
            return super().add(nodes, **options)

        def query(self, query: Any, **options: Any) -> Any:
            found = super().query(query, **options)
            ranked[:] = found.ids or ()
            found.nodes = [kept[id] for id in ranked]
            return found

    kept: dict[str, Any] = {}
    ranked: list[str] = []
    block = VectorMemoryBlock(
        vector_store=WithTexts(), embed_model=MiniLM(), similarity_top_k=DEPTH
    )
    of: dict[str, Said] = {}
    embed([f"<message role='{turn['role']}'>{turn['content']}</message>" for turn in turns])
    for turn in turns:
        await block.aput([ChatMessage(role=turn["role"], content=turn["content"])])
        of[next(reversed(kept))] = turn
    await block.aget([ChatMessage(role="user", content=question)])
    return [([of[id]["id"]], headed(of[id])) for id in ranked]


if __name__ == "__main__":
    serve(search)
