"""A LangChain model as the core's: text in, text out, and nothing else passes for text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel, FakeListLLM, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda

from langchain_recallm import as_llm
from recallm import InvalidInputError, LLMError, RecallConfig, RecallM


def answering(*messages: BaseMessage) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter(messages))  # type: ignore[arg-type]


def test_chat_model() -> None:
    llm = as_llm(FakeListChatModel(responses=["one", "two"]))
    assert [llm("a"), llm("b")] == ["one", "two"]


def test_completion_model() -> None:
    assert as_llm(FakeListLLM(responses=["one"]))("a") == "one"


def test_runnables_around_a_model() -> None:
    model = FakeListChatModel(responses=["one"])
    assert as_llm(model.with_retry())("a") == "one"
    assert as_llm(model | StrOutputParser())("a") == "one"
    failing: RunnableLambda[Any, Any] = RunnableLambda(lambda _: 1 // 0)
    assert as_llm(failing.with_fallbacks([model]))("a") == "one"


def test_the_prompt_reaches_the_model_as_it_is() -> None:
    echo: RunnableLambda[str, str] = RunnableLambda(lambda prompt: f"<{prompt}>")
    assert as_llm(echo)("what {is} {{this}}?") == "<what {is} {{this}}?>"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Paris"}], "Paris"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Paris"}], "Paris"),
        (["Par", {"type": "text", "text": "is"}], "Paris"),
        ([{"text": "Paris"}], "Paris"),  # an older form of a text part
        ("Paris", "Paris"),
        ("", ""),
    ],
)
def test_text_parts_alone(content: Any, text: str) -> None:
    answer = as_llm(answering(AIMessage(content=content)))("where?")
    assert answer == text
    assert type(answer) is str


@pytest.mark.parametrize(
    "reply",
    [
        AIMessage(content=[{"type": "reasoning", "reasoning": "hm"}]),
        AIMessage(content=[{"type": "image_url", "image_url": {"url": "data:"}}]),
        AIMessage(content="", tool_calls=[{"name": "f", "args": {}, "id": "1"}]),
    ],
)
def test_an_answer_without_text_is_an_error(reply: AIMessage) -> None:
    with pytest.raises(LLMError, match="answered without text"):
        as_llm(answering(reply))("where?")


@pytest.mark.parametrize("reply", [{"answer": 1}, None, 3, ["a"], b"bytes"])
def test_a_runnable_that_gives_no_text(reply: object) -> None:
    with pytest.raises(LLMError, match=f"answered with {type(reply).__name__}"):
        as_llm(RunnableLambda(lambda _: reply))("where?")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (None, "not NoneType"),
        ("gpt", "not str"),
        (FakeListChatModel, "not the class FakeListChatModel"),
        (lambda prompt: "x", "given to RecallM"),
    ],
)
def test_no_model(wrong: Any, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as caught:
        as_llm(wrong)
    assert caught.value.argument == "chat_model"


def test_half_a_character_is_no_text_to_store() -> None:
    llm = as_llm(RunnableLambda(lambda _: AIMessageChunk(content="cut \ud83d")))
    assert llm("a") == "cut ?"


def test_what_the_model_raises_comes_through() -> None:
    def fail(_: object) -> str:
        raise TimeoutError("too slow")

    llm = as_llm(RunnableLambda(fail))
    with pytest.raises(TimeoutError, match="too slow"):
        llm("a")
    with RecallM(llm=llm) as memory, pytest.raises(LLMError, match="TimeoutError: too slow"):
        memory.ask("Who?")


def test_it_revises_contexts() -> None:
    """The core revises a concept that is often talked about with the model it is given."""

    def revised() -> Iterator[AIMessage]:
        while True:
            yield AIMessage(
                content=[
                    {"type": "reasoning", "reasoning": "Marta moved twice"},
                    {"type": "text", "text": "Marta lives in Porto."},
                ]
            )

    llm = as_llm(GenericFakeChatModel(messages=revised()))
    with RecallM(llm=llm, config=RecallConfig(revise_every=1)) as memory:
        memory.update("Marta lives in Lyon, in a small flat by the river.")
        update = memory.update("Marta moved to Porto with all of her books last week.")
        assert [it.text for it in update.revisions if it.concept == "marta"] == [
            "Marta lives in Porto."
        ]


def test_a_tracer_sees_the_call_within_a_chain() -> None:
    class Seen(BaseCallbackHandler):
        models = 0

        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            self.models += 1

    seen = Seen()
    with RecallM(llm=as_llm(FakeListChatModel(responses=["Coffee."]))) as memory:
        asking: RunnableLambda[str, str] = RunnableLambda(lambda it: str(memory.ask(it)))
        assert asking.invoke("What?", config={"callbacks": [seen]}) == "Coffee."
    assert seen.models == 1
