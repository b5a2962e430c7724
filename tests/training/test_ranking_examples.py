"""What the weights of the ranking are fitted on: units, their questions, and what answers them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from benchmarks.temporal_world import tell
from tests.training.corpus import write_films, write_talks
from tests.vectors.fakes import words
from training.ranking import examples
from training.ranking.examples import Asked, Unit, asked_of, units_of


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Unit]:
    """The units of a folder of conversations, a file of films and a short world, by name."""
    monkeypatch.setattr(examples, "tell", partial(tell, repetitions=1))
    return {
        unit.name: unit
        for unit in units_of(
            write_talks(tmp_path / "talks"),
            None,
            write_films(tmp_path / "films.jsonl"),
            plots=2,
            worlds=1,
        )
    }


def answers(asked: Asked) -> list[set[str]]:
    """The texts of each group."""
    assert asked.candidates is not None
    statements = asked.candidates.statements
    return [{statements[place].text for place in group} for group in asked.groups]


def by_question(unit: Unit) -> dict[str, Asked]:
    found = asked_of(unit, None)
    return {text: asked for (text, _, _), asked in zip(unit.questions, found, strict=True)}


def test_a_unit_for_each_conversation_film_and_world(data: dict[str, Unit]) -> None:
    assert {name: unit.kind for name, unit in data.items()} == {
        "harbour": "LoCoMo",
        "stage": "LoCoMo",
        "boat": "DuoRC",
        "train": "DuoRC",
        "world 1": "Temporal",
    }


def test_turns_without_words_are_not_told(data: dict[str, Unit]) -> None:
    ids = [item["id"] for item in data["harbour"].items]
    assert ids == ["D1:1", "D1:2", "D1:3", "D1:4", "D1:6"]
    first = data["harbour"].items[0]
    assert (first["speaker"], first["session"]) == ("Ann", "session_1")


def test_each_turn_of_evidence_is_a_group_of_its_statements(data: dict[str, Unit]) -> None:
    found = by_question(data["harbour"])
    assert set(found) == {
        "What did Ann buy?",
        "And what did Ann buy?",
        "What happened in the oven?",
        "What about the boat and the bread?",
        "What came of the boat?",
    }, "evidence that names no turn asks nothing"
    both = found["What about the boat and the bread?"]
    assert answers(both) == [
        {"I bought a green boat in the harbour."},
        {"My bread came out of the oven."},
    ]
    assert both.wanted == 2
    assert found["What came of the boat?"].wanted == 1


def test_what_is_no_candidate_is_wanted_and_in_no_group(data: dict[str, Unit]) -> None:
    unit = data["stage"]
    questions = (
        ("Which clarinet?", examples._of_passages([{"D1:1"}, {"D1:5"}]), 2),
        ("What about zeppelins?", examples._holding(["zeppelin"]), 1),
    )
    found, unknown = asked_of(replace(unit, items=unit.items[:1], questions=questions), None)
    assert answers(found) == [{"My sister plays the clarinet in Oslo."}]
    assert found.wanted == 2
    assert (unknown.candidates, unknown.groups, unknown.wanted) == (None, (), 1)


def test_of_a_film_the_statements_that_hold_an_answer(data: dict[str, Unit]) -> None:
    """Word for word, in any case; what the plot does not answer is not asked."""
    found = by_question(data["boat"])
    assert set(found) == {
        "Who steals a boat?",
        "And who steals a boat?",
        "Who bakes bread in the harbour?",
        "What is played in the rain?",
    }
    assert answers(found["Who bakes bread in the harbour?"]) == [
        {"Ben bakes bread in the harbour."}
    ]
    assert answers(found["What is played in the rain?"]) == [{"They play the piano in the rain."}]
    assert all(asked.wanted == 1 for asked in found.values())


def test_with_embeddings_candidates_have_vectors(data: dict[str, Unit]) -> None:
    for asked in asked_of(data["harbour"], words):
        assert asked.candidates is not None
        assert asked.candidates.question_vector is not None
        assert set(asked.candidates.vectors) == set(asked.candidates.context)
    assert all(
        asked.candidates is not None and asked.candidates.question_vector is None
        for asked in asked_of(data["harbour"], None)
    )
