"""What a property graph store finds: nodes, triplets, the relations around nodes."""

from __future__ import annotations

from typing import Any

from llama_index.core.graph_stores.types import PropertyGraphStore, Triplet

from tests.llama_index.property_graphs import (
    ids,
    make_chunk,
    make_entity,
    make_relation,
    triplet_lines,
    upsert_graph,
)

ALL = ["Ann KNOWS Bo", "Ann LIKES tea", "Bo KNOWS Cy", "Bo LIKES tea"]


Cases = list[tuple[dict[str, Any], list[str]]]


GET: Cases = [
    ({}, ["Ann", "Bo", "Cy", "tea"]),
    ({"ids": ["Cy", "Ann"]}, ["Ann", "Cy"]),
    ({"ids": ["Ann", "Ann"]}, ["Ann"]),
    ({"ids": []}, []),
    ({"ids": ["nobody"]}, []),
    ({"ids": ["nobody", "tea"]}, ["tea"]),
    ({"properties": {"city": "Rome"}}, ["Ann", "Bo"]),
    ({"properties": {"city": "Rome", "age": 30}}, ["Ann"]),
    ({"properties": {"city": "Rome", "age": 99}}, []),
    ({"properties": {"age": "30"}}, []),
    ({"properties": {"name": "Ann"}}, ["Ann"]),
    ({"properties": {"name": "Ann", "age": 30}}, ["Ann"]),
    ({"properties": {"name": "Ann", "age": 40}}, []),
    ({"properties": {"name": "ann"}}, []),
    ({"properties": {"name": "Bo"}, "ids": ["Ann"]}, []),
    ({"properties": {"size": None}}, []),
    ({"properties": {"age": 30}, "ids": ["Ann", "Bo"]}, ["Ann"]),
    ({"properties": {"age": 30}, "ids": []}, []),
]


TRIPLETS: Cases = [
    ({}, ALL),
    ({"entity_names": ["Ann"]}, ["Ann KNOWS Bo", "Ann LIKES tea"]),
    ({"entity_names": ["Cy"]}, ["Bo KNOWS Cy"]),
    ({"entity_names": ["Ann", "Cy"]}, ["Ann KNOWS Bo", "Ann LIKES tea", "Bo KNOWS Cy"]),
    ({"entity_names": ["nobody"]}, []),
    ({"entity_names": []}, []),
    ({"relation_names": ["KNOWS"]}, ["Ann KNOWS Bo", "Bo KNOWS Cy"]),
    ({"relation_names": ["KNOWS", "LIKES", "HATES"]}, ALL),
    ({"relation_names": ["knows"]}, []),
    ({"relation_names": []}, []),
    ({"ids": ["tea"]}, ["Ann LIKES tea", "Bo LIKES tea"]),
    ({"ids": ["nobody"]}, []),
    ({"ids": []}, []),
    ({"properties": {"since": 2000}}, ["Ann KNOWS Bo", "Bo KNOWS Cy"]),
    ({"properties": {"since": 2000, "how": "well"}}, ["Ann KNOWS Bo"]),
    ({"properties": {"since": 2000, "how": "ill"}}, []),
    ({"properties": {"city": "Oslo"}}, ["Bo KNOWS Cy"]),
    ({"properties": {"since": 1999}}, []),
    ({"properties": {"name": "Cy"}}, ["Bo KNOWS Cy"]),
    ({"entity_names": ["Ann"], "relation_names": ["LIKES"]}, ["Ann LIKES tea"]),
    ({"entity_names": ["Ann"], "ids": ["tea"]}, ["Ann LIKES tea"]),
    ({"ids": ["Bo"], "relation_names": ["KNOWS"]}, ["Ann KNOWS Bo", "Bo KNOWS Cy"]),
    ({"ids": ["Ann"], "properties": {"since": 2010}}, ["Ann LIKES tea"]),
    ({"relation_names": ["LIKES"], "properties": {"since": 2000}}, []),
    ({"entity_names": ["Ann"], "ids": []}, []),
    ({"entity_names": ["Ann"], "relation_names": []}, []),
]


def _people(store: PropertyGraphStore) -> None:
    store.upsert_nodes(
        [
            make_entity("Ann", "PERSON", city="Rome", age=30),
            make_entity("Bo", "PERSON", city="Rome", age=40),
            make_entity("Cy", "PERSON", city="Oslo", age=30),
            make_entity("tea", "DRINK"),
        ]
    )
    store.upsert_relations(
        [
            make_relation("Ann", "KNOWS", "Bo", since=2000, how="well"),
            make_relation("Bo", "KNOWS", "Cy", since=2000),
            make_relation("Ann", "LIKES", "tea", since=2010),
            make_relation("Bo", "LIKES", "tea"),
        ]
    )


def test_get(store: PropertyGraphStore) -> None:
    _people(store)
    found = [(conditions, ids(store.get(**conditions))) for conditions, _ in GET]
    assert found == GET


