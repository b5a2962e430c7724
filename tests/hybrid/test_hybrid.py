"""Hybrid-RecallM: both branches at once, one of them failing, what is told of it."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from recallm import (
    Answer,
    ClosedError,
    HybridRecallM,
    InvalidInputError,
    LLMError,
    LLMRequiredError,
    RecallM,
)
from recallm.hybrid import Choice, HybridAnswer, HybridError, LLMDiscriminator

STATEMENTS = ("Bo moved to York.", "Bo likes tea.", "Ann moved to Hull.")
QUESTION = "Where does Bo live?"


def by_letters(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of how often a text holds each letter."""
    return [[float(text.lower().count(letter)) for letter in "abcdefghijklmno"] for text in texts]


def model(prompt: str) -> str:
    """An answer from what the prompt says."""
    for place in ("York", "Hull", "Bath"):
        if f"Bo moved to {place}" in prompt:
            return f"Bo lives in {place}."
    return "It is not mentioned where Bo lives."


def nearest(question: str) -> str:
    return "Bo likes tea."


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        memory.update_many(STATEMENTS)
        yield memory


@pytest.fixture
def embedded() -> Iterator[RecallM]:
    with RecallM(embeddings=by_letters) as memory:
        memory.update_many(STATEMENTS)
        yield memory


class Names:
    """A discriminator that chooses one name, and remembers what it was asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[tuple[str, dict[str, str | None]]] = []

    def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
        self.asked.append((question, dict(answers)))
        return Choice(self.name, 0.75)


def test_the_better_answer_is_given_with_both(memory: RecallM) -> None:
    both = {
        "recallm": "Bo lives in York.",
        "vectors": "It is not mentioned where Bo lives.",
    }
    answer = HybridRecallM(memory, llm=model, vectors=nearest).ask(QUESTION)
    assert answer == "Bo lives in York."
    assert isinstance(answer, HybridAnswer)
    assert isinstance(answer, Answer)
    assert answer.choice.name == "recallm"
    assert answer.choice.probability is not None
    assert answer.choice.probability > 0.8
    assert answer.answers == both
    assert answer.answers["vectors"].context.text == "Bo likes tea."
    assert answer.context is answer.answers["recallm"].context
    assert "Bo moved to York." in answer.context.text
    assert answer.errors == {}
    names = Names("vectors")
    answer = HybridRecallM(memory, llm=model, vectors=nearest, discriminator=names).ask(QUESTION)
    assert answer == both["vectors"]
    assert answer.choice == Choice("vectors", 0.75)
    assert names.asked == [(QUESTION, both)]


def test_without_a_retriever_the_memory_itself_is_asked_by_its_vectors(embedded: RecallM) -> None:
    """In its namespace; it is closed with the memory."""
    other = embedded.in_namespace("other")
    other.update("Bo moved to Bath.")
    found = HybridRecallM(other, llm=model).ask(QUESTION).answers
    assert [each.text for each in found["vectors"].context.statements] == ["Bo moved to Bath."]
    hybrid = HybridRecallM(embedded, llm=model)
    answer = hybrid.ask(QUESTION, limit=2)
    assert answer == "Bo lives in York."
    near = answer.answers["vectors"].context
    assert len(near.statements) == 2
    assert all("cosine" in each.contributions for each in near.statements)
    words = answer.answers["recallm"].context.statements
    assert any("cosine" not in each.contributions for each in words)
    assert embedded.config.ranking == "statements"
    scored = hybrid.ask(QUESTION, min_score=0.999).answers
    assert scored["vectors"].context, "min_score is for the branch that has scores"
    assert not scored["recallm"].context
    hybrid.memory.update("Bo moved to Leeds.")
    assert "Bo moved to Leeds." in hybrid.ask("Bo moved to Leeds.").answers["vectors"].context.text
    embedded.close()
    with pytest.raises(ClosedError):
        hybrid.ask(QUESTION)
    with pytest.raises(ClosedError):
        HybridRecallM(embedded, llm=model)


def test_a_memory_without_embeddings_needs_a_retriever_or_another_memory(memory: RecallM) -> None:
    with pytest.raises(InvalidInputError, match=r"needs embeddings.*or give vectors=") as raised:
        HybridRecallM(memory, llm=model)
    assert raised.value.argument == "vectors"
    with RecallM() as other:
        other.update("Bo moved to Bath.")
        answers = HybridRecallM(memory, llm=model, vectors=other).ask(QUESTION).answers
    assert answers["vectors"].context.statements[0].text == "Bo moved to Bath."


def test_the_model_is_that_of_the_call_or_of_the_memory(memory: RecallM) -> None:
    hybrid = HybridRecallM(memory, vectors=nearest)
    answers = hybrid.ask(QUESTION, llm=model, limit=1).answers
    assert len(answers["recallm"].context.statements) == 1
    near = answers["vectors"].context
    assert near.text == "Bo likes tea."
    assert near.tokens == memory.count_tokens("Bo likes tea.")
    assert hybrid.ask(QUESTION, llm=lambda _: "In York.") == "In York."
    with RecallM(memory._opened.store, llm=model) as own:
        assert HybridRecallM(own, vectors=nearest).ask(QUESTION) == "Bo lives in York."


def test_both_branches_run_at_once_in_the_callers_context(memory: RecallM) -> None:
    """Each waits for the other: one after the other, both would time out."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    meeting = threading.Barrier(2, timeout=20)
    seen: list[str] = []

    def waits(prompt: str) -> str:
        meeting.wait()
        seen.append(variable.get())
        return model(prompt)

    variable.set("set")
    answer = HybridRecallM(memory, llm=waits, vectors=nearest).ask(QUESTION)
    assert answer.errors == {}
    assert set(answer.answers) == {"recallm", "vectors"}
    assert seen == ["set", "set"]


