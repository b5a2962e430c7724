"""What is gathered for a question, and the filter for what is reached by way of another."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from recallm.ground.config import RecallConfig
from recallm.model import Filter, PreparedUpdate, Question, TemporalReading, statement_key
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.request import RecallRequest
from recallm.recall.retrieval.candidates import FETCHED, read_candidates
from recallm.recall.retrieval.nearest import meets
from tests.retrieval.talk import asked, candidates, store_of, turn
from tests.store_suite import DictStore


def gathered(store: DictStore, *question: str) -> Candidates:
    text, *concepts = question
    found = candidates(store, asked(text, *concepts))
    assert found is not None
    return found


def said(found: Candidates) -> set[str]:
    return {statement.text for statement in found.statements}


def said_of(store: DictStore, question: Question) -> set[str]:
    found = candidates(store, question)
    return set() if found is None else said(found)


def test_words_concepts_neighbours_and_what_stands_beside_lead_to_statements() -> None:
    store = store_of(
        turn("First things first", session="a"),
        turn("We saw a heron", session="a"),
        turn("What a day", session="a"),
        turn("Herons live near Naxos", session="b"),
        turn("Naxos has a harbour", session="c"),
        turn("Quite another matter", session="d"),
    )
    found = gathered(store, "heron herons", "herons")
    assert said(found) == {
        "First things first",
        "We saw a heron",
        "What a day",
        "Herons live near Naxos",
        "Naxos has a harbour",
    }
    assert set(found.leads.essential) == {"herons"}
    assert set(found.leads.activation) == {"naxos"}
    assert found.leads.activation["naxos"].through == "herons"


def test_neighbours_lead_on_where_facts_stand_alone() -> None:
    facts = [f"Herons {n} live near Naxos" for n in range(9)]
    alone = store_of(*(turn(text, session=None) for text in [*facts, "Naxos has a harbour"]))
    found = gathered(alone, "herons", "herons")
    assert set(found.leads.activation) == {"naxos"}
    assert "Naxos has a harbour" in said(found)
    talk = store_of(*(turn(text, session="a") for text in facts))
    assert not gathered(talk, "herons", "herons").leads.activation


def test_a_hub_is_cut_to_a_few_hundred_that_match_best() -> None:
    """A word that all statements hold does not crowd out the one that holds a rare word too."""
    crowd: list[PreparedUpdate] = [
        turn(f"The ferry left again {n}", session=str(n)) for n in range(900)
    ]
    crowd[100] = turn("The ferry sank", session="sunk")
    found = gathered(store_of(*crowd), "ferry sank")
    assert "The ferry sank" in said(found)
    assert len(found.statements) <= 2 * FETCHED


def test_a_history_of_facts_takes_more_rows() -> None:
    facts = store_of(*(turn(f"Ferry {n} went to Naxos", session=None) for n in range(200)))
    talk = store_of(*(turn(f"Ferry {n} went to Naxos", session=f"{n}") for n in range(200)))
    neutral = asked("ferry")
    present = replace(neutral, time=TemporalReading(recency=1.0, order="latest"))
    first = replace(neutral, time=TemporalReading(order="earliest"))
    read = [len(said_of(facts, question)) for question in (neutral, present, first)]
    assert read == [72, 88, FETCHED]
    assert len(said_of(talk, neutral)) == FETCHED


def test_the_candidate_limit_bounds_what_is_looked_at() -> None:
    store = store_of(*(turn(f"The ferry left {n}", session=str(n)) for n in range(50)))
    with store.reader("n") as reader:
        request = RecallRequest(question="ferry", config=RecallConfig(candidate_limit=5))
        found = read_candidates(reader, asked("ferry"), None, request)
    assert found is not None
    assert said(found) == {f"The ferry left {n}" for n in range(45, 50)}
    assert found.documents.tolist() == [50]


def test_a_question_of_nothing_but_dates_reads_what_was_said_then() -> None:
    store = store_of(
        turn("A heron", day=4),
        turn("An owl", "Then a stork", day=5),
        turn("A crane", day=6),
        turn("A swan"),
    )
    question = "What happened on 5 March 2024?"
    assert said(gathered(store, question)) == {"An owl", "Then a stork"}
    assert said(gathered(store, question, "march", "2024")) == {"An owl", "Then a stork"}
    assert candidates(store, asked(question, "pelican")) is None
    split = ("What happened on 2024-03-05?", "2024", "03", "05")
    assert said(gathered(store, *split)) == {"An owl", "Then a stork"}


def test_who_asks_is_no_concept_beside_dates() -> None:
    """What somebody said on a day is read, however much was said since."""
    later = (turn(f"Kim slept {n}", day=6, session=str(n)) for n in range(200))
    store = store_of(turn("A heron", day=4), turn("An owl", day=5, session="owl"), *later)
    question = asked("What did I do on 5 March 2024?", "kim")
    assert "An owl" not in said_of(store, question)
    assert "An owl" in said_of(store, replace(question, asker="kim"))


def test_a_speakers_name_is_no_word_of_the_question() -> None:
    """Ana says it all without being named in it; the word counts where nobody is called so."""
    spoken = store_of(turn("I saw a heron", speaker="Ana"), turn("Ana saw a heron"))
    assert gathered(spoken, "ana heron", "ana").terms == ("heron",)
    assert gathered(spoken, "ana heron", "ana").speakers == {"ana"}
    told = store_of(turn("Ana saw a heron"))
    assert gathered(told, "ana heron", "ana").terms == ("ana", "heron")
    assert gathered(told, "ana heron", "ana").speakers == frozenset()


def test_sessions_and_passages_count_the_questions_stems() -> None:
    store = store_of(
        turn("A heron", "Then a heron and an owl", session="a"),
        turn("An owl", session="b"),
    )
    found = gathered(store, "heron owl")
    assert {name: counts.tolist() for name, counts in found.session_counts.items()} == {
        "=a": [2, 1],
        "=b": [0, 1],
    }
    by_key = dict(
        zip(found.stem_counts.units.tolist(), found.stem_counts.counts.tolist(), strict=True)
    )
    assert by_key == {
        statement_key(1, 0): [1, 0],
        statement_key(1, 1): [1, 1],
        statement_key(2, 0): [0, 1],
    }


def test_a_filter_decides_as_the_store_does() -> None:
    update = turn("A heron", speaker="Ana", day=5, session="walk")
    store = store_of(replace(update, metadata={"mood": "good", "rank": 1}))
    with store.reader("n") as reader:
        (row,) = reader.statements([statement_key(1, 0)])
        for where, expected in (
            (Filter(), True),
            (Filter(speaker="Ana"), True),
            (Filter(speaker="Ben"), False),
            (Filter(session="walk"), True),
            (Filter(session="run"), False),
            (Filter(since=1, until=1), True),
            (Filter(since=2), False),
            (Filter(until=0), False),
            (Filter(since=datetime(2024, 3, 5, tzinfo=UTC)), True),
            (Filter(since=datetime(2024, 3, 6, tzinfo=UTC)), False),
            (Filter(until=datetime(2024, 3, 4, tzinfo=UTC)), False),
            (Filter(metadata={"mood": "good"}), True),
            (Filter(metadata={"mood": "good", "rank": 1}), True),
            (Filter(metadata={"rank": True}), False),
            (Filter(metadata={"place": "pond"}), False),
        ):
            assert meets(row, where) is expected, where
            found = reader.postings(["heron"], limit=1, where=where).get("heron")
            assert bool(found is not None and len(found.keys)) is expected, where
