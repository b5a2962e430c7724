"""The concept graph for other programs: relations, networkx, GraphML."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallm import (
    ArchiveError,
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
    assert [(it.label, it.strength, it.t_index) for it in memory.relations("Ada")] == [
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
    assert [(it.label, it.strength) for it in memory.relations("Ada", as_of=1)] == [("Oslo", 1)]
    assert [it.label for it in memory.relations("Ada", as_of=MAY)] == ["Oslo"]
    assert memory.relations("Nobody") == ()
    assert memory.in_namespace("other").relations("Ada") == ()


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"concept": None}, "concept"),
        ({"concept": "Ada", "limit": 0}, "limit"),
        ({"concept": "Ada", "as_of": "now"}, "as_of"),
    ],
)
def test_bad_arguments_of_relations(memory: RecallM, given: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidInputError) as failure:
        memory.relations(**given)
    assert failure.value.argument == argument


# ---- networkx --------------------------------------------------------------------------------


def test_networkx_has_all_nodes_and_edges(memory: RecallM) -> None:
    graph = memory.graph.to_networkx()
    stats = memory.stats()
    elements = [it["element"] for _, it in graph.nodes(data=True)]
    assert elements.count("concept") == stats.concepts
    assert elements.count("entity") == stats.entities == 2
    elements = [it["element"] for *_, it in graph.edges(data=True)]
    assert elements.count("relation") == stats.relations
    assert elements.count("triplet") == stats.triplets == 3
    assert elements.count("stands on") == 1
    name = memory.concepts(["Ada"])[0].name
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
    assert graph.nodes[f"concept:{name}"]["updates"] == 4
    assert graph.has_edge("entity:ada", f"concept:{name}", "stands on")
    assert graph.edges["entity:ada", "entity:chunk", "WORKS_AT"] == {
        "element": "triplet",
        "label": "WORKS_AT",
        "strength": 1,
        "t_index": 4,
        "properties": {"x": None},
        "source": "job",
    }
    oslo = f"concept:{memory.concepts(['Oslo'])[0].name}"
    first, second = sorted([f"concept:{name}", oslo])
    assert graph.edges[first, second, "relation"]["strength"] == 2


def test_networkx_of_the_past(memory: RecallM) -> None:
    graph = memory.graph.to_networkx(as_of=1)
    assert [it["label"] for _, it in graph.nodes(data=True)] == ["Ada", "Oslo"]
    assert [it["strength"] for *_, it in graph.edges(data=True)] == [1]
    assert len(memory.graph.to_networkx(as_of=0)) == 0


def test_networkx_may_be_missing(memory: RecallM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'recallm\[networkx\]'"):
        memory.graph.to_networkx()
    assert memory.graph.write_graphml(StringIO()) > 0


# ---- GraphML ---------------------------------------------------------------------------------


def elements(graph: nx.MultiDiGraph, *, plain: bool) -> tuple[Any, Any]:
    """The nodes and edges of a graph; of a ``plain`` one with what GraphML keeps of them."""

    def kept(attributes: dict[str, Any]) -> Any:
        values = {name: value for name, value in attributes.items() if value is not None}
        if "properties" in values and not plain:
            values["properties"] = json.loads(values["properties"])
        return sorted(values.items(), key=str)

    nodes = sorted((id, kept(it)) for id, it in graph.nodes(data=True))
    edges = sorted(
        ((start, end, kept({**it, "id": None})) for start, end, it in graph.edges(data=True)),
        key=str,
    )
    return nodes, edges


def test_graphml_is_read_by_networkx(memory: RecallM, tmp_path: Path) -> None:
    target = tmp_path / "graph.graphml"
    graph = memory.graph.to_networkx()
    assert memory.graph.write_graphml(target) == len(graph)
    read = nx.read_graphml(target, force_multigraph=True)
    assert read.is_directed()
    assert elements(read, plain=False) == elements(graph, plain=True)
    past = StringIO()
    memory.graph.write_graphml(past, as_of=1)
    assert len(nx.parse_graphml(past.getvalue())) == 2


TEXTS = st.text(min_size=1, max_size=30) | st.text("\\u001b\x1b\r\n\t\x00<&\">]]>'", min_size=1)


def unescaped(text: str) -> str:
    return re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text)


@given(st.lists(TEXTS, min_size=2, max_size=4, unique=True), TEXTS, TEXTS)
def test_any_text_goes_through_graphml(ids: list[str], predicate: str, value: str) -> None:
    memory = RecallM()
    memory.graph.upsert(
        [NewEntity(id=id, type=predicate, properties={value: value}) for id in ids],
        [NewTriplet(subject=ids[0], predicate=predicate, object=ids[1])],
    )
    stream = StringIO()
    memory.graph.write_graphml(stream)
    assert not set(stream.getvalue()) & set(map(chr, [*range(9), 11, 12, *range(13, 32), 0x9B]))
    graph = nx.parse_graphml(stream.getvalue(), force_multigraph=True)
    entities = [it for _, it in graph.nodes(data=True) if it["element"] == "entity"]
    assert {unescaped(it["name"]) for it in entities} == set(ids)
    assert {unescaped(it["kind"]) for it in entities} == {predicate}
    assert all(json.loads(it["properties"]) == {value: value} for it in entities)
    (triplet,) = [it for *_, it in graph.edges(data=True) if it["element"] == "triplet"]
    assert unescaped(triplet["label"]) == predicate


def test_graphml_replaces_its_own_files_alone(memory: RecallM, tmp_path: Path) -> None:
    target = tmp_path / "graph.graphml"
    memory.graph.write_graphml(target)
    before = target.read_bytes()
    memory.update("Cy met Di.")
    memory.graph.write_graphml(str(target))
    assert target.read_bytes() != before
    archive = tmp_path / "archive.jsonl"
    memory.export(archive)
    notes = tmp_path / "notes.xml"
    notes.write_text('<?xml version="1.0" encoding="UTF-8"?>\n<mine/>')
    for other in (archive, notes):
        before = other.read_bytes()
        with pytest.raises(ArchiveError, match="no GraphML file of recallm"):
            memory.graph.write_graphml(other)
        assert other.read_bytes() == before
    with pytest.raises(ArchiveError, match="no recallm archive"):
        memory.export(target)
    assert sorted(it.name for it in tmp_path.iterdir()) == [
        "archive.jsonl",
        "graph.graphml",
        "notes.xml",
    ]


@pytest.mark.parametrize("target", [5, None, b"graph.xml"])
def test_graphml_needs_a_path_or_a_stream(memory: RecallM, target: Any) -> None:
    with pytest.raises(InvalidInputError, match="target"):
        memory.graph.write_graphml(target)


def test_a_stream_that_takes_no_text_is_one_error(memory: RecallM) -> None:
    with pytest.raises(ArchiveError, match="cannot be written"):
        memory.graph.write_graphml(BytesIO())  # type: ignore[arg-type]
