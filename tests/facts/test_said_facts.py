"""Whose the facts of chat messages are, what their ends are called, and what states none."""

from __future__ import annotations

import pytest

from recallm import InvalidInputError, RecallM
from recallm.facts import FactMemory
from tests.tables import each_row


def fact_lines(*messages: str, least: float | None = None) -> set[str]:
    """The lines of the facts of a chat: those that are shown, or those of a confidence."""
    memory = RecallM(triplets=True)
    for message in messages:
        speaker, _, text = message.partition(": ")
        memory.update(text, speaker=speaker, session="chat")
    facts = FactMemory(memory)
    read = facts.read() if least is None else facts.read(min_confidence=least)
    return {fact.line for fact in read}


@each_row(
    [
        (["Ann: I was promoted to head of sales."], "Ann — promoted to → head of sales"),
        (["Ann: The wifi code is tulip-49-lamp."], "wifi code — be → tulip-49-lamp"),
        (["Ann: The trip is on 14 June in Bath."], "trip — be on → 14 June"),
        (["Ann: My brother Tom works as a nurse in York."], "Tom — work in → York"),
        (["Ann: My son is lactose intolerant."], "son of Ann — be → lactose intolerant"),
        (["Ann: My son is called Kai.", "Ann: My son plays chess."], "Kai — play → chess"),
        (["Ann: My aunt lives in Rome. She sings fado."], "aunt of Ann — sing → fado"),
        (["Ann: We got a puppy!", "Ann: She's called Miso."], "puppy — called → Miso"),
        (["Ann: My sister Eva visited me. We flew to York."], "Eva — fly to → York"),
        (["Ann: I am allergic to shellfish."], "Ann — allergic to → shellfish"),
        (["Ann: I have two sons, Ed and Al."], "Al — son of → Ann"),
        (["Ann: Paul says he hates olives."], "Paul — hate → olives"),
        (["Ann: I borrowed Tom's old bike."], "Ann — borrow → Tom's old bike"),
        (["Ann: I took my dog Rex to the vet on Monday."], "Rex — dog of → Ann"),
        (["Ann: I love my sister's dog."], "Ann — love → dog of sister of Ann"),
        (["Ann: I stumbled upon a bakery."], "Ann — stumble upon → bakery"),
        (["Ann: I'm solving a crossword."], "Ann — solve → crossword"),
        (["Ann: I repainted my bedroom walls last month."], "Ann — repaint → bedroom walls"),
        (["Ann: After I quit my job I moved to Bonn."], "Ann — move to → Bonn"),
        (["Ann: These days I play tennis."], "Ann — play → tennis"),
        (["Ann: I owe Bob 20 dollars."], "Ann — owe → 20 dollars"),
        (["Ann: I read a book about Oslo."], "Ann — read → book about Oslo"),
        (["Ann: I spent 30% of my savings."], "Ann — spend → 30% of my savings"),
        (["Ann: I ended up selling the van."], "Ann — end up selling → van"),
        (["Ann: I feel disconnected from the team."], "Ann — feel disconnected from → team"),
        (["Ann: I lent my tent to Bo."], "Ann — lend → tent"),
        (["Ann: I bought a Galaxy 9 Ultra."], "Ann — buy → Galaxy 9 Ultra"),
        (["Ann: I've been to the Louvre, Tate, and Prado."], "Ann — be to → Prado"),
        (["Ann: I really like the idea of a garden."], "Ann — like → idea of a garden"),
        (["Ann: I loved my trip to Japan."], "Ann — love → trip to Japan"),
        (["Ann: I have a degree in law."], "Ann — have → degree in law"),
        (["Ann: I need some advice on my garden."], "Ann — need → advice on my garden"),
        (["Ann: My team has nine people."], "team — have → nine people"),
        (["Ann: I gave Tom a bike."], "Ann — give → bike"),
        (["Ann: The wedding is on 14 June.", "Ann: It was postponed."], "wedding — be → postponed"),
        (["Ann: The printer is broken.", "Ann: They fixed it."], "printer — be → fixed"),
    ]
)
def test_facts_are_of_whom_they_are_said(messages: list[str], line: str) -> None:
    assert line in fact_lines(*messages)


def test_a_relative_is_who_bears_the_name_that_is_said_later() -> None:
    memory = RecallM(triplets=True)
    for text in ("My sister lives in York.", "My sister called Bo.", "My sister is called Marta."):
        memory.update(text, speaker="Ann", session="chat")
    facts = FactMemory(memory)
    facts.write("Marta", "likes", "tea")
    for name in ("Marta", "sister of Ann"):
        assert [fact.object for fact in facts.read(name, "lives in")] == ["York"]
        assert [fact.object for fact in facts.read(name, "likes")] == ["tea"]
    assert facts.read("Bo") == []
    assert [fact.line for fact in facts.end("Marta", "lives in")] == [
        "sister of Ann — live in → York"
    ]


