"""The concept graph for other programs: relations and networkx."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

import networkx as nx
import pytest

from recallm import (
    InvalidInputError,
    MissingDependencyError,
    NewEntity,
    NewTriplet,
    RecallM,
    RelatedConcept,
)

MAY = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def memory() -> RecallM:
    memory = RecallM()
    memory.update("Ada lives in Oslo.", timestamp=MAY)
    memory.update("Ada plays chess.")
    memory.update("Ada lives in Oslo with Bo.")
    memory.update(
        "Ada works at Acme.",
        id="job",
        entities=[
            NewEntity(id="ada", type="person", label="Ada", properties={"born": [1815, {"a": 1}]}),
            NewEntity(id="chunk", type="text", concept=False),
        ],
        triplets=[
            NewTriplet(subject="ada", predicate="WORKS_AT", object="chunk", properties={"x": None}),
            NewTriplet(subject="ada", predicate="likes", object="chunk"),
            NewTriplet(subject="ada", predicate="likes", object="ada"),
        ],
    )
    return memory


# ---- relations -------------------------------------------------------------------------------


def test_relations_of_a_concept(memory: RecallM) -> None:
    assert [
        (relation.label, relation.strength, relation.t_index)
        for relation in memory.relations("Ada")
    ] == [
        ("Acme", 1, 4),
        ("Oslo", 2, 3),
        ("chess", 1, 2),
    ]
    assert memory.relations("oslo")[0] == RelatedConcept(
        name=memory.concepts(["Ada"])[0].name, label="Ada", strength=2, t_index=3
    )


def test_relations_are_cut_and_looked_back_at(memory: RecallM) -> None:
    every = memory.relations("Ada")
    assert memory.relations("Ada", limit=2) == every[:2]
    assert [
        (relation.label, relation.strength) for relation in memory.relations("Ada", as_of=1)
    ] == [("Oslo", 1)]
    assert [relation.label for relation in memory.relations("Ada", as_of=MAY)] == ["Oslo"]
    assert memory.relations("Nobody") == ()
    assert memory.in_namespace("other").relations("Ada") == ()


def test_bad_arguments_of_relations(memory: RecallM) -> None:
    table: list[dict[str, Any]] = [{"concept": None}, {"limit": 0}, {"as_of": "now"}]
    for given in table:
        with pytest.raises(InvalidInputError) as failure:
            memory.relations(**{"concept": "Ada", **given})
        assert failure.value.argument in given


# ---- networkx --------------------------------------------------------------------------------


def test_networkx_has_all_nodes_and_edges(memory: RecallM) -> None:
    graph = memory.graph.to_networkx()
    stats = memory.stats()
    nodes = [node["element"] for _, node in graph.nodes(data=True)]
    edges = [edge["element"] for *_, edge in graph.edges(data=True)]
    assert (nodes.count("concept"), nodes.count("entity")) == (stats.concepts, stats.entities)
    assert (edges.count("relation"), edges.count("triplet")) == (stats.relations, stats.triplets)
    assert edges.count("stands on") == 1
    ada, oslo = (f"concept:{row.name}" for row in memory.concepts(["Ada", "Oslo"]))
    assert graph.nodes["entity:ada"] == {
        "element": "entity",
        "name": "ada",
        "label": "Ada",
        "kind": "person",
        "t_index": 4,
        "updates": 1,
        "properties": {"born": [1815, {"a": 1}]},
        "source": "job",
    }
    assert graph.nodes[ada]["updates"] == 4
    assert graph.has_edge("entity:ada", ada, "stands on")
    assert graph.edges["entity:ada", "entity:chunk", "WORKS_AT"] == {
        "element": "triplet",
        "label": "WORKS_AT",
        "strength": 1,
        "t_index": 4,
        "properties": {"x": None},
        "source": "job",
    }
    assert graph.edges[*sorted([ada, oslo]), "relation"]["strength"] == 2
    written = json.dumps(nx.node_link_data(graph))
    assert {node["id"] for node in json.loads(written)["nodes"]} == set(graph.nodes)


def test_networkx_of_the_past(memory: RecallM) -> None:
    graph = memory.graph.to_networkx(as_of=1)
    assert [node["label"] for _, node in graph.nodes(data=True)] == ["Ada", "Oslo"]
    assert [edge["strength"] for *_, edge in graph.edges(data=True)] == [1]
    assert len(memory.graph.to_networkx(as_of=0)) == 0


def test_networkx_may_be_missing(memory: RecallM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'recallm-memory\[networkx\]'"):
        memory.graph.to_networkx()
