"""The default ranking as its users see it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallm.model import (
    Filter,
    PreparedUpdate,
    Summary,
    TemporalIntent,
    TemporalReading,
    Trait,
    WriteSummary,
    statement_key,
)
from recallm.recall.ranking.signals import SIGNALS
from recallm.recall.results import PREFIX
from tests.retrieval.talk import (
    asked,
    best,
    embedded,
    recall,
    store_of,
    texts,
    turn,
    under_model,
)
from tests.store_suite.topics.base import revisable

TALK = store_of(
    turn("Good morning to you", speaker="Ana", day=1),
    turn("Which instrument do you play?", speaker="Ben", day=1),
    turn("Mostly the clarinet", speaker="Ana", day=1),
    turn("A storm broke the greenhouse roof", speaker="Ben", day=2),
    turn("Ana planted tomatoes in the greenhouse", speaker="Ben", day=3),
    turn("Ferries to Naxos leave at noon", speaker="Ana", day=4),
)


def test_scores_are_probabilities_that_contributions_add_up_to() -> None:
    """intercept + contributions = log-odds: explain() shows all that there is."""
    question = asked("what broke the greenhouse roof", "greenhouse", "roof")
    context = recall(TALK, question)
    assert best(context) == "A storm broke the greenhouse roof"
    assert "session+" in context.explain()
    assert recall(TALK, question) == context
    scores = [each.score for each in context.statements]
    assert all(score is not None and 0 < score < 1 for score in scores)
    bound = max(score for score in scores if score is not None)
    assert texts(recall(TALK, question, min_score=bound)) == ["A storm broke the greenhouse roof"]
    assert not recall(TALK, question, min_score=1.0)
    store = store_of(
        embedded(turn("The kayak is red", session="a"), (1, 0)),
        embedded(turn("My kayak is blue", session="b"), (0, 1)),
        turn("A kayak for two", session="c"),
    )
    with_vectors = recall(store, asked("kayak", "kayak"), under=under_model(1, 0))
    assert len(with_vectors.statements) == 3
    for each in (context, with_vectors):
        for statement in each.statements:
            assert list(statement.contributions) == list(SIGNALS)
            odds = each.intercept + sum(statement.contributions.values())
            assert statement.score == pytest.approx(1 / (1 + math.exp(-odds)))


def test_an_answer_is_found_though_it_holds_no_word_of_the_question() -> None:
    """What follows a matching question belongs to it."""
    context = recall(TALK, asked("which instrument play", "instrument"), limit=2)
    assert texts(context) == ["Which instrument do you play?", "Mostly the clarinet"]
    answer = context.statements[1]
    assert any(step.startswith("follows a matching question") for step in answer.path)


def test_the_speaker_whom_the_question_names_is_preferred() -> None:
    """Both say the same; the name itself counts as no other word."""
    store = store_of(
        turn("I bought a kayak", speaker="Ben", session="a"),
        turn("I bought a kayak", speaker="Ana", session="b"),
        turn("Ana is not here", speaker="Ben", session="c"),
    )
    context = recall(store, asked("ana kayak", "ana"))
    first = max(context.statements, key=lambda statement: statement.score or 0)
    assert first.speaker == "Ana"
    assert "said by Ana" in first.path
    assert not any(step.startswith("holds: ana") for step in first.path)


def test_statements_stand_in_the_order_in_which_they_were_said() -> None:
    """By timestamp, though the later one arrived first; by arrival where one has none."""
    sold, bought = turn("The kayak was sold", day=9), turn("The kayak was bought", day=2)
    context = recall(store_of(sold, bought), asked("kayak", "kayak"))
    assert texts(context) == ["The kayak was bought", "The kayak was sold"]
    assert context.text.splitlines()[1:] == [
        "[2024-03-02] The kayak was bought",
        "[2024-03-09] The kayak was sold",
    ]
    store = store_of(sold, bought, turn("The kayak was lost"))
    by_arrival = ["The kayak was sold", "The kayak was bought", "The kayak was lost"]
    assert texts(recall(store, asked("kayak", "kayak"))) == by_arrival


def test_no_sentence_stands_twice_and_the_latest_stays() -> None:
    store = store_of(
        turn("I love my kayak", id="old", speaker="Ana", day=1),
        turn("The kayak is red", speaker="Ana", day=2),
        turn("i love  my KAYAK", id="new", speaker="Ana", day=3),
        turn("I love my kayak", id="other", speaker="Ben", day=3),
    )
    context = recall(store, asked("love kayak", "kayak"))
    ids = [statement.id for statement in context.statements]
    assert "old#0" not in ids
    assert {"new#0", "other#0"} <= set(ids)


def test_limits_and_the_default() -> None:
    """Prefix and marks are counted; a smaller budget never gives more."""
    store = store_of(*(turn(f"Kayak number {n} is blue", speaker="Ana", day=1) for n in range(30)))
    question = asked("kayak blue", "kayak")
    assert len(recall(store, question).statements) == 10
    assert len(recall(store, question, limit=3).statements) == 3
    assert len(recall(store, question, limit=500).statements) == 30
    assert len(recall(store, question, limit=2, max_tokens=1000).statements) == 2
    for max_tokens in (1, 8, 15, 16, 17, 40, 100, 1000):
        context = recall(store, question, max_tokens=max_tokens)
        assert context.tokens == -(-len(context.text) // 4) <= max_tokens
        assert max_tokens < 17 or context.statements, max_tokens
    assert len(context.statements) == 30


def test_a_short_answer_is_worth_more_tokens_than_a_long_one() -> None:
    store = store_of(
        turn("The kayak is red " + "and rather long " * 12, session="a"),
        turn("The kayak is red", session="b"),
        turn("My kayak is red too", session="c"),
    )
    context = recall(store, asked("kayak red", "kayak"), max_tokens=20)
    assert texts(context) == ["The kayak is red", "My kayak is red too"]


def test_a_filter_holds_for_what_adjacency_brings_too() -> None:
    """The matching question is Ben's: it may lead to Ana's answer, but is not recalled."""
    context = recall(
        TALK, asked("which instrument play", "instrument"), where=Filter(speaker="Ben")
    )
    assert {statement.speaker for statement in context.statements} == {"Ben"}
    since = recall(TALK, asked("greenhouse", "greenhouse"), where=Filter(since=5))
    assert texts(since)[0] == "Ana planted tomatoes in the greenhouse"
    assert all(statement.t_index >= 5 for statement in since.statements)


def test_a_summary_in_force_is_one_more_statement() -> None:
    """Its concept's label leads to it; it is as old as the newest statement that it covers."""
    store = store_of(
        turn("Kayak bought in spring", day=1),
        turn("Kayak painted red", day=2),
        turn("Kayak sold", day=3),
    )
    with store.reader("n") as reader:
        now = revisable(reader, "kayak")
    assert now is not None
    revised = Summary(
        concept="kayak",
        t_index=now.t_index,
        text="The kayak is red.",
        terms=("kayak", "red"),
        traits=Trait(0),
    )
    assert store.amend("n", WriteSummary(summary=revised, statements=now.statements))
    context = recall(store, asked("kayak", "kayak"))
    assert texts(context)[-1] == "The kayak is red."
    assert context.text.splitlines()[-1] == "[2024-03-03] The kayak is red."
    assert context.statements[-1].path == ("revised context of kayak",)
    filtered = recall(store, asked("kayak", "kayak"), where=Filter(since=1))
    assert "The kayak is red." not in texts(filtered)


