"""Triplets that texts state, in the graph: evidence of their statements like any other."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recallm import InvalidInputError, RecallM
from recallm.english.stated_facts import stated_elements
from recallm.model import OpenTriplet
from tests.tables import each_row

LIVES = "Maria works for Siemens."


@pytest.fixture
def memory() -> RecallM:
    return RecallM(triplets=True)


def graph_of(memory: RecallM, **view: int) -> set[tuple[str, str, str]]:
    found = memory.graph.triplets(**view)  # type: ignore[arg-type]
    return {(triplet.subject, triplet.predicate, triplet.object) for triplet in found}


def test_an_update_writes_what_its_text_states(memory: RecallM) -> None:
    update = memory.update(LIVES)
    assert graph_of(memory) == {("Maria", "work for", "Siemens")}
    [triplet] = memory.graph.triplets()
    assert (triplet.source, triplet.t_index, triplet.strength) == (update.id, update.t_index, 1)
    assert triplet.properties["said"] == "Maria works for Siemens"
    assert memory.graph.entity("Maria") is not None


def test_plain_memories_write_none() -> None:
    plain = RecallM()
    plain.update(LIVES)
    assert graph_of(plain) == set()
    assert [fact.relation for fact in plain.extract([LIVES])[0].facts] == ["work for"]
    assert plain.extract([LIVES], triplets=False)[0].facts == ()
    with pytest.raises(InvalidInputError, match="triplets"):
        RecallM(triplets="yes")  # type: ignore[arg-type]


def test_what_is_denied_or_merely_possible_is_no_fact(memory: RecallM) -> None:
    memory.update_many(
        [LIVES, "Maria does not work for Cisco.", "Maria may work for Bosch in 2031."]
    )
    assert graph_of(memory) == {
        ("Maria", "work for", "Siemens"),
        ("Maria", "not work for", "Cisco"),
        ("Maria", "may work for", "Bosch"),
    }
    [denied] = memory.graph.triplets(objects=["Cisco"])
    [possible] = memory.graph.triplets(objects=["Bosch"])
    assert denied.properties["negated"] is True
    assert possible.properties["modality"] == "may"
    assert ["time", "in", "2031"] in possible.properties["adjuncts"]


def test_views_of_the_past_and_strength(memory: RecallM) -> None:
    first = memory.update(LIVES)
    memory.update("Maria works for Siemens in Munich.")
    memory.update("Maria works for Bosch.")
    [siemens] = memory.graph.triplets(objects=["Siemens"])
    assert siemens.strength == 2
    assert graph_of(memory, as_of=first.t_index) == {("Maria", "work for", "Siemens")}


def test_a_forgotten_statement_takes_its_triplets_along(memory: RecallM) -> None:
    update = memory.update("Maria works for Siemens. Tom plays chess.")
    assert len(graph_of(memory)) == 2
    memory.forget(statement=update.statements[0])
    assert graph_of(memory) == {("Tom", "play", "chess")}
    assert memory.graph.entity("Siemens") is None
    memory.forget(id=update.id)
    assert graph_of(memory) == set()
    assert memory.graph.entities() == []


def test_speakers_and_pronouns_are_ends(memory: RecallM) -> None:
    memory.update(
        "I work for Siemens.", speaker="Maria", timestamp=datetime(2025, 1, 1, tzinfo=UTC)
    )
    assert graph_of(memory) == {("Maria", "work for", "Siemens")}
    memory.update("Tom has a boat because he loves Sweden.", session="s")
    assert ("Tom", "love", "Sweden") in graph_of(memory)


@each_row(
    [
        "?!", "x" * 100_000, "def f(x): return x", "| a | b |\n| 1 | 2 |", "你好。世界",
        '{"a": 1, "b": [1,2]} Lena married Bo. Di saw Cy.',  # a bracket that is taken for a noun
    ]
)  # fmt: skip
def test_any_text_is_written(text: str, memory: RecallM) -> None:
    update = memory.update(text)
    [extraction] = memory.extract([text])
    assert len(update.statements) == len(extraction.statements)
    assert {fact.position for fact in extraction.facts} <= set(range(len(update.statements)))
    memory.forget(id=update.id)
    assert memory.stats().triplets == memory.stats().entities == 0


def test_an_end_that_stands_for_nothing_is_not_written() -> None:
    triplet = OpenTriplet(subject="it", predicate="is", object="nice", relation="be")
    assert stated_elements([triplet]) == ((), ())


def test_a_forgotten_name_is_no_end_of_what_a_pronoun_stated(memory: RecallM) -> None:
    named = memory.update("Ingrid is a doctor. Ingrid knows Tom.", session="s")
    memory.update("She works for Siemens.", session="s")
    assert ("Ingrid", "work for", "Siemens") in graph_of(memory)
    memory.forget(id=named.id)
    assert graph_of(memory) == set()
    assert memory.graph.entity("Ingrid") is None
    assert memory.history("Ingrid") == ()
    assert memory.stats().statements == 1
