"""LlamaIndex's retrievers over the store."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph import (
    LLMSynonymRetriever,
    VectorContextRetriever,
)
from llama_index.core.schema import Document

from tests.llama_index.scripted_model import ScriptedLLM
from tests.llama_index.store_suite.base import PropertyGraphTests
from tests.llama_index.store_suite.offline_models import (
    LineExtractor,
    Paragraphs,
    WordEmbedding,
)

__all__ = ["RetrieverTests"]


def _built(store: PropertyGraphStore, *texts: str, **more: Any) -> PropertyGraphIndex:
    """An index over the texts, as documents ``d0``, ``d1`` …, inserted one by one."""
    settings: dict[str, Any] = {"embed_kg_nodes": False, **more}
    index = PropertyGraphIndex(
        nodes=[],
        property_graph_store=store,
        kg_extractors=[LineExtractor()],
        transformations=[Paragraphs()],
        use_async=False,
        **settings,
    )
    for n, text in enumerate(texts):
        index.insert(Document(id_=f"d{n}", text=text))
    return index


def _synonyms(store: PropertyGraphStore, reply: str, **more: Any) -> LLMSynonymRetriever:
    return LLMSynonymRetriever(store, llm=ScriptedLLM(reply=lambda _: reply), **more)


class RetrieverTests(PropertyGraphTests):
    """What a question gets back."""

    def test_by_synonyms(self, store: PropertyGraphStore) -> None:
        """The relations of the entities that the LLM names, which are capitalised."""
        _built(store, "Logan WORKS_FOR Acme. Ada LIKES Tea.")
        found = _synonyms(store, "logan^somebody", include_text=False).retrieve("Who?")
        assert [it.node.get_content() for it in found] == ["Logan -> WORKS_FOR -> Acme"]

    def test_nothing_by_synonyms(self, store: PropertyGraphStore) -> None:
        """Unknown names, or none, find nothing."""
        _built(store, "Logan WORKS_FOR Acme.")
        for reply in ("somebody^else", ""):
            assert _synonyms(store, reply).retrieve("Who?") == []

    def test_the_text_of_the_newest_source(self, store: PropertyGraphStore) -> None:
        """A relation is shown with the text of the latest document that shows it."""
        _built(store, "Once, Logan WORKS_FOR Acme.", "Still, Logan WORKS_FOR Acme.")
        [found] = _synonyms(store, "logan").retrieve("Who?")
        assert "Logan -> WORKS_FOR -> Acme" in found.node.get_content()
        assert "Still, Logan" in found.node.get_content()
        assert "Once, Logan" not in found.node.get_content()

    def test_the_text_that_is_left(self, store: PropertyGraphStore) -> None:
        """When that document is deleted, the text is that of the one before."""
        index = _built(store, "Once, Logan WORKS_FOR Acme.", "Still, Logan WORKS_FOR Acme.")
        index.delete_ref_doc("d1")
        [found] = _synonyms(store, "logan").retrieve("Who?")
        assert "Once, Logan" in found.node.get_content()

    def test_asynchronously_by_synonyms(self, store: PropertyGraphStore) -> None:
        """The asynchronous retriever finds the same."""
        _built(store, "Logan WORKS_FOR Acme. Ada LIKES Tea.")
        retriever = _synonyms(store, "logan^somebody")
        found = asyncio.run(retriever.aretrieve("Who?"))
        texts = [it.node.get_content() for it in found]
        assert texts == [it.node.get_content() for it in retriever.retrieve("Who?")]
        assert len(texts) == 1

    def test_as_retriever(self, store: PropertyGraphStore) -> None:
        """The index's own retriever works, with its sub-retrievers given or not."""
        index = _built(store, "Logan WORKS_FOR Acme.", llm=ScriptedLLM(reply=lambda _: "logan"))
        for retriever in (
            index.as_retriever(include_text=False),
            index.as_retriever(sub_retrievers=[_synonyms(store, "acme", include_text=False)]),
        ):
            [found] = retriever.retrieve("Who?")
            assert found.node.get_content() == "Logan -> WORKS_FOR -> Acme"

    def test_by_vectors(self, vectors: PropertyGraphStore) -> None:
        """The relations of the entities whose embeddings are nearest, with their text."""
        embedding = WordEmbedding()
        _built(
            vectors,
            "Logan WORKS_FOR Acme.",
            "Ada LIKES Tea.",
            embed_kg_nodes=True,
            embed_model=embedding,
        )
        retriever = VectorContextRetriever(vectors, embed_model=embedding, similarity_top_k=3)
        best, *_ = retriever.retrieve("Ada")
        assert "Ada -> LIKES -> Tea" in best.node.get_content()
        assert "Ada LIKES Tea." in best.node.get_content()
        assert best.score is not None
        assert best.score > 0

    def test_by_both(self, vectors: PropertyGraphStore) -> None:
        """The retriever that an index makes of a store with vectors uses both."""
        index = _built(
            vectors,
            "Logan WORKS_FOR Acme.",
            "Ada LIKES Tea.",
            embed_kg_nodes=True,
            embed_model=WordEmbedding(),
            llm=ScriptedLLM(reply=lambda _: "logan"),
        )
        retriever = index.as_retriever(include_text=False, similarity_top_k=3)
        found = {it.node.get_content() for it in retriever.retrieve("Ada")}
        assert found >= {"Logan -> WORKS_FOR -> Acme", "Ada -> LIKES -> Tea"}
