"""The legacy graph store: LlamaIndex's nine cases, and what they leave open, on both stores."""

from __future__ import annotations

import threading
import uuid
from pathlib import Path
from typing import Any

import fsspec
import pytest
from llama_index.core import MockEmbedding, PromptTemplate, StorageContext
from llama_index.core.graph_stores.types import GraphStore
from llama_index.core.indices.knowledge_graph import KnowledgeGraphIndex
from llama_index.core.indices.knowledge_graph.retrievers import KnowledgeGraphRAGRetriever
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.query_engine import KnowledgeGraphQueryEngine
from llama_index.core.schema import Document

from llama_index_recallm import RecallMGraphStore
from recallm import ClosedError, InvalidInputError, NewEntity, NewTriplet, RecallM


@pytest.fixture
def store(memory: RecallM) -> RecallMGraphStore:
    return RecallMGraphStore(
        memory=memory, structured_queries=memory.graph.cypher_schema is not None
    )


def test_class() -> None:
    names_of_base_classes = [base.__name__ for base in RecallMGraphStore.__mro__]
    assert GraphStore.__name__ in names_of_base_classes


# -- the cases of LlamaIndex's stores for Neo4j, FalkorDB and others ---------------------------


def test_03_upsert_multiple_and_get(store: RecallMGraphStore) -> None:
    store.upsert_triplet("Alice", "LIKES", "IceCream")
    store.upsert_triplet("Alice", "DISLIKES", "Spinach")
    assert store.get("Alice") == [["LIKES", "IceCream"], ["DISLIKES", "Spinach"]]


def test_04_get_rel_map(store: RecallMGraphStore) -> None:
    store.upsert_triplet("Alice", "KNOWS", "Bob")
    store.upsert_triplet("Bob", "LIVES_IN", "CityX")
    store.upsert_triplet("Bob", "TRAVELED_TO", "CityY")
    assert store.get_rel_map(["Alice"], depth=2, limit=30) == {
        "Alice": [
            ["Alice", "KNOWS", "Bob"],
            ["Bob", "LIVES_IN", "CityX"],
            ["Bob", "TRAVELED_TO", "CityY"],
        ]
    }


def test_05_delete_a_relation_and_its_ends(store: RecallMGraphStore) -> None:
    store.upsert_triplet("X", "REL", "Y")
    assert store.get("X") == [["REL", "Y"]]
    store.delete("X", "REL", "Y")
    assert store.get("X") == []
    assert store.memory.graph.entities() == []


def test_06_an_end_with_another_relation_stays(store: RecallMGraphStore) -> None:
    store.upsert_triplet("X", "REL", "Y")
    store.upsert_triplet("X", "OTHER", "Z")
    store.delete("X", "REL", "Y")
    assert store.get("X") == [["OTHER", "Z"]]
    assert store.get("Y") == []
    assert [entity.id for entity in store.memory.graph.entities()] == ["X", "Z"]


def test_08_get_schema(store: RecallMGraphStore) -> None:
    before = store.get_schema(refresh=False)
    store.upsert_triplet("Person1", "LIKES", "Thing1")
    assert store.get_schema(refresh=True) == before
    if store.memory.graph.cypher_schema is not None:
        assert "predicate" in before


def test_09_custom_query(store: RecallMGraphStore) -> None:
    """Cypher where there is Neo4j, a clear answer where there is not."""
    store.upsert_triplet("TestS", "TEST_REL", "TestO")
    query = "MATCH (n:Entity) WHERE n.namespace = $namespace AND n.id = $id RETURN n.id AS id"
    if store.memory.graph.cypher_schema is None:
        with pytest.raises(NotImplementedError, match="structured_queries=True"):
            store.query(query, {"id": "TestS"})
    else:
        assert store.query(query, {"id": "TestS"}) == [{"id": "TestS"}]
        with pytest.raises(InvalidInputError):
            store.query("MATCH (n) DETACH DELETE n")
        with pytest.raises(InvalidInputError, match="other namespaces"):
            store.query("MATCH (n) WHERE n.id = 'TestS' RETURN n")
        assert store.get("TestS") == [["TEST_REL", "TestO"]]


def test_cypher_only_when_asked_for(memory: RecallM) -> None:
    with pytest.raises(NotImplementedError, match="structured_queries=True"):
        RecallMGraphStore(memory=memory).query("RETURN 1")
    assert RecallMGraphStore(memory=memory).get_schema(refresh=True) == ""
    if memory.graph.cypher_schema is None:
        with pytest.raises(InvalidInputError, match="needs a memory on Neo4j"):
            RecallMGraphStore(memory=memory, structured_queries=True)


