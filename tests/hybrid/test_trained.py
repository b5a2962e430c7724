"""The trained discriminator: what it prefers, what it does not depend on, its weights."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallm import InvalidInputError
from recallm.hybrid import Choice, Discriminator, TrainedDiscriminator
from recallm.hybrid.features import FEATURES, AnswerFeatures, plain_answer, question_stems

SHIPPED = Path(__file__).parents[2] / "recallm" / "hybrid" / "data" / "discriminator.json"

# Written for this test, in the manner of several answerers: the first answer is the better one.
BETTER = (
    ("Where does Marta work now?", "Marta works in a bakery in Porto.", "I don't know."),
    ("Where does Marta work now?", "a bakery in Porto", "Not mentioned"),
    ("Who repaired the boat?", "Old Henrik did.", "My notes don't cover who repaired the boat."),
    ("Who repaired the boat?", "Henrik", "The passage is silent on that."),
    ("When did Lena move to Oslo?", "In March 2021.", "It's not clear when Lena moved to Oslo."),
    ("How many goats are there?", "Seven goats.", "None of the snippets give a number."),
    ("How many goats are there?", "7", "The number of goats can vary depending on the farm."),
    ("What did Ravi lose?", "Ravi lost his passport.", "Sorry, could you tell me more about Ravi?"),
    ("What did Ravi lose?", "His passport.", "You haven't told me anything about that."),
    ("Is Nadia married?", "Yes, she married Tom in May.", "There's no record of it in my memory."),
    ("Is Nadia married?", "No.", "I cannot answer that from the information that I was given."),
    (
        "Why was the flight late?",
        "Because of the snow in Denver.",
        "Flights are often late for various reasons, such as weather and technical problems.",
    ),
    (
        "Which band plays on Friday?",
        "The Lanterns play on Friday.",
        "As an assistant, I do not have access to concert schedules.",
    ),
    (
        "What is the name of Ivo's dog?",
        "Ivo's dog is called Biscuit.",
        "The name of Ivo's dog remains unspecified.",
    ),
    (
        "Who won the chess match?",
        "Based on the conversation, Amira won the chess match.",
        "Based on the conversation, it cannot be determined who won the chess match.",
    ),
    (
        "What does Olga collect?",
        "**Olga collects stamps.**\n\nSources: [1], [2]",
        "I wasn't able to find what Olga collects.",
    ),
)


@pytest.fixture(scope="module")
def trained() -> TrainedDiscriminator:
    return TrainedDiscriminator()


def test_it_chooses_the_better_of_answers_in_other_manners(trained: TrainedDiscriminator) -> None:
    assert isinstance(trained, Discriminator)
    for question, better, worse in BETTER:
        probabilities = set()
        for names in (("recallm", "vectors"), ("vectors", "recallm")):
            choice = trained.choose(question, dict(zip(names, (better, worse), strict=True)))
            assert choice.name == names[0], better
            probabilities.add(choice.probability)
        (probability,) = probabilities  # it does not depend on names
        assert probability is not None
        assert 0.5 < probability < 1, better


def test_a_refusal_loses_by_more_than_a_plain_answer(trained: TrainedDiscriminator) -> None:
    question, answer = "Where does Bo live?", "Bo lives in York."
    refused = trained.choose(question, {"a": answer, "b": "I do not know."}).probability
    told = trained.choose(question, {"a": answer, "b": "Bo lives in Hull."}).probability
    assert refused is not None
    assert told is not None
    assert refused > 0.9
    assert told == pytest.approx(0.5, abs=0.05)


answers = st.dictionaries(
    st.sampled_from("abcde"), st.none() | st.text(max_size=60), min_size=1, max_size=5
)


@settings(max_examples=25, deadline=None)
@given(question=st.text(max_size=60), given=answers)
def test_any_answers_in_any_order_have_one_choice(
    question: str, given: Mapping[str, str | None]
) -> None:
    trained = TrainedDiscriminator()
    choices = {
        trained.choose(question, dict(order)) for order in list(permutations(given.items()))[:12]
    }
    assert len(choices) == 1
    choice = choices.pop()
    said = {name for name, answer in given.items() if answer and answer.strip()}
    assert choice.name in (said or given)
    assert choice.probability is not None
    assert 1 / len(given) - 1e-9 <= choice.probability <= 1


def test_of_several_answers_the_best_is_chosen(trained: TrainedDiscriminator) -> None:
    answers = {
        "one": "I have no information about that.",
        "two": "Bo lives in York.",
        "three": "It depends on various factors.",
        "four": None,
        "five": " \n",
    }
    assert trained.choose("Where does Bo live?", answers).name == "two"
    pair = trained.choose("Where does Bo live?", {"one": answers["one"], "two": answers["two"]})
    among = trained.choose("Where does Bo live?", answers)
    assert among.probability is not None
    assert pair.probability is not None
    assert among.probability < pair.probability


def test_where_there_is_nothing_to_choose(trained: TrainedDiscriminator) -> None:
    cases: list[tuple[dict[str, str | None], Choice]] = [
        ({"a": "Yes."}, Choice("a", 1.0)),
        ({"a": ""}, Choice("a", 1.0, "no answer holds any text")),
        ({"b": None, "a": "\n"}, Choice("a", 0.5, "no answer holds any text")),
        ({"b": "No.", "a": None}, Choice("b", 1.0, "the others hold no text")),
        ({"b": "No.", "a": "No. \n"}, Choice("a", 0.5, "the answers are equal")),
    ]
    for answers, choice in cases:
        assert trained.choose("Is it?", answers) == choice


def test_what_cannot_be_used_is_refused(trained: TrainedDiscriminator) -> None:
    question: Any
    answers: Any
    for question, answers in (
        ("?", {}), ("?", ["a"]), (None, {"a": "b"}), ("?", {"a": 1}), ("?", {1: "a"}), ("?", None),
    ):  # fmt: skip
        with pytest.raises(InvalidInputError):
            trained.choose(question, answers)


def test_any_text_can_be_an_answer(trained: TrainedDiscriminator) -> None:
    other_script = trained.choose("Who is Bo?", {"a": "小明", "b": "Bo is a cat."})
    assert 0.5 <= (other_script.probability or 0.0) < 0.6, "the rules read English"
    for text in ("Ж" * 9000, "\ud800 Bo", "\0", "🙂", "not " * 5000, "\n" * 9000 + "x",
                 "_" * 9000):  # fmt: skip
        choice = trained.choose("Who is Bo?", {"a": text, "b": "Bo is a cat."})
        assert choice.name == "b", text[:9]
        assert choice.probability is not None


def test_marks_around_an_answer_change_nothing(trained: TrainedDiscriminator) -> None:
    for same in ("Bo is a cat. \n", "**Bo** is a cat."):
        choice = trained.choose("Who is Bo?", {"a": "Bo is a cat.", "b": same})
        assert choice.probability == pytest.approx(0.5)
    assert plain_answer("Bo’s **cat**\n") == "Bo's cat"


def test_it_takes_no_time(trained: TrainedDiscriminator) -> None:
    question, one, other, _ = *BETTER[0], None
    trained.choose(question, {"a": one, "b": other})
    started = time.thread_time()  # others may use the machine too
    for _ in range(100):
        trained.choose(question, {"a": one, "b": other})
    assert (time.thread_time() - started) / 100 < 0.005


def test_the_choice_says_why(trained: TrainedDiscriminator) -> None:
    question, told, refused = "Where does Bo live?", "Bo lives in York.", "I don't know."
    for others, reason in (
        ({"b": refused}, "the others say that they do not know"),
        ({"b": refused, "c": "Not mentioned"}, "the others say that they do not know"),
        ({"b": refused, "c": "It depends on many things."}, ""),
        ({"b": "**Bo lives in York.**"}, ""),
    ):
        assert trained.choose(question, {"a": told, **others}).reason == reason


def test_each_feature_has_a_name() -> None:
    assert AnswerFeatures("In York.", question_stems("Where is Bo?")).values.shape == (
        len(FEATURES),
    )


# -- weights -------------------------------------------------------------------------------


def test_the_shipped_weights_are_small_and_hold_no_text() -> None:
    assert SHIPPED.stat().st_size < 10_000
    held = json.loads(SHIPPED.read_bytes())
    assert list(held) == list(FEATURES)
    assert SHIPPED.with_name("MODEL_CARD.md").is_file()
