"""A memory whose statements are the propositions that a language model lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallm import InvalidInputError, LLMError, PipelineError, RecallConfig, RecallM
from tests.extraction.test_pipeline import saved
from tests.vectors.fakes import counting

BOAT = "Ann moved to Porto and bought a boat."
BRANDON = "Brandon loves coffee. He wants to travel to Paris. He likes cats."
CAR = "Tom sold his car and left Rome."
LISTED = {
    BOAT: "- Ann moved to Porto.\n- Ann bought a boat.",
    BRANDON: "Brandon loves coffee.\nBrandon wants to travel to Paris.\nBrandon likes cats.",
    CAR: "1. Tom sold his car.\n2. Tom left Rome.",
}


def listing(prompt: str) -> str:
    """The answer of a language model that knows three passages."""
    return next((answer for text, answer in LISTED.items() if text in prompt), "")


def memory_of_propositions(**arguments: Any) -> RecallM:
    return RecallM(propositions=listing, **arguments)


def texts(memory: RecallM, concept: str) -> list[str]:
    return [statement.text for statement in memory.history(concept)]


def test_the_walk_throughs_figure_6() -> None:
    """Coffee, Paris and cats are Brandon's neighbours, and nothing else is."""
    memory = memory_of_propositions()
    update = memory.update(BRANDON)
    assert texts(memory, "Brandon") == LISTED[BRANDON].splitlines()
    assert update.relations == (("brandon", "coffe"), ("brandon", "pari"), ("brandon", "cat"))
    assert memory.passages()[0].text == BRANDON


def test_recall_finds_the_proposition_alone() -> None:
    embedding, embedded = counting()
    memory = memory_of_propositions(embeddings=embedding)
    memory.update(BOAT)
    assert ["Ann moved to Porto.", "Ann bought a boat."] in embedded
    context = memory.recall("Who bought a boat?", limit=1)
    assert [statement.text for statement in context.statements] == ["Ann bought a boat."]


def test_what_is_forgotten_leaves_no_text() -> None:
    """Propositions of one sentence share its span: the words of the other one stay."""
    memory = memory_of_propositions(triplets=True)
    memory.update(BOAT, id="p")
    memory.forget(statement="p#1")
    assert "boat" not in " ".join(passage.text for passage in memory.passages())
    assert texts(memory, "Ann") == ["Ann moved to Porto."]
    assert texts(memory, "boat") == []
    assert [each.predicate for each in memory.graph.triplets()] == ["move to"]
    memory.forget(statement="p#0")
    assert memory.stats().passages == 0


def test_a_passage_is_replaced_with_its_propositions() -> None:
    memory = memory_of_propositions()
    memory.update(BOAT, id="p")
    memory.update(CAR, id="p", replace=True)
    assert texts(memory, "Ann") == []
    assert texts(memory, "Tom") == ["Tom sold his car.", "Tom left Rome."]


def test_a_batch_and_single_updates_write_the_same() -> None:
    items = [BOAT, BRANDON, CAR]
    one, many = memory_of_propositions(), memory_of_propositions()
    for item in items:
        one.update(item)
    many.update_many(items)
    for concept in ("Ann", "Brandon", "Tom"):
        assert texts(one, concept) == texts(many, concept)


def test_nothing_is_written_where_the_language_model_fails() -> None:
    def failing(prompt: str) -> str:
        raise ConnectionError("no route")

    memory = RecallM(propositions=failing)
    with pytest.raises(LLMError, match="no route"):
        memory.update(BOAT)
    assert memory.stats().passages == 0


def test_other_values_are_refused() -> None:
    for value in ("sentences", 3, ["clauses"]):
        with pytest.raises(InvalidInputError, match="propositions must be"):
            RecallM(propositions=value)  # type: ignore[arg-type]


def test_a_pipeline_of_another_language_is_refused_at_once(tmp_path: Path) -> None:
    config = RecallConfig(spacy_model=saved(tmp_path, language="de"))
    with pytest.raises(PipelineError, match="language 'de'"):
        RecallM(config=config, triplets=True)
