"""Facts that no statement shows are nodes like statements."""

from __future__ import annotations

from llama_index.core import PropertyGraphIndex
from llama_index.core.schema import TextNode

from llama_index_recallm import (
    RecallMExtractor,
    RecallMPropertyGraphStore,
    RecallMRetriever,
    RecallMSubRetriever,
)
from recallm import NewEntity, NewTriplet, RecallM


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
