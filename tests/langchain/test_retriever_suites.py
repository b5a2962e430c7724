"""The retriever in LangChain's own suite, and beside what else retrieves."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_recallm import RecallMRetriever
from recallm import InvalidInputError, NewEntity, NewTriplet, RecallM

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


def texts(documents: list[Document]) -> list[str]:
    return [document.page_content for document in documents]


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[RecallMRetriever]:
        return RecallMRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "What does Brandon drink?"

    memory: RecallM

    @pytest.fixture(autouse=True)
    def _filled(self, drinks: RecallM) -> None:
        self.memory = drinks


# -- facts that no statement shows --------------------------------------------------------------


def test_facts_are_documents(memory: RecallM) -> None:
    memory.graph.upsert(
        [NewEntity(id="Ada"), NewEntity(id="Pfizer")],
        [NewTriplet(subject="Ada", predicate="employed by", object="Pfizer")],
    )
    memory.update(
        "",
        id="letter",
        entities=[NewEntity(id="Ben"), NewEntity(id="Pfizer")],
        triplets=[NewTriplet(subject="Ben", predicate="employed by", object="Pfizer")],
        metadata={"channel": "general"},
        source="mail",
    )
    for order in ("time", "score"):
        retriever = RecallMRetriever(memory=memory, order=order)
        documents = retriever.invoke("Who are employed by Pfizer?")
        shown = {document.page_content: document for document in documents}
        assert set(shown) == {"Ada — employed by → Pfizer", "Ben — employed by → Pfizer"}
        assert len({document.id for document in documents}) == 2
        ben = shown["Ben — employed by → Pfizer"].metadata
        assert (ben["passage"], ben["source"], ben["channel"]) == ("letter", "mail", "general")
        assert shown["Ada — employed by → Pfizer"].metadata["passage"] is None
    [document] = RecallMRetriever(memory=memory, mode="context").invoke("How many work for Pfizer?")
    assert document.page_content.endswith("[2 match ? — employed by → Pfizer]")


# -- among others ------------------------------------------------------------------------------


class Vectors(BaseRetriever):
    """Another retriever, with documents of its own."""

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return [Document("Brandon drinks water at night."), Document("The kettle is new.")]


async def test_beside_another_retriever(drinks: RecallM) -> None:
    """A rank fusion merges by text: what both find comes first, each text once."""
    both = EnsembleRetriever(
        retrievers=[RecallMRetriever(memory=drinks, order="score", k=2), Vectors()],
        weights=[0.5, 0.5],
    )
    found = both.invoke("What does Brandon drink at night?")
    assert found[0].page_content == "Brandon drinks water at night."
    assert found[0].metadata["t_index"] == 3  # the first retriever's document stands for both
    assert len(found) == 3
    assert texts(await both.ainvoke("What does Brandon drink at night?")) == texts(found)


def test_as_a_tool(drinks: RecallM) -> None:
    tool = create_retriever_tool(RecallMRetriever(memory=drinks, k=1), "look", "Look it up.")
    assert tool.invoke({"query": "What does Brandon love?"}) == "Brandon loves coffee."


def test_in_a_retrieval_chain(drinks: RecallM) -> None:
    prompt = ChatPromptTemplate.from_template("{context}\n{input}")
    answering = create_stuff_documents_chain(FakeListChatModel(responses=["Tea."]), prompt)
    chain = create_retrieval_chain(RecallMRetriever(memory=drinks), answering)
    result = chain.invoke({"input": "What does Brandon drink?"})
    assert texts(result["context"]) == list(DRINKS)
    assert result["answer"] == "Tea."


def test_tracers(drinks: RecallM) -> None:
    class Seen(BaseCallbackHandler):
        def __init__(self) -> None:
            self.found: list[str] = []
            self.metadata: dict[str, Any] = {}
            self.errors: list[BaseException] = []

        def on_retriever_start(self, *args: Any, **kwargs: Any) -> None:
            self.metadata = kwargs["metadata"]

        def on_retriever_end(self, documents: Any, **kwargs: Any) -> None:
            self.found += texts(list(documents))

        def on_retriever_error(self, error: BaseException, **kwargs: Any) -> None:
            self.errors.append(error)

    seen = Seen()
    retriever = RecallMRetriever(memory=drinks, k=1, metadata={"team": "red"})
    retriever.invoke("What does Brandon love?", config={"callbacks": [seen]})
    assert seen.found == ["Brandon loves coffee."]
    assert seen.metadata["team"] == "red"
    assert seen.metadata["ls_retriever_name"] == "recallm"
    with pytest.raises(InvalidInputError):
        retriever.invoke("Who?", config={"callbacks": [seen]}, k=0)
    assert [type(error) for error in seen.errors] == [InvalidInputError]
