"""A LlamaIndex model as the core's: text in, text out, and nothing else passes for text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    ImageBlock,
    LLMMetadata,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback

from llama_index_recallm import as_llm
from recallm import InvalidInputError, LLMError, RecallM
from tests.llama_index.scripted_model import ScriptedLLM


class Completing(CustomLLM):
    """Gives what it is told to give to a prompt."""

    gives: Any = None

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=False)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        gives = self.gives
        return CompletionResponse(text=f"<{prompt}>") if gives is None else gives

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError


class ChatOnly(Completing):
    """A chat model that completes nothing."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError("chat only")

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        if self.gives is not None:
            return self.gives  # type: ignore[no-any-return]
        said = "|".join(f"{message.role.value}: {message.content}" for message in messages)
        return ChatResponse(message=ChatMessage(role="assistant", content=said))


def test_completion_models() -> None:
    assert as_llm(MockLLM(max_tokens=3))("a") == "text text text"
    prompt = "what {is} {{this}}? %s {% raw %}"  # no template
    assert as_llm(Completing())(prompt) == f"<{prompt}>"
    assert as_llm(Completing(system_prompt="Be kind."))("a") == "<Be kind.\n\na>"


def test_chat_models() -> None:
    assert as_llm(ScriptedLLM("one"))("a") == "one"
    assert as_llm(ChatOnly())("{a} %s") == "user: {a} %s"
    assert as_llm(ChatOnly(system_prompt="Be kind."))("a") == "system: Be kind.|user: a"


def test_text_blocks_alone() -> None:
    image = ImageBlock(url="https://example.org/a.png")
    cases: list[tuple[Any, str]] = [
        ([ThinkingBlock(content="hm"), TextBlock(text="Paris")], "Paris"),
        ([TextBlock(text="Paris"), image], "Paris"),
        ("", ""),
        ([], ""),
        ("cut \ud83d", "cut ?"),  # half a character is no text to store
    ]
    for content, text in cases:
        answer = as_llm(ScriptedLLM(ChatMessage(role="assistant", content=content)))("where?")
        assert (answer, type(answer)) == (text, str)


def test_an_answer_without_text_is_an_error() -> None:
    tool_calls: dict[str, Any] = {"additional_kwargs": {"tool_calls": [1]}}
    called = ToolCallBlock(tool_name="f", tool_kwargs={})
    models = [
        ScriptedLLM(ChatMessage(role="assistant", blocks=[ThinkingBlock(content="hm")])),
        ScriptedLLM(ChatMessage(role="assistant", blocks=[called])),
        ScriptedLLM(ChatMessage(role="assistant", content="", **tool_calls)),
        Completing(gives=CompletionResponse(text="", **tool_calls)),
    ]
    for model in models:
        with pytest.raises(LLMError, match="answered without text"):
            as_llm(model)("where?")


def test_no_model() -> None:
    wrong: dict[str, Any] = {
        "not NoneType": None,
        "not str": "gpt",
        "not the class MockLLM": MockLLM,
        "given to RecallM": lambda prompt: "x",
    }
    for says, model in wrong.items():
        with pytest.raises(InvalidInputError, match=says) as caught:
            as_llm(model)
        assert caught.value.argument == "llm"


def test_what_the_model_raises_comes_through() -> None:
    llm = as_llm(ScriptedLLM(TimeoutError("too slow"), TimeoutError("too slow")))
    with pytest.raises(TimeoutError, match="too slow"):
        llm("a")
    with RecallM(llm=llm) as memory, pytest.raises(LLMError, match="TimeoutError: too slow"):
        memory.ask("Who?")
