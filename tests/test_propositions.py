"""A memory whose statements are propositions."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from recallm import InvalidInputError, LLMError, PipelineError, RecallConfig, RecallM
from tests.vectors.fakes import counting

BOAT = "Ann moved to Porto and bought a boat."
BRANDON = "Brandon loves coffee. He wants to travel to Paris. He likes cats."


def clauses(**arguments: Any) -> RecallM:
    return RecallM(propositions="clauses", **arguments)


def texts(memory: RecallM, concept: str) -> list[str]:
    return [statement.text for statement in memory.history(concept)]


def test_the_walk_throughs_figure_6() -> None:
    """Coffee, Paris and cats are Brandon's neighbours, and nothing else is."""
    memory = clauses()
    update = memory.update(BRANDON)
    assert texts(memory, "Brandon") == [
        "Brandon loves coffee.",
        "Brandon wants to travel to Paris.",
        "Brandon likes cats.",
    ]
    assert update.relations == (("brandon", "coffe"), ("brandon", "pari"), ("brandon", "cat"))
    assert memory.passages()[0].text == BRANDON


def test_recall_finds_the_clause_alone() -> None:
    memory = clauses()
    memory.update(BOAT)
    context = memory.recall("Who bought a boat?", limit=1)
    assert [statement.text for statement in context.statements] == ["Ann bought a boat."]


def test_a_name_that_another_passage_spells_is_forgotten_with_it() -> None:
    memory = clauses()
    memory.update("Hello there!", id="1", speaker="Ann", session="s")
    memory.update("You moved to Porto and bought a boat.", id="2", speaker="Bob", session="s")
    assert texts(memory, "Ann") == ["Hello there!", "You moved to Porto.", "You bought a boat."]
    memory.forget(id="1")
    assert texts(memory, "Ann") == []
    assert texts(memory, "Bob") == ["You moved to Porto.", "You bought a boat."]


def test_what_is_forgotten_of_a_sentence_leaves_no_text() -> None:
    """The other clause stays, and its words in the passage with it."""
    memory = clauses()
    memory.update(BOAT, id="p")
    memory.forget(statement="p#1")
    [passage] = memory.passages()
    assert "boat" not in passage.text
    assert texts(memory, "Ann") == ["Ann moved to Porto."]
    assert texts(memory, "boat") == []
    memory.forget(statement="p#0")
    assert memory.stats().passages == 0


def test_a_passage_is_replaced_with_its_propositions() -> None:
    memory = clauses()
    memory.update(BOAT, id="p")
    memory.update("Ann moved to Delft and bought a bike.", id="p", replace=True)
    assert texts(memory, "Ann") == ["Ann moved to Delft.", "Ann bought a bike."]


def test_an_archive_keeps_propositions() -> None:
    memory, archive = clauses(), io.StringIO()
    memory.update(BOAT)
    memory.update(BRANDON)
    memory.export(archive)
    archive.seek(0)
    loaded = RecallM()
    loaded.load(archive)
    assert loaded.history("Ann") == memory.history("Ann")
    assert loaded.history("Brandon") == memory.history("Brandon")


def test_the_vector_is_that_of_the_propositions_text() -> None:
    embedding, embedded = counting()
    memory = clauses(embeddings=embedding)
    memory.update(BOAT)
    assert ["Ann moved to Porto.", "Ann bought a boat."] in embedded


def test_triplets_are_evidence_of_their_clause() -> None:
    memory = clauses(triplets=True)
    memory.update(BOAT, id="p")
    memory.forget(statement="p#1")
    found = [(each.subject, each.predicate, each.object) for each in memory.graph.triplets()]
    assert [predicate for _, predicate, _ in found] == ["move to"]


def test_a_batch_and_single_updates_write_the_same() -> None:
    items = [BOAT, BRANDON, "Tom sold his car and left Rome."]
    one, many = clauses(), clauses()
    for item in items:
        one.update(item)
    many.update_many(items)
    for concept in ("Ann", "Brandon", "Tom"):
        assert texts(one, concept) == texts(many, concept)


def test_a_language_model_lists_the_propositions() -> None:
    memory = RecallM(propositions=lambda _: "- Ann moved to Porto.\n- Ann owns a boat.")
    memory.update(BOAT)
    assert texts(memory, "Ann") == ["Ann moved to Porto.", "Ann owns a boat."]


def test_nothing_is_written_where_the_language_model_fails() -> None:
    def failing(prompt: str) -> str:
        raise ConnectionError("no route")

    memory = RecallM(propositions=failing)
    with pytest.raises(LLMError, match="no route"):
        memory.update(BOAT)
    assert memory.stats().passages == 0


@pytest.mark.parametrize("value", ["sentences", 3, ["clauses"]])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="propositions must be"):
        RecallM(propositions=value)


@pytest.mark.parametrize("arguments", [{"propositions": "clauses"}, {"triplets": True}])
def test_a_pipeline_of_another_language_is_refused_at_once(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    nlp: Language = spacy.blank("de")
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"ORTH": "Anna"}]], {"POS": "PROPN"})  # type: ignore[attr-defined]
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path)
    config = RecallConfig(spacy_model=str(tmp_path))
    with pytest.raises(PipelineError, match="language 'de'"):
        RecallM(config=config, **arguments)
