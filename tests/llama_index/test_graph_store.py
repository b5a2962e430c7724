"""The legacy graph store, also beside LlamaIndex's own as the reference."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import MockEmbedding, StorageContext
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.graph_stores import SimpleGraphStore
from llama_index.core.graph_stores.types import GraphStore
from llama_index.core.indices.knowledge_graph import KnowledgeGraphIndex
from llama_index.core.indices.knowledge_graph.retrievers import KnowledgeGraphRAGRetriever
from llama_index.core.schema import Document

from llama_index_recallm import RecallMGraphStore
from recallm import ClosedError, InvalidInputError, NewEntity, NewTriplet, RecallM
from tests.llama_index.scripted_model import ScriptedLLM


@pytest.fixture
def store(memory: RecallM) -> RecallMGraphStore:
    return RecallMGraphStore(memory=memory)


# -- as LlamaIndex's own store -----------------------------------------------------------------


def test_what_llamaindexs_own_store_gives(store: RecallMGraphStore) -> None:
    graphs: list[GraphStore] = [store, SimpleGraphStore()]
    for graph in graphs:
        assert isinstance(graph, GraphStore)
        assert graph.get("Ann") == []
        assert not any(graph.get_rel_map(["Ann"]).values())
        graph.delete("Ann", "LIKES", "tea")
        for triplet in (("Ann", "LIKES", "tea"), ("Ann", "HATES", "milk"), ("tea", "IS", "hot")):
            graph.upsert_triplet(*triplet)
        assert graph.get("Ann") == [["LIKES", "tea"], ["HATES", "milk"]]
        assert graph.get("milk") == []
        assert graph.get_rel_map(["tea"], depth=1) == {"tea": [["tea", "IS", "hot"]]}


# -- triplets ----------------------------------------------------------------------------------


def test_a_relation_is_deleted_with_its_ends(store: RecallMGraphStore) -> None:
    store.upsert_triplet("X", "REL", "Y")
    store.delete("X", "REL", "Y")
    assert store.get("X") == []
    assert store.memory.graph.entities() == []


def test_an_end_with_another_relation_stays(store: RecallMGraphStore) -> None:
    store.upsert_triplet("X", "REL", "Y")
    store.upsert_triplet("X", "OTHER", "Z")
    for unknown in (("X", "HATES", "Y"), ("Y", "REL", "X"), ("", "", ""), ("x", "y", "z")):
        store.delete(*unknown)
    assert store.get("X") == [["REL", "Y"], ["OTHER", "Z"]]
    store.delete("X", "REL", "Y")
    assert store.get("X") == [["OTHER", "Z"]]
    assert store.get("Y") == []
    assert [entity.id for entity in store.memory.graph.entities()] == ["X", "Z"]


def test_names_are_kept_as_they_are(store: RecallMGraphStore) -> None:
    store.upsert_triplet("other", "r", "thing")
    for subject, predicate, object_ in (
        ("Ann O'Neill", 'said "no" to', "the `boss`"),
        ("MATCH (n) DETACH DELETE n", "]->(x) DETACH DELETE x //", "'); DROP TABLE entity; --"),
        ("a\nb", "is\t", "c\\d"),
        ("東京", "は…の首都", "日本"),
        ("university", "universe", "Universal"),
        ("Ann", "is", "Ann"),
        ("a,b", "('c', 'd')", "[e]"),
    ):
        store.upsert_triplet(subject, predicate, object_)
        assert store.get(subject) == [[predicate, object_]]
        assert store.get_rel_map([subject]) == {subject: [[subject, predicate, object_]]}
        store.delete(subject, predicate, object_)
        assert store.get(subject) == []
        assert store.get_rel_map() == {"other": [["other", "r", "thing"]]}


def test_the_latest_statement_comes_last(store: RecallMGraphStore) -> None:
    """Said again, a relation is one, and stronger."""
    for city in ("Malaga", "Lyon", "Malaga"):
        store.upsert_triplet("Ann", "lives in", city)
    assert store.get("Ann") == [["lives in", "Lyon"], ["lives in", "Malaga"]]
    strengths = {
        triplet.object: (triplet.strength, triplet.t_index)
        for triplet in store.memory.graph.triplets()
    }
    assert strengths == {"Lyon": (1, 2), "Malaga": (2, 3)}


def test_a_known_entity_keeps_its_id_and_label(store: RecallMGraphStore) -> None:
    graph = store.memory.graph
    graph.upsert([NewEntity(id="Ann", type="person", label="Ann Lee", properties={"age": 40})])
    store.upsert_triplet("Ann", "loves", "tea")
    store.delete("Ann", "loves", "tea")
    [ann] = graph.entities()
    assert (ann.type, ann.label, ann.properties) == ("person", "Ann Lee", {"age": 40})


def test_what_a_passage_says_stays(store: RecallMGraphStore) -> None:
    said = store.memory.update(
        "Ann works for Acme.",
        entities=[NewEntity(id="Ann"), NewEntity(id="Acme")],
        triplets=[NewTriplet(subject="Ann", predicate="works for", object="Acme")],
    )
    store.delete("Ann", "works for", "Acme")
    assert {entity.id for entity in store.memory.graph.entities()} == {"Ann", "Acme"}
    assert store.memory.get(said.id) is not None


def test_writers_and_deleters_at_once(store: RecallMGraphStore) -> None:
    """An end is not deleted while another thread writes a relation of it."""

    def writes(place: int) -> None:
        for _ in range(5):
            store.upsert_triplet("hub", f"r{place}", f"end {place}")
            store.delete("hub", f"r{place}", f"end {place}")
        store.upsert_triplet("hub", f"r{place}", f"end {place}")

    threads = [threading.Thread(target=writes, args=[place]) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(store.get("hub")) == [[f"r{place}", f"end {place}"] for place in range(4)]


# -- rel map -----------------------------------------------------------------------------------


@pytest.fixture
def ring(store: RecallMGraphStore) -> RecallMGraphStore:
    """a → b → c → a, and a → d."""
    for subject, object_ in (("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")):
        store.upsert_triplet(subject, "to", object_)
    return store


AB, BC, CA, AD = (["a", "to", "b"], ["b", "to", "c"], ["c", "to", "a"], ["a", "to", "d"])


def test_rel_map(ring: RecallMGraphStore) -> None:
    """The nearest first, each triplet once, the limit over all subjects."""
    cases: list[tuple[dict[str, Any], dict[str, list[list[str]]]]] = [
        ({"subjs": ["a"], "depth": 1}, {"a": [AB, AD]}),
        ({"subjs": ["a"], "depth": 2}, {"a": [AB, AD, BC]}),
        ({"subjs": ["a"], "depth": 9}, {"a": [AB, AD, BC, CA]}),
        ({"subjs": ["a"], "depth": 0}, {}),
        ({"subjs": ["a"], "depth": 9, "limit": 3}, {"a": [AB, AD, BC]}),
        ({"subjs": ["a"], "limit": 0}, {}),
        ({"subjs": ["a", "b"], "depth": 2, "limit": 3}, {"a": [AB, AD], "b": [BC]}),
        ({"subjs": ["d", "nobody", "c", "c"], "depth": 1}, {"c": [CA]}),
        ({"subjs": []}, {}),
        ({"depth": 1}, {"a": [AB, AD], "b": [BC], "c": [CA]}),
    ]
    assert [(how, ring.get_rel_map(**how)) for how, _ in cases] == cases


# -- keeping -----------------------------------------------------------------------------------


def test_persist_with_a_storage_context(ring: RecallMGraphStore, tmp_path: Path) -> None:
    folder = str(tmp_path / "storage")
    StorageContext.from_defaults(graph_store=ring).persist(folder)
    with RecallM(tmp_path / "copy.db") as memory:
        loaded = RecallMGraphStore.from_persist_dir(folder, memory=memory)
        assert loaded.memory is memory
        assert loaded.get_rel_map() == ring.get_rel_map()
        with pytest.raises(InvalidInputError, match="restore into a new one"):
            RecallMGraphStore.from_persist_dir(folder, memory=memory)


def test_no_query_is_run(store: RecallMGraphStore) -> None:
    with pytest.raises(NotImplementedError, match="no queries"):
        store.query("RETURN 1")
    with pytest.raises(NotImplementedError, match="no schema"):
        store.get_schema()


def test_what_is_no_memory() -> None:
    with pytest.raises(InvalidInputError, match="memory must be a RecallM"):
        RecallMGraphStore(memory="memory.db")  # type: ignore[arg-type]
    memory = RecallM()
    store = RecallMGraphStore(memory=memory)
    memory.close()
    with pytest.raises(ClosedError):
        store.get("Ann")


# -- KnowledgeGraphIndex, which is deprecated --------------------------------------------------


def keyword(messages: Sequence[ChatMessage]) -> str:
    """Finds one keyword in everything; answers with its prompt."""
    prompt = str(messages[-1].content)
    for start in ("KEYWORDS:", "SYNONYMS:"):
        if start in prompt:
            return f"{start} Ann"
    return prompt


def triplets_of(text: str) -> list[tuple[str, str, str]]:
    """A sentence of three words is a triplet."""
    return [
        (subject, predicate, object_)
        for sentence in text.split(".")
        for subject, predicate, object_ in [sentence.split()] * (len(sentence.split()) == 3)
    ]


@pytest.mark.filterwarnings("ignore:Call to deprecated class:DeprecationWarning")
async def test_an_index(store: RecallMGraphStore) -> None:
    """What leads away from a keyword is shown, the newest of it last."""
    index = KnowledgeGraphIndex.from_documents(
        [Document(text="Ann loves Acme. Acme makes tea."), Document(text="Bo drinks tea.")],
        storage_context=StorageContext.from_defaults(graph_store=store),
        llm=ScriptedLLM(reply=keyword),
        embed_model=MockEmbedding(embed_dim=3),
        kg_triplet_extract_fn=triplets_of,
    )
    assert index.graph_store is store
    of_graph = KnowledgeGraphRAGRetriever(
        storage_context=StorageContext.from_defaults(graph_store=store),
        llm=ScriptedLLM(reply=keyword),
    )
    [found] = of_graph.retrieve("What of Ann?")
    known = [["Ann", "loves", "Acme"], ["Acme", "makes", "tea"]]
    assert found.metadata["kg_rel_map"] == {"Ann": known}
    assert [node.text for node in await of_graph.aretrieve("What of Ann?")] == [found.text]
    index.insert(Document(text="Ann left Acme."))
    assert store.get("Ann") == [["loves", "Acme"], ["left", "Acme"]]
    *_, shown = index.as_retriever(include_text=False).retrieve("What of Ann?")
    known.insert(1, ["Ann", "left", "Acme"])
    assert shown.text.splitlines()[-3:] == [str(triplet) for triplet in known]
    index.upsert_triplet(("Acme", "is in", "Porto"))
    edges = {frozenset(edge) for edge in index.get_networkx_graph().edges}
    ends = [("Ann", "Acme"), ("Acme", "tea"), ("Acme", "Porto"), ("Bo", "tea")]
    assert edges == {frozenset(edge) for edge in ends}
