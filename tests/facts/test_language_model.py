"""Callables and models of the frameworks as functions from a prompt to pieces of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import (
    FakeListChatModel,
    FakeListLLM,
    GenericFakeChatModel,
)
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata, MockLLM

from recallm import InvalidInputError, LLMError
from recallm.facts.chat import text_pieces
from tests.facts.scripted import ScriptedModel


class WithoutStream(CustomLLM):
    """A LlamaIndex model that answers, but has no stream."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **how: Any) -> CompletionResponse:
        return CompletionResponse(text=f"{prompt} too")

    def stream_complete(self, prompt: str, formatted: bool = False, **how: Any) -> Any:
        raise NotImplementedError


class WithoutDeltas(WithoutStream):
    """A LlamaIndex model that repeats what it said with each piece."""

    def stream_complete(self, prompt: str, formatted: bool = False, **how: Any) -> Any:
        yield from (CompletionResponse(text=prompt), CompletionResponse(text=f"{prompt} too"))


def two_pieces(prompt: str) -> Iterator[str]:
    yield from (prompt, " too")


MODELS: list[tuple[Any, list[str]]] = [
    (lambda prompt: f"{prompt} too", ["Hello too"]),
    (two_pieces, ["Hello", " too"]),
    (lambda prompt: [prompt, "", " too"], ["Hello", " too"]),
    (lambda prompt: AIMessage(f"{prompt} too"), ["Hello too"]),
    (FakeListChatModel(responses=["Hey"]), ["H", "e", "y"]),
    (FakeListLLM(responses=["Hey"]), ["Hey"]),
    (GenericFakeChatModel(messages=iter(["Hello too"])), ["Hello", " ", "too"]),
    (GenericFakeChatModel(messages=iter(["Hello too"])).with_retry(), ["Hello", " ", "too"]),
    (RunnableLambda(lambda prompt: f"{prompt} too"), ["Hello too"]),
    (MockLLM(max_tokens=2), ["text ", "text"]),
    (MockLLM(), list("Hello")),
    (WithoutStream(), ["Hello too"]),
    (WithoutDeltas(), ["Hello", " too"]),
]


def test_pieces_of_models() -> None:
    found = [(list(text_pieces(model)("Hello")), pieces) for model, pieces in MODELS]
    assert [row for row in found if row[0] != row[1]] == []


def test_reasoning_and_images_are_left_out() -> None:
    content: list[str | dict[str, Any]] = [
        {"type": "reasoning", "reasoning": "Hm."},
        {"type": "text", "text": "Hey"},
        {"type": "image", "url": "https://example.org"},
    ]
    assert list(text_pieces(RunnableLambda(lambda _: AIMessage(content=content)))("Hello")) == [
        "Hey"
    ]


def test_a_model_is_closed_where_nobody_reads_on() -> None:
    model = ScriptedModel("abcdef", by=1)
    pieces = text_pieces(model)("Hello")
    assert next(pieces) == "a"
    pieces.close()
    assert (model.given, model.closed) == ("a", 1)


def test_half_characters() -> None:
    assert list(text_pieces(lambda _: "a\ud83d")("Hello")) == ["a?"]


def fails(prompt: str) -> str:
    raise ValueError("no")


def test_models_that_fail() -> None:
    for model in (fails, FakeListChatModel(responses=[])):
        with pytest.raises(LLMError, match="the language model failed: "):
            list(text_pieces(model)("Hello"))
    for answer in (None, ["a", 7], b"a", {"text": "a"}):
        with pytest.raises(LLMError, match="not with text"):
            list(text_pieces(lambda _, answer=answer: answer)("Hello"))
    for no_model in (None, "gpt", ScriptedModel, FakeListChatModel):
        with pytest.raises(InvalidInputError, match="llm must be"):
            text_pieces(no_model)
