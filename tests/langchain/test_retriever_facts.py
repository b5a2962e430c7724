"""Facts that no statement shows are documents like statements."""

from __future__ import annotations

from langchain_recallm import RecallMRetriever
from recallm import NewEntity, NewTriplet, RecallM


def test_facts_are_documents() -> None:
    memory = RecallM()
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
