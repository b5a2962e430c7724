"""A LlamaIndex model as the core's language model: a callable from prompt to text."""

from __future__ import annotations

from collections.abc import Callable

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import (
    ChatMessage,
    MessageRole,
    TextBlock,
)

from recallm.adapting import answer_without_text, not_a_model, storable


def as_llm(llm: BaseLLM) -> Callable[[str], str]:
    """``llm`` as a callable prompt → text, for ``RecallM(llm=…)`` and ``ask(llm=…)``.

    A chat model gets the prompt as the user's message, after its ``system_prompt`` if it has one.
    Of its answer the text blocks count; thinking and other blocks are left out. A completion model
    completes the prompt. The model's callbacks see the call.

    >>> from llama_index.core.llms import MockLLM
    >>> from recallm import RecallM
    >>> memory = RecallM(llm=as_llm(MockLLM(max_tokens=2)))
    >>> _ = memory.update("Brandon loves coffee")
    >>> str(memory.ask("What does Brandon love?"))
    'text text'

    Raises:
        InvalidInputError: ``llm`` is no LlamaIndex model.
        LLMError: when called, where the model's answer holds no text. What the model itself raises
            comes through (``ask`` raises it as an ``LLMError``).

    """
    model: object = llm
    if not isinstance(model, BaseLLM):
        raise not_a_model(llm, "llm", "a LlamaIndex LLM, such as Settings.llm")

    def call(prompt: str) -> str:
        system = getattr(model, "system_prompt", None)
        if model.metadata.is_chat_model:
            messages = [ChatMessage(role=MessageRole.SYSTEM, content=system)] if system else []
            messages.append(ChatMessage(role=MessageRole.USER, content=prompt))
            message = model.chat(messages).message
            text, details = message.content or "", message.additional_kwargs
            has_other_blocks = any(not isinstance(block, TextBlock) for block in message.blocks)
        else:
            completion = model.complete(f"{system}\n\n{prompt}" if system else prompt)
            text, details = completion.text, completion.additional_kwargs
            has_other_blocks = False
        if not text and (has_other_blocks or details.get("tool_calls")):
            raise answer_without_text()
        # A model's text can end inside a character; no store holds half of one.
        return storable(text)

    return call
