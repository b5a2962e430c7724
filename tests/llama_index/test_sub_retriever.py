"""Recall within a property graph index: statements alone, and with the chunks they come from."""

from __future__ import annotations

import pytest
from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores.simple_labelled import SimplePropertyGraphStore
from llama_index.core.llms.mock import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode

from llama_index_recallm import (
    RecallMExtractor,
    RecallMPropertyGraphStore,
    RecallMSubRetriever,
)
from recallm import InvalidInputError, RecallM

OLD = "Ann lives in Malaga. The city has a beach. Ann swims every day."
NEW = "Ann moved to Porto last week. Her flat is small."


@pytest.fixture
def index(memory: RecallM, store: RecallMPropertyGraphStore) -> PropertyGraphIndex:
    """Two documents, the second of which says otherwise."""
    index = PropertyGraphIndex(
        [TextNode(text=OLD, id_="old", metadata={"file": "old.txt"})],
        kg_extractors=[RecallMExtractor(memory=memory)],
        property_graph_store=store,
        embed_kg_nodes=False,
    )
    index.insert_nodes([TextNode(text=NEW, id_="new", metadata={"file": "new.txt"})])
    return index


def texts(found: list[NodeWithScore]) -> list[str]:
    return [node.text for node in found]


QUESTION = "Where does Ann live?"


def test_statements_in_order_of_time(index: PropertyGraphIndex) -> None:
    sub = RecallMSubRetriever(index.property_graph_store, include_text=False)
    for use_async in (True, False):
        found = index.as_retriever(sub_retrievers=[sub], use_async=use_async).retrieve(QUESTION)
        assert {"Ann lives in Malaga.", "Ann moved to Porto last week."} <= set(texts(found))
        times = [node.metadata["t_index"] for node in found]
        assert times == sorted(times)
        assert {node.node.ref_doc_id for node in found} == {"old", "new"}
        assert {node.metadata["file"] for node in found} == {"old.txt", "new.txt"}


def test_chunks_once_and_the_newest_last(index: PropertyGraphIndex) -> None:
    """A chunk stands there once, under all of its statements, scored as the best of them."""
    store = index.property_graph_store
    statements = RecallMSubRetriever(store, include_text=False).retrieve(QUESTION)
    sub = RecallMSubRetriever(store, include_text=True)
    for use_async in (True, False):
        old, new = index.as_retriever(sub_retrievers=[sub], use_async=use_async).retrieve(QUESTION)
        assert (old.node_id, new.node_id) == ("old", "new")
        assert old.text.endswith(f"\n\n{OLD}")
        assert new.text.endswith(f"\n\n{NEW}")
        assert old.metadata == {"file": "old.txt"}
        for chunk in (old, new):
            own = [
                statement for statement in statements if statement.node.ref_doc_id == chunk.node_id
            ]
            assert len(own) > 0
            assert "\n".join(texts(own)) in chunk.text
            assert chunk.score == max(node.get_score() for node in own)


def test_the_preamble(index: PropertyGraphIndex) -> None:
    for preamble in ("It was said:\n", None):
        sub = RecallMSubRetriever(
            index.property_graph_store, include_text=True, include_text_preamble=preamble, limit=1
        )
        [found] = sub.retrieve("What happened last week?")
        assert found.text == f"{preamble or ''}Ann moved to Porto last week.\n\n{NEW}"


def test_a_query_engine_is_shown_the_newest_last(index: PropertyGraphIndex) -> None:
    """``MockLLM`` answers with its prompt."""
    for include_text in (True, False):
        sub = RecallMSubRetriever(index.property_graph_store, include_text=include_text)
        engine = index.as_query_engine(llm=MockLLM(), sub_retrievers=[sub])
        prompt = str(engine.query(QUESTION))
        assert prompt.index("Ann lives in Malaga.") < prompt.index("Ann moved to Porto")
        assert "Ann lives in Malaga." not in prompt[prompt.index("Ann moved to Porto") :]


def test_what_comes_from_no_chunk_stands_alone(
    memory: RecallM, store: RecallMPropertyGraphStore
) -> None:
    store.upsert_llama_nodes([TextNode(text=OLD, id_="old")])
    memory.update("Ann told me that Porto is her home now.", id="said")
    *_, chunk, said = RecallMSubRetriever(store, include_text=True).retrieve(
        "Where is the home of Ann?"
    )
    assert chunk.node_id == "old"
    assert (said.node_id, said.text) == ("said#0", "Ann told me that Porto is her home now.")


def test_what_it_cannot_ask() -> None:
    with pytest.raises(InvalidInputError, match="not SimplePropertyGraphStore"):
        RecallMSubRetriever(SimplePropertyGraphStore())
