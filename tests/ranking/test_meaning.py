"""Overlap in meaning: a statement that shares no word with a question may answer it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recallm import RecallConfig, RecallM
from recallm.model import ConceptMention, Filter, PreparedUpdate, Question
from recallm.recall.ranking.meaning import meaning_signals, relatedness, similar_in_topic
from recallm.recall.retrieval.leads import related_stems_of, statements_of_related_stems
from tests.retrieval.talk import NO_FILTER, asked, candidates, store_of, turn
from tests.store_suite import DictStore

NAMES = (
    *("meaning", "meaning rank"),
    *("similar", "similar window", "similar alone", "near similar"),
)

RESIDES, BICYCLE, OPERA = "Ingrid resid porto", "Ingrid bought bicycl", "Ingrid lov opera"
"""Words are stems here."""


def meant(*updates: PreparedUpdate, by: str = "ingrid live") -> dict[str, dict[str, float]]:
    """The signals of each statement, by its text."""
    found = candidates(store_of(*updates), asked(by, "ingrid"))
    assert found is not None
    values, vectors = meaning_signals(found)
    assert set(values) == set(NAMES)
    assert len(vectors) == len(found.statements)
    return {
        one.text: {name: float(values[name][place]) for name in NAMES}
        for place, one in enumerate(found.statements)
    }


def apart(*texts: str) -> list[PreparedUpdate]:
    """Each in a session of its own."""
    return [turn(text, session=text) for text in texts]


def test_a_word_that_means_alike_counts_in_part() -> None:
    """As much as it is related and rare: "live" is what nobody says, so that it weighs more than
    the name that all hold. The nearest word counts, not the sum."""
    found = meant(*apart("Ingrid live porto", RESIDES, BICYCLE, OPERA))
    whole, part, none = (found[text] for text in ("Ingrid live porto", RESIDES, BICYCLE))
    assert whole["meaning"] == pytest.approx(1)
    assert none["meaning"] == found[OPERA]["meaning"] < part["meaning"] < whole["meaning"]
    assert none["similar"] < part["similar"]
    found = meant(*apart(RESIDES, BICYCLE, OPERA))
    name = found[BICYCLE]["meaning"]
    assert 0 < name < 0.5
    share = (found[RESIDES]["meaning"] - name) / (1 - name)
    assert share == pytest.approx(relatedness(["resid"], ["live"])[0, 0])
    once, often = meant(*apart(RESIDES, f"{RESIDES} resid resid")).values()
    assert once["meaning"] == pytest.approx(often["meaning"])


def test_words_that_are_in_no_table_count_as_they_stand() -> None:
    found = meant(*apart("qzxv harbour", "bicycl qzxv", "opera"), by="qzxv opera")
    assert found["qzxv harbour"]["meaning"] == found["bicycl qzxv"]["meaning"] > 0
    assert found["opera"]["meaning"] == pytest.approx(1 - found["qzxv harbour"]["meaning"])


def test_similar_alone_is_that_of_a_statement_with_nothing_around_it() -> None:
    found = meant(turn("home porto", OPERA, session="a"), turn("home lisbon", session="b"))
    assert found["home lisbon"]["similar alone"] == found["home lisbon"]["similar"] > 0
    assert found["home porto"]["similar"] > 0 == found["home porto"]["similar alone"]


def test_what_has_no_words_means_nothing() -> None:
    """A statement, a question that holds the name of a speaker alone, and no candidates."""
    found = meant(turn("Ingrid resid", session="a"), turn("?!", session="a"), by="ingrid live")
    assert found["?!"]["meaning"] == found["?!"]["similar"] == 0
    store = store_of(turn("home", speaker="Ingrid"), turn("porto", speaker="Ben"))
    of_speaker = candidates(store, asked("Ingrid", "ingrid"))
    assert of_speaker is not None
    assert of_speaker.terms == ()
    values, _ = meaning_signals(of_speaker)
    assert not any(value.any() for value in values.values())
    values, vectors = meaning_signals(
        replace(of_speaker, statements=(), stems=of_speaker.stems.first(0))
    )
    assert [values[name].shape for name in NAMES] == [(0,)] * len(NAMES)
    assert len(vectors) == 0


@pytest.fixture
def by_meaning(tmp_path: Path) -> RecallConfig:
    path = tmp_path / "weights.toml"
    path.write_text(
        "[words]\nintercept = -3\nmeaning = 4\n[vectors]\nintercept = 0\n", encoding="utf-8"
    )
    return RecallConfig(weights=str(path))


def test_of_what_is_told_of_one_the_statement_that_means_what_is_asked_stands_first(
    by_meaning: RecallConfig,
) -> None:
    for question, answer in (
        ("Where does Ben live?", "Ben resides in Porto."),
        ("What is the job of Ben?", "Ben works as a baker."),
        ("Which animal does Ben keep?", "Ben has a dog called Rex."),
    ):
        with RecallM(config=by_meaning) as memory:
            for text in (answer, "Ben bought a red bicycle.", "Ben loves the opera."):
                memory.update(text, session=text)
            [first] = memory.recall(question, limit=1).statements
        assert first.text == answer
        assert first.contributions["meaning"] > 0


def test_what_shares_neither_a_stem_nor_a_concept_is_found() -> None:
    answers = (
        "I reside in Porto.",
        "My home is in Porto.",
        "I moved to Porto.",
        "My flat is in Porto.",
    )
    for answer in answers:
        with RecallM() as memory:
            for text in (answer, "I bought a red bicycle.", "The weather is nice today."):
                memory.update(text, session=text)
            (best,) = memory.recall("Where do I live?", limit=1).statements
        assert best.text == answer


def brought(store: DictStore, question: Question, where: Filter = NO_FILTER) -> list[str]:
    """The texts of the statements that words of the same meaning bring."""
    with store.reader("n") as reader:
        names = [concept.name for concept in question.concepts]
        mentions = reader.mentions(names, limit=None, where=where)
        related = related_stems_of(question)
        postings = reader.postings(related, limit=64, where=where) if related else {}
        corpus = reader.sizes().corpus
        keys = statements_of_related_stems(question, related, postings, mentions, corpus)
        texts = {one.key: one.text for one in reader.statements(keys)}
    return [texts[key] for key in keys]


def test_words_that_mean_more_alike_bring_theirs_first() -> None:
    """Of equals the newest; what holds the asked word itself is found without."""
    store = store_of(*apart("resid porto", "home garden", "live", "bicycl"))
    assert brought(store, asked("live")) == ["resid porto", "home garden"]
    where = Filter(session="home garden")
    assert brought(store, asked("live"), where=where) == ["home garden"]
    equal = store_of(*apart("home one", "home two"))
    assert brought(equal, asked("live")) == ["home two", "home one"]
    # Those beside the name asked for come first, and rare words.
    store = store_of(*apart("Ana home", "Ben home"))
    ana = ConceptMention(name="ana", label="Ana", kind="name")
    assert brought(store, asked("live")) == ["Ben home", "Ana home"], "the newest of equals"
    assert brought(store, replace(asked("live"), concepts=(ana,))) == ["Ana home", "Ben home"]
    many = store_of(*apart(*(f"resid n{n}" for n in range(100)), "home garden"))
    found = brought(many, asked("live"))
    assert found[:2] == ["home garden", "resid n99"]
    assert len(found) == 24, "no more are brought"


def test_nothing_is_like_a_name_or_an_unknown_word() -> None:
    """Who is called Rose is no flower."""
    store = store_of(*apart("flower", "bicycl", "qzxv one"))
    name = ConceptMention(name="rose", label="Rose", kind="name")
    assert brought(store, asked("rose")) == ["flower"]
    assert brought(store, replace(asked("rose"), concepts=(name,))) == []
    for question in ("", "qzxv", "zebra"):
        assert brought(store, asked(question)) == [], question


def test_what_all_facts_of_a_name_share_says_nothing_of_their_topic() -> None:
    """The first axis is the name, the second the topic asked for. Fewer than 5 facts stay as they
    are."""
    question = np.array([3.0, 1.0]) / np.sqrt(10)
    for number in (4, 6):
        topics = np.array([1.0, -0.2, 0.3, -0.5, -0.1, -0.5][:number])
        vectors = np.column_stack([3 + np.arange(number) / 10, topics]).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        store = store_of(*apart(*(f"Ingrid fact{n}" for n in range(number))))
        found = candidates(store, asked("ingrid", "ingrid"))
        assert found is not None
        similar = vectors @ question
        facts = np.arange(number) != 1
        within = similar_in_topic(replace(found, question_vector=question), facts, similar, vectors)
        if number == 4:
            assert within.tolist() == similar.tolist()
        else:
            assert within[0] > 0.5 > 0 > within[3]
            assert within[1] == similar[1], "no fact of the name"
        assert similar_in_topic(found, facts, similar, vectors).tolist() == similar.tolist()


def test_equal_embeddings_have_no_topic() -> None:
    found = candidates(
        store_of(*apart(*(f"Ingrid fact{number}" for number in range(7)))),
        asked("ingrid", "ingrid"),
    )
    assert found is not None
    vectors = np.tile(np.array([0.3, 0.5, 0.7, 0.4], dtype=np.float32), (7, 1))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    facts = np.ones(7, dtype=bool)
    for question in (vectors[0].astype(np.float64), np.array([1.0, 0.0, 0.0, 0.0])):
        within = similar_in_topic(
            replace(found, question_vector=question), facts, vectors @ question, vectors
        )
        assert np.abs(within).max() < 0.01