@each_row(
    [
        (["Ann: Wish I lived in Lisbon!"],),
        (["Ann: If I win, I'll move to Delft."],),
        (["Ann: lol I'm the king of Sweden"],),
        (["Ann: Is Eva still at Cisco?"],),
        (["Ann: How do I bake bread"],),
        (["Ann: I'm thinking of buying a boat."],),
        (["assistant: You could try oat milk."],),
        (["Ann: Let's sell the boat."],),
        (["Ann: I run three times."],),
        (["Ann: Hmm, interesting numbers."],),
        (["Ann: I saw one."],),
        (["Ann: {x} stopped smoking"],),
        (["Ann: } moved to Porto."],),
        (["Ann: I'm planning to fish from Illinois."],),
        (["Ann: Help me define the structure of the reports."],),
        (["Ann: I like the idea."],),
        (["Ann: I'm really excited to visit the British Museum."],),
        (["Ann: I've noticed a lot of shops are closing early."],),
        (["Ann: It's hard to imagine how much power the king had."],),
        (["Ann: I wish more people took time for that."],),
        (["Ann: I've heard that Rome has a new zoo."],),
        (["Ann: It seems like the river was dammed."],),
        (["Ann: I have some issues with my oven."],),
        (["Ann: My shop is in the same street."],),
        (["Ann: I spent hours on that."],),
        (["Ann: Some banks start to close branches."],),
        (["Ann: I'm trying to sort my books and label the boxes."],),
        (["Ann: When I bake at night, it's warm."],),
        (["Ann: I find this trend alarming."],),
        (["Ann: I wonder what other factors played a role."],),
        (["Ann: Authentic stories reflect real lives."],),
        (["Ann: I'm getting used to the new stove."],),
        (["Ann: I'm choosing between a bike and a scooter."],),
        ([f"Ann: Edit this: {'We sell boats. ' * 100}"],),
        (["Ann: I need some advice and a few tips."],),
        (["Ann: I love her work."],),
        (["Ann: I've been reading about this topic."],),
        (["Ann: My mother told me about her job."],),
        (["Ann: I hope the rain stops and Bo sells the boat."],),
        (["Ann: I've seen some of these shows."],),
    ]
)
def test_what_is_not_said_to_be_so_is_no_fact(messages: list[str]) -> None:
    assert fact_lines(*messages) == set()


def test_a_verb_of_spaces_is_no_verb() -> None:
    assert fact_lines("Ann: It was  a very exciting game! We sold Tom's old bike.") == {
        "Ann — sell → Tom's old bike"
    }


def test_what_is_said_not_to_be_so_is_no_fact() -> None:
    assert fact_lines("Ann: My brother is a nurse, not a doctor.") == {
        "brother of Ann — be → nurse"
    }


def test_a_second_object_is_no_name_of_the_first() -> None:
    assert not any(
        "daughter of" in line for line in fact_lines("Ann: I read my daughter Harry Potter.")
    )


def test_a_thing_of_a_speaker_is_no_relative() -> None:
    text = (
        "I've been looking for a vintage lens to go with my Canonet QL17 GIII rangefinder camera."
    )
    assert fact_lines(f"Ann: {text}") == {"Ann — look for → vintage lens"}
    assert any("of → Ann" in line for line in fact_lines(f"Ann: {text}", least=0))


def test_nameless_things_of_a_long_message_state_no_facts() -> None:
    text = "Write me a game for the browser, please. The player is a bot. My sister Mia likes bots."
    lines = fact_lines(
        "Ann: " + text + " The fee is 40 euros." + " Please answer as soon as you can." * 3
    )
    assert lines == {"fee — be → 40 euros", "Mia — like → bots", "Mia — sister of → Ann"}


def test_short_sentences_of_a_long_message_state_facts() -> None:
    text = (
        "I'm allergic to peanuts. My budget is 500 euros. My sister Anna moved to Oslo. "
        "I was wondering whether you could help me put together a plan for the coming week."
    )
    assert fact_lines(f"Ann: {text}") == {
        "Ann — allergic to → peanuts",
        "Ann — budget → 500 euros",
        "Anna — sister of → Ann",
        "Anna — move to → Oslo",
    }


def test_objects_are_whole() -> None:
    for text, expected in (
        ("I took a course on pottery.", "take → course on pottery"),
        ("I bought a gift for my sister.", "buy → gift for my sister"),
        ("I read a novel by Murakami.", "read → novel by Murakami"),
        ("I booked a table by phone.", "book → table"),
        ("I put a lamp on the table.", "put → lamp"),
        ("I told the teacher about the exam.", "tell → teacher"),
    ):
        assert f"Ann — {expected}" in fact_lines(f"Ann: {text}"), text


def test_a_relation_with_one_value_needs_less_confidence() -> None:
    text = "I live in a small flat in Glasgow with my partner Sam and our old rabbit, Pepper."
    text += " Which flowers could we grow on the balcony?"
    assert any("→ Glasgow" in line for line in fact_lines(f"Ann: {text}"))
    assert not any("→ Glasgow" in line for line in fact_lines(f"Ann: {text}", least=0.8))


def test_who_reports_a_fact_stands_beside_it() -> None:
    memory = RecallM(triplets=True)
    memory.update("Paul says he hates olives. I said I like tea.", speaker="Ann")
    by = {triplet.object: triplet.properties.get("said_by") for triplet in memory.graph.triplets()}
    assert by == {"olives": "Paul", "tea": None}


def test_possible_facts_are_stored_and_read_on_request() -> None:
    assert fact_lines("Ann: I may move to Delft.", least=0) == {"Ann — may move to → Delft"}
    assert fact_lines("Bo: Hello.", "Ann: We sold the van.") == {"Ann — sell → van"}
    with pytest.raises(InvalidInputError):
        FactMemory(RecallM()).read(min_confidence=2)
