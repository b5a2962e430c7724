"""Neighbour pairs over the order of a passage's concepts."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from recallm.english.concepts import neighbour_pairs

ORDERS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3)), max_size=12).map(
    lambda found: [
        (name, position)
        for (name, _), position in zip(found, sorted(p for _, p in found), strict=True)
    ]
)


def pairs(
    places: list[tuple[str, int]], distance: int = 1, speaker: str | None = None
) -> list[tuple[str, str, int, int]]:
    return [
        (pair.a, pair.b, pair.earlier, pair.later)
        for pair in neighbour_pairs(places, distance, speaker=speaker)
    ]


def test_neighbours_are_pairs_in_order_across_sentences() -> None:
    """Each is related to the one before and the one after."""
    assert pairs([("brandon", 0), ("coffe", 0), ("anna", 1)]) == [
        ("brandon", "coffe", 0, 0),
        ("anna", "coffe", 0, 1),
    ]


def test_the_speaker_stands_first() -> None:
    """The other concept's statement shows the pair: every statement mentions the speaker."""
    assert pairs([("tea", 2), ("cup", 2)], speaker="anna") == [
        ("anna", "tea", 2, 2),
        ("cup", "tea", 2, 2),
    ]


def test_a_concept_is_no_neighbour_of_itself() -> None:
    """Nor does it stand in for what lies beyond it."""
    assert pairs([("tea", 0), ("tea", 0), ("cup", 1)]) == [("cup", "tea", 0, 1)]
    assert pairs([("tea", 0)], speaker="tea") == []


@given(ORDERS, st.integers(1, 4))
def test_pairs_are_those_within_the_distance(places: list[tuple[str, int]], distance: int) -> None:
    """Against the definition; each once; ``a < b``; never later before earlier."""
    found = pairs(places, distance)
    expected = {
        (min(x, y), max(x, y), p, q)
        for i, (x, p) in enumerate(places)
        for j, (y, q) in enumerate(places)
        if 0 < j - i <= distance and x != y
    }
    assert set(found) == expected
    assert len(found) == len(expected)


@given(ORDERS)
def test_neighbours_connect_a_passage(places: list[tuple[str, int]]) -> None:
    """At distance 1 all concepts of a passage hang together."""
    graph = nx.Graph()
    graph.add_nodes_from(name for name, _ in places)
    graph.add_edges_from((a, b) for a, b, _, _ in pairs(places))
    assert nx.number_connected_components(graph) == (1 if places else 0)
