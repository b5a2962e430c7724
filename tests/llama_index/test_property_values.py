"""Metadata of ordinary Python types: stored as JSON, and back."""

from __future__ import annotations

import json
from collections import OrderedDict, namedtuple
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from http import HTTPStatus
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.graph_stores.types import ChunkNode, EntityNode

from llama_index_recallm import RecallMExtractor, RecallMPropertyGraphStore, RecallMRetriever
from llama_index_recallm._property_values import decoded, encoded
from recallm import InvalidInputError, RecallM
from tests.llama_index.property_graphs import with_types

_Point = namedtuple("_Point", "x y")


class _Colour(StrEnum):
    RED = "red"


class _Named(datetime):
    """A datetime of another class."""


ORDINARY: dict[str, Any] = {
    "page": (1, 2),
    "tags": {"b", "a"},
    "fixed": frozenset({1, "x", (2, None)}),
    "file": Path("notes/a.txt"),
    "id": UUID(int=7),
    "price": Decimal("1.50"),
    "seen": [datetime(2026, 5, 1, 12, tzinfo=UTC), (date(2026, 5, 2),)],
    "nested": {"$type": "set", "value": ({"a"},)},
}


def test_values_come_back_as_they_were() -> None:
    """Of NumPy and of subclasses comes back what equals them."""
    equal: list[tuple[Any, Any]] = [(value, value) for value in ORDINARY.values()]
    equal += [
        (np.int64(3), 3),
        (np.uint8(3), 3),
        (np.float32(0.5), 0.5),
        (np.longdouble(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        ([np.int64(1), (np.bool_(False),)], [1, (False,)]),
        (_Point(1, 2), (1, 2)),
        ([_Colour.RED, HTTPStatus.OK], ["red", 200]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (PurePosixPath("a/b"), Path("a/b")),
    ]
    for value, wanted in equal:
        stored = json.loads(json.dumps(encoded({"held": value}, of="a")))
        found = decoded(stored)["held"]
        assert (found, type(found)) == (wanted, type(wanted))
    assert with_types(decoded(encoded({"k": [np.float64(0.1)]}, of="a"))) == with_types(
        {"k": [0.1]}
    )


def test_a_set_has_one_stored_form() -> None:
    forms = {json.dumps(encoded({"k": set(order)}, of="a")) for order in ("abcdef", "fedcba")}
    assert forms == {
        '{"k": {"$type": "set", "value": ["a", "b", "c", "d", "e", "f"]}}',
    }


def test_what_cannot_come_back_is_refused_by_name() -> None:
    for value in (
        np.array([1, 2]),
        np.float32("nan"),
        np.complex64(1),
        np.datetime64("2026-05-01"),
        np.timedelta64(1, "D"),
        Decimal("NaN"),
        PureWindowsPath("C:/a"),
        _Named(2024, 5, 1, tzinfo=UTC),
        (object,),
        {float("inf")},
        ({"a": {1: 2}},),
    ):
        with pytest.raises(InvalidInputError, match=r"must be a str|'held' of 'Ann'") as refused:
            encoded({"held": value}, of="Ann")
        assert refused.value.argument == "properties"


def test_what_only_looks_stored_stays_as_it_is() -> None:
    """The core's own properties are JSON of any kind."""
    for kind, value in (
        ("decimal", "abc"),
        ("decimal", ["a"]),
        ("uuid", 5),
        ("path", None),
        ("tuple", "abc"),
        ("set", [["a"]]),
        ("frozenset", {"a": 1}),
    ):
        looks_stored = {"k": {"$type": kind, "value": value}}
        assert decoded(looks_stored) == looks_stored


def test_nodes_and_recall_with_ordinary_metadata(memory: RecallM) -> None:
    store = RecallMPropertyGraphStore(memory=memory)
    store.upsert_nodes(
        [
            EntityNode(name="Ann", properties=ORDINARY),
            ChunkNode(id_="c", text="Ann lives in Oslo.", properties=ORDINARY),
        ]
    )
    for key, value in ORDINARY.items():
        assert {node.id for node in store.get(properties={key: value})} == {"Ann", "c"}
    retriever = RecallMRetriever(
        memory=memory, where={"price": Decimal("1.50"), "tags": {"a", "b"}}
    )
    [found] = retriever.retrieve("Where does Ann live?")
    assert {key: found.metadata[key] for key in ORDINARY} == ORDINARY


def test_an_index_over_documents_with_ordinary_metadata(memory: RecallM) -> None:
    """LlamaIndex itself turns the metadata of a node into JSON."""
    metadata = {"rows": np.int64(3), "ok": np.bool_(True), **ORDINARY}
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
    assert (chunk.properties["rows"], chunk.properties["ok"]) == (3, True)
    assert (chunk.properties["page"], chunk.properties["file"]) == ([1, 2], "notes/a.txt")
    [ann] = store.get(ids=["Ann"])
    assert (ann.properties["page"], ann.properties["rows"]) == ((1, 2), 3)
    assert [node.metadata["rows"] for node in store.get_llama_nodes([chunk.id])] == [3]
