"""Documents in a vector index and a conversation in RecallM, asked together.

Each question is answered from both: the chunks of travel guides that are nearest to it, and what
was said before. Needs ``pip install 'recallm-memory[llama-index]'``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle
from offline import OfflineLLM, words  # type: ignore[import-not-found]

import recallm
from llama_index_recallm import RecallMRetriever
from recallm import RecallM

GUIDES = Path(recallm.__file__).parent / "cli" / "travel"  # the guides of recallm demo


class OfflineEmbedding(BaseEmbedding):
    """Bags of words, hashed into 256 numbers; in your own code use a real model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * 256
        for word in words(text):
            vector[hashlib.sha256(word.encode()).digest()[0]] += 1.0
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class SaidLast(BaseNodePostprocessor):
    """A fusion sorts by score: this puts what was said after the documents, the newest last, so
    that it is what the model reads last."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        del query_bundle
        return sorted(nodes, key=lambda node: node.metadata.get("t_index", 0))


guides = [
    Document(text=path.read_text("utf-8"), metadata={"guide": path.stem})
    for path in sorted(GUIDES.glob("*.txt"))
]
index = VectorStoreIndex.from_documents(
    guides,
    embed_model=OfflineEmbedding(),
    transformations=[SentenceSplitter(chunk_size=128, chunk_overlap=0)],
)

with RecallM() as memory:
    both = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=3), RecallMRetriever(memory=memory, limit=3)],
        mode=FUSION_MODES.RECIPROCAL_RANK,
        similarity_top_k=6,
        num_queries=1,  # more would ask the model for other questions
        llm=OfflineLLM(),
    )
    engine = RetrieverQueryEngine.from_args(
        both,
        llm=OfflineLLM(),  # your model
        node_postprocessors=[SaidLast()],
    )

    for text in (
        "My sister Ingrid is allergic to shellfish.",
        "We booked the hotel Majestic for the first week.",
        "We cancelled the hotel Majestic and booked the hotel Minster.",
    ):
        memory.update(text, speaker="Ann")

    for question in (
        "Which hotel did we book?",
        "What is Ingrid allergic to?",
        "What was York known as by the Romans?",
    ):
        print(f"> {question}\n  {engine.query(question)}")

    print()
    for found in engine.retrieve(QueryBundle("Which hotel is near the station?")):
        origin = found.metadata.get("guide", "said before")
        print(f"{origin}: {' '.join(found.text.split())[:70]}")
