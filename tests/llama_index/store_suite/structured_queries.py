"""Schema and structured queries."""

from __future__ import annotations

import pytest
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph import TextToCypherRetriever

from tests.llama_index.scripted_model import ScriptedLLM
from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    make_entity,
    make_relation,
    snapshot,
)

__all__ = ["StructuredQueryTests"]


def _fill(store: PropertyGraphStore) -> None:
    store.upsert_nodes(
        [make_entity("Logan", "PERSON", age=28), make_entity("LlamaIndex", "ORGANIZATION")]
    )
    store.upsert_relations([make_relation("Logan", "WORKS_FOR", "LlamaIndex", since=2023)])


class StructuredQueryTests(PropertyGraphTests):
    """What text-to-query retrievers stand on."""

    def test_the_schema_names_what_is_there(self, store: PropertyGraphStore) -> None:
        """Labels of nodes and of relations."""
        _fill(store)
        schema = store.get_schema_str(refresh=True)
        assert all(label in schema for label in ("PERSON", "ORGANIZATION", "WORKS_FOR"))

    def test_the_schema_is_refreshed(self, store: PropertyGraphStore) -> None:
        """Asked for anew it names what has come since."""
        _fill(store)
        store.get_schema_str(refresh=True)
        store.upsert_nodes([make_entity("Rome", "CITY")])
        store.upsert_relations([make_relation("Logan", "LIVES_IN", "Rome")])
        schema = store.get_schema_str(refresh=True)
        assert all(label in schema for label in ("PERSON", "CITY", "LIVES_IN"))

    def test_structured_queries_are_declared(
        self, store: PropertyGraphStore, request: pytest.FixtureRequest
    ) -> None:
        """A store gives the rows of a query, or says that it does not support any."""
        _fill(store)
        before = snapshot(store)
        if store.supports_structured_queries:
            rows = store.structured_query(request.getfixturevalue("entity_query"))
            assert {"Logan", "LlamaIndex"} <= {row["name"] for row in rows}
        else:
            with pytest.raises(NotImplementedError):
                store.structured_query("MATCH (n) DETACH DELETE n")
        assert snapshot(store) == before

    def test_text_to_cypher(
        self, store: PropertyGraphStore, request: pytest.FixtureRequest
    ) -> None:
        """The retriever shows what the query that an LLM wrote gives, or is not to be had."""
        _fill(store)
        if store.supports_structured_queries:
            query: str = request.getfixturevalue("entity_query")
            llm = ScriptedLLM(reply=lambda _: query)
            [found] = TextToCypherRetriever(store, llm=llm).retrieve("Who works?")
            assert "Logan" in found.node.get_content()
        else:
            with pytest.raises(ValueError, match="not support"):
                TextToCypherRetriever(store, llm=ScriptedLLM())
