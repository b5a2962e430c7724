"""The state before, after or at the time of a value that a question names, end to end."""

from __future__ import annotations

import pytest

from recallm import RecallM


@pytest.fixture(scope="module")
def memory() -> RecallM:
    memory = RecallM()
    memory.update_many(
        [
            "Ingrid lives in Malaga",
            "Ingrid works as a nurse",
            "Ingrid moved to Porto",
            "Ingrid has a dog called Rex",
            "Ingrid went from nurse to baker",
            "Ingrid moved to Lyon",
            "Tom moved to Porto",
            "Ingrid relocated to Oslo",
            "Ingrid took up chess",
        ]
    )
    return memory


def first(memory: RecallM, question: str) -> str:
    (statement,) = memory.recall(question, limit=1).statements
    return statement.text


def test_the_state_beside_a_named_value_comes_first(memory: RecallM) -> None:
    for question, answer in (
        ("Where did Ingrid live before Porto?", "Ingrid lives in Malaga"),
        ("Before Lyon, where did Ingrid live?", "Ingrid moved to Porto"),
        ("Where did Ingrid live after Porto?", "Ingrid moved to Lyon"),
        ("What was Ingrid's job before she was a baker?", "Ingrid works as a nurse"),
        ("Which job did Ingrid have when she lived in Malaga?", "Ingrid works as a nurse"),
    ):
        assert first(memory, question) == answer, question
    context = memory.recall("Where did Ingrid live before Porto?", limit=1)
    assert "time: before <Porto> → the state before it" in context.explain()
    assert context.statements[0].contributions["neighbour state"] > 0
    context = memory.recall("Where did Ingrid live before Bergen?", limit=3)
    assert not any(each.contributions["neighbour state"] for each in context.statements)


def test_what_only_says_when_is_not_asked_for() -> None:
    memory = RecallM()
    memory.update_many(
        [
            "Basil drives a blue Fiat",
            "Dr Patel has treated Basil since May",
            "Basil drives a black Volvo",
            "Basil waited two hours for Dr Patel",
            "Dr Novak has treated Basil since August",
            "Basil drives a green Skoda",
            "Irma registered with Dr Patel",
        ]
    )
    question = "Which car did Basil drive while Dr Patel treated him?"
    assert first(memory, question) == "Basil drives a black Volvo"


def test_a_statement_that_tells_both_the_time_and_the_answer_comes_first() -> None:
    memory = RecallM()
    memory.update_many(
        [
            "Ingrid broke her arm when she fell off the bicycle",
            "Ingrid bought a bicycle",
            "Ingrid lives in Oslo",
            "Ingrid broke a window",
            "Ingrid works as a nurse",
            "Ingrid learned to swim as a child from her aunt",
            "Ingrid broke her phone",
        ]
    )
    question = "What did Ingrid break when she fell off the bicycle?"
    assert first(memory, question) == "Ingrid broke her arm when she fell off the bicycle"
    question = "Who did Ingrid learn to swim from when she was a child?"
    assert first(memory, question) == "Ingrid learned to swim as a child from her aunt"


def test_in_a_conversation_the_time_of_an_event_is_asked_for_too() -> None:
    memory = RecallM()
    memory.update("We went to the sea. We found shells. We were camping. We found a fox.")
    context = memory.recall("What did they find while camping?", limit=4)
    assert "holds: camp" in [step for statement in context.statements for step in statement.path]


def test_a_statement_of_both_states_answers_what_came_after() -> None:
    memory = RecallM()
    last = "I swapped the cello for a harp."
    memory.update_many(["I play the violin.", "I sold the violin and bought a cello.", last])
    assert first(memory, "What came after the cello?") == last