def test_it_can_be_asked_from_several_threads(embedded: RecallM) -> None:
    hybrid = HybridRecallM(embedded, llm=model)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(hybrid.ask, [QUESTION] * 24)) == {"Bo lives in York."}


def fails(_: str) -> str:
    raise OSError("no such index")


def test_where_the_vector_branch_fails_the_other_answers(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    names = Names("vectors")
    hybrid = HybridRecallM(memory, llm=model, vectors=fails, discriminator=names)
    with caplog.at_level(logging.WARNING, logger="recallm"):
        answer = hybrid.ask(QUESTION)
    assert answer == "Bo lives in York."
    assert answer.choice == Choice("recallm", None, "vectors failed: OSError: no such index")
    assert isinstance(answer.errors["vectors"], OSError)
    assert set(answer.answers) == {"recallm"}
    assert names.asked == []
    assert "vectors failed" in caplog.text


def test_where_recallm_fails_the_vector_branch_answers(memory: RecallM) -> None:
    def moody(prompt: str) -> str:
        if "York" in prompt:
            raise TimeoutError
        return "Bo likes tea."

    answer = HybridRecallM(memory, llm=moody, vectors=nearest).ask(QUESTION)
    assert answer == "Bo likes tea."
    assert answer.choice.name == "vectors"
    assert isinstance(answer.errors["recallm"], LLMError)


def test_a_retriever_that_gives_no_text_has_failed(memory: RecallM) -> None:
    given: Any
    for given in (None, 3, ["x"]):
        hybrid = HybridRecallM(memory, llm=model, vectors=lambda _, given=given: given)  # type: ignore[misc]
        answer = hybrid.ask(QUESTION)
        assert answer.choice.name == "recallm"
        assert "must return the context as a str" in str(answer.errors["vectors"])


def test_where_both_fail_the_error_tells_both(memory: RecallM) -> None:
    """Where the discriminator's model fails, the trained one chooses."""
    with pytest.raises(HybridError, match=r"recallm: LLMError.*vectors: OSError") as raised:
        HybridRecallM(memory, llm=fails, vectors=fails).ask(QUESTION)
    assert set(raised.value.errors) == {"recallm", "vectors"}
    failing = LLMDiscriminator(fails)
    answer = HybridRecallM(memory, llm=model, vectors=nearest, discriminator=failing).ask(QUESTION)
    assert answer.choice.name == "recallm"
    assert answer.choice.probability is not None
    assert "no such index" in answer.choice.reason


def test_a_discriminator_must_choose_one_of_the_answers(memory: RecallM) -> None:
    class Bad:
        def __init__(self, bad: Any) -> None:
            self.bad = bad

        def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
            chosen: Choice = self.bad
            return chosen

    for bad in (Choice("hybrid"), "recallm", None):
        hybrid = HybridRecallM(memory, llm=model, vectors=nearest, discriminator=Bad(bad))
        with pytest.raises(InvalidInputError, match="return a Choice of one of recallm, vectors"):
            hybrid.ask(QUESTION)


def test_errors_of_the_caller_are_the_callers(memory: RecallM) -> None:
    hybrid = HybridRecallM(memory, llm=model, vectors=nearest)
    with pytest.raises(InvalidInputError, match="limit"):
        hybrid.ask(QUESTION, limit=0)
    with pytest.raises(InvalidInputError, match="question"):
        hybrid.ask(3)  # type: ignore[arg-type]
    with pytest.raises(LLMRequiredError, match="needs a language model"):
        HybridRecallM(memory, vectors=nearest).ask(QUESTION)
    memory.close()
    with pytest.raises(ClosedError):
        hybrid.ask(QUESTION)


def test_what_cannot_be_used_is_refused(memory: RecallM) -> None:
    bad: dict[str, Any] = {"memory": None, "llm": 3, "vectors": "x", "discriminator": object()}
    for name, value in bad.items():
        arguments = {"memory": memory, "llm": model, "vectors": nearest, name: value}
        with pytest.raises(InvalidInputError) as raised:
            HybridRecallM(arguments.pop("memory"), **arguments)
        assert raised.value.argument == name