# -- triplets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "predicate", "object_"),
    [
        ("Ann O'Neill", 'said "no" to', "the `boss`"),
        ("MATCH (n) DETACH DELETE n", "]->(x) DETACH DELETE x //", "'); DROP TABLE entity; --"),
        ("a\nb", "is\t", "c\\d"),
        ("東京", "は…の首都", "日本"),
        ("university", "universe", "Universal"),
        ("Ann", "is", "Ann"),
        ("a,b", "('c', 'd')", "[e]"),
    ],
)
def test_names_are_kept_as_they_are(
    store: RecallMGraphStore, subject: str, predicate: str, object_: str
) -> None:
    store.upsert_triplet("other", "r", "thing")
    store.upsert_triplet(subject, predicate, object_)
    assert store.get(subject) == [[predicate, object_]]
    assert store.get_rel_map([subject]) == {subject: [[subject, predicate, object_]]}
    store.delete(subject, predicate, object_)
    assert store.get(subject) == []
    assert store.get_rel_map() == {"other": [["other", "r", "thing"]]}


def test_a_repeated_relation_grows_stronger(store: RecallMGraphStore) -> None:
    for _ in range(3):
        store.upsert_triplet("Ann", "loves", "tea")
    assert store.get("Ann") == [["loves", "tea"]]
    [triplet] = store.memory.graph.triplets()
    assert (triplet.strength, triplet.t_index) == (3, 3)


def test_the_latest_statement_comes_last(store: RecallMGraphStore) -> None:
    store.upsert_triplet("Ann", "lives in", "Malaga")
    store.upsert_triplet("Ann", "lives in", "Lyon")
    store.upsert_triplet("Ann", "lives in", "Malaga")
    assert store.get("Ann") == [["lives in", "Lyon"], ["lives in", "Malaga"]]


def test_a_known_entity_keeps_its_id_and_label(store: RecallMGraphStore) -> None:
    graph = store.memory.graph
    graph.upsert([NewEntity(id="Ann", type="person", label="Ann Lee", properties={"age": 40})])
    store.upsert_triplet("Ann", "loves", "tea")
    store.delete("Ann", "loves", "tea")
    [ann] = graph.entities()
    assert (ann.type, ann.label, ann.properties) == ("person", "Ann Lee", {"age": 40})


def test_delete_only_what_is_named(store: RecallMGraphStore) -> None:
    store.upsert_triplet("Ann", "loves", "tea")
    store.upsert_triplet("Bo", "loves", "tea")
    for unknown in (
        ("Ann", "hates", "tea"),
        ("tea", "loves", "Ann"),
        ("", "", ""),
        ("x", "y", "z"),
    ):
        store.delete(*unknown)
    assert store.get("Ann") == [["loves", "tea"]]
    store.delete("Ann", "loves", "tea")
    assert [entity.id for entity in store.memory.graph.entities()] == ["Bo", "tea"]


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


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
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
    ],
)
def test_rel_map(
    ring: RecallMGraphStore, arguments: dict[str, Any], expected: dict[str, list[list[str]]]
) -> None:
    """The nearest first, each triplet once, the limit over all subjects."""
    assert ring.get_rel_map(**arguments) == expected


# -- keeping -----------------------------------------------------------------------------------


def test_persist_with_a_storage_context(ring: RecallMGraphStore, tmp_path: Path) -> None:
    folder = str(tmp_path / "storage")
    StorageContext.from_defaults(graph_store=ring).persist(folder)
    # Where no store is given, LlamaIndex reads the triplets with its own.
    plain = StorageContext.from_defaults(persist_dir=folder).graph_store
    assert plain.get_rel_map(depth=1) == ring.get_rel_map(depth=1)
    with RecallM(tmp_path / "copy.db") as memory:
        loaded = RecallMGraphStore.from_persist_dir(folder, memory=memory)
        assert loaded.memory is memory
        assert loaded.get_rel_map() == ring.get_rel_map()
        with pytest.raises(InvalidInputError, match="restore into a new one"):
            RecallMGraphStore.from_persist_dir(folder, memory=memory)


def test_persist_with_a_file_system_of_its_own(ring: RecallMGraphStore) -> None:
    files = fsspec.filesystem("memory")
    path = f"/{uuid.uuid4().hex}/graph.jsonl"
    ring.persist(path, fs=files)
    loaded = RecallMGraphStore.from_persist_path(path, fs=files)
    assert loaded.get_rel_map() == ring.get_rel_map()
    loaded.memory.close()
    files.rm(path)


