"""A LlamaIndex model as the core's language model: a callable from prompt to text."""

from __future__ import annotations

from collections.abc import Callable

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    MessageRole,
    TextBlock,
)

from recallm import InvalidInputError, LLMError
from recallm.adapting import storable

__all__ = ["as_llm"]


def as_llm(llm: BaseLLM) -> Callable[[str], str]:
    """``llm`` as a callable prompt → text, for ``RecallM(llm=…)`` and ``ask(llm=…)``.

    A chat model is sent the prompt as the user's message, after its ``system_prompt`` if it has
    one, and of its answer the text blocks count: thinking and what else a model returns is left
    out. A completion model completes it. The model's callbacks see the call.

    >>> from llama_index.core.llms import MockLLM
    >>> from recallm import RecallM
    >>> memory = RecallM(llm=as_llm(MockLLM(max_tokens=2)))
    >>> _ = memory.update("Brandon loves coffee")
    >>> str(memory.ask("What does Brandon love?"))
    'text text'

    Raises:
        InvalidInputError: ``llm`` is no LlamaIndex model.
        LLMError: when called, where the model answers with something that holds no text. What the
            model itself raises comes through (``ask`` raises it as an ``LLMError``).

    """
    model = _checked(llm)

    def call(prompt: str) -> str:
        system = getattr(model, "system_prompt", None)
        if model.metadata.is_chat_model:
            text = _text_of_chat(model.chat(_messages(system, prompt)))
        else:
            whole = f"{system}\n\n{prompt}" if system else prompt
            text = _text_of_completion(model.complete(whole))
        # What a model writes can be cut inside a character; no store takes half of one.
        return storable(text)

    return call


def _checked(llm: object) -> BaseLLM:
    if isinstance(llm, BaseLLM):
        return llm
    hint = (
        "; a callable prompt → text is given to RecallM(llm=…) as it is"
        if callable(llm) and not isinstance(llm, type)
        else ""
    )
    kind = f"the class {llm.__name__}" if isinstance(llm, type) else type(llm).__name__
    raise InvalidInputError(
        f"llm must be a LlamaIndex LLM, such as Settings.llm, not {kind}{hint}", argument="llm"
    )


def _messages(system: str | None, prompt: str) -> list[ChatMessage]:
    asked = ChatMessage(role=MessageRole.USER, content=prompt)
    return [ChatMessage(role=MessageRole.SYSTEM, content=system), asked] if system else [asked]


def _text_of_chat(reply: object) -> str:
    if not isinstance(reply, ChatResponse):
        raise _no_text(reply)
    message = reply.message
    text = message.content or ""
    others = [block for block in message.blocks if not isinstance(block, TextBlock)]
    if not text and (others or message.additional_kwargs.get("tool_calls")):
        raise _something_else()
    return text


def _text_of_completion(reply: object) -> str:
    if not isinstance(reply, CompletionResponse):
        raise _no_text(reply)
    if not reply.text and reply.additional_kwargs.get("tool_calls"):
        raise _something_else()
    return reply.text


def _no_text(reply: object) -> LLMError:
    return LLMError(
        f"the model answered with {type(reply).__name__}, not with a ChatResponse or a "
        "CompletionResponse"
    )


def _something_else() -> LLMError:
    return LLMError(
        "the model answered without text (a tool call, an image or thinking alone); give a model "
        "without tools that answers in text"
    )
