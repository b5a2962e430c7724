"""What of an order is handed over: what earns its place, nothing where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallm import RecallConfig, RecallM
from recallm.graph import NewEntity, NewTriplet
from recallm.recall.ranking.choosing import answer_probability, earning_their_place

GUIDE = (
    "Athens is the capital of Greece. The Acropolis stands above the city. This period was "
    "short-lived, as Greece entered a crisis. Many tourists live in the old town in summer. "
    "Museums are open now until eight."
)
FACTS = (
    "Ingrid lives in Malaga.",
    "Ingrid moved to Porto last week.",
    "Ann likes tea.",
    "Bob works for BMW.",
    "Marta is Ingrid's sister.",
)


@pytest.fixture(scope="module")
def memory() -> RecallM:
    """Five facts, and a travel guide that shares their words."""
    memory = RecallM()
    memory.update_many(FACTS)
    memory.update(GUIDE, source="guide")
    return memory


def texts(memory: RecallM, question: str) -> list[str]:
    return [statement.text for statement in memory.recall(question).statements]


def test_an_answer_stands_without_what_only_shares_its_words(memory: RecallM) -> None:
    wrong = {
        question: found
        for question, answer in (
            ("Where does Ingrid live now?", "Ingrid moved to Porto last week."),
            ("What does Ann like?", "Ann likes tea."),
            ("Who does Bob work for?", "Bob works for BMW."),
        )
        if answer not in (found := texts(memory, question)) or len(found) > 3
    }
    assert not wrong


def test_nothing_is_recalled_about_somebody_unknown(memory: RecallM) -> None:
    wrong = {}
    for question in (
        "Where does Zed live now?",
        "Who is Zed Ray's sister?",
        "Does Olga like tea?",
        "What did Olga and Zed do last week?",
    ):
        context = memory.recall(question)
        if context.text or context.statements or (context.confidence or 0.0) >= 0.2:
            wrong[question] = (context.text, context.confidence)
    assert not wrong
    context = memory.recall("Who is Zed Ray's sister?")
    assert context.unknown == ("Zed Ray",)
    assert "unknown: Zed Ray" in context.explain()
    assert "(nothing about this is remembered)" in memory.ask("Who is Zed Ray's sister?", llm=str)


def test_days_and_months_are_no_unknown_names(memory: RecallM) -> None:
    context = memory.recall("Did Ann like tea on Sunday, in June or at Christmas?")
    assert context.unknown == ()
    assert "Ann likes tea." in context.text


def test_a_name_is_known_by_one_of_its_words_or_by_a_fact(memory: RecallM) -> None:
    assert memory.recall("Where does Ingrid Berg live?").unknown == ()
    with RecallM() as facts:
        ends = ("Ada Lovelace", "Cisco")
        facts.graph.upsert(
            [NewEntity(id=end) for end in ends],
            [NewTriplet(subject=ends[0], predicate="employed by", object=ends[1])],
        )
        assert texts(facts, "What do you know about Lovelace?") == [
            "Ada Lovelace — employed by → Cisco"
        ]


GUIDED = ("Ann likes tea.", "one"), ("Visitors may park behind the museum.", "guide")


def test_what_is_known_is_not_hidden_by_how_somebody_asks() -> None:
    """The asker, greetings, several sentences and documents beside a chat hide no answer."""
    cases: tuple[tuple[tuple[tuple[str, str], ...], str, str], ...] = (
        (GUIDED, "Where can I park at the museum?", "behind the museum"),
        (GUIDED, "Where can Ann park at the museum?", "behind the museum"),
        (
            (("My cat is called Mila.", "a"), ("My dog is called Rex.", "a")),
            "What is my cat called?",
            "Mila",
        ),
        ((("Ann keeps bees.", "a"),), "Hi Maria, who keeps bees?", "bees"),
        ((("Ann lives in Oslo.", "a"),), "I met Peter. Where does Ann live?", "Oslo"),
        (
            (("Ann lives in Oslo.", "a"), ("Bo has a dog.", "b")),
            "Where does Ann live? What does Bo have?",
            "dog",
        ),
        ((("Ann lives in Oslo.", "a"),), "What should Ann wear?", "Oslo"),
        ((("I live in Oslo.", "a"),), "Where does Ann live?", "Oslo"),
    )
    wrong = {}
    for said, question, answer in cases:
        with RecallM() as memory:
            for text, session in said:
                memory.update(text, speaker="Human", session=session)
            context = memory.recall(question, asker="Human")
        if answer not in context.text:
            wrong[question] = context.text
    assert not wrong


def best(memory: RecallM, question: str) -> str:
    statements = memory.recall(question).statements
    return max(statements, key=lambda each: each.score or 0.0).text


def test_whose_words_come_first() -> None:
    """The person asked for before a guide that shares the verb; the user before the assistant,
    unless the question asks for what the assistant said."""
    talk = (
        ("Ingrid", "I moved to Porto last week."),
        ("Ingrid", "Tom visited me with his dog."),
        ("user", "My budget for the trip to Lisbon is 900 euros."),
        ("assistant", "A fair budget for Lisbon is 1,500 euros. Many spend a third on food."),
    )
    with RecallM() as memory:
        memory.update_many(
            {"speaker": who, "text": text, "session": str(who == "Ingrid")} for who, text in talk
        )
        memory.update(GUIDE, source="guide")
        for question, answer in (
            ("Where does Ingrid live now?", "I moved to Porto last week."),
            ("What is a fair budget for me in Lisbon?", talk[2][1]),
            ("Which fair budget for Lisbon did you give?", talk[3][1][:40]),
        ):
            assert best(memory, question) == answer, question


def test_what_another_speaker_says_of_himself_hides_nothing_of_whom_is_asked_for() -> None:
    talk = (
        ("Ingrid", "I live in Malaga, near the old harbour, with my sister Greta and two cats."),
        ("Tom", "I work as a nurse at the General Hospital."),
        ("Ingrid", "My cats are called Mondrian and Klee."),
        ("Ingrid", "I started a new job as a baker on Mill Street."),
        ("Tom", "We are planning a trip to Lisbon in May."),
        ("Ingrid", "Greta moved to Berlin for her doctorate."),
        ("Ingrid", "I moved to Porto last week. The flat is small."),
        ("Tom", "I no longer work at the General Hospital, I am now at a practice in Faro."),
        ("Ingrid", "Klee died in March, which was very sad."),
    )
    with RecallM() as memory:
        memory.update_many(
            {"speaker": who, "text": text, "session": str(place // 3)}
            for place, (who, text) in enumerate(talk)
        )
        assert best(memory, "What is Tom's job now?") == talk[3][1], "else this shows nothing"
        assert "practice in Faro" in memory.recall("What is Tom's job now?").text


def test_a_former_state_never_scores_above_the_latest() -> None:
    with RecallM(config=RecallConfig(fill=True)) as memory:
        memory.update_many(("Ingrid lives in Malaga.", "Ingrid moved to Rome."))
        for question in ("Where in Malaga does Ingrid live now?", "Where does Ingrid live?"):
            assert best(memory, question) == "Ingrid moved to Rome."


def test_confidence_tells_known_things_from_unknown_ones() -> None:
    """And what is there is handed over: a reader may know another word for the thing."""
    talk = (
        ("user", "I have a dentist appointment with Dr. Kwan on Tuesday."),
        ("assistant", "Noted. Do you want a reminder?"),
        ("user", "My flight to Oslo is at 7:40 on Friday."),
        ("user", "By the way, my sister Petra is allergic to shellfish."),
        ("assistant", "You might consider carrying antihistamines."),
    )
    with RecallM() as memory:
        memory.update_many({"speaker": who, "text": text} for who, text in talk)
        for question in ("What is Petra allergic to?", "When is my flight?", "Who is my sister?"):
            assert (memory.recall(question).confidence or 0.0) > 0.8, question
        for question in ("What is my budget?", "Do I have a car?", "What is Petra's job?"):
            assert (memory.recall(question).confidence or 0.0) < 0.5, question
        for question in ("Bake me a cake.", "What should I cook?", "Any allergies in my family?"):
            assert "shellfish" in memory.recall(question).text, question
        memory.update_many({"speaker": "user", "text": f"I bought {n} pears."} for n in range(9))
        assert 1 <= len(memory.recall("What is my blood type?").statements) <= 5
        for question in ("What did I buy?", "Who am I?", "What should I cook?", "Describe my life"):
            assert len(memory.recall(question).statements) > 5, question


def test_a_name_that_a_filter_leaves_out_is_unknown() -> None:
    with RecallM() as memory:
        memory.update("Ann lives in Oslo.")
        memory.update("Where does Zed live?", speaker="Human")
        context = memory.recall("Where does Zed live?", asker="Human", until=1)
        assert (context.text, context.unknown) == ("", ("Zed",))


def test_fill_hands_over_all_that_the_limit_allows(memory: RecallM) -> None:
    with RecallM(config=RecallConfig(fill=True)) as full:
        full.update_many(FACTS)
        full.update(GUIDE)
        assert len(texts(full, "Where does Ingrid live now?")) > 3
        assert texts(full, "Where does Zed live now?")
        assert (full.recall("Where does Zed live now?").confidence or 0.0) < 0.2
        assert len(full.recall("Where does Ingrid live now?", limit=2).statements) == 2


def test_every_answer_of_several_stays() -> None:
    with RecallM() as memory:
        memory.update_many(f"{name} works for BMW." for name in ("Ada", "Bo", "Cy", "Dee"))
        memory.update("Eli works in Rome.")
        memory.update_many(f"Fay bought apple number {n}." for n in range(30))
        assert len(texts(memory, "Who works for BMW?")) == 4
        assert len(memory.recall("Which apple did Fay buy?", limit=30).statements) == 30


def test_rankings_without_probabilities_have_no_confidence(memory: RecallM) -> None:
    context = memory.with_ranking("paper").recall("Where does Ingrid live now?")
    assert context
    assert context.confidence is None


def test_confidence_grows_with_the_matter_and_falls_with_what_is_unknown() -> None:
    odds = (-800.0, -5.0, -2.0, 0.0, 4.0)
    rising = [answer_probability(matter, 0.0) for matter in odds]
    assert rising == sorted(rising)
    assert all(answer_probability(each, 1.0) < answer_probability(each, 0.5) for each in odds[1:])
    assert all(0 <= answer_probability(each, share) <= 1 for each in odds for share in (0, 0.5, 1))


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=40), st.booleans())
def test_the_best_stays_and_the_order_with_it(values: list[float], every: bool) -> None:
    odds = np.array(values)
    order = sorted(range(len(values)), key=lambda place: -values[place])
    kept = earning_their_place(order, odds, several=every)
    assert kept[0] == order[0]
    assert kept == [place for place in order if place in kept]
    assert {*earning_their_place(order, odds)} <= {*earning_their_place(order, odds, several=True)}
    assert earning_their_place([], odds) == []
