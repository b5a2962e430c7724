"""A LangChain model as the core's language model: a callable from prompt to text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration
from langchain_core.runnables import Runnable

from recallm import InvalidInputError, LLMError
from recallm.adapting import storable

__all__ = ["as_llm"]


def as_llm(chat_model: Runnable[Any, Any]) -> Callable[[str], str]:
    """``chat_model`` as a callable prompt → text, for ``RecallM(llm=…)`` and ``ask(llm=…)``.

    Any chat model, completion model, or other runnable from a prompt to a message or a text (a
    model with retries or fallbacks, a model with a parser). Of a message the text parts count:
    reasoning and what else a model returns is left out. Inside a chain its callbacks see the call.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> from recallm import RecallM
    >>> llm = as_llm(FakeListChatModel(responses=["Coffee."]))
    >>> memory = RecallM(llm=llm)
    >>> _ = memory.update("Brandon loves coffee")
    >>> str(memory.ask("What does Brandon love?"))
    'Coffee.'

    Raises:
        InvalidInputError: ``chat_model`` is no runnable.
        LLMError: when called, where the model answers with something that holds no text. What the
            model itself raises comes through (``ask`` raises it as an ``LLMError``).

    """
    model = checked_model(chat_model)

    def llm(prompt: str) -> str:
        reply = model.invoke(prompt)
        text = text_of_reply(reply)
        if not text and isinstance(reply, BaseMessage) and _says_something_else(reply):
            raise LLMError(
                "the model answered without text (a tool call, an image or reasoning alone); "
                "give a model without tools that answers in text"
            )
        # What a model writes can be cut inside a character; no store takes half of one.
        return storable(text)

    return llm


def checked_model(chat_model: object) -> Runnable[Any, Any]:
    """The model, refused where it cannot be invoked.

    Raises:
        InvalidInputError: it is no runnable.

    """
    if isinstance(chat_model, Runnable):
        return chat_model
    hint = (
        "; a callable prompt → text is given to RecallM(llm=…) as it is"
        if callable(chat_model) and not isinstance(chat_model, type)
        else ""
    )
    kind = (
        f"the class {chat_model.__name__}"
        if isinstance(chat_model, type)
        else type(chat_model).__name__
    )
    raise InvalidInputError(
        f"chat_model must be a LangChain chat model, or another Runnable from a prompt to a "
        f"message or text, not {kind}{hint}",
        argument="chat_model",
    )


def text_of_reply(reply: object) -> str:
    """The text of what a model gave back, whole or in part; '' where it holds none.

    Raises:
        LLMError: it is neither a message nor a text.

    """
    if isinstance(reply, str):
        return str(reply)
    if isinstance(reply, BaseMessage):
        return str(ChatGeneration(message=reply).text)
    raise LLMError(
        f"the model answered with {type(reply).__name__}, not with a message or a text; "
        "structured output must be made a str first, for example model | to_text"
    )


def _says_something_else(reply: BaseMessage) -> bool:
    called = isinstance(reply, AIMessage) and bool(reply.tool_calls or reply.invalid_tool_calls)
    return called or (isinstance(reply.content, list) and bool(reply.content))
