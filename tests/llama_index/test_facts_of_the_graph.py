"""The property graph and ``FactMemory`` over one memory: the same facts, written on either side."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.graph_stores.types import EntityNode, Relation
from llama_index.core.indices.property_graph import (
    DynamicLLMPathExtractor,
    SchemaLLMPathExtractor,
    SimpleLLMPathExtractor,
)
from llama_index.core.schema import TransformComponent

from llama_index_recallm import (
    RecallMExtractor,
    RecallMGraphStore,
    RecallMPropertyGraphStore,
)
from recallm import RecallM
from recallm.facts import FactMemory
from tests.llama_index.completing import Completing

Triplet = tuple[str, str, str]


def simple(*triplets: Triplet) -> TransformComponent:
    answer = "\n".join(f"({', '.join(each)})" for each in triplets)
    return SimpleLLMPathExtractor(llm=Completing(answer=answer))


def schema(*triplets: Triplet) -> TransformComponent:
    answer = {
        "triplets": [
            {
                "subject": {"type": "PERSON", "name": subject},
                "relation": {"type": relation},
                "object": {"type": "ORGANIZATION", "name": object_},
            }
            for subject, relation, object_ in triplets
        ]
    }
    return SchemaLLMPathExtractor(llm=Completing(answer=json.dumps(answer)), strict=False)


def dynamic(*triplets: Triplet) -> TransformComponent:
    answer = [
        {
            "head": subject,
            "head_type": "PERSON",
            "relation": relation,
            "tail": object_,
            "tail_type": "COMPANY",
        }
        for subject, relation, object_ in triplets
    ]
    return DynamicLLMPathExtractor(llm=Completing(answer=json.dumps(answer)))


Extractor = Callable[..., TransformComponent]


@pytest.fixture
def facts(memory: RecallM) -> FactMemory:
    return FactMemory(memory)


def read_from(
    document: Document, store: RecallMPropertyGraphStore, *extractors: TransformComponent
) -> PropertyGraphIndex:
    return PropertyGraphIndex.from_documents(
        [document],
        kg_extractors=list(extractors),
        property_graph_store=store,
        embed_kg_nodes=False,
    )


def objects(facts: FactMemory, *terms: Any, **how: Any) -> list[str]:
    return [fact.object for fact in facts.read(*terms, **how)]


# -- what extractors write is read -------------------------------------------------------------


@pytest.mark.parametrize("extractor", [simple, schema, dynamic])
def test_what_a_model_extracted_is_a_fact(
    store: RecallMPropertyGraphStore, facts: FactMemory, extractor: Extractor
) -> None:
    """Relations are found by the words of their labels, exactly; the text is their source."""
    document = Document(text="Ada has been with Opera for years.", id_="letter")
    read_from(document, store, extractor(("Ada", "WORKS_FOR", "Opera")))
    [fact] = facts.read("Ada", "works for", match="exact")
    assert (fact.object, fact.match, fact.source) == ("Opera", "exact", "letter")
    assert fact.relation.casefold() == "works_for"
    assert fact.passage is not None
    passage = facts.memory.get(fact.passage)
    assert passage is not None
    assert passage.text == "Ada has been with Opera for years."
    assert facts.count(relation="works for", object="Opera") == 1


def test_a_chunk_is_no_subject_of_facts(
    store: RecallMPropertyGraphStore, facts: FactMemory
) -> None:
    """LlamaIndex's MENTIONS only say which chunk an entity comes from."""
    document = Document(text="Ada works for Opera.", id_="letter")
    read_from(
        document,
        store,
        simple(("Ada", "WORKS_FOR", "Opera")),
        RecallMExtractor(memory=facts.memory),
    )
    assert {fact.subject for fact in facts.read(object="Opera")} == {"Ada"}
    assert facts.read(object="Ada") == []


def test_a_later_document_supersedes_and_its_deletion_brings_back(
    store: RecallMPropertyGraphStore, facts: FactMemory
) -> None:
    read_from(
        Document(text="Ada is at Cisco.", id_="old"), store, simple(("Ada", "WORKS_FOR", "Cisco"))
    )
    index = PropertyGraphIndex.from_existing(
        store, kg_extractors=[simple(("Ada", "works for", "Opera"))], embed_kg_nodes=False
    )
    index.insert(Document(text="Ada went to Opera.", id_="new"))
    assert objects(facts, "Ada", "works for") == ["Opera"]
    assert [change.object for change in facts.changes("Ada", "works for")] == ["Cisco", "Opera"]
    index.delete_ref_doc("new")
    assert objects(facts, "Ada", "works for") == ["Cisco"]
    store.delete_llama_nodes(ref_doc_ids=["old"])
    assert facts.read("Ada") == []


def test_a_fact_that_ends_stays_in_the_graph(
    store: RecallMPropertyGraphStore, facts: FactMemory
) -> None:
    """The graph keeps all that was ever said; what holds, ``FactMemory`` says."""
    works = Relation(label="WORKS_FOR", source_id="Ada", target_id="Opera")
    store.upsert_nodes([EntityNode(name="Ada"), EntityNode(name="Opera")])
    store.upsert_relations([works])
    assert objects(facts, "Ada", "works for") == ["Opera"]
    facts.end("Ada", "works for")
    assert facts.read("Ada", "works for") == []
    assert works in [relation for _, relation, _ in store.get_triplets(entity_names=["Ada"])]
    store.upsert_relations([works])
    assert objects(facts, "Ada", "works for") == ["Opera"]


# -- what is written as a fact is in the graph -------------------------------------------------


def test_what_is_written_as_a_fact_is_a_relation(
    store: RecallMPropertyGraphStore, facts: FactMemory
) -> None:
    facts.write("Ada", "works for", "Opera", source="chat", properties={"since": 2019})
    facts.write("Opera", "founded in", "Oslo")
    [(source, relation, target)] = store.get_triplets(relation_names=["works for"])
    assert (source.id, relation.label, target.id) == ("Ada", "works for", "Opera")
    assert relation.properties["since"] == 2019
    assert [
        (path[0].id, path[1].label, path[2].id)
        for path in store.get_rel_map(store.get(ids=["Ada"]))
    ] == [
        ("Ada", "works for", "Opera"),
        ("Opera", "founded in", "Oslo"),
    ]
    assert {node.id for node in store.get()} >= {"Ada", "Opera", "Oslo"}


# -- the legacy store --------------------------------------------------------------------------


def test_the_legacy_store_has_the_same_facts(facts: FactMemory) -> None:
    legacy = RecallMGraphStore(memory=facts.memory)
    legacy.upsert_triplet("Ada", "WORKS_FOR", "Cisco")
    assert objects(facts, "Ada", "works for", match="exact") == ["Cisco"]
    facts.write("Ada", "works for", "Opera")
    assert objects(facts, "Ada", "works for") == ["Opera"]
    assert legacy.get("Ada") == [["WORKS_FOR", "Cisco"], ["works for", "Opera"]]
    legacy.delete("Ada", "works for", "Opera")
    assert objects(facts, "Ada", "works for") == ["Cisco"]
