"""Entities and triplets through the public face: with a text, joined to one, by embedding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from recallm import (
    ConflictError,
    DimensionError,
    GraphUpdate,
    InvalidInputError,
    NewEntity,
    NewTriplet,
    RecallM,
    UnknownEntityError,
    UnknownPassageError,
)
from recallm.english.pipeline import Pipeline
from tests.tables import each_row

ANN, ACME = NewEntity(id="Ann", type="person"), NewEntity(id="Acme", type="company")
WORKS = NewTriplet(subject="Ann", predicate="works at", object="Acme")


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        yield memory


def test_a_text_with_entities_and_triplets_is_one_update(memory: RecallM) -> None:
    update = memory.update("Ann got a job at Acme.", id="a", entities=[ANN, ACME], triplets=[WORKS])
    assert update.t_index == memory.stats().t_index == 1
    [works] = memory.graph.triplets()
    assert (works.subject, works.object, works.t_index, works.source) == ("Ann", "Acme", 1, "a")
    assert memory.forget(id="a").triplets == 1
    assert memory.graph.entities() == []


def test_in_a_batch(memory: RecallM) -> None:
    memory.update_many(
        [
            {"text": "Ann is here.", "id": "a", "entities": [ANN]},
            {"text": "Acme is big.", "id": "b", "entities": [ACME], "triplets": [WORKS]},
        ]
    )
    assert [entity.source for entity in memory.graph.entities()] == ["b", "a"]


@each_row(
    [
        ({"entities": ["Ann"]}, "must hold NewEntity"),
        ({"entities": "Ann"}, "entities must be a list"),
        ({"entities": 5}, "entities must be a list"),
        ({"triplets": [("Ann", "is", "here")]}, "must hold NewTriplet"),
        ({"replace": "yes"}, "replace must be True or False"),
    ],
)
def test_bad_entities_and_triplets_are_refused(
    given: dict[str, Any], match: str, memory: RecallM
) -> None:
    with pytest.raises(InvalidInputError, match=match):
        memory.update("Ann is here.", **given)
    with pytest.raises(InvalidInputError, match="item 1") as failure:
        memory.update_many(["One.", {"text": "Two.", **given}])
    assert failure.value.index == 1
    assert memory.stats().t_index == 0


@each_row(
    [
        ({"id": ""}, "entity '': id"),
        ({"id": "x", "type": ""}, "entity 'x': type"),
        ({"id": "x", "embeddings": {"m": []}}, "embedding"),
        ({"id": "x", "embeddings": {"": [1.0]}}, "embedding model"),
        ({"id": "x", "properties": {1: "one"}}, "entity 'x': properties"),
    ],
)
def test_an_entity_is_checked_when_it_is_made(given: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        NewEntity(**given)


def test_a_graph_update_needs_an_entity_or_a_triplet() -> None:
    with pytest.raises(InvalidInputError, match="an entity or a triplet"):
        GraphUpdate(passage="a")


def test_an_unknown_end_writes_nothing(memory: RecallM) -> None:
    with pytest.raises(UnknownEntityError):
        memory.update("Ann got a job.", entities=[ANN], triplets=[WORKS])
    assert memory.stats().passages == 0


def test_replacing_a_text(memory: RecallM) -> None:
    memory.update("Ann lives in Oslo.", id="a", entities=[ANN])
    with pytest.raises(ConflictError):
        memory.update("Ann lives in Bergen.", id="a")
    memory.update("Ann lives in Bergen.", id="a", replace=True)
    assert memory.update("Ann lives in Bergen.", id="a", replace=True).duplicate
    assert memory.recall("Where does Ann live?").statements[0].text == "Ann lives in Bergen."
    assert memory.stats().statements == 1
    assert memory.graph.entities() == []


def test_joining_a_text(memory: RecallM) -> None:
    memory.update("Ann got a job at Acme.", id="a")
    memory.update("Something else.")
    assert memory.graph.upsert([ANN, ACME], [WORKS], passage="a") == 1
    assert memory.graph.upsert_many([GraphUpdate(entities=[ANN])]) == [3]
    assert memory.graph.upsert_many([]) == []
    assert [entity.id for entity in memory.graph.entities(passages=["a"])] == ["Acme", "Ann"]
    assert len(memory.graph.triplets(passages=["a"])) == 1
    assert memory.graph.triplets(passages=["b"]) == []
    with pytest.raises(UnknownPassageError):
        memory.graph.upsert([ANN], passage="b")
    with pytest.raises(InvalidInputError):
        memory.graph.upsert([ANN], passage="")
    with pytest.raises(InvalidInputError, match="passages must be a list"):
        memory.graph.entities(passages="a")
    memory.forget(id="a")
    assert [entity.id for entity in memory.graph.entities()] == ["Ann"]


def test_an_entity_that_nobody_talks_about(memory: RecallM) -> None:
    memory.graph.upsert([NewEntity(id="chunk 1", concept=False), ANN])
    assert [concept.label for concept in memory.concepts()] == ["Ann"]
    assert memory.graph.entities(labels=["chunk 1"]) == []
    found = memory.graph.entity("chunk 1")
    assert found is not None
    assert found.concept == ""


def test_the_nearest_entities(memory: RecallM) -> None:
    memory.graph.upsert(
        [
            NewEntity(id="x", embeddings={"m": [1.0, 0.0]}),
            NewEntity(id="y", embeddings={"m": [1.0, 1.0], "n": [1.0]}),
            NewEntity(id="z"),
        ]
    )
    found = memory.graph.nearest([2.0, 0.1], model="m")
    assert [(entity.id, round(cosine, 1)) for entity, cosine in found] == [("x", 1.0), ("y", 0.7)]
    assert len(memory.graph.nearest([1.0, 0.0], model="m", limit=1)) == 1
    assert [entity.id for entity, _ in memory.graph.nearest([1.0, 0.0], model="m", ids=["y"])] == [
        "y"
    ]
    assert memory.graph.nearest([1.0, 0.0], model="m", as_of=0) == []
    assert memory.graph.nearest([1.0, 0.0], model="unknown") == []
    with pytest.raises(DimensionError, match="2 dimensions in this namespace, not 3"):
        memory.graph.nearest([1.0, 0.0, 0.0], model="m")
    with pytest.raises(DimensionError):
        memory.graph.upsert([NewEntity(id="z", embeddings={"m": [1.0]})])
    other = memory.in_namespace("other")
    assert other.graph.nearest([1.0], model="m") == []


def test_an_update_reuses_an_extraction(memory: RecallM, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    tag = Pipeline.tag

    def counted(self: Pipeline, texts: Any, **how: Any) -> Any:
        read.extend(texts)
        return tag(self, texts, **how)

    monkeypatch.setattr(Pipeline, "tag", counted)
    text = "Ann lives in Oslo. She met Bob."
    [first] = memory.extract([text])
    assert memory.extract([text]) == [first]
    written = memory.in_namespace("another").update(text)
    assert read == [text]
    mentioned = {concept.name for said in first.statements for concept in said.concepts}
    assert {"ann", "oslo", "bob"} <= mentioned == set(written.concepts)
    pairs = dict.fromkeys((neighbour.a, neighbour.b) for neighbour in first.neighbours)
    assert list(pairs) == list(written.relations)
    memory.update(text)
    memory.update(text, speaker="Ann")
    assert read == [text]
    with pytest.raises(InvalidInputError):
        memory.extract("one text")
    with pytest.raises(InvalidInputError):
        memory.extract(["\ud800"])
