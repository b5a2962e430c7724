"""``FactChat`` with ``ChatOpenAI`` over HTTP, against a server on this machine."""

from __future__ import annotations

import pytest

from langchain_recallm import as_llm
from recallm import LLMError, RecallM
from recallm.facts import FactChat, FactMemory
from tests.facts.figures import FIGURES, Figure
from tests.langchain.test_openai import model_of
from tests.openai_server import OpenAIServer, Reply


@pytest.fixture
def facts() -> FactMemory:
    return FactMemory(RecallM())


@pytest.mark.parametrize("figure", FIGURES, ids=lambda it: it.name)
def test_dialogues_of_the_paper(facts: FactMemory, figure: Figure) -> None:
    calls = [calls for _, calls in figure.told]
    invented = f"{figure.response} {{Nobody>>is>>anything}}] Nobody is."
    with OpenAIServer(*calls, invented, figure.answer) as server:
        chat = FactChat(facts, model_of(server))
        for sentence, _ in figure.told:
            assert chat.answer(sentence).complete
        pieces = list(chat.stream(figure.question))
    assert "".join(pieces) == figure.answer
    assert len(pieces) == len(figure.answer.split())
    *_, asked, answered = (request.body for request in server.requests)
    assert asked["stream"] is True
    (message,) = asked["messages"]
    assert message["role"] == "user"
    assert message["content"].endswith(f"\n\nMessage: {figure.question}\nReply:")
    results = figure.full_input.removeprefix(figure.question)
    assert answered["messages"][0]["content"] == f"{message['content']} {results}"


def test_a_model_that_does_not_stream(facts: FactMemory) -> None:
    with OpenAIServer("[MEM_WRITE{Ada>>knows>>Bob}] Noted.") as server:
        assert FactChat(facts, as_llm(model_of(server))).answer("Ada knows Bob.") == "Noted."
    assert not server.requests[0].body.get("stream")
    assert [fact.object for fact in facts.read("Ada")] == ["Bob"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=429),
        Reply(text="[MEM_WRITE{Ada>>knows>>Bob}] Noted and so on.", after=4),
    ],
    ids=["500", "429", "cut off"],
)
def test_a_server_that_fails(facts: FactMemory, reply: Reply) -> None:
    with OpenAIServer(reply) as server, pytest.raises(LLMError, match="the language model failed"):
        FactChat(facts, model_of(server)).answer("Ada knows Bob.")
    assert facts.read() == []