def test_get_gives_chunks_too(store: PropertyGraphStore) -> None:
    upsert_graph(store, "a")
    store.upsert_llama_nodes(
        [make_chunk("c1", "text", "d1", page=7), make_chunk("c2", "text", "d2")]
    )
    assert ids(store.get()) == ["a", "c1", "c2"]
    assert ids(store.get(ids=["c1", "a"])) == ["a", "c1"]
    assert ids(store.get(properties={"page": 7})) == ["c1"]
    assert ids(store.get(properties={"ref_doc_id": "d2"})) == ["c2"]


def test_names_beside_properties(store: PropertyGraphStore) -> None:
    store.upsert_nodes([make_entity("a").model_copy(update={"properties": {"name": "b"}})])
    store.upsert_nodes([make_entity("b"), make_entity('c "d"')])
    store.upsert_llama_nodes([make_chunk("c1", "b")])
    assert ids(store.get(properties={"name": "b"})) == ["a", "b"]
    assert store.get(properties={"name": "a"}) == []
    assert len(store.get(properties={"name": 'c "d"'})) == 1
    assert store.get(properties={"name": "c1"}) == []


def test_get_triplets(store: PropertyGraphStore) -> None:
    _people(store)
    found = [(asked, triplet_lines(store.get_triplets(**asked))) for asked, _ in TRIPLETS]
    assert found == TRIPLETS


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


def test_depth_and_limit(store: PropertyGraphStore) -> None:
    """In both directions; unknown nodes lead nowhere."""
    upsert_graph(store, *CHAIN)
    for number in (0, 1, 2, 3, 4, 9):
        assert triplet_lines(_map(store, "a", depth=number)) == CHAIN[:number]
        assert triplet_lines(_map(store, "e", depth=number)) == sorted(CHAIN[::-1][:number])
        assert triplet_lines(_map(store, "a", depth=9, limit=number)) == CHAIN[:number]
    assert triplet_lines(store.get_rel_map([make_entity("a")])) == CHAIN[:2]
    assert triplet_lines(_map(store, "nobody", "a", depth=1)) == ["a R b"]
    upsert_graph(store, *(f"hub R n{n:02}" for n in range(40)))
    found = triplet_lines(store.get_rel_map([make_entity("hub")]))
    assert len(found) == len(set(found)) == 30
    upsert_graph(store, "z R hub")
    assert len(_map(store, "z", depth=2, limit=5)) == 5


def test_cycles_end(store: PropertyGraphStore) -> None:
    upsert_graph(store, "a R b", "b R c", "c R a", "a R a", "b Q a")
    for depth in (3, 50):
        found = _map(store, "a", depth=depth)
        assert triplet_lines(found) == ["a R a", "a R b", "b Q a", "b R c", "c R a"]
    assert len(set(triplet_lines(_map(store, "a", "b", depth=3, limit=3)))) == 3


def test_every_given_node_has_its_share(store: PropertyGraphStore) -> None:
    upsert_graph(store, *(f"hub R n{n:02}" for n in range(40)), "x R y", "v R w")
    for names in (("hub", "x", "w"), ("w", "x", "hub")):
        found = triplet_lines(_map(store, *names, depth=2, limit=5))
        assert len(found) == 5
        assert {"x R y", "v R w"} < set(found)


def test_ignored_labels_take_no_place(store: PropertyGraphStore) -> None:
    upsert_graph(store, *(f"hub SOURCE n{n:02}" for n in range(40)), "hub R x", "y R hub")
    found = _map(store, "hub", depth=1, limit=2, ignore=["SOURCE"])
    assert triplet_lines(found) == ["hub R x", "y R hub"]


def test_paths_lead_over_ignored_labels(store: PropertyGraphStore) -> None:
    upsert_graph(store, "a SOURCE b", "b R c", "c R d", "a source e")
    for depth in (1, 2, 3):
        found = _map(store, "b", depth=depth, limit=1, ignore=["SOURCE", "unknown"])
        assert triplet_lines(found) == ["b R c"]
        found = _map(store, "a", depth=depth, limit=2, ignore=["SOURCE", "unknown"])
        assert triplet_lines(found) == sorted(["a source e", *["b R c"][: depth - 1]])


def test_a_relation_called_mentions(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes([make_chunk("c1", "one")])
    upsert_graph(store, "Ann MENTIONS Bo", "Bo R Cy", "Ann R x", "Di R y")
    store.upsert_relations([make_relation("c1", "MENTIONS", name) for name in ("Ann", "Cy", "Di")])
    found = _map(store, "Ann", depth=9)
    assert triplet_lines(found) == ["Ann MENTIONS Bo", "Ann R x", "Bo R Cy"]
    found = _map(store, "Ann", depth=9, ignore=["MENTIONS"])
    assert triplet_lines(found) == ["Ann R x", "Bo R Cy"]


def test_mentions_with_a_chunk_at_its_end(store: PropertyGraphStore) -> None:
    store.upsert_llama_nodes([make_chunk("c1", "one")])
    upsert_graph(store, "Ann R Bo")
    store.upsert_relations([make_relation("Ann", "MENTIONS", "c1")])
    assert triplet_lines(_map(store, "Ann", depth=1)) == ["Ann MENTIONS c1", "Ann R Bo"]
