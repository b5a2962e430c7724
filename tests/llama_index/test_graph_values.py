"""Property values of nodes and relations: kept with their type, or refused."""

from __future__ import annotations

import math
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

from llama_index.core.graph_stores.types import PropertyGraphStore

from tests.llama_index.property_graphs import (
    NewStore,
    entity_of,
    is_refused,
    make_entity,
    make_relation,
    relation_of,
    with_types,
)

KEPT: dict[str, Any] = {
    "str": "text",
    "empty_str": "",
    "quotes": "\"x\" 'y' `z` \\ $a {b}",
    "script": "e\u0301 北京 👩‍👩‍👧",
    "number_in_str": "1",
    "datetime_in_str": "2024-05-01T12:00:00+00:00",
    "int": 7,
    "negative": -1,
    "int_of_64_bits": 2**63 - 1,
    "float": 0.1,
    "whole_float": 1.0,
    "small_float": 5e-324,
    "true": True,
    "false": False,
    "zero": 0,
    "list_of_str": ["b", "a", "b"],
}


KEPT_OR_REFUSED: dict[str, Any] = {
    "none": None,
    "nul": "a\x00b",
    "lone_surrogate": "\ud800",
    "large_int": 2**70,
    "negative_zero": -0.0,
    "infinity": math.inf,
    "nan": math.nan,
    "empty_list": [],
    "mixed_list": [1, 1.0, True, "1", None],
    "nested_list": [[1], [2, [3, []]]],
    "dict": {"a": {"b": [1, {"c": None, "d": 1.0}]}, "": 0},
    "empty_dict": {},
    "keys_that_are_not_str": {1: "a", None: "b"},
    "dict_like_a_type": {"$type": "datetime", "value": "2024-05-01"},
    "dict_like_a_typed_dict": {"$type": "dict", "value": {"$type": "bytes", "value": ""}},
    "aware_datetime": datetime(2024, 5, 1, 12, 0, 0, 123456, tzinfo=UTC),
    "datetime_elsewhere": datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    "naive_datetime": datetime(2024, 5, 1, 12),  # noqa: DTZ001
    "date": date(2024, 5, 1),
    "time": time(12, 30),
    "timedelta": timedelta(days=1, microseconds=1),
    "bytes": b"\x00\xff",
    "typed_values_in_lists": [date(2024, 5, 1), {"at": datetime(2024, 5, 1, tzinfo=UTC)}, b""],
    "tuple": (1, 2),
    "set": {1},
    "decimal": Decimal("1.10"),
    "uuid": uuid.UUID(int=1),
    "object": object,
    "long_str": "x" * 100_000,
}


REFUSED = {"lone_surrogate", "infinity", "nan", "keys_that_are_not_str", "timedelta", "object"}


def test_plain_values_are_kept(store: PropertyGraphStore) -> None:
    wanted = with_types(KEPT)
    store.upsert_nodes([make_entity("a", "THING", **KEPT)])
    store.upsert_relations([make_relation("a", "R", "b", **KEPT)])
    assert with_types(entity_of(store, "a").properties) == wanted
    assert with_types(relation_of(store, "R").properties) == wanted
    [(_, relation, _)] = store.get_rel_map([make_entity("a")], depth=1)
    assert with_types(relation.properties) == wanted


def test_other_values_of_nodes(new_store: NewStore) -> None:
    refused: set[str] = set()
    for case, value in KEPT_OR_REFUSED.items():
        store = new_store()
        store.upsert_nodes([make_entity("a", "THING", held="before")])
        mine = make_entity("a", "THING", held=value)
        if is_refused(store, nodes=[make_entity("bystander"), mine]):
            refused.add(case)
        else:
            found = with_types(entity_of(store, "a").properties)
            assert found == with_types({"held": value}), case
    assert refused == REFUSED


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
