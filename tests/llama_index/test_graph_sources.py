"""Which chunks show an entity or a relation, also where an index writes them."""

from __future__ import annotations

from typing import Any

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


def test_the_newest_source_is_shown(store: PropertyGraphStore) -> None:
    upsert_chunk(store, "c1", "Ann KNOWS Bo")
    assert source_of(store, "Ann") == relation_of(store, "KNOWS").properties[TRIPLET_SOURCE_KEY]
    assert source_of(store, "Ann") == "c1"
    upsert_chunk(store, "c2", "Ann KNOWS Bo")
    for [(subject, relation, object)] in (
        store.get_triplets(ids=["Ann"]),
        store.get_rel_map([make_entity("Bo")], depth=1),
    ):
        sources = [
            element.properties[TRIPLET_SOURCE_KEY] for element in (subject, relation, object)
        ]
        assert sources == ["c2", "c2", "c2"]
    assert source_of(store, "Ann") == "c2"
    upsert_chunk(store, "c3", "Ann LIKES tea")
    of_chunk = store.get_rel_map(store.get(ids=["c3"]), depth=1)
    assert triplet_lines(of_chunk) == ["Ann LIKES tea"]
    [(subject, _, _)] = store.get_triplets(relation_names=["KNOWS"])
    assert subject.properties[TRIPLET_SOURCE_KEY] == "c2"  # which shows this relation


def test_an_entity_of_two_chunks_stays_with_the_other(new_store: NewStore) -> None:
    """So does a relation; each with what the chunk that is left says of them."""
    said: dict[int, dict[str, Any]] = {
        1: {"age": 30, "city": "Oslo", TRIPLET_SOURCE_KEY: "c1"},
        2: {"age": 31, "job": "cook", TRIPLET_SOURCE_KEY: "c2"},
    }
    for gone, left in ((1, 2), (2, 1)):
        store = new_store()
        for n, own in said.items():
            store.upsert_llama_nodes([make_chunk(f"c{n}", f"text {n}", f"d{n}")])
            store.upsert_nodes([make_entity("Ann", "PERSON", **own)])
            store.upsert_relations([make_relation("Ann", "KNOWS", "Bo", **own)])
        for part in (entity_of(store, "Ann"), relation_of(store, "KNOWS")):
            assert part.properties == {**said[1], **said[2]}
        store.delete_llama_nodes(ref_doc_ids=[f"d{gone}"])
        for part in (entity_of(store, "Ann"), relation_of(store, "KNOWS")):
            assert part.properties == said[left]
        assert [node.node_id for node in store.get_llama_nodes(["c1", "c2"])] == [f"c{left}"]
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


def test_a_chunk_without_words(new_store: NewStore) -> None:
    """Written twice, it is one."""
    source = {TRIPLET_SOURCE_KEY: "c1"}
    for text in ("", " \n", "?!…"):
        store = new_store()
        node = ImageNode(id_="c1", text=text, image_url="https://example.org/a.png")
        for _ in range(2):
            store.upsert_llama_nodes([node])
            store.upsert_nodes([make_entity(name, **source) for name in ("Ann", "Bo")])
            store.upsert_relations([make_relation("Ann", "KNOWS", "Bo", **source)])
        assert source_of(store, "Ann") == "c1"
        assert relation_of(store, "KNOWS").properties == source
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
    assert [node.get_content() for node in store.get_llama_nodes(["d0/1"])] == ["Logan LIKES tea."]
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