def test_concepts_are_the_essential_ones_and_the_neighbours_that_led_on() -> None:
    store = store_of(
        turn("Ferries reach Naxos"),
        turn("Ferries reach Paros"),
        turn("Naxos grows potatoes"),
        turn("Nothing else matters"),
    )
    context = recall(store, asked("ferries", "ferries"))
    assert next((concept.name, concept.essential) for concept in context.concepts) == (
        "ferries",
        True,
    )
    near = {concept.name: concept.score for concept in context.concepts if not concept.essential}
    assert set(near) == {"naxos", "paros"}
    assert all(0 < score <= 1 for score in near.values())
    led = next(
        statement for statement in context.statements if statement.text == "Naxos grows potatoes"
    )
    assert "neighbour of Ferries: Naxos" in led.path


def test_the_first_line_says_what_order_the_lines_of_several_passages_have() -> None:
    """Sentences of one passage stand in its own."""
    store = store_of(
        turn("The kayak is red", "A kayak for two", session="a"), turn("Kayak sold", session="b")
    )
    question = asked("kayak", "kayak")
    one = recall(store, question, where=Filter(session="a"))
    assert one.text == "The kayak is red; A kayak for two"
    both = recall(store, question)
    assert both.text == f"{PREFIX}\nThe kayak is red; A kayak for two\nKayak sold"


