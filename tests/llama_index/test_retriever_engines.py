"""The retriever in query engines and as a tool of agents; facts as nodes."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from llama_index.core import PropertyGraphIndex
from llama_index.core.agent import ReActAgent
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.mock import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import RetrieverTool

from llama_index_recallm import (
    RecallMExtractor,
    RecallMPropertyGraphStore,
    RecallMRetriever,
    RecallMSubRetriever,
)
from recallm import NewEntity, NewTriplet, RecallM

MAY = datetime(2026, 5, 1, 12, 30, tzinfo=timezone(timedelta(hours=2)))
DRINKS = (
    "Brandon loves coffee.",
    "Brandon drinks tea now.",
    "Brandon drinks water at night.",
    "Brandon drinks juice on Sundays.",
)


@pytest.fixture
def drinks(memory: RecallM) -> RecallM:
    memory.update_many(DRINKS)
    return memory


def texts(found: list[NodeWithScore]) -> list[str]:
    return [node.text for node in found]


# -- query engines -----------------------------------------------------------------------------


@pytest.fixture
def moved(memory: RecallM) -> RecallM:
    """A belief and what replaces it."""
    memory.update("I live in Malaga, by the sea.", speaker="Ann", timestamp=MAY)
    memory.update("I moved to Porto.", speaker="Ann", timestamp=MAY + timedelta(days=30))
    return memory


def test_a_query_engine_shows_the_newest_last(moved: RecallM) -> None:
    """``MockLLM`` answers with its prompt."""
    engine = RetrieverQueryEngine.from_args(RecallMRetriever(memory=moved), llm=MockLLM())
    prompt = str(engine.query("Where does Ann live now?"))
    assert (
        "[timestamp: 2026-05-01T12:30:00+02:00, speaker: Ann] I live in Malaga, by the sea.\n\n"
        "[timestamp: 2026-05-31T12:30:00+02:00, speaker: Ann] I moved to Porto.\n"
    ) in prompt
    assert "score" not in prompt
    assert "#0" not in prompt


def test_a_cutoff_by_score(drinks: RecallM) -> None:
    """The score is a probability: a cutoff means the same for every question."""
    found = RecallMRetriever(memory=drinks).retrieve("What does Brandon drink at night?")
    least = max(node.get_score() for node in found)
    engine = RetrieverQueryEngine.from_args(
        RecallMRetriever(memory=drinks),
        llm=MockLLM(),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=least)],
    )
    response = engine.query("What does Brandon drink at night?")
    assert texts(response.source_nodes) == ["Brandon drinks water at night."]


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
    assert [it.metadata for it in response.source_nodes] == [it.metadata for it in retrieved]
    assert [it.node.ref_doc_id for it in response.source_nodes] == [
        it.node.ref_doc_id for it in retrieved
    ]
    assert [it.score for it in response.source_nodes] == [it.score for it in retrieved]


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
    assert {it.node.ref_doc_id for it in sources} == {"long"}
    assert len({it.node_id for it in sources}) == len(sources)
    assert {it.metadata["passage"] for it in sources} == {"long"}


# -- tools of agents ---------------------------------------------------------------------------


class ScriptedLLM(CustomLLM):
    """Asks the tool once, then answers with the last line that it was shown."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        shown = [line for line in prompt.splitlines() if "[timestamp" in line]
        if not shown:
            return CompletionResponse(
                text='Thought: I look it up.\nAction: recall\nAction Input: {"input": "Ann?"}'
            )
        last = shown[-1][shown[-1].index("[timestamp") :]
        return CompletionResponse(text=f"Thought: I can answer.\nAnswer: {last}")

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        whole = self.complete(prompt)

        def pieces() -> CompletionResponseGen:
            yield CompletionResponse(text=whole.text, delta=whole.text)

        return pieces()


# LlamaIndex's workflows use what pydantic and they themselves have deprecated.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")
async def test_an_agent_recalls_with_a_tool(moved: RecallM) -> None:
    tool = RetrieverTool.from_defaults(
        RecallMRetriever(memory=moved), name="recall", description="What was said before."
    )
    agent = ReActAgent(tools=[tool], llm=ScriptedLLM(), streaming=False)
    answer = await agent.run("Where does Ann live?")
    assert str(answer) == "[timestamp: 2026-05-31T12:30:00+02:00, speaker: Ann] I moved to Porto."


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


def test_facts_stand_beside_chunks() -> None:
    memory = RecallM()
    store = RecallMPropertyGraphStore(memory=memory)
    index = PropertyGraphIndex(
        [TextNode(text="Ann is employed by Pfizer.")],
        kg_extractors=[RecallMExtractor(memory=memory)],
        property_graph_store=store,
        embed_kg_nodes=False,
    )
    memory.update("", id="letter", **fact("Ben", "Pfizer"))  # type: ignore[arg-type]
    for include_text in (False, True):
        retriever = index.as_retriever(
            sub_retrievers=[RecallMSubRetriever(store, include_text=include_text)]
        )
        texts = [found.text for found in retriever.retrieve("Who are employed by Pfizer?")]
        assert any("Ann is employed by Pfizer." in text for text in texts)
        assert any("Ben — employed by → Pfizer" in text for text in texts)
