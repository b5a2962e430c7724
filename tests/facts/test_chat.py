"""The controller of a memory of facts with scripted models: the paper's dialogues, its text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest

from recallm.facts import ChatAnswer, FactChat, FactMemory, NewFact
from recallm.facts.calls import Call, CallName, parse_calls
from tests.facts.figures import FIGURES, Figure
from tests.facts.scripted import ScriptedModel, all_facts, triplets

# -- the paper's dialogues ---------------------------------------------------------------------


@pytest.fixture(params=FIGURES, ids=lambda message: message.name)
def figure(request: pytest.FixtureRequest) -> Figure:
    assert isinstance(request.param, Figure)
    return request.param


def test_dialogues_of_the_paper(shared_facts: FactMemory, figure: Figure) -> None:
    facts = shared_facts.in_namespace(figure.name)
    model = ScriptedModel(*(calls for _, calls in figure.told), figure.response, figure.answer)
    chat = FactChat(facts, model)
    written = []
    for sentence, calls in figure.told:
        reply = chat.answer(sentence)
        assert reply == ""
        assert reply.complete
        assert "".join(map(str, reply.calls)) == calls
        written += triplets(reply.written)
    assert all_facts(facts) == written
    reply = chat.answer(figure.question)
    assert reply == figure.answer
    assert reply.complete
    assert not reply.written
    (call,) = reply.calls
    assert f"{figure.question}{call}" == figure.full_input
    assert triplets(reply.facts)[::-1] == list(call.rows or ())


def test_dialogues_of_the_paper_by_examples(facts: FactMemory, figure: Figure) -> None:
    """A model that writes on: the next message is its invention."""
    noted = [f" {calls} Noted.\n\nMessage: Who?" for _, calls in figure.told]
    invented = f"{figure.response} {{Nobody>>is>>anything}}] Nobody is.\n\nMessage: Who else?"
    answer = f" {figure.answer}\n\nMessage: Thanks.\nReply: You"
    model = ScriptedModel(*noted, invented, answer)
    chat = FactChat(facts, model)
    assert [chat.answer(sentence) for sentence, _ in figure.told] == ["Noted."] * len(noted)
    reply = chat.answer(figure.question)
    assert reply == figure.answer
    assert isinstance(reply, ChatAnswer)
    assert reply.complete
    *_, first, second = model.prompts
    assert first.endswith(f"\n\nMessage: {figure.question}\nReply:")
    assert second == f"{first} {figure.full_input.removeprefix(figure.question)}"


def test_the_examples_are_calls_that_parse(facts: FactMemory) -> None:
    model = ScriptedModel("Hello.")
    assert FactChat(facts, model).answer("Hello!") == "Hello."
    (prompt,) = model.prompts
    events = parse_calls(prompt[prompt.index("\nMessage:") :])
    calls = [event for event in events if isinstance(event, Call)]
    assert {call.name for call in calls} == set(get_args(CallName))
    assert not any("MEM_" in event for event in events if isinstance(event, str))


# -- text --------------------------------------------------------------------------------------


def test_an_answer_shows_no_part_of_a_call(facts: FactMemory) -> None:
    facts.write("Ada", "employed by", "BMW")
    model = ScriptedModel(
        "Let me [see]. [MEM_WRITE{Bob>>knows>>Ada}] [MEM_READ{Ada>>>>}: {Ada>>is>>tired}] Tired.",
        "Ada is employed by BMW. [MEM_WRITE{Ada>>asked by>>Bob}]\n",
    )
    answer = FactChat(facts, model).answer("Who is Ada? Bob, who knows her, asks.")
    assert answer == "Let me [see]. Ada is employed by BMW."
    assert triplets(answer.written) == [("Bob", "knows", "Ada"), ("Ada", "asked by", "Bob")]
    assert triplets(answer.facts) == [("Ada", "employed by", "BMW")]
    assert list(map(str, answer.calls)) == [
        "[MEM_WRITE{Bob>>knows>>Ada}]",
        "[MEM_READ{Ada>>>>}:{Ada>>employed by>>BMW}]",
        "[MEM_WRITE{Ada>>asked by>>Bob}]",
    ]
    assert answer.complete


def test_the_model_stops_at_a_call_that_asks(facts: FactMemory) -> None:
    model = ScriptedModel("[MEM_READ{Ada>>>>}: {Ada>>is>>tired}] Ada is tired.", "I know nothing.")
    answer = FactChat(facts, model).answer("Who is Ada?")
    assert answer == "I know nothing."
    assert "tired" not in model.prompts[1]
    assert model.prompts[1].endswith("Reply: [MEM_READ{Ada>>>>}:]")
    assert answer.complete


def test_a_model_that_stops_at_a_read_of_its_own_accord(facts: FactMemory) -> None:
    facts.write("Ada", "employed by", "BMW")
    for read in ("[MEM_READ{Ada>>>>}", "[mem_read { Ada » » }]"):
        model = ScriptedModel(read, "Ada works.")
        assert FactChat(facts, model).answer("Who is Ada?") == "Ada works."
        assert model.prompts[1].endswith(": [MEM_READ{Ada>>>>}:{Ada>>employed by>>BMW}]")


def test_white_space_around_calls(facts: FactMemory) -> None:
    for written, shown in (
        ("Good. [MEM_WRITE{a>>r>>b}] Bye.", "Good. Bye."),
        ("Good.[MEM_WRITE{a>>r>>b}] Bye.", "Good. Bye."),
        ("[MEM_WRITE{a>>r>>b}]\nGood.\n", "Good."),
        ("Good.\n\n[MEM_WRITE{a>>r>>b}]\n\nBye.", "Good.\n\nBye."),
        ("  Good.  Bye. ", "Good.  Bye."),
    ):
        assert FactChat(facts, ScriptedModel(written)).answer("Hello.") == shown, written


def test_earlier_messages(facts: FactMemory) -> None:
    model = ScriptedModel("Yes.")
    chat = FactChat(facts, model)
    chat.answer("Still?", history=[("Is Ada\nin?", "She is."), ("Now?", "Yes.")])
    assert model.prompts[0].endswith(
        "\n\nMessage: Is Ada\n  in?\nReply: She is.\n\nMessage: Now?\nReply: Yes."
        "\n\nMessage: Still?\nReply:"
    )


def test_where_facts_come_from(facts: FactMemory) -> None:
    said = datetime(2024, 5, 1, tzinfo=UTC)
    model = ScriptedModel("[MEM_WRITE{Ada>>lives in>>Oslo}]")
    answer = FactChat(facts, model).answer("Ada lives in Oslo.", said=said, source="mail")
    assert answer.written == (NewFact("Ada", "lives in", "Oslo", said=said, source="mail"),)
    (fact,) = facts.read("Ada")
    assert (fact.said, fact.source) == (said, "mail")
