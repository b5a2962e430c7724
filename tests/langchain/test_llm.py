"""A LangChain model as the core's: text in, text out, and nothing else passes for text."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda

from langchain_recallm import as_llm
from recallm import InvalidInputError, LLMError, RecallM
from tests.langchain.agents import Seen


def answering(*messages: BaseMessage) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter(messages))  # type: ignore[arg-type]


def test_chat_models_and_runnables_around_them() -> None:
    llm = as_llm(FakeListChatModel(responses=["one", "two"]))
    assert [llm("a"), llm("b")] == ["one", "two"]
    model = FakeListChatModel(responses=["one"])
    assert as_llm(model.with_retry())("a") == "one"
    assert as_llm(model | StrOutputParser())("a") == "one"
    failing: RunnableLambda[Any, Any] = RunnableLambda(lambda _: 1 // 0)
    assert as_llm(failing.with_fallbacks([model]))("a") == "one"
    echo: RunnableLambda[str, str] = RunnableLambda(lambda prompt: f"<{prompt}>")
    assert as_llm(echo)("what {is} {{this}}?") == "<what {is} {{this}}?>"


def test_of_an_answer_the_text_parts_alone() -> None:
    content: Any
    reply: Any
    for content, text in [
        ([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Paris"}], "Paris"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Paris"}], "Paris"),
        (["Par", {"type": "text", "text": "is"}], "Paris"),
        ([{"text": "Paris"}], "Paris"),  # an older form of a text part
        ("Paris", "Paris"),
        ("", ""),
    ]:
        answer = as_llm(answering(AIMessage(content=content)))("where?")
        assert answer == text
        assert type(answer) is str
    for reply in [
        AIMessage(content=[{"type": "reasoning", "reasoning": "hm"}]),
        AIMessage(content=[{"type": "image_url", "image_url": {"url": "data:"}}]),
        AIMessage(content="", tool_calls=[{"name": "f", "args": {}, "id": "1"}]),
    ]:
        with pytest.raises(LLMError, match="answered without text"):
            as_llm(answering(reply))("where?")
    for reply in [{"answer": 1}, None, 3, ["a"], b"bytes"]:
        with pytest.raises(LLMError, match=f"answered with {type(reply).__name__}"):
            as_llm(RunnableLambda(partial(lambda reply, _: reply, reply)))("where?")


def test_no_model() -> None:
    wrong: Any
    for wrong, says in [
        (None, "not NoneType"),
        ("gpt", "not str"),
        (FakeListChatModel, "not the class FakeListChatModel"),
        (lambda prompt: "x", "given to RecallM"),
    ]:
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


def test_a_tracer_sees_the_call_within_a_chain() -> None:
    seen = Seen()
    with RecallM(llm=as_llm(FakeListChatModel(responses=["Coffee."]))) as memory:
        asking: RunnableLambda[str, str] = RunnableLambda(lambda asked: str(memory.ask(asked)))
        assert asking.invoke("What?", config={"callbacks": [seen]}) == "Coffee."
    assert [name for name, _ in seen.runs].count("model") == 1
