"""Property values of nodes and relations: kept with their type, or refused."""

from __future__ import annotations

import math
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

from llama_index.core.graph_stores.types import PropertyGraphStore

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
    "dict_like_a_type": {"$type": "datetime", "value": "2024-05-01"},
    "dict_like_a_typed_dict": {"$type": "dict", "value": {"$type": "bytes", "value": ""}},
    "aware_datetime": datetime(2024, 5, 1, 12, 0, 0, 123456, tzinfo=UTC),
    "datetime_elsewhere": datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    "naive_datetime": datetime(2024, 5, 1, 12),  # noqa: DTZ001
    "date": date(2024, 5, 1),
    "time": time(12, 30),
    "bytes": b"\x00\xff",
    "typed_values_in_lists": [date(2024, 5, 1), {"at": datetime(2024, 5, 1, tzinfo=UTC)}, b""],
    "tuple": (1, 2),
    "set": {1},
    "decimal": Decimal("1.10"),
    "uuid": uuid.UUID(int=1),
    "long_str": "x" * 100_000,
}


REFUSED = ["\ud800", math.inf, math.nan, {1: "a", None: "b"}, timedelta(days=1), object]


def test_values_are_kept_with_their_types(store: PropertyGraphStore) -> None:
    wanted = with_types(ACCEPTED)
    store.upsert_nodes([make_entity("a", "THING", **ACCEPTED)])
    store.upsert_relations([make_relation("a", "R", "b", **ACCEPTED)])
    assert with_types(entity_of(store, "a").properties) == wanted
    assert with_types(relation_of(store, "R").properties) == wanted
    [(_, relation, _)] = store.get_rel_map([make_entity("a")], depth=1)
    assert with_types(relation.properties) == wanted


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
