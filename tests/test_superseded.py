"""Which statements later ones took the place of, and pages of a history."""

from __future__ import annotations

import pytest

from recallm import InvalidInputError, RecallM
from recallm.facts import FactMemory


def superseded(memory: RecallM, concept: str, as_of: int | None = None) -> list[str]:
    history = memory.history(concept, as_of=as_of)
    ids = memory.superseded(history, as_of=as_of)
    return [statement.text for statement in history if statement.id in ids]


def test_a_standalone_fact_is_superseded_by_a_later_value_of_its_relation() -> None:
    memory = RecallM()
    memory.update_many(["Ada lives in Malaga.", "Ada likes tea.", "Ada moved to Porto."])
    assert superseded(memory, "Ada") == ["Ada lives in Malaga."]
    assert superseded(memory, "Malaga") == ["Ada lives in Malaga."]
    assert superseded(memory, "Ada", as_of=2) == []


def test_a_state_said_in_a_conversation_is_superseded_by_the_same_speakers_later_state() -> None:
    memory = RecallM()
    memory.update("I live in Malaga and I love it. The sea is warm.", speaker="Ada", session="a")
    memory.update("Where do you live, Ada? I live in Oslo.", speaker="Bo", session="b")
    memory.update("It rains a lot here. I moved to Porto.", speaker="Ada", session="b")
    assert superseded(memory, "Ada") == ["I live in Malaga and I love it."]
    assert superseded(memory, "Bo") == []


def test_other_subjects_and_repetitions_supersede_nothing() -> None:
    memory = RecallM()
    memory.update_many(
        ["Ada lives in Malaga.", "Bo lives in Porto.", "Ada still lives in Malaga.", "Ada ran."]
    )
    assert superseded(memory, "Ada") == superseded(memory, "Bo") == []


def test_statements_whose_facts_ended_are_superseded() -> None:
    memory = RecallM(triplets=True)
    facts = FactMemory(memory)
    memory.update("Dorothea works for BMW.", session="chat")
    memory.update("Dorothea likes tea.", session="chat")
    assert superseded(memory, "Dorothea") == []
    facts.end("Dorothea", "works for", "BMW")
    assert superseded(memory, "Dorothea") == ["Dorothea works for BMW."]


def test_a_denial_of_what_holds_again_is_superseded() -> None:
    memory = RecallM(triplets=True)
    for number, text in enumerate(("works", "no longer works", "works")):
        memory.update(f"Dorothea {text} for BMW.", session="chat", id=str(number))
    history = memory.history("Dorothea")
    assert memory.superseded(history, as_of=2) == {"0#0"}
    assert memory.superseded(history) == {"1#0"}


def test_nothing_crosses_a_namespace() -> None:
    memory = RecallM()
    memory.update("Ada lives in Malaga.")
    memory.in_namespace("other").update_many(["Rain fell.", "Ada lives in Porto."])
    assert superseded(memory, "Ada") == []


def test_a_history_comes_in_pages() -> None:
    memory = RecallM()
    memory.update_many([f"Ada bought {number} boats." for number in range(5)])
    whole = memory.history("Ada")
    assert memory.history("Ada", limit=2) == whole[3:]
    assert memory.history("Ada", limit=2, skip=2) == whole[1:3]
    assert memory.history("Ada", limit=2, skip=9) == ()
    assert memory.history("Ada", skip=4) == whole[:1]
    with pytest.raises(InvalidInputError):
        memory.history("Ada", skip=-1)
