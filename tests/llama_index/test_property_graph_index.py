"""LlamaIndex's own property graph index and retrievers over a memory."""

from __future__ import annotations

import pytest
from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.indices.property_graph import (
    ImplicitPathExtractor,
    LLMSynonymRetriever,
    SimpleLLMPathExtractor,
    TextToCypherRetriever,
    VectorContextRetriever,
)

from llama_index_recallm import (
    RecallMPropertyGraphStore,
    RecallMSubRetriever,
)
from recallm import RecallM
from tests.llama_index.completing import Completing
from tests.llama_index.property_graphs import LineExtractor


class LetterEmbedding(BaseEmbedding):
    """How often each letter stands in a text."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return [float(query.lower().count(chr(ord("a") + n))) for n in range(26)]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def triplets(store: RecallMPropertyGraphStore) -> set[tuple[str, str, str]]:
    return {(path[0].id, path[1].id, path[2].id) for path in store.get_triplets()}


def test_the_default_extractors_and_retrievers(
    memory: RecallM, store: RecallMPropertyGraphStore
) -> None:
    llm = Completing(answer="(Ann, lives in, Oslo)\n(Ann, works for, Acme)")
    index = PropertyGraphIndex.from_documents(
        [Document(text="Ann lives in Oslo and works for Acme.", metadata={"page": 1})],
        property_graph_store=store,
        kg_extractors=[SimpleLLMPathExtractor(llm=llm), ImplicitPathExtractor()],
        llm=llm,
        embed_model=LetterEmbedding(),
    )
    # LlamaIndex writes an extracted relation with a capital.
    assert {path for path in triplets(store) if path[1] != "SOURCE"} == {
        ("Ann", "Lives in", "Oslo"),
        ("Ann", "Works for", "Acme"),
    }
    assert memory.stats().t_index == 1
    [ann] = store.get(ids=["Ann"])
    assert ann.properties["page"] == 1
    asked = Completing(answer="ann^oslo")
    subs = [
        LLMSynonymRetriever(store, llm=asked),
        VectorContextRetriever(store, embed_model=LetterEmbedding(), similarity_top_k=2),
        RecallMSubRetriever(store),
    ]
    for sub in subs:
        found = index.as_retriever(sub_retrievers=[sub]).retrieve("Where does Ann live?")
        assert "Ann lives in Oslo and works for Acme." in found[0].text
    both = index.as_retriever(sub_retrievers=subs[:2], include_text=False)
    assert {node.text for node in both.retrieve("Ann?")}
    facts = LLMSynonymRetriever(store, llm=asked, include_text=False).retrieve("Ann?")
    assert {node.text for node in facts} >= {"Ann -> Lives in -> Oslo"}


def test_documents_inserted_and_deleted(memory: RecallM, store: RecallMPropertyGraphStore) -> None:
    index = PropertyGraphIndex.from_documents(
        [
            Document(text="Ann LIVES_IN Oslo. Bo WORKS_FOR Acme.", id_="first"),
            Document(text="Ann LIVES_IN Oslo. Cy WORKS_FOR Acme.", id_="second"),
        ],
        property_graph_store=store,
        kg_extractors=[LineExtractor()],
        embed_kg_nodes=False,
    )
    index.insert(Document(text="Ann LIVES_IN Rome.", id_="third"))
    everything = {
        ("Ann", "LIVES_IN", "Oslo"),
        ("Ann", "LIVES_IN", "Rome"),
        ("Bo", "WORKS_FOR", "Acme"),
        ("Cy", "WORKS_FOR", "Acme"),
    }
    assert triplets(store) == everything
    index.delete_ref_doc("first")
    assert triplets(store) == everything - {("Bo", "WORKS_FOR", "Acme")}
    assert store.get(ids=["Bo"]) == []
    index.delete_ref_doc("third")
    assert triplets(store) == {("Ann", "LIVES_IN", "Oslo"), ("Cy", "WORKS_FOR", "Acme")}
    index.delete_ref_doc("unknown")
    index.delete_ref_doc("second")
    assert store.get() == []
    assert memory.stats().statements == 0


def test_no_model_writes_cypher(store: RecallMPropertyGraphStore) -> None:
    with pytest.raises(ValueError, match="does not support cypher"):
        TextToCypherRetriever(store, llm=Completing())
    with pytest.raises(NotImplementedError, match="structured queries"):
        store.structured_query("RETURN 1")
