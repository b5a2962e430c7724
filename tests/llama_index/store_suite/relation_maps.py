"""``get_rel_map``: depth, limit, ignored labels."""

from __future__ import annotations

import pytest
from llama_index.core.graph_stores.types import PropertyGraphStore, Triplet

from tests.llama_index.store_suite.base import (
    PropertyGraphTests,
    ids,
    make_chunk,
    make_entity,
    make_relation,
    triplet_lines,
    upsert_graph,
)

__all__ = ["RelationMapTests"]

CHAIN = ["a R b", "b R c", "c R d", "d R e"]


def _map(
    store: PropertyGraphStore,
    *names: str,
    depth: int = 2,
    limit: int = 30,
    ignore: list[str] | None = None,
) -> list[Triplet]:
    return store.get_rel_map(
        [make_entity(name) for name in names], depth=depth, limit=limit, ignore_rels=ignore
    )


class RelationMapTests(PropertyGraphTests):
    """The triplets round some nodes."""

    @pytest.mark.parametrize("depth", [0, 1, 2, 3, 4, 9])
    def test_depth(self, store: PropertyGraphStore, depth: int) -> None:
        """A depth of n gives what is within n steps."""
        upsert_graph(store, *CHAIN)
        assert triplet_lines(_map(store, "a", depth=depth)) == CHAIN[:depth]

    @pytest.mark.parametrize("depth", [0, 1, 2, 3, 4, 9])
    def test_against_the_direction(self, store: PropertyGraphStore, depth: int) -> None:
        """Steps go both ways; each triplet is shown in its own direction."""
        upsert_graph(store, *CHAIN)
        assert triplet_lines(_map(store, "e", depth=depth)) == sorted(CHAIN[::-1][:depth])

    def test_both_ways_by_turns(self, store: PropertyGraphStore) -> None:
        """A path may turn: two that like the same are two steps apart."""
        upsert_graph(store, "a LIKES tea", "b LIKES tea", "b LIKES milk")
        assert triplet_lines(_map(store, "a", depth=1)) == ["a LIKES tea"]
        assert triplet_lines(_map(store, "a", depth=2)) == ["a LIKES tea", "b LIKES tea"]
        assert triplet_lines(_map(store, "a", depth=3)) == [
            "a LIKES tea",
            "b LIKES milk",
            "b LIKES tea",
        ]

    def test_the_default_depth(self, store: PropertyGraphStore) -> None:
        """It is two."""
        upsert_graph(store, *CHAIN)
        assert triplet_lines(store.get_rel_map([make_entity("a")])) == CHAIN[:2]

    def test_one_step_is_not_two(self, store: PropertyGraphStore) -> None:
        """What two neighbours have with each other is a second step."""
        upsert_graph(store, "a R b", "a R c", "b R c")
        assert triplet_lines(_map(store, "a", depth=1)) == ["a R b", "a R c"]
        assert triplet_lines(_map(store, "a", depth=2)) == ["a R b", "a R c", "b R c"]

    @pytest.mark.parametrize("depth", [3, 50])
    def test_cycles_end(self, store: PropertyGraphStore, depth: int) -> None:
        """Each triplet is shown once, however often paths pass it."""
        upsert_graph(store, "a R b", "b R c", "c R a", "a R a", "b Q a")
        found = _map(store, "a", depth=depth)
        assert triplet_lines(found) == ["a R a", "a R b", "b Q a", "b R c", "c R a"]

    def test_once_from_both_ends(self, store: PropertyGraphStore) -> None:
        """A triplet between two of the given nodes is shown once."""
        upsert_graph(store, "a R b")
        assert triplet_lines(_map(store, "a", "b", "a")) == ["a R b"]

    def test_properties_are_shown(self, store: PropertyGraphStore) -> None:
        """Relations and ends have their properties, whatever the given node carries."""
        store.upsert_nodes([make_entity("a", "CITY", size=1), make_entity("b", "CITY", size=2)])
        store.upsert_relations([make_relation("a", "R", "b", since=3)])
        [(subject, relation, object)] = store.get_rel_map([make_entity("b", "OTHER", size=9)])
        assert [it.properties for it in (subject, relation, object)] == [
            {"size": 1},
            {"since": 3},
            {"size": 2},
        ]
        assert (subject.label, object.label) == ("CITY", "CITY")

    def test_nothing_given(self, store: PropertyGraphStore) -> None:
        """No nodes have no relations."""
        upsert_graph(store, *CHAIN)
        assert _map(store) == []

    def test_unknown_nodes(self, store: PropertyGraphStore) -> None:
        """Nodes that are not there have none either; those beside them have theirs."""
        upsert_graph(store, *CHAIN)
        assert _map(store, "nobody") == []
        assert triplet_lines(_map(store, "nobody", "a", depth=1)) == ["a R b"]
        assert ids(store.get()) == ["a", "b", "c", "d", "e"]

    @pytest.mark.parametrize("limit", [0, 1, 2, 3, 4, 99])
    def test_the_limit_is_exact(self, store: PropertyGraphStore, limit: int) -> None:
        """As many are shown as there are, at most ``limit``; the nearest are."""
        upsert_graph(store, *CHAIN)
        assert triplet_lines(_map(store, "a", depth=9, limit=limit)) == CHAIN[:limit]

    def test_the_default_limit(self, store: PropertyGraphStore) -> None:
        """It is thirty."""
        upsert_graph(store, *(f"hub R n{n:02}" for n in range(40)))
        found = triplet_lines(store.get_rel_map([make_entity("hub")]))
        assert len(found) == len(set(found)) == 30

    def test_repeats_do_not_count(self, store: PropertyGraphStore) -> None:
        """A triplet that is reached twice takes one place of the limit."""
        upsert_graph(store, "a R b", "b R a", "b R c")
        assert len(set(triplet_lines(_map(store, "a", "b", depth=3, limit=3)))) == 3

    def test_every_given_node_has_its_share(self, store: PropertyGraphStore) -> None:
        """A hub does not take the whole limit: every node given is in what is shown."""
        upsert_graph(store, *(f"hub R n{n:02}" for n in range(40)), "x R y", "v R w")
        for names in (("hub", "x", "w"), ("w", "x", "hub")):
            found = triplet_lines(_map(store, *names, depth=2, limit=5))
            assert len(found) == 5
            assert {"x R y", "v R w"} < set(found)

    def test_ignored_labels_are_not_shown(self, store: PropertyGraphStore) -> None:
        """Exactly the labels that are named."""
        upsert_graph(store, "a R b", "a SOURCE d", "a source d", "a Q c")
        found = _map(store, "a", depth=1, ignore=["SOURCE", "Q", "unknown"])
        assert triplet_lines(found) == ["a R b", "a source d"]
        assert len(_map(store, "a", depth=1, ignore=[])) == 4

    def test_ignored_labels_take_no_place(self, store: PropertyGraphStore) -> None:
        """They are left out before the limit counts."""
        upsert_graph(store, *(f"hub SOURCE n{n:02}" for n in range(40)), "hub R x", "y R hub")
        found = _map(store, "hub", depth=1, limit=2, ignore=["SOURCE"])
        assert triplet_lines(found) == ["hub R x", "y R hub"]

    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_paths_lead_over_ignored_labels(self, store: PropertyGraphStore, depth: int) -> None:
        """What lies behind them is shown; they are steps, and take no place of the limit."""
        upsert_graph(store, "a SOURCE b", "b R c", "c R d")
        found = _map(store, "a", depth=depth, limit=1, ignore=["SOURCE"])
        assert triplet_lines(found) == ["b R c"][: depth - 1]

    def test_paths_lead_back_over_ignored_labels(self, store: PropertyGraphStore) -> None:
        """In both directions, like over others."""
        upsert_graph(store, "a SOURCE d", "b SOURCE d", "b R c")
        assert triplet_lines(_map(store, "a", depth=3, ignore=["SOURCE"])) == ["b R c"]
        assert _map(store, "a", depth=2, ignore=["SOURCE"]) == []
        assert _map(store, "a", depth=9, ignore=["SOURCE", "R"]) == []

    def test_labels_between_the_same_nodes(self, store: PropertyGraphStore) -> None:
        """They are relations of their own, and one may be ignored."""
        upsert_graph(store, "a SUPPORTS b", "a DENIES b")
        assert triplet_lines(_map(store, "a")) == ["a DENIES b", "a SUPPORTS b"]
        assert triplet_lines(_map(store, "a", ignore=["DENIES"])) == ["a SUPPORTS b"]

    def test_given_nodes_on_one_path(self, store: PropertyGraphStore) -> None:
        """What several given nodes lead to is shown once, from the nearest of them."""
        upsert_graph(store, *CHAIN)
        assert triplet_lines(_map(store, "a", "b", "d", depth=3)) == CHAIN
        assert triplet_lines(_map(store, "a", "d", depth=1)) == ["a R b", "c R d", "d R e"]

    def test_a_relation_called_mentions(self, store: PropertyGraphStore) -> None:
        """Between entities MENTIONS is a relation like others, shown and followed; that a chunk
        mentions an entity is neither."""
        store.upsert_llama_nodes([make_chunk("c1", "one")])
        upsert_graph(store, "Ann MENTIONS Bo", "Bo R Cy", "Ann R x", "Di R y")
        store.upsert_relations(
            [make_relation("c1", "MENTIONS", name) for name in ("Ann", "Cy", "Di")]
        )
        found = _map(store, "Ann", depth=9)
        assert triplet_lines(found) == ["Ann MENTIONS Bo", "Ann R x", "Bo R Cy"]
        found = _map(store, "Ann", depth=9, ignore=["MENTIONS"])
        assert triplet_lines(found) == ["Ann R x", "Bo R Cy"]

    def test_mentions_with_a_chunk_at_its_end(self, store: PropertyGraphStore) -> None:
        """The label says nothing where the relation leads to a chunk."""
        store.upsert_llama_nodes([make_chunk("c1", "one")])
        upsert_graph(store, "Ann R Bo")
        store.upsert_relations([make_relation("Ann", "MENTIONS", "c1")])
        assert triplet_lines(_map(store, "Ann", depth=1)) == ["Ann MENTIONS c1", "Ann R Bo"]