def test_the_present_is_asked_for() -> None:
    """Of statements that match alike, "now" wants the latest more than "first" does."""
    store = store_of(
        *(turn(f"Brandon works as a {job}", session=job) for job in ("cook", "pilot", "judge"))
    )

    def lead(intent: TemporalIntent) -> float:
        question = asked("brandon works", "brandon", intent=intent)
        scores = {
            statement.text: statement.score or 0.0
            for statement in recall(store, question).statements
        }
        return scores["Brandon works as a judge"] - scores["Brandon works as a cook"]

    assert lead("current") > lead("neutral") > lead("historical") - 1e-9


SAID = st.lists(
    st.tuples(
        st.lists(
            st.sampled_from(["Ana", "kayak", "blue", "sold", "now", "Naxos", "heron", "home"]),
            min_size=1,
            max_size=4,
        ),
        st.one_of(st.none(), st.integers(1, 28)),
        st.sampled_from(["a", "b"]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=30)
@given(own=SAID, others=SAID, intent=st.sampled_from(["current", "neutral"]), model=st.booleans())
def test_what_others_say_changes_nothing_at_all(
    own: list[tuple[list[str], int | None, str]],
    others: list[tuple[list[str], int | None, str]],
    intent: TemporalIntent,
    model: bool,
) -> None:
    """Another namespace moves no score, no order and no word of the text."""

    def told(said: list[tuple[list[str], int | None, str]], name: str) -> list[PreparedUpdate]:
        updates = [
            turn(" ".join(words), id=f"{name}{n}", day=day, session=session)
            for n, (words, day, session) in enumerate(said)
        ]
        return [
            embedded(update, (len(update.statements[0].terms), 1.0)) if n % 2 else update
            for n, update in enumerate(updates)
        ]

    store = store_of(*told(own, "own"))
    question = asked("where Ana kayak home", "ana", intent=intent)
    under = under_model(1, 1) if model else None
    before = recall(store, question, under=under)
    store.apply("m", told(others, "other"))
    assert recall(store, question, under=under) == before
    other = recall(store, question, under=under, namespace="m")
    assert all(statement.id.startswith("other") for statement in other.statements)


def test_what_is_near_and_filtered_out_is_not_recalled() -> None:
    """Something was found, and nothing of it may be told: no error, nothing recalled."""
    store = store_of(embedded(turn("A heron here", session="a"), (1, 0)), turn("Owl", session="b"))
    near = replace(under_model(1, 0), nearest=lambda *_: [(statement_key(1, 0), 1.0)])
    for time in (
        TemporalReading(intent="current", recency=1.0, order="latest"),
        TemporalReading(recency=0.5, order="latest", previous=True),
        TemporalReading(recency=0.0, order="earliest"),
        TemporalReading(spread=True),
    ):
        question = asked("kayak", time=time)
        assert texts(recall(store, question, under=near)) == ["A heron here"]
        assert not recall(store, question, under=near, where=Filter(session="b"))
        assert not recall(store, question, under=near, where=Filter(session="b"), max_tokens=50)
