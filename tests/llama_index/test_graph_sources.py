"""Which chunks show an entity or a relation, also where an index writes them."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores.types import TRIPLET_SOURCE_KEY, PropertyGraphStore
from llama_index.core.indices.property_graph import (
    ImplicitPathExtractor,
    LLMSynonymRetriever,
)
from llama_index.core.schema import Document, ImageNode

from tests.llama_index.property_graphs import (
    LineExtractor,
    NewStore,
    Paragraphs,
    all_triplet_lines,
    entity_of,
    ids,
    is_empty,
    is_refused,
    make_chunk,
    make_entity,
    make_relation,
    relation_of,
    snapshot,
    source_of,
    triplet_lines,
    upsert_chunk,
    upsert_graph,
)
from tests.llama_index.scripted_model import ScriptedLLM


def test_entities_of_another_chunk_stay(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo", "Ann LIKES tea")
    upsert_chunk(store, "c2", "Ann KNOWS Bo", "Bo LIKES milk")
    store.delete(ids=["c1"])
    assert ids(store.get()) == ["Ann", "Bo", "c2", "milk"]
    assert all_triplet_lines(store) == ["Ann KNOWS Bo", "Bo LIKES milk"]
    store.delete(ids=["c2"])
    assert is_empty(store)


def test_the_shown_source_exists(subtests: pytest.Subtests, new_store: NewStore) -> None:
    for gone in ["c1", "c2"]:
        with subtests.test(gone=gone):
            store = new_store()
            upsert_chunk(store, "c1", "Ann KNOWS Bo")
            upsert_chunk(store, "c2", "Ann KNOWS Bo")
            store.delete(ids=[gone])
            left = {"c1": "c2", "c2": "c1"}[gone]
            assert relation_of(store, "KNOWS").properties == {TRIPLET_SOURCE_KEY: left}
            assert entity_of(store, "Ann").properties == {TRIPLET_SOURCE_KEY: left}
            assert [it.node_id for it in store.get_llama_nodes(["c1", "c2"])] == [left]


def test_the_newest_source_is_shown(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    assert source_of(store, "Ann") == relation_of(store, "KNOWS").properties[TRIPLET_SOURCE_KEY]
    assert source_of(store, "Ann") == "c1"
    upsert_chunk(store, "c2", "Ann KNOWS Bo")
    for [(subject, relation, object)] in (
        store.get_triplets(ids=["Ann"]),
        store.get_rel_map([make_entity("Bo")], depth=1),
    ):
        sources = [it.properties[TRIPLET_SOURCE_KEY] for it in (subject, relation, object)]
        assert sources == ["c2", "c2", "c2"]
    assert source_of(store, "Ann") == "c2"


def test_an_entity_of_two_chunks_stays_with_the_other(
    subtests: pytest.Subtests, new_store: NewStore
) -> None:
    for gone in [1, 2]:
        with subtests.test(gone=gone):
            store = new_store()
            said: dict[int, dict[str, Any]] = {
                1: {"age": 30, "city": "Oslo"},
                2: {"age": 31, "job": "cook"},
            }
            for n, own in said.items():
                store.upsert_llama_nodes([make_chunk(f"c{n}", f"text {n}", f"d{n}")])
                store.upsert_nodes(
                    [make_entity("Ann", "PERSON", **own, **{TRIPLET_SOURCE_KEY: f"c{n}"})]
                )
            assert entity_of(store, "Ann").properties == {
                **said[1],
                **said[2],
                TRIPLET_SOURCE_KEY: "c2",
            }
            left = 3 - gone
            store.delete_llama_nodes(ref_doc_ids=[f"d{gone}"])
            assert entity_of(store, "Ann").properties == {
                **said[left],
                TRIPLET_SOURCE_KEY: f"c{left}",
            }
            store.delete(ids=[f"c{left}"])
            assert store.get() == []


def test_a_relation_of_two_chunks_stays_with_the_other(
    subtests: pytest.Subtests, new_store: NewStore
) -> None:
    for gone in [1, 2]:
        with subtests.test(gone=gone):
            store = new_store()
            said: dict[int, dict[str, Any]] = {
                1: {"since": 1990, "page": 1},
                2: {"since": 2001, "file": "b.txt"},
            }
            for n, own in said.items():
                store.upsert_llama_nodes([make_chunk(f"c{n}", f"text {n}", f"d{n}")])
                relation = make_relation(
                    "Ann", "KNOWS", "Bo", **own, **{TRIPLET_SOURCE_KEY: f"c{n}"}
                )
                store.upsert_relations([relation])
            assert relation_of(store, "KNOWS").properties == {
                **said[1],
                **said[2],
                TRIPLET_SOURCE_KEY: "c2",
            }
            left = 3 - gone
            store.delete_llama_nodes(ref_doc_ids=[f"d{gone}"])
            assert relation_of(store, "KNOWS").properties == {
                **said[left],
                TRIPLET_SOURCE_KEY: f"c{left}",
            }
            store.delete(ids=[f"c{left}"])
            assert is_empty(store)


def test_an_entity_that_another_chunk_mentions(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    store.upsert_llama_nodes([make_chunk("c2", "two")])
    store.upsert_relations([make_relation("c2", "MENTIONS", "Ann")])
    store.delete(ids=["c1"])
    assert ids(store.get()) == ["Ann", "c2"]
    assert source_of(store, "Ann") == "c2"
    store.delete(ids=["c2"])
    assert store.get() == []


def test_an_end_that_a_relation_made(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes([make_chunk("c1", "one"), make_chunk("c2", "two")])
    store.upsert_relations([make_relation("a", "R", "b", **{TRIPLET_SOURCE_KEY: "c1"})])
    store.upsert_relations([make_relation("b", "R", "c", **{TRIPLET_SOURCE_KEY: "c2"})])
    store.delete(ids=["c1"])
    assert ids(store.get()) == ["b", "c", "c2"]
    assert all_triplet_lines(store) == ["b R c"]


def test_entities_without_a_source_stay(store: PropertyGraphStore) -> None:
    upsert_graph(store, "Ann KNOWS Bo", "Cy")
    before = snapshot(store)
    upsert_chunk(store, "c1", "Ann KNOWS Bo", "Bo LIKES Cy")
    store.delete(ids=["c1"])
    assert snapshot(store) == before


def test_no_source_after_a_source(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    store.upsert_nodes([make_entity("Ann")])
    store.delete(ids=["c1"])
    assert ids(store.get()) == ["Ann"]
    assert source_of(store, "Ann") is None
    assert all_triplet_lines(store) == []


def test_deleting_an_unknown_chunk_deletes_nothing(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    before = snapshot(store)
    for id in ("C1", "c", "c11", "c2"):
        store.delete(ids=[id])
        store.delete_llama_nodes(node_ids=[id])
    assert snapshot(store) == before


def test_deleted_with_its_document(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo", document="d1")
    upsert_chunk(store, "c2", "Bo KNOWS Cy", document="d1")
    upsert_chunk(store, "c3", "Cy LIKES tea", document="d2")
    store.delete_llama_nodes(ref_doc_ids=["d1"])
    assert ids(store.get()) == ["Cy", "c3", "tea"]
    assert all_triplet_lines(store) == ["Cy LIKES tea"]
    assert source_of(store, "Cy") == "c3"


def test_a_chunk_without_words(subtests: pytest.Subtests, new_store: NewStore) -> None:
    for text in ["", " \n", "?!…"]:
        with subtests.test(text=text):
            store = new_store()
            node = ImageNode(id_="c1", text=text, image_url="https://example.org/a.png")
            store.upsert_llama_nodes([node])
            store.upsert_nodes(
                [make_entity(name, **{TRIPLET_SOURCE_KEY: "c1"}) for name in ("Ann", "Bo")]
            )
            store.upsert_relations(
                [make_relation("Ann", "KNOWS", "Bo", **{TRIPLET_SOURCE_KEY: "c1"})]
            )
            assert source_of(store, "Ann") == "c1"
            assert relation_of(store, "KNOWS").properties == {TRIPLET_SOURCE_KEY: "c1"}
            store.delete(ids=["c1"])
            assert is_empty(store)


def test_a_chunk_upserted_twice(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    before = snapshot(store)
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    assert snapshot(store) == before
    store.delete(ids=["c1"])
    assert store.get() == []


def test_a_chunk_with_another_text(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    upsert_chunk(store, "c1", "Ann LIKES tea")
    assert "Ann LIKES tea" in all_triplet_lines(store)
    store.delete(ids=["c1"])
    assert is_empty(store)


def test_a_source_that_is_not_there(store: PropertyGraphStore) -> None:
    store.upsert_nodes([make_entity("Ann", "PERSON", **{TRIPLET_SOURCE_KEY: "elsewhere"})])
    store.upsert_relations([make_relation("Ann", "R", "Bo", **{TRIPLET_SOURCE_KEY: "elsewhere"})])
    assert source_of(store, "Ann") == "elsewhere"
    assert relation_of(store, "R").properties == {TRIPLET_SOURCE_KEY: "elsewhere"}


def test_found_by_source(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    upsert_chunk(store, "c2", "Cy LIKES tea")
    assert ids(store.get(properties={TRIPLET_SOURCE_KEY: "c2"})) == ["Cy", "tea"]
    found = store.get_triplets(properties={TRIPLET_SOURCE_KEY: "c1"})
    assert triplet_lines(found) == ["Ann KNOWS Bo"]


def test_one_bad_chunk_refuses_the_whole_call(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes([make_chunk("c1", "one"), make_chunk("c2", "two")])
    first, second = {TRIPLET_SOURCE_KEY: "c1"}, {TRIPLET_SOURCE_KEY: "c2"}
    assert is_refused(
        store, nodes=[make_entity("a", **first), make_entity("b", held=object(), **second)]
    )
    assert is_refused(
        store,
        relations=[
            make_relation("a", "R", "b", **first),
            make_relation("a", "R", "c", held=object(), **second),
            make_relation("a", "R", "d"),
        ],
    )


def test_a_deleted_entity_leaves_its_chunk(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    store.delete(ids=["Ann"])
    assert ids(store.get()) == ["Bo", "c1"]
    assert all_triplet_lines(store) == []


def test_many_chunks_of_one_call(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes([make_chunk(f"c{n}", f"text {n}") for n in range(20)])
    store.upsert_nodes([make_entity(f"n{n}", **{TRIPLET_SOURCE_KEY: f"c{n}"}) for n in range(20)])
    store.upsert_relations(
        [make_relation("n0", "R", f"n{n}", **{TRIPLET_SOURCE_KEY: f"c{n}"}) for n in range(20)]
    )
    for n in range(1, 20):
        store.delete(ids=[f"c{n}"])
    assert ids(store.get()) == ["c0", "n0"]
    assert all_triplet_lines(store) == ["n0 R n0"]


# -- as an index writes them -------------------------------------------------------------------


def _index(store: PropertyGraphStore, *texts: str, links: bool = False) -> PropertyGraphIndex:
    """An index over the texts, as documents ``d0``, ``d1`` …, inserted one by one."""
    index = PropertyGraphIndex(
        nodes=[],
        property_graph_store=store,
        kg_extractors=[LineExtractor(), *([ImplicitPathExtractor()] if links else [])],
        transformations=[Paragraphs()],
        embed_kg_nodes=False,
        use_async=False,
    )
    for n, text in enumerate(texts):
        index.insert(Document(id_=f"d{n}", text=text))
    return index


def test_links_between_chunks(store: PropertyGraphStore) -> None:
    index = _index(store, "Logan WORKS_FOR LlamaIndex.\n\nLogan LIKES tea.", links=True)
    assert triplet_lines(store.get_triplets(relation_names=["NEXT", "PREVIOUS", "SOURCE"])) == [
        "d0/0 NEXT d0/1",
        "d0/0 SOURCE d0",
        "d0/1 PREVIOUS d0/0",
        "d0/1 SOURCE d0",
    ]
    said = triplet_lines(store.get_triplets(relation_names=["WORKS_FOR", "LIKES"]))
    assert said == ["Logan LIKES tea", "Logan WORKS_FOR LlamaIndex"]
    assert [it.get_content() for it in store.get_llama_nodes(["d0/1"])] == ["Logan LIKES tea."]
    index.delete_nodes(["d0/0"])
    assert ids(store.get()) == ["Logan", "d0", "d0/1", "tea"]
    index.delete_nodes(["d0/1"])
    assert is_empty(store)


def _text_of_logan(store: PropertyGraphStore) -> str:
    """What a retriever shows beside the one relation of Logan."""
    retriever = LLMSynonymRetriever(store, llm=ScriptedLLM(reply=lambda _: "logan"))
    [found] = retriever.retrieve("Who?")
    text: str = found.node.get_content()
    assert "Logan -> WORKS_FOR -> Acme" in text
    return text


def test_the_text_of_the_newest_source_that_is_left(store: PropertyGraphStore) -> None:
    index = _index(store, "Once, Logan WORKS_FOR Acme.", "Still, Logan WORKS_FOR Acme.")
    assert "Still, Logan" in _text_of_logan(store)
    assert "Once, Logan" not in _text_of_logan(store)
    index.delete_ref_doc("d1")
    assert "Once, Logan" in _text_of_logan(store)
