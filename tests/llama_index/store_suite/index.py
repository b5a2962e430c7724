"""``PropertyGraphIndex`` over the store: built, inserted to, reopened, deleted from."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.core.schema import Document, NodeRelationship

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    chunk_of,
    entity_of,
    ids,
    is_empty,
    snapshot,
    source_of,
    triplet_lines,
)
from tests.llama_index.store_suite.offline_models import LineExtractor, Paragraphs, WordEmbedding

__all__ = ["IndexTests"]

FIRST = "Logan WORKS_FOR LlamaIndex.\n\nLogan LIKES tea."
SECOND = "Logan WORKS_FOR LlamaIndex and Ada LIKES tea."
BOTH = ["Ada LIKES tea", "Logan LIKES tea", "Logan WORKS_FOR LlamaIndex"]


def _settings(**more: Any) -> dict[str, Any]:
    return {
        "kg_extractors": [LineExtractor()],
        "transformations": [Paragraphs()],
        "embed_kg_nodes": False,
        "use_async": False,
        **more,
    }


def _built(store: PropertyGraphStore, documents: dict[str, str], **more: Any) -> PropertyGraphIndex:
    """An index over the documents."""
    return PropertyGraphIndex.from_documents(
        [Document(id_=id, text=text, metadata={"of": id}) for id, text in documents.items()],
        property_graph_store=store,
        **_settings(**more),
    )


def _entity_triplet_lines(store: PropertyGraphStore) -> list[str]:
    """What entities say of each other."""
    return triplet_lines(store.get_triplets(relation_names=["WORKS_FOR", "LIKES"]))


class IndexTests(PropertyGraphTests):
    """The index calls upsert_llama_nodes, upsert_nodes, upsert_relations; it deletes by
    ``delete(ids=[chunk])``."""

    def test_from_documents(self, store: PropertyGraphStore) -> None:
        """Chunks, entities and relations are there, with their sources."""
        _built(store, {"d1": FIRST, "d2": SECOND})
        assert _entity_triplet_lines(store) == BOTH
        assert ids(store.get()) == ["Ada", "LlamaIndex", "Logan", "d1/0", "d1/1", "d2/0", "tea"]
        node = chunk_of(store, "d1/1")
        assert (node.text, node.properties["of"]) == ("Logan LIKES tea.", "d1")
        [found] = store.get_llama_nodes(["d1/0"])
        assert found.get_content() == "Logan WORKS_FOR LlamaIndex."
        assert found.ref_doc_id == "d1"
        assert NodeRelationship.NEXT in found.relationships
        assert source_of(store, "Ada") == "d2/0"

    def test_insert(self, store: PropertyGraphStore) -> None:
        """A document that is inserted later adds to the graph."""
        index = _built(store, {"d1": FIRST})
        index.insert(Document(id_="d2", text=SECOND))
        assert _entity_triplet_lines(store) == BOTH
        assert ids(store.get(ids=["d1/0", "d1/1", "d2/0"])) == ["d1/0", "d1/1", "d2/0"]
        assert source_of(store, "Logan") == "d2/0"

    def test_the_same_document_again(self, store: PropertyGraphStore) -> None:
        """Inserting the same document again changes nothing."""
        index = _built(store, {"d1": FIRST})
        before = snapshot(store)
        index.insert(Document(id_="d1", text=FIRST, metadata={"of": "d1"}))
        assert snapshot(store) == before

    def test_from_existing(self, store: PropertyGraphStore) -> None:
        """An index over a store that is filled shows it, and can be inserted to."""
        _built(store, {"d1": FIRST})
        index = PropertyGraphIndex.from_existing(property_graph_store=store, **_settings())
        assert _entity_triplet_lines(store) == ["Logan LIKES tea", "Logan WORKS_FOR LlamaIndex"]
        index.insert(Document(id_="d2", text=SECOND))
        assert _entity_triplet_lines(store) == BOTH
        index.delete_nodes(["d1/0", "d1/1"])
        assert _entity_triplet_lines(store) == ["Ada LIKES tea", "Logan WORKS_FOR LlamaIndex"]

    @pytest.mark.parametrize(
        ("gone", "left"),
        [
            ("d1", ["Ada LIKES tea", "Logan WORKS_FOR LlamaIndex"]),
            ("d2", ["Logan LIKES tea", "Logan WORKS_FOR LlamaIndex"]),
        ],
    )
    def test_delete_ref_doc(self, store: PropertyGraphStore, gone: str, left: list[str]) -> None:
        """What only the document shows is deleted; what another shows stays, with its source."""
        index = _built(store, {"d1": FIRST, "d2": SECOND})
        index.delete_ref_doc(gone)
        assert _entity_triplet_lines(store) == left
        assert bool(store.get(ids=["Ada"])) == (gone == "d1")
        assert store.get_llama_nodes([f"{gone}/0"]) == []
        kept = {"d1": "d2/0", "d2": "d1/1"}[gone]
        assert source_of(store, "tea") == kept
        assert len(store.get_llama_nodes([kept])) == 1

    def test_delete_all_documents(self, store: PropertyGraphStore) -> None:
        """Nothing is left, whatever order they go in."""
        index = _built(store, {"d1": FIRST, "d2": SECOND, "d3": FIRST})
        for id in ("d2", "d1", "d3"):
            index.delete_ref_doc(id)
        assert is_empty(store)

    def test_delete_one_chunk(self, store: PropertyGraphStore) -> None:
        """One chunk of a document can be deleted."""
        index = _built(store, {"d1": FIRST})
        index.delete_nodes(["d1/0", "nobody"])
        assert ids(store.get()) == ["Logan", "d1/1", "tea"]
        assert _entity_triplet_lines(store) == ["Logan LIKES tea"]

    def test_a_document_with_another_text(self, store: PropertyGraphStore) -> None:
        """Deleted and inserted anew, only the new text counts."""
        index = _built(store, {"d1": FIRST, "d2": SECOND})
        index.update_ref_doc(Document(id_="d2", text="Ada LIKES milk"))
        assert [it.get_content() for it in store.get_llama_nodes(["d2/0"])] == ["Ada LIKES milk"]
        assert _entity_triplet_lines(store) == [
            "Ada LIKES milk",
            "Logan LIKES tea",
            "Logan WORKS_FOR LlamaIndex",
        ]

    def test_links_between_chunks(self, store: PropertyGraphStore) -> None:
        """With LlamaIndex's own ImplicitPathExtractor chunks are related to each other and to
        their document, which goes when its last chunk goes."""
        extractors = [LineExtractor(), ImplicitPathExtractor()]
        index = _built(store, {"d1": FIRST}, kg_extractors=extractors)
        assert triplet_lines(store.get_triplets(relation_names=["NEXT", "PREVIOUS", "SOURCE"])) == [
            "d1/0 NEXT d1/1",
            "d1/0 SOURCE d1",
            "d1/1 PREVIOUS d1/0",
            "d1/1 SOURCE d1",
        ]
        assert _entity_triplet_lines(store) == ["Logan LIKES tea", "Logan WORKS_FOR LlamaIndex"]
        assert [it.get_content() for it in store.get_llama_nodes(["d1/1"])] == ["Logan LIKES tea."]
        index.delete_nodes(["d1/0"])
        assert ids(store.get()) == ["Logan", "d1", "d1/1", "tea"]
        index.delete_nodes(["d1/1"])
        assert is_empty(store)

    def test_asynchronously(self, store: PropertyGraphStore) -> None:
        """An index that runs its transformations asynchronously fills the store alike."""
        _built(store, {"d1": FIRST, "d2": SECOND}, use_async=True)
        assert _entity_triplet_lines(store) == BOTH

    def test_with_embeddings(self, vectors: PropertyGraphStore) -> None:
        """An index that embeds its nodes fills the store alike."""
        _built(vectors, {"d1": FIRST}, embed_kg_nodes=True, embed_model=WordEmbedding())
        assert _entity_triplet_lines(vectors) == ["Logan LIKES tea", "Logan WORKS_FOR LlamaIndex"]
        assert entity_of(vectors, "Logan").name == "Logan"
