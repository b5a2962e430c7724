"""Recall beside a vector retriever: what LlamaIndex's fusions make of order and duplicates."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, TextNode

from llama_index_recallm import RecallMRetriever
from recallm import RecallM

DAY = datetime(2026, 5, 1, tzinfo=UTC)
GUIDE = (
    "York was called Eboracum by the Romans.",
    "The museum of York shows a Viking street.",
    "Tulsa has a zoo with elephants.",
    "Athens has a museum beside the Acropolis.",
)
SAID = (
    "We booked a hotel in York.",
    "Ingrid wants to see a Viking street.",
    "We cancelled the hotel in York.",
    "We rent a flat in York.",
)


class BagOfWords(BaseEmbedding):
    """Words, hashed into 64 numbers."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * 64
        for word in re.findall(r"\w+", text.lower()):
            vector[hashlib.sha256(word.encode()).digest()[0] % 64] += 1.0
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        memory.update_many(
            {"text": text, "timestamp": DAY + timedelta(days=day)} for day, text in enumerate(SAID)
        )
        yield memory


@pytest.fixture
def vectors() -> BaseRetriever:
    nodes = [TextNode(text=text, id_=f"guide-{place}") for place, text in enumerate(GUIDE)]
    return VectorStoreIndex(nodes, embed_model=BagOfWords()).as_retriever(similarity_top_k=3)


def fused(*retrievers: BaseRetriever, mode: FUSION_MODES, top_k: int = 20) -> QueryFusionRetriever:
    return QueryFusionRetriever(
        list(retrievers), llm=MockLLM(), mode=mode, similarity_top_k=top_k, num_queries=1
    )


def texts(found: list[NodeWithScore]) -> list[str]:
    return [node.text for node in found]


QUESTION = "Where do we sleep in York, in a hotel?"


async def test_statements_and_chunks_side_by_side(memory: RecallM, vectors: BaseRetriever) -> None:
    """All of both are there, the best first, and who said what and when stays. A fusion sorts by
    score itself; what two retrievers recall is there once, and ranks no lower."""
    recalled = RecallMRetriever(memory=memory)
    by_score = RecallMRetriever(memory=memory, order="score")
    statements = recalled.retrieve(QUESTION)
    best = max(statements, key=lambda node: node.get_score())
    alone = {node.node_id: node.metadata for node in (*vectors.retrieve(QUESTION), *statements)}
    for mode in FUSION_MODES:
        found = await fused(vectors, recalled, mode=mode).aretrieve(QUESTION)
        assert {node.node_id: node.metadata for node in found} == alone
        scores = [node.get_score(raise_error=True) for node in found]
        assert scores == sorted(scores, reverse=True)
        other = fused(vectors, by_score, mode=mode).retrieve(QUESTION)
        assert {node.node_id: node.score for node in found} == {
            node.node_id: node.score for node in other
        }
        few = fused(vectors, recalled, mode=mode, top_k=4).retrieve(QUESTION)
        assert best.node_id in {node.node_id for node in few}
        limited = RecallMRetriever(memory=memory, limit=1)
        twice = fused(recalled, limited, mode=mode).retrieve(QUESTION)
        assert twice[0].node_id == best.node_id
        assert sorted(texts(twice)) == sorted(texts(statements))


def test_the_time_is_in_the_prompt(memory: RecallM, vectors: BaseRetriever) -> None:
    """The order is by score, so it is the time beside each statement that tells what holds."""
    both = fused(vectors, RecallMRetriever(memory=memory), mode=FUSION_MODES.RECIPROCAL_RANK)
    prompt = str(RetrieverQueryEngine.from_args(both, llm=MockLLM()).query(QUESTION))
    assert "[timestamp: 2026-05-03T00:00:00+00:00] We cancelled the hotel in York." in prompt
    assert "[timestamp: 2026-05-01T00:00:00+00:00] We booked a hotel in York." in prompt
    assert "The museum of York shows a Viking street." in prompt
