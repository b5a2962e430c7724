"""What RecallMPropertyGraphStore does beyond what every property graph store must."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    Relation,
)
from llama_index.core.vector_stores.types import VectorStoreQuery

from llama_index_recallm import RecallMPropertyGraphStore
from recallm import DimensionError, InvalidInputError, NewEntity, RecallM
from tests.llama_index.property_graphs import (
    ids,
    make_chunk,
    upsert_chunk,
)


def test_three_calls_are_one_knowledge_update(
    store: RecallMPropertyGraphStore, memory: RecallM
) -> None:
    upsert_chunk(store, "c1", "Alice LIVES_IN Paris", text="Alice lives in Paris.")
    upsert_chunk(store, "c2", "Alice LIVES_IN Rome", text="Alice moved to Rome.")
    assert memory.stats().t_index == 2
    assert {
        triplet.object: (triplet.t_index, triplet.strength) for triplet in memory.graph.triplets()
    } == {
        "Paris": (1, 1),
        "Rome": (2, 1),
    }
    assert memory.recall("Where does Alice live?").statements[-1].text == "Alice moved to Rome."


def test_relations_grow_stronger_with_each_update(store: RecallMPropertyGraphStore) -> None:
    works = Relation(label="WORKS_FOR", source_id="Ann", target_id="Acme", properties={"since": 1})
    for update in (1, 2, 3):
        store.upsert_relations([works])
        [(_, relation, _)] = store.get_triplets(ids=["Ann"])
        assert relation == works
        assert works == relation
        assert (relation.strength, relation.t_index) == (update, update)  # type: ignore[attr-defined]
    upsert_chunk(store, "c", "Ann WORKS_FOR Acme", text="Ann works for Acme.")
    upsert_chunk(store, "c", "Ann WORKS_FOR Acme", text="Ann works for Acme.")
    [(_, relation, _)] = store.get_triplets(ids=["Ann"])
    assert (relation.strength, relation.t_index) == (4, 4)  # type: ignore[attr-defined]


def test_names_by_exact_id_then_casing_then_stem(store: RecallMPropertyGraphStore) -> None:
    for name in ("universe", "Universal", "PARIS", "cats", "CATS", "New York"):
        store.upsert_nodes([EntityNode(name=name)])
    assert ids(store.get(ids=["universe"])) == ["universe"]
    assert ids(store.get(ids=["Universe"])) == ["universe"]
    assert ids(store.get(ids=["university"])) == ["Universal", "universe"]
    assert ids(store.get(ids=["Paris"])) == ["PARIS"]
    assert ids(store.get(ids=["Cats"])) == ["CATS", "cats"]
    assert ids(store.get(ids=["Cat"])) == ["CATS", "cats"]  # capitals are emphasis
    assert ids(store.get(ids=["New york", "nothing"])) == ["New York"]
    assert store.get(ids=["London", ""]) == []
    store.delete(ids=["University", "Paris"], entity_names=["universal"])
    assert len(store.get()) == 6


def test_forgetting_in_the_memory_shows_in_the_graph(
    store: RecallMPropertyGraphStore, memory: RecallM
) -> None:
    upsert_chunk(store, "c1", "Ann IS fast", document="doc", text="Ann ran. Bob sat.")
    store.upsert_relations([Relation(label="NEXT", source_id="c0", target_id="c1")])
    memory.forget(statement="c1#1")
    assert [node.text for node in store.get_llama_nodes(["c1"])] == ["Ann ran."]  # type: ignore[attr-defined]
    memory.forget(source="doc")
    assert store.get_llama_nodes(["c1"]) == []
    assert set(ids(store.get())) <= {"c0"}
    assert store.get_triplets() == []


def test_a_new_text_replaces_the_old_one(store: RecallMPropertyGraphStore, memory: RecallM) -> None:
    upsert_chunk(store, "c", "Ann LIVES_IN Oslo", text="Ann lives in Oslo.")
    upsert_chunk(store, "c", "Ann LIVES_IN Bergen", text="Ann lives in Bergen.")
    assert [path[2].id for path in store.get_triplets()] == ["Bergen"]
    assert "Oslo" not in memory.recall("Where does Ann live?").text
    memory.update("Cy ran.", id="own")
    with pytest.raises(Exception, match="already belongs"):
        store.upsert_llama_nodes([make_chunk("own", "Something else.")])
    with pytest.raises(InvalidInputError, match="id of a text chunk"):
        store.upsert_nodes([EntityNode(name="c")])


def test_the_timestamp_of_a_message(memory: RecallM) -> None:
    store = RecallMPropertyGraphStore(memory=memory, timestamp_key="said", embedding_model="own")
    for id, said in (("late", "2024-05-02"), ("early", "2023-05-02T10:00:00Z"), ("never", "")):
        store.upsert_llama_nodes([make_chunk(id, f"Ann lives in {id} Rome.", said=said)])
    context = memory.recall("Where does Ann live?")
    assert {statement.passage: statement.timestamp for statement in context.statements} == {
        "early": datetime(2023, 5, 2, 10, tzinfo=UTC),
        "late": datetime(2024, 5, 2, tzinfo=UTC),
        "never": None,
    }
    for bad in ("yesterday", "2024-05-02T10:00:00"):
        with pytest.raises(InvalidInputError):
            store.upsert_llama_nodes([make_chunk("bad", "Ann lives in Bonn.", said=bad)])
    assert store.get(ids=["bad"]) == []
    for wrong in ({"embedding_model": ""}, {"timestamp_key": 5}):
        with pytest.raises(InvalidInputError, match=r"embedding_model|timestamp_key"):
            RecallMPropertyGraphStore(memory=memory, **wrong)


def test_entities_of_the_core_are_nodes(store: RecallMPropertyGraphStore, memory: RecallM) -> None:
    memory.graph.upsert([NewEntity(id="mary-1", label="Mary", type="person")])
    store.upsert_relations([Relation(label="KNOWS", source_id="mary-1", target_id="Ann")])
    [mary] = store.get(ids=["mary"])
    assert isinstance(mary, EntityNode)
    assert (mary.id, mary.name, mary.label) == ("mary-1", "Mary", "person")
    assert [path[2].id for path in store.get_rel_map([mary])] == ["Ann"]


def test_each_models_embeddings_have_their_own_dimension(memory: RecallM) -> None:
    store = RecallMPropertyGraphStore(memory=memory)
    other = RecallMPropertyGraphStore(memory=memory, embedding_model="other")
    store.upsert_nodes([EntityNode(name="a", embedding=[1.0, 0.0], properties={"n": 1})])
    other.upsert_nodes([EntityNode(name="a", embedding=[1.0, 0.0, 0.0])])
    for each, size in ((store, 2), (other, 3)):
        query = VectorStoreQuery(query_embedding=[1.0] + [0.0] * (size - 1), similarity_top_k=3)
        [node], [cosine] = each.vector_query(query)
        assert (node.id, node.properties) == ("a", {"n": 1})
        assert cosine == pytest.approx(1)


def test_an_entity_handed_over_again_has_the_last_embedding(memory: RecallM) -> None:
    """LlamaIndex embeds an entity with the id of its chunk, for each chunk anew."""
    store = RecallMPropertyGraphStore(memory=memory)
    store.upsert_llama_nodes([make_chunk("c1", "Ann ran."), make_chunk("c2", "Ann sat.")])

    def ann(chunk: str, embedding: list[float] | None) -> EntityNode:
        return EntityNode(
            name="Ann", embedding=embedding, properties={TRIPLET_SOURCE_KEY: chunk, chunk: 1}
        )

    store.upsert_nodes([ann("c1", [1.0, 0.0]), ann("c2", [0.0, 1.0]), ann("c2", None)])
    [node], [cosine] = store.vector_query(VectorStoreQuery(query_embedding=[0.0, 1.0]))
    assert (node.id, round(cosine, 3)) == ("Ann", 1.0)
    assert node.properties == {TRIPLET_SOURCE_KEY: "c2", "c1": 1, "c2": 1}
    with pytest.raises(DimensionError):
        store.upsert_nodes([ann("c1", [1.0, 0.0, 0.0]), ann("c2", [0.5, 0.5])])
    store.delete_llama_nodes(node_ids=["c2"])
    [node], _ = store.vector_query(VectorStoreQuery(query_embedding=[0.0, 1.0]))
    assert node.properties == {TRIPLET_SOURCE_KEY: "c1", "c1": 1}


async def test_the_event_loop_goes_on(memory: RecallM, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RecallMPropertyGraphStore(memory=memory)
    on_loop = threading.get_ident()
    seen: set[str] = set()

    def guarded(name: str) -> Any:
        original = getattr(store, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            assert threading.get_ident() != on_loop
            seen.add(name)
            return original(*args, **kwargs)

        return call

    sync = [name[1:] for name in vars(RecallMPropertyGraphStore) if f"{name}"[:1] == "a"]
    for name in sync:
        monkeypatch.setattr(store, name, guarded(name))
    node = EntityNode(name="Ann", embedding=[1.0])
    await store.aupsert_nodes([node])
    await store.aupsert_llama_nodes([])
    await store.aupsert_relations([Relation(label="K", source_id="Ann", target_id="Bob")])
    found: Any = await asyncio.gather(
        store.aget(),
        store.aget_triplets(),
        store.aget_rel_map([node]),
        store.aget_llama_nodes(["x"]),
        store.avector_query(VectorStoreQuery(query_embedding=[1.0])),
    )
    assert [len(part) for part in found[:4]] == [2, 1, 1, 0]
    await store.adelete_llama_nodes(["x"])
    await store.adelete(ids=["Ann", "Bob"])
    assert await store.aget() == []
    assert seen == set(sync)


def test_a_forgotten_chunk_leaves_nothing_of_it(
    store: RecallMPropertyGraphStore, memory: RecallM
) -> None:
    """Though another chunk names it: no property, no embedding, no place in an answer."""
    nodes = [make_chunk("c1", "Ann ran."), make_chunk("c2", "Bo sat.", title="PIN is 1234")]
    for node in nodes:
        node.embedding = [1.0, 0.0]
    store.upsert_llama_nodes(nodes)
    store.upsert_relations([Relation(label="NEXT", source_id="c1", target_id="c2")])
    memory.forget(id="c2")
    assert "1234" not in str(memory.graph.entities())
    query = VectorStoreQuery(query_embedding=[1.0, 0.0], similarity_top_k=1)
    assert [node.id for node in store.vector_query(query)[0]] == ["c1"]


def test_ids_of_chunks_and_entities_stay_apart(
    store: RecallMPropertyGraphStore, memory: RecallM
) -> None:
    store.upsert_nodes([EntityNode(name="Ann", properties={"born": 1990})])
    takings: list[Callable[[], None]] = [
        lambda: store.upsert_nodes([ChunkNode(text="Ann ran.", id_="Ann")]),
        lambda: store.upsert_llama_nodes([make_chunk("Ann", "Ann ran.")]),
        lambda: store.upsert_nodes([ChunkNode(text="x", id_="b"), EntityNode(name="b")]),
    ]
    for taking in takings:
        with pytest.raises(InvalidInputError, match="of a text chunk and of an entity"):
            taking()
    assert memory.stats().passages == 0
    # What a relation named before it came is nothing of its own yet.
    store.upsert_relations([Relation(label="NEXT", source_id="c1", target_id="c2")])
    store.upsert_llama_nodes([make_chunk("c2", "Bo sat.")])
    assert isinstance(store.get(ids=["c2"])[0], ChunkNode)
    # A document's id may be a name that a text holds.
    upsert_chunk(store, "diary", "2025 RELATED Ann", text="In 2025 Ann met Bo.")
    store.upsert_llama_nodes([make_chunk("d", "Something else.", "2025")])
    store.delete_llama_nodes(ref_doc_ids=["2025"])
    assert ids(store.get(ids=["2025", "d"])) == ["2025"]
    assert [path[0].id for path in store.get_triplets(relation_names=["RELATED"])] == ["2025"]


def test_names_that_a_second_document_spells_out(store: RecallMPropertyGraphStore) -> None:
    for name in ("AWS", "Paris", "New York"):
        upsert_chunk(store, "a", f"Ann RUNS {name}", text=f"Ann runs {name}.")
        upsert_chunk(store, "b", text=f"{name} was down.")
        store.delete(ids=["a"])
        assert ids(store.get()) == sorted(["b", name])
        store.delete(ids=["b"])


def test_names_are_lists_of_names(store: RecallMPropertyGraphStore) -> None:
    for name in ("A", "n", "Ann"):
        store.upsert_nodes([EntityNode(name=name)])
    calls: list[Any] = [
        lambda names: store.get(ids=names),
        lambda names: store.get_triplets(entity_names=names),
        lambda names: store.get_triplets(ids=names),
        store.get_llama_nodes,
        lambda names: store.delete(ids=names),
        lambda names: store.delete(entity_names=names),
        lambda names: store.delete_llama_nodes(node_ids=names),
        lambda names: store.delete_llama_nodes(ref_doc_ids=names),
    ]
    for call in calls:
        for wrong in ("Ann", [None], [1]):
            with pytest.raises(InvalidInputError):
                call(wrong)
    assert len(store.get()) == 3
    # Whatever can be iterated once is a list.
    store.upsert_relations(iter([Relation(label="K", source_id="A", target_id="n")]))  # type: ignore[arg-type]
    assert len(store.get_rel_map(node for node in store.get(ids=["A"]))) == 1  # type: ignore[arg-type]
    store.delete(ids=iter(["A"]))  # type: ignore[arg-type]
    assert ids(store.get()) == ["Ann", "n"]


def test_metadata_that_entities_could_not_have(
    store: RecallMPropertyGraphStore, memory: RecallM
) -> None:
    """Nothing of the call is written: LlamaIndex hands the chunks over first."""
    nodes = [make_chunk("a", "Ann ran."), make_chunk("b", "Bo sat.", rating=float("nan"))]
    with pytest.raises(InvalidInputError, match="property of 'b' cannot be stored"):
        store.upsert_llama_nodes(nodes)
    deep: dict[str, Any] = {}
    for _ in range(600):
        deep = {"deep": deep}
    with pytest.raises(InvalidInputError, match="property of 'deep' cannot be stored"):
        store.upsert_nodes([EntityNode(name="deep", properties={"deep": deep})])
    assert (store.get(), memory.stats().passages) == ([], 0)


def test_a_vector_query_within_nodes_and_documents(store: RecallMPropertyGraphStore) -> None:
    for id, document in (("a", "d1"), ("b", "d1"), ("c", "d2")):
        node = make_chunk(id, f"Text {id}.", document)
        node.embedding = [1.0, 0.0]
        store.upsert_llama_nodes([node])

    def near(**within: Any) -> list[str]:
        query = VectorStoreQuery(query_embedding=[1.0, 0.0], similarity_top_k=9, **within)
        return ids(store.vector_query(query)[0])

    assert near() == ["a", "b", "c"]
    assert near(node_ids=["a", "c", "x"]) == ["a", "c"]
    assert near(doc_ids=["d1"]) == ["a", "b"]
    assert near(node_ids=["a", "c"], doc_ids=["d1"]) == ["a"]
    assert near(node_ids=[]) == near(doc_ids=[]) == near(doc_ids=["x"]) == []