def test_what_is_no_memory() -> None:
    with pytest.raises(InvalidInputError, match="memory must be a RecallM"):
        RecallMGraphStore(memory="memory.db")  # type: ignore[arg-type]
    memory = RecallM()
    store = RecallMGraphStore(memory=memory)
    memory.close()
    with pytest.raises(ClosedError):
        store.get("Ann")


# -- KnowledgeGraphIndex, which is deprecated --------------------------------------------------


class Keywords(CustomLLM):
    """Finds one keyword in everything; answers with its prompt."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        for start in ("KEYWORDS:", "SYNONYMS:"):
            if start in prompt:
                return CompletionResponse(text=f"{start} Ann")
        return CompletionResponse(text=prompt)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError


def triplets_of(text: str) -> list[tuple[str, str, str]]:
    """A sentence of three words is a triplet."""
    return [
        (subject, predicate, object_)
        for sentence in text.split(".")
        for subject, predicate, object_ in [sentence.split()] * (len(sentence.split()) == 3)
    ]


LEGACY = pytest.mark.filterwarnings(
    r"ignore:Call to deprecated class (KnowledgeGraphIndex|KGTableRetriever"
    r"|KnowledgeGraphRAGRetriever|KnowledgeGraphQueryEngine)\.:DeprecationWarning"
)


@pytest.fixture
def index(store: RecallMGraphStore) -> KnowledgeGraphIndex:
    return KnowledgeGraphIndex.from_documents(
        [Document(text="Ann loves Acme. Acme makes tea."), Document(text="Bo drinks tea.")],
        storage_context=StorageContext.from_defaults(graph_store=store),
        llm=Keywords(),
        embed_model=MockEmbedding(embed_dim=3),
        kg_triplet_extract_fn=triplets_of,
    )


@LEGACY
def test_an_index(index: KnowledgeGraphIndex, store: RecallMGraphStore) -> None:
    assert index.graph_store is store
    assert store.get("Ann") == [["loves", "Acme"]]
    index.insert(Document(text="Ann left Acme."))
    assert store.get("Ann") == [["loves", "Acme"], ["left", "Acme"]]
    index.upsert_triplet(("Acme", "is in", "Porto"))
    edges = {frozenset(edge) for edge in index.get_networkx_graph().edges}
    shown = [("Ann", "Acme"), ("Acme", "tea"), ("Acme", "Porto"), ("Bo", "tea")]
    assert edges == {frozenset(edge) for edge in shown}


@LEGACY
def test_a_retriever_of_the_index(index: KnowledgeGraphIndex) -> None:
    """What leads away from the keyword is shown, the newest of it last."""
    index.insert(Document(text="Ann left Acme."))
    *_, shown = index.as_retriever(include_text=False).retrieve("What of Ann?")
    known = shown.text.splitlines()
    assert known[-3:] == [
        "['Ann', 'loves', 'Acme']",
        "['Ann', 'left', 'Acme']",
        "['Acme', 'makes', 'tea']",
    ]


@LEGACY
async def test_a_retriever_of_the_graph(
    index: KnowledgeGraphIndex, store: RecallMGraphStore
) -> None:
    retriever = KnowledgeGraphRAGRetriever(
        storage_context=StorageContext.from_defaults(graph_store=store), llm=Keywords()
    )
    [found] = retriever.retrieve("What of Ann?")
    assert found.metadata["kg_rel_map"] == {
        "Ann": [["Ann", "loves", "Acme"], ["Acme", "makes", "tea"]]
    }
    assert [node.text for node in await retriever.aretrieve("What of Ann?")] == [found.text]


@LEGACY
def test_a_question_as_cypher(store: RecallMGraphStore) -> None:
    """The model is shown the schema, and its query is run, where that was asked for."""
    store.upsert_triplet("Ann", "loves", "tea")

    class Writes(Keywords):
        def complete(
            self, prompt: str, formatted: bool = False, **kwargs: Any
        ) -> CompletionResponse:
            if prompt.startswith("Schema:"):
                assert store.schema in prompt
                return CompletionResponse(
                    text="MATCH (n:Entity {namespace: $namespace, id: 'Ann'}) RETURN n.id AS found"
                )
            return CompletionResponse(text=prompt)

    engine = KnowledgeGraphQueryEngine(
        llm=Writes(),
        storage_context=StorageContext.from_defaults(graph_store=store),
        graph_query_synthesis_prompt=PromptTemplate("Schema: {schema}\nQuestion: {query_str}"),
    )
    if store.memory.graph.cypher_schema is None:
        with pytest.raises(NotImplementedError, match="structured_queries=True"):
            engine.query("Who is Ann?")
    else:
        assert "[{'found': 'Ann'}]" in str(engine.query("Who is Ann?"))
