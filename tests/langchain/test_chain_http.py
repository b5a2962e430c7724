"""``ChatOpenAI`` over HTTP, as it is in the world: answers, streams, refusals and slow servers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from openai import APIConnectionError, APITimeoutError, InternalServerError, RateLimitError

from langchain_recallm import answer_chain, as_llm
from recallm import LLMError, RecallConfig, RecallM
from tests.openai_server import MODEL, OpenAIServer, Reply

QUESTION = "What does Brandon drink?"


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        memory.update("Brandon drinks tea now.")
        yield memory


def model(server: OpenAIServer, **more: Any) -> ChatOpenAI:
    how: dict[str, Any] = {"max_retries": 0, "timeout": 10, **more}
    return ChatOpenAI(model=MODEL, base_url=server.base_url, api_key="unused", **how)  # type: ignore[arg-type]


async def test_an_answer(memory: RecallM) -> None:
    with OpenAIServer("Tea.", "Tea again.") as server:
        chain = answer_chain(memory, model(server))
        result = chain.invoke(QUESTION)
        assert result["answer"] == "Tea."
        assert (await chain.ainvoke(QUESTION))["answer"] == "Tea again."
    for request in server.requests:
        assert [message["role"] for message in request.messages] == ["system", "user"]
        assert result["context"] in request.messages[1]["content"]


async def test_a_stream(memory: RecallM) -> None:
    with OpenAIServer("He drinks green tea.", "He drinks black tea.") as server:
        chain = answer_chain(memory, model(server))
        chunks = [chunk["answer"] for chunk in chain.stream(QUESTION) if chunk.get("answer")]
        assert chunks == ["He", " drinks", " green", " tea."]
        chunks = [chunk["answer"] async for chunk in chain.astream(QUESTION) if chunk.get("answer")]
        assert chunks == ["He", " drinks", " black", " tea."]
    assert all(request.body["stream"] for request in server.requests)


def test_a_batch(memory: RecallM) -> None:
    def echo(body: dict[str, Any]) -> str:
        return str(body["messages"][-1]["content"]).rpartition("Question: ")[2]

    questions = [f"What does Brandon drink, number {number}?" for number in range(10)]
    with OpenAIServer(script=echo) as server:
        results = answer_chain(memory, model(server)).batch([*questions])
    assert [result["answer"] for result in results] == questions


def test_too_many_requests_are_tried_again(memory: RecallM) -> None:
    busy = Reply(status=429, retry_after=0.05)
    with OpenAIServer(busy, "Tea.") as server:
        assert (
            answer_chain(memory, model(server, max_retries=1)).invoke(QUESTION)["answer"] == "Tea."
        )
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(status=429, retry_after=0.05), RateLimitError),
        (Reply(status=500), InternalServerError),
        (Reply(text="Tea.", delay=5), APITimeoutError),
    ],
)
async def test_failures_come_through(memory: RecallM, reply: Reply, error: type[Exception]) -> None:
    """The chain raises what the model raises; the memory goes on, and so does the next question."""
    with OpenAIServer(reply, reply, reply, "Tea.") as server:
        failing = model(server, timeout=0.3 if reply.delay else 10)
        chain = answer_chain(memory, failing)
        with pytest.raises(error):
            chain.invoke(QUESTION)
        with pytest.raises(error):
            await chain.ainvoke(QUESTION)
        with pytest.raises(LLMError, match="the language model failed") as caught:
            memory.ask(QUESTION, llm=as_llm(failing))
        assert isinstance(caught.value.__cause__, error)
        assert answer_chain(memory, model(server)).invoke(QUESTION)["answer"] == "Tea."


def test_a_stream_that_breaks_off(memory: RecallM) -> None:
    with OpenAIServer(Reply(text="He drinks green tea.", after=3)) as server:
        stream = answer_chain(memory, model(server)).stream(QUESTION)
        said: list[str] = []

        def read() -> None:
            said.extend(chunk["answer"] for chunk in stream if "answer" in chunk)

        with pytest.raises(APIConnectionError):
            read()
    assert "".join(said) == "He drinks"


def test_ask(memory: RecallM) -> None:
    with OpenAIServer(" Tea. ") as server:
        answer = memory.ask(QUESTION, llm=as_llm(model(server)))
    assert answer == "Tea."
    assert answer.context.statements[0].text == "Brandon drinks tea now."
    assert "Brandon drinks tea now." in server.requests[0].messages[0]["content"]


def test_revision() -> None:
    """The core revises contexts with it; where the server fails, what was said stays."""

    def revise(body: dict[str, Any]) -> Reply:
        if "Bergen" in str(body["messages"]):
            return Reply(text="Selma lived in Oslo and lives in Bergen now.")
        return Reply(status=500)

    config = RecallConfig(revise_every=1)
    with (
        OpenAIServer(script=revise) as server,
        RecallM(llm=as_llm(model(server)), config=config) as memory,
    ):
        memory.update("Selma lives in Oslo, in a small flat by the fjord.")
        failed = memory.update("Selma likes the small fjord of her Oslo.")
        assert failed.revisions
        assert {revision.text for revision in failed.revisions} == {None}
        assert "Error code: 500" in str(failed.revisions[0].reason)
        update = memory.update("Selma moved to Bergen with all of her books last week.")
        assert [it.text for it in update.revisions if it.concept == "selma"] == [
            "Selma lived in Oslo and lives in Bergen now."
        ]
        assert len(memory.history("Selma")) == 3
