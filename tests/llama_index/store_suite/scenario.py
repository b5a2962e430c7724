"""The scenario that LlamaIndex's own property graph stores share in their tests."""

from __future__ import annotations

from llama_index.core.graph_stores.types import EntityNode, PropertyGraphStore, Relation
from llama_index.core.schema import TextNode

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    all_triplet_lines,
    entity_of,
    ids,
    is_empty,
    make_entity,
    make_relation,
    triplet_lines,
)

__all__ = ["ScenarioTests"]

LOGAN = make_entity("Logan", "PERSON", age=28)
COMPANY = make_entity("LlamaIndex", "ORGANIZATION")
WORKS_FOR = make_relation("Logan", "WORKS_FOR", "LlamaIndex", since=2023)


def _fill(store: PropertyGraphStore) -> TextNode:
    """Two entities, their relation, a text, and the text's mentions of both."""
    store.upsert_nodes([LOGAN, COMPANY])
    store.upsert_relations([WORKS_FOR])
    text = TextNode(text="Logan (age 28), works for LlamaIndex since 2023.")
    store.upsert_llama_nodes([text])
    store.upsert_relations(
        [
            Relation(label="MENTIONS", source_id=text.node_id, target_id=entity.id)
            for entity in (LOGAN, COMPANY)
        ]
    )
    return text


def _logan(node: object) -> bool:
    return isinstance(node, EntityNode) and (node.label, node.name) == ("PERSON", "Logan")


class ScenarioTests(PropertyGraphTests):
    """Two entities, WORKS_FOR, a text node, two MENTIONS."""

    def test_scenario_get_by_ids(self, store: PropertyGraphStore) -> None:
        """An entity is found by its id."""
        _fill(store)
        [node] = store.get(ids=[LOGAN.id])
        assert _logan(node)

    def test_scenario_get_by_properties(self, store: PropertyGraphStore) -> None:
        """An entity is found by a property; the text that mentions it is not."""
        _fill(store)
        [node] = store.get(properties={"age": 28})
        assert _logan(node)

    def test_scenario_paths(self, store: PropertyGraphStore) -> None:
        """Of an entity the relations to other entities are shown, not where it is mentioned."""
        _fill(store)
        found = store.get(properties={"age": 28})
        [(subject, relation, object)] = store.get_rel_map(found, depth=1)
        assert (subject.id, relation.id, object.id) == (LOGAN.id, WORKS_FOR.id, COMPANY.id)
        assert relation.properties["since"] == 2023
        assert triplet_lines(store.get_rel_map(store.get(ids=[COMPANY.id]), depth=2)) == [
            "Logan WORKS_FOR LlamaIndex"
        ]

    def test_scenario_text(self, store: PropertyGraphStore) -> None:
        """The text comes back."""
        text = _fill(store)
        [node] = store.get_llama_nodes([text.node_id])
        assert isinstance(node, TextNode)
        assert node.text == text.text

    def test_scenario_upsert(self, store: PropertyGraphStore) -> None:
        """An entity that is upserted again stays one and has the new properties too."""
        _fill(store)
        store.upsert_nodes([make_entity("Logan", "PERSON", age=28, location="Canada")])
        [node] = store.get(properties={"age": 28})
        assert _logan(node)
        assert node.properties["location"] == "Canada"
        assert triplet_lines(store.get_rel_map([node], depth=1)) == ["Logan WORKS_FOR LlamaIndex"]

    def test_scenario_delete(self, store: PropertyGraphStore) -> None:
        """Entities are deleted by id, then the text."""
        text = _fill(store)
        store.delete(ids=[LOGAN.id, COMPANY.id])
        assert store.get(ids=[LOGAN.id, COMPANY.id]) == []
        assert len(store.get_llama_nodes([text.node_id])) == 1
        store.delete(ids=[text.node_id])
        assert store.get_llama_nodes([text.node_id]) == []
        assert is_empty(store)

    def test_scenario_delete_the_text_first(self, store: PropertyGraphStore) -> None:
        """Entities without a source stay when a text that mentions them is deleted."""
        text = _fill(store)
        store.delete(ids=[text.node_id])
        assert ids(store.get()) == ["LlamaIndex", "Logan"]
        assert entity_of(store, "Logan").properties["age"] == 28
        assert all_triplet_lines(store) == ["Logan WORKS_FOR LlamaIndex"]
