"""The retriever in a query engine; facts as nodes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import CitationQueryEngine

from llama_index_recallm import (
    RecallMRetriever,
)
from recallm import NewEntity, NewTriplet, RecallM
from tests.talks import MAY


@pytest.fixture
def moved(memory: RecallM) -> RecallM:
    """A belief and what replaces it."""
    memory.update("I live in Malaga, by the sea.", speaker="Ann", timestamp=MAY)
    memory.update("I moved to Porto.", speaker="Ann", timestamp=MAY + timedelta(days=30))
    return memory


def test_citations_keep_what_a_statement_is(moved: RecallM) -> None:
    """A statement is one source, numbered in order of time; its passage and metadata stay."""
    engine = CitationQueryEngine(RecallMRetriever(memory=moved), llm=MockLLM())
    response = engine.query("Where does Ann live now?")
    assert isinstance(response, Response)
    prompt = str(response)
    old = (
        "[timestamp: 2026-05-01T12:30:00+02:00, speaker: Ann] "
        "Source 1:\nI live in Malaga, by the sea."
    )
    new = "[timestamp: 2026-05-31T12:30:00+02:00, speaker: Ann] Source 2:\nI moved to Porto."
    assert prompt.index(old) < prompt.index(new)
    retrieved = RecallMRetriever(memory=moved).retrieve("Where does Ann live now?")
    assert [node.metadata for node in response.source_nodes] == [
        node.metadata for node in retrieved
    ]
    assert [node.node.ref_doc_id for node in response.source_nodes] == [
        node.node.ref_doc_id for node in retrieved
    ]
    assert [node.score for node in response.source_nodes] == [node.score for node in retrieved]


def fact(subject: str, object_: str) -> dict[str, list[object]]:
    return {
        "entities": [NewEntity(id=subject), NewEntity(id=object_)],
        "triplets": [NewTriplet(subject=subject, predicate="employed by", object=object_)],
    }


def test_facts_are_nodes() -> None:
    memory = RecallM()
    memory.graph.upsert(**fact("Ada", "Pfizer"))  # type: ignore[arg-type]
    memory.update("", id="letter", **fact("Ben", "Pfizer"))  # type: ignore[arg-type]
    nodes = RecallMRetriever(memory).retrieve("Who are employed by Pfizer?")
    assert [found.text for found in nodes] == [
        "Ada — employed by → Pfizer",
        "Ben — employed by → Pfizer",
    ]
    ada, ben = (found.node for found in nodes)
    assert ada.node_id != ben.node_id
    assert (ada.ref_doc_id, ben.ref_doc_id) == (None, "letter")
