"""Facts out of prose in a memory of facts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recallm import ConflictError, InvalidInputError, RecallM
from recallm.facts import FactMemory
from recallm.memory.update_request import UpdateRequest
from recallm.memory.writing import put
from tests.facts.scripted import triplets

CUSTOMERS = "Cyrus Alfred, Tia Batres, and Pasquale Ballif are customers of Pfizer."
EMPLOYEE = "Dorothea Altemus is employed by Pfizer."


def test_the_example_of_the_paper(facts: FactMemory) -> None:
    assert triplets(facts.write_text(CUSTOMERS)) == [
        ("Cyrus Alfred", "customer of", "Pfizer"),
        ("Pasquale Ballif", "customer of", "Pfizer"),
        ("Tia Batres", "customer of", "Pfizer"),
    ]
    facts.write_text(EMPLOYEE)
    assert triplets(facts.read(None, "employed by", "Pfizer")) == [
        ("Dorothea Altemus", "employed by", "Pfizer")
    ]


def test_a_fact_points_at_its_statement(facts: FactMemory) -> None:
    said = datetime(2025, 3, 1, tzinfo=UTC)
    text = "Ada likes tea. She works for Cisco."
    written = facts.write_text(text, said=said, source="mail", id="m1")
    assert [fact.statement for fact in written] == ["m1#0", "m1#1"]
    assert {(fact.said, fact.source, fact.passage) for fact in written} == {(said, "mail", "m1")}
    assert triplets(written)[1] == ("Ada", "work for", "Cisco")
    assert facts.memory.recall("Who works for Cisco?").text
    facts.memory.forget(statement="m1#1")
    assert triplets(facts.read("Ada")) == [("Ada", "like", "tea")]


def test_a_speaker_says_i(facts: FactMemory) -> None:
    assert triplets(facts.write_text("I am 34 years old.", speaker="Ann")) == [("Ann", "age", "34")]
    [fact] = facts.read("Ann", "age")
    assert fact.value == 34


def test_prose_changes_facts(facts: FactMemory) -> None:
    facts.write("Ada", "employed by", "Cisco")
    facts.write_text("Ada works for BMW.")
    assert triplets(facts.read("Ada", "works for")) == [("Ada", "work for", "BMW")]
    [denied] = facts.write_text("Ada no longer works for BMW.")
    assert denied.relation == "not work for"
    assert facts.read("Ada", "works for") == []
    facts.write_text("Olaf Scholz is the chancellor of Germany.")
    facts.write_text("Friedrich Merz is the chancellor of Germany.")
    newest = facts.read(None, "chancellor of", "Germany")[0]
    assert newest.subject == "Friedrich Merz"


def test_a_place_and_a_year_do_not_supersede_each_other(facts: FactMemory) -> None:
    facts.write_text("Rafael was born in Lima.")
    facts.write_text("Rafael was born in 1972.")
    assert {fact.object for fact in facts.read("Rafael", "born in")} == {"Lima", "1972"}
    facts.write_text("Rafael was born in Cusco.")
    assert {fact.object for fact in facts.read("Rafael", "born in")} == {"Cusco", "1972"}


def test_a_move_is_a_new_home(facts: FactMemory) -> None:
    facts.write_text("Ada lives in Oslo.")
    facts.write_text("Ada moved to Porto.")
    assert [fact.object for fact in facts.read("Ada", "lives in")] == ["Porto"]
    assert [change.object for change in facts.changes("Ada", "lives in")] == ["Oslo", "Porto"]


def test_the_same_text_again_changes_nothing(facts: FactMemory) -> None:
    first = facts.write_text(EMPLOYEE, id="x")
    assert facts.write_text(EMPLOYEE, id="x") == first
    assert facts.memory.stats().t_index == first[0].t_index
    with pytest.raises(ConflictError):
        facts.write_text(CUSTOMERS, id="x")


def test_texts_without_facts(facts: FactMemory) -> None:
    assert facts.write_text("Who is the president of the United States?") == []
    assert facts.write_text("你好。世界") == []
    with pytest.raises(InvalidInputError):
        facts.write_text("  ")
    # A text that need not state facts states none beside one that does.
    put(
        facts.memory._opened,
        [UpdateRequest(text=CUSTOMERS), UpdateRequest(text=EMPLOYEE, states_facts=True)],
    )
    assert [triplet.subject for triplet in facts.memory.graph.triplets()] == ["Dorothea Altemus"]


def test_a_memory_that_writes_triplets_writes_the_same() -> None:
    plain, writing = FactMemory(RecallM()), FactMemory(RecallM(triplets=True))
    assert triplets(plain.write_text(CUSTOMERS)) == triplets(writing.write_text(CUSTOMERS))
    plain.memory.update(EMPLOYEE)
    assert plain.read("Dorothea Altemus") == []


def test_events_end_facts(facts: FactMemory) -> None:
    wrong = []
    for relation, object, text in (
        ("works for", "Cisco", "Ada left Cisco."),
        ("works for", "Cisco", "Ada has left Cisco."),
        ("works for", "Cisco", "Ada quit Cisco."),
        ("works for", "Cisco", "Ada resigned from Cisco."),
        ("owns", "Volvo", "Ada sold Volvo."),
        ("lives in", "Oslo", "Ada moved away from Oslo."),
        ("married to", "Bo", "Ada divorced Bo."),
    ):
        own = facts.in_namespace(text)
        own.write("Ada", relation, object)
        own.write_text(text)
        before = [fact.object for fact in own.read("Ada", relation, as_of=1)]
        if own.read("Ada", relation) or before != [object]:
            wrong.append(text)
    assert wrong == []
    quit_by_ada = facts.in_namespace("Ada quit Cisco.").read("Ada", "quit")
    assert triplets(quit_by_ada) == [("Ada", "quit", "Cisco")]
