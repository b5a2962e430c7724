"""Property values of nodes and relations: kept as JSON values, or refused."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.graph_stores.types import ChunkNode, PropertyGraphStore

from llama_index_recallm import RecallMExtractor, RecallMPropertyGraphStore, RecallMRetriever
from recallm import RecallM
from tests.llama_index.property_graphs import (
    entity_of,
    is_refused,
    make_entity,
    make_relation,
    relation_of,
    with_types,
)

ACCEPTED: dict[str, Any] = {
    "quotes": "\"x\" 'y' `z` \\ $a {b}",
    "nul": "a\x00b",
    "number_in_str": "1",
    "datetime_in_str": "2024-05-01T12:00:00+00:00",
    "int": 7,
    "large_int": 2**70,
    "whole_float": 1.0,
    "small_float": 5e-324,
    "negative_zero": -0.0,
    "true": True,
    "none": None,
    "empty_list": [],
    "mixed_list": [1, 1.0, True, "1", None],
    "nested_list": [[1], [2, [3, []]]],
    "dict": {"a": {"b": [1, {"c": None, "d": 1.0}]}, "": 0},
    "long_str": "x" * 100_000,
}


AS_JSON: dict[str, tuple[Any, Any]] = {
    "datetime": (datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00Z"),
    "date": ([date(2024, 5, 1)], ["2024-05-01"]),
    "bytes": (b"\x00\xff", "AP8="),
    "tuple": ((1, (2,)), [1, [2]]),
    "set": ({1}, [1]),
    "decimal": (Decimal("1.10"), "1.10"),
    "uuid": (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "path": (Path("a/b.txt"), "a/b.txt"),
    "numpy": ([np.int64(3), np.float64(0.1), np.bool_(True)], [3, 0.1, True]),
}
"""Values, and how they are stored."""

REFUSED = ["\ud800", math.inf, math.nan, object, np.array([1, 2])]


def test_json_values_are_kept(store: PropertyGraphStore) -> None:
    wanted = with_types(ACCEPTED)
    store.upsert_nodes([make_entity("a", "THING", **ACCEPTED)])
    store.upsert_relations([make_relation("a", "R", "b", **ACCEPTED)])
    assert with_types(entity_of(store, "a").properties) == wanted
    assert with_types(relation_of(store, "R").properties) == wanted
    [(_, relation, _)] = store.get_rel_map([make_entity("a")], depth=1)
    assert with_types(relation.properties) == wanted


def test_ordinary_values_become_json(store: PropertyGraphStore) -> None:
    given = {key: value for key, (value, _) in AS_JSON.items()}
    wanted = {key: stored for key, (_, stored) in AS_JSON.items()}
    chunk = ChunkNode(id_="c", text="Ann lives in Oslo.", properties=given)
    store.upsert_nodes([make_entity("a", "THING", **given), chunk])
    store.upsert_relations([make_relation("a", "R", "b", **given)])
    assert with_types(entity_of(store, "a").properties) == with_types(wanted)
    assert with_types(relation_of(store, "R").properties) == with_types(wanted)
    for key, value in given.items():
        assert {node.id for node in store.get(properties={key: value})} == {"a", "c"}, key


def test_an_index_over_documents_with_ordinary_metadata(memory: RecallM) -> None:
    metadata = {key: value for key, (value, _) in AS_JSON.items()} | {"rows": np.int64(3)}
    document = Document(text="Ann lives in Oslo.", id_="d", metadata=metadata)
    store = RecallMPropertyGraphStore(memory=memory)
    PropertyGraphIndex.from_documents(
        [document],
        kg_extractors=[RecallMExtractor(memory=memory)],
        property_graph_store=store,
        embed_kg_nodes=False,
    )
    assert type(document.metadata["rows"]) is np.int64
    [chunk] = [node for node in store.get() if isinstance(node, ChunkNode)]
    [ann] = store.get(ids=["Ann"])
    for node in (chunk, ann):
        assert (node.properties["rows"], node.properties["path"]) == (3, "a/b.txt")
    assert [node.metadata["rows"] for node in store.get_llama_nodes([chunk.id])] == [3]
    [found] = RecallMRetriever(memory, where={"tuple": [1, [2]]}).retrieve("Where does Ann live?")
    assert found.metadata["decimal"] == "1.10"


def test_other_values_are_refused(store: PropertyGraphStore) -> None:
    store.upsert_nodes([make_entity("a", "THING", held="before")])
    for value in REFUSED:
        mine = make_entity("a", "THING", held=value)
        assert is_refused(store, nodes=[make_entity("bystander"), mine]), value


def test_values_without_an_end(store: PropertyGraphStore) -> None:
    within_itself: list[Any] = []
    within_itself.append(within_itself)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (within_itself, deep):
        assert is_refused(store, nodes=[make_entity("b"), make_entity("a", "THING", held=value)])
        assert is_refused(store, relations=[make_relation("a", "R", "b", held=value)])


def test_keys_are_kept(store: PropertyGraphStore) -> None:
    keys = ["", "a b", "a`b", "a.b", '"', "é", "x: 1}) DETACH DELETE n //", "name", "id", "label"]
    values = {key: place for place, key in enumerate(keys)}
    store.upsert_nodes([make_entity("a", "THING").model_copy(update={"properties": values})])
    store.upsert_relations([make_relation("a", "R", "a").model_copy(update={"properties": values})])
    node = entity_of(store, "a")
    assert (node.name, node.label, node.properties) == ("a", "THING", values)
    assert relation_of(store, "R").properties == values
    for key, value in values.items():
        assert [node.id for node in store.get(properties={key: value})] == ["a"], key
