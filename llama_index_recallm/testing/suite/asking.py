"""Schema and structured queries."""

from __future__ import annotations

import pytest
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph import TextToCypherRetriever

from llama_index_recallm.testing.suite.base import PropertyGraphTests, related, snapshot, thing
from llama_index_recallm.testing.suite.scripted import ScriptedLLM

__all__ = ["AskingTests"]


def _told(store: PropertyGraphStore) -> None:
    store.upsert_nodes([thing("Logan", "PERSON", age=28), thing("LlamaIndex", "ORGANIZATION")])
    store.upsert_relations([related("Logan", "WORKS_FOR", "LlamaIndex", since=2023)])


class AskingTests(PropertyGraphTests):
    """What text-to-query retrievers stand on."""

    def test_the_schema_names_what_is_there(self, store: PropertyGraphStore) -> None:
        """Labels of nodes and of relations."""
        _told(store)
        schema = store.get_schema_str(refresh=True)
        assert all(label in schema for label in ("PERSON", "ORGANIZATION", "WORKS_FOR"))

    def test_structured_queries_are_declared(self, store: PropertyGraphStore) -> None:
        """A store that does not support them says so, to retrievers as well."""
        if not store.supports_structured_queries:
            with pytest.raises(NotImplementedError):
                store.structured_query("MATCH (n) RETURN n")
            with pytest.raises(ValueError, match="not support"):
                TextToCypherRetriever(store, llm=ScriptedLLM(reply="MATCH (n) RETURN n"))

    def test_a_structured_query(self, store: PropertyGraphStore, entity_query: str) -> None:
        """It gives rows, and changes nothing."""
        _told(store)
        before = snapshot(store)
        rows = store.structured_query(entity_query)
        assert {"Logan", "LlamaIndex"} <= {row["name"] for row in rows}
        assert snapshot(store) == before

    def test_text_to_cypher(self, store: PropertyGraphStore, entity_query: str) -> None:
        """The retriever shows what the query that an LLM wrote gives."""
        _told(store)
        retriever = TextToCypherRetriever(store, llm=ScriptedLLM(reply=entity_query))
        [found] = retriever.retrieve("Who works?")
        assert "Logan" in found.node.get_content()
