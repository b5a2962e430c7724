"""``filters=`` of the retrievers, beside LlamaIndex's own SimpleVectorStore over the same nodes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)

from llama_index_recallm import RecallMPropertyGraphStore, RecallMRetriever, RecallMSubRetriever
from recallm import InvalidInputError, NewEntity, NewTriplet, RecallM

MAY = datetime(2026, 5, 1, tzinfo=UTC)
QUESTION = "Which cats are there?"
PETS: dict[str, dict[str, Any]] = {
    "Mila": {"age": 1, "tags": ["black", "small"], "kind": "Indoor cat", "seen": MAY},
    "Tom": {"age": 2.5, "tags": [], "kind": "", "chip": 7},
    "Kim": {"age": 4, "tags": ["black", "old"], "kind": None, "seen": MAY + timedelta(days=9)},
    "Lu": {"age": 4, "tags": ["red"], "kind": "outdoor cat"},
    "Bea": {"age": -1},
}


def pets() -> list[TextNode]:
    return [
        TextNode(
            id_=name,
            text=f"{name} is one of the cats.",
            metadata=metadata,
            embedding=[1.0],
            relationships={
                NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"book-{len(name) % 2}")
            },
        )
        for name, metadata in PETS.items()
    ]


@pytest.fixture
def cats(memory: RecallM) -> RecallM:
    RecallMPropertyGraphStore(memory=memory).upsert_llama_nodes(pets())
    return memory


def one(key: str, value: Any, operator: FilterOperator = FilterOperator.EQ) -> MetadataFilter:
    return MetadataFilter(key=key, value=value, operator=operator)


def ids(found: list[NodeWithScore]) -> set[str | None]:
    return {node.node.ref_doc_id for node in found}


CASES = [
    one("age", 4),
    one("age", 4.0),
    one("kind", "Indoor cat"),
    one("missing", "x"),
    one("ref_doc_id", "book-0"),
    one("doc_id", "book-1"),
    one("age", 4, FilterOperator.NE),
    one("kind", "outdoor cat", FilterOperator.NE),
    one("age", 1, FilterOperator.GT),
    one("age", 2.5, FilterOperator.GTE),
    one("age", 2.5, FilterOperator.LT),
    one("age", 2, FilterOperator.LTE),
    one("seen", "2026-05-02", FilterOperator.GT),
    one("age", [1, 4], FilterOperator.IN),
    one("kind", ["", "Indoor cat"], FilterOperator.IN),
    one("age", [1, 4], FilterOperator.NIN),
    one("missing", ["a"], FilterOperator.NIN),
    one("tags", ["red", "old"], FilterOperator.ANY),
    one("tags", ["black", "old"], FilterOperator.ALL),
    one("tags", "black", FilterOperator.CONTAINS),
    one("kind", "door cat", FilterOperator.TEXT_MATCH),
    one("kind", "Door CAT", FilterOperator.TEXT_MATCH_INSENSITIVE),
    one("kind", None, FilterOperator.IS_EMPTY),
    one("tags", None, FilterOperator.IS_EMPTY),
    one("missing", None, FilterOperator.IS_EMPTY),
]


@pytest.fixture(scope="module")
def read_only() -> Iterator[RecallM]:
    with RecallM() as memory:
        RecallMPropertyGraphStore(memory=memory).upsert_llama_nodes(pets())
        yield memory


def test_every_operator_means_what_it_means_to_llamaindex(read_only: RecallM) -> None:
    """So does every condition, which the ranking of the paper meets too."""
    plain = SimpleVectorStore()
    plain.add(pets())
    paper = read_only.with_ranking("paper")
    two = [one("age", 4), one("tags", "black", FilterOperator.CONTAINS)]
    cases = [MetadataFilters(filters=[case]) for case in CASES]
    cases += [
        MetadataFilters(filters=[*two], condition=condition)
        for condition in (*FilterCondition, None)
    ]
    for filters in cases:
        asked = VectorStoreQuery(query_embedding=[1.0], similarity_top_k=9, filters=filters)
        expected = set(plain.query(asked).ids or ())
        for memory in (read_only, paper) if len(filters.filters) > 1 else (read_only,):
            found = RecallMRetriever(memory, filters=filters).retrieve(QUESTION)
            assert ids(found) == expected, filters


def test_in_a_property_graph(read_only: RecallM) -> None:
    store = RecallMPropertyGraphStore(memory=read_only)
    filters = MetadataFilters(filters=[one("age", 2, FilterOperator.GT), one("age", 4)])
    retriever = RecallMSubRetriever(store, filters=filters, include_text=True)
    assert {found.node.node_id for found in retriever.retrieve(QUESTION)} == {"Kim", "Lu"}
    near = VectorStoreQuery(query_embedding=[1.0], similarity_top_k=9, filters=filters)
    assert {node.id for node in store.vector_query(near)[0]} == {"Kim", "Lu"}


async def test_what_is_known_of_a_passage(memory: RecallM) -> None:
    for day, name in enumerate(("Mila", "Tom", "Kim"), start=1):
        memory.update(
            f"{name} is one of the cats.",
            speaker="Ann" if day < 3 else "Bo",
            session="one" if day < 2 else "two",
            timestamp=MAY + timedelta(days=day),
        )
    cases: list[tuple[MetadataFilter, set[int]]] = [
        (one("t_index", 2, FilterOperator.GTE), {2, 3}),
        (one("timestamp", "2026-05-03", FilterOperator.LT), {1}),
        (one("speaker", "Ann"), {1, 2}),
        (one("session", ["one"], FilterOperator.NIN), {2, 3}),
        (one("source", None, FilterOperator.IS_EMPTY), {1, 2, 3}),
    ]
    for case, days in cases:
        retriever = RecallMRetriever(memory, filters=MetadataFilters(filters=[case]))
        found = await retriever.aretrieve(QUESTION)
        assert {node.metadata["t_index"] for node in found} == days


def test_beside_other_conditions(read_only: RecallM) -> None:
    old = MetadataFilters(filters=[one("age", 4)])
    assert ids(RecallMRetriever(read_only, filters=old, since=4).retrieve(QUESTION)) == {"Lu"}
    assert ids(RecallMRetriever(read_only, filters=old, as_of=3).retrieve(QUESTION)) == {"Kim"}
    assert (
        ids(RecallMRetriever(read_only, filters=old, where={"age": 1}).retrieve(QUESTION)) == set()
    )
    assert len(RecallMRetriever(read_only, filters=old, similarity_top_k=1).retrieve(QUESTION)) == 1
    empty = MetadataFilters(filters=[])
    assert len(RecallMRetriever(read_only, filters=empty).retrieve(QUESTION)) == len(PETS)


def test_what_no_passage_shows_does_not_pass(cats: RecallM) -> None:
    cats.graph.upsert(
        [NewEntity(id="cats"), NewEntity(id="Zoe")],
        [NewTriplet(subject="Zoe", predicate="is one of", object="cats")],
    )
    assert None in ids(RecallMRetriever(cats).retrieve(QUESTION))
    young = MetadataFilters(filters=[one("age", 4, FilterOperator.NE)])
    assert ids(RecallMRetriever(cats, filters=young).retrieve(QUESTION)) == {"Mila", "Tom", "Bea"}


def test_filters_that_are_unknown_are_refused_at_once(memory: RecallM) -> None:
    unknown: list[Any] = [
        {"age": 4},
        [one("age", 4)],
        MetadataFilter.model_construct(key="age", value=1, operator="=="),
        MetadataFilters(filters=[MetadataFilters(filters=[one("a", 1)])]),
        MetadataFilters.model_construct(filters=[one("a", 1)], condition="xor"),
    ]
    for filters in unknown:
        with pytest.raises(InvalidInputError, match=r"must be|cannot be used") as refused:
            RecallMRetriever(memory, filters=filters)
        assert refused.value.argument == "filters"


def test_what_cannot_be_compared_is_an_error(read_only: RecallM) -> None:
    """Also where another filter has decided already."""
    for case in (
        one("age", "4", FilterOperator.GT),
        one("age", "4", FilterOperator.CONTAINS),
        one("tags", "red", FilterOperator.TEXT_MATCH),
        one("age", 4, FilterOperator.IN),
    ):
        filters = MetadataFilters(filters=[one("missing", "x"), case])
        with pytest.raises(InvalidInputError, match="filters cannot be used") as refused:
            RecallMRetriever(read_only, filters=filters).retrieve(QUESTION)
        assert refused.value.argument == "filters"


def test_properties_behind_the_text(cats: RecallM) -> None:
    store = RecallMPropertyGraphStore(memory=cats)
    cats.update("Zoe is one of the cats.")
    shown = {
        node.text
        for retriever in (
            RecallMRetriever(cats, include_properties=True),
            RecallMSubRetriever(store, include_properties=True, similarity_top_k=9),
        )
        for node in retriever.retrieve(QUESTION)
    }
    assert "Bea is one of the cats. ({'age': -1})" in shown
    assert "Zoe is one of the cats." in shown
    with pytest.raises(InvalidInputError, match="include_properties"):
        RecallMRetriever(cats, include_properties="yes")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="give one"):
        RecallMSubRetriever(store, limit=3, similarity_top_k=3)
