"""The retriever in query engines and as a tool of agents; facts as nodes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from llama_index.core.agent import ReActAgent
from llama_index.core.base.response.schema import Response
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.tools import RetrieverTool

from llama_index_recallm import (
    RecallMRetriever,
)
from recallm import NewEntity, NewTriplet, RecallM
from tests.llama_index.scripted_model import ScriptedLLM
from tests.talks import MAY

# -- query engines -----------------------------------------------------------------------------


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


def test_a_long_statement_is_split_into_sources_of_one_passage(memory: RecallM) -> None:
    memory.update("Ann says " + ", ".join(f"word {n}" for n in range(300)) + ".", id="long")
    engine = CitationQueryEngine(
        RecallMRetriever(memory=memory),
        llm=MockLLM(),
        citation_chunk_size=100,
        citation_chunk_overlap=0,
    )
    sources = engine.query("What does Ann say?").source_nodes
    assert len(sources) > 3
    assert {source.node.ref_doc_id for source in sources} == {"long"}
    assert len({source.node_id for source in sources}) == len(sources)
    assert {source.metadata["passage"] for source in sources} == {"long"}


# -- tools of agents ---------------------------------------------------------------------------


# LlamaIndex's workflows use what pydantic and they themselves have deprecated.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")
async def test_an_agent_recalls_with_a_tool(moved: RecallM) -> None:
    tool = RetrieverTool.from_defaults(
        RecallMRetriever(memory=moved), name="recall", description="What was said before."
    )
    llm = ScriptedLLM(
        'Thought: I look it up.\nAction: recall\nAction Input: {"input": "Ann?"}',
        "Thought: I can answer.\nAnswer: Porto.",
    )
    agent = ReActAgent(tools=[tool], llm=llm, streaming=False)
    assert str(await agent.run("Where does Ann live?")) == "Porto."
    shown = "[timestamp: 2026-05-31T12:30:00+02:00, speaker: Ann] I moved to Porto."
    assert shown in llm.prompt()


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
