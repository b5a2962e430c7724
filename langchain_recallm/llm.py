"""A LangChain model as the core's language model: a callable from prompt to text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration
from langchain_core.runnables import Runnable

from recallm import LLMError
from recallm.adapting import answer_without_text, not_a_model, storable


def as_llm(chat_model: Runnable[Any, Any]) -> Callable[[str], str]:
    """``chat_model`` as a callable prompt → text, for ``RecallM(llm=…)`` and ``ask(llm=…)``.

    Any chat model, completion model, or other runnable from a prompt to a message or a text (a
    model with retries or fallbacks, a model with a parser). Of a message the text parts count;
    reasoning and other parts are left out. Inside a chain its callbacks see the call.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> from recallm import RecallM
    >>> llm = as_llm(FakeListChatModel(responses=["Coffee."]))
    >>> memory = RecallM(llm=llm)
    >>> _ = memory.update("Brandon loves coffee")
    >>> str(memory.ask("What does Brandon love?"))
    'Coffee.'

    Raises:
        InvalidInputError: ``chat_model`` is no runnable.
        LLMError: when called, where the model's answer holds no text. What the model itself raises
            comes through (``ask`` raises it as an ``LLMError``).

    """
    model = checked_model(chat_model)

    def llm(prompt: str) -> str:
        reply = model.invoke(prompt)
        text = text_of_reply(reply)
        if not text and isinstance(reply, BaseMessage) and _has_other_content(reply):
            raise answer_without_text()
        # A model's text can end inside a character; no store holds half of one.
        return storable(text)

    return llm


def checked_model(chat_model: object) -> Runnable[Any, Any]:
    """``chat_model``; refused where it is no runnable."""
    if isinstance(chat_model, Runnable):
        return chat_model
    expected = "a LangChain chat model, or another Runnable from a prompt to a message or text"
    raise not_a_model(chat_model, "chat_model", expected)


def text_of_reply(reply: object) -> str:
    """The text of a model's reply, or of a chunk of it; '' where it holds none."""
    if isinstance(reply, str):
        return str(reply)
    if isinstance(reply, BaseMessage):
        return str(ChatGeneration(message=reply).text)
    raise LLMError(
        f"the model answered with {type(reply).__name__}, not with a message or a text; "
        "structured output must be made a str first, for example model | to_text"
    )


def _has_other_content(reply: BaseMessage) -> bool:
    has_calls = isinstance(reply, AIMessage) and bool(reply.tool_calls or reply.invalid_tool_calls)
    return has_calls or (isinstance(reply.content, list) and bool(reply.content))
