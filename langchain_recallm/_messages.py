"""What of a LangChain message is remembered: its text, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage

from recallm.adapting import Role, storable

__all__ = ["question_of", "role_of", "text_of"]


def text_of(message: BaseMessage) -> str:
    """The text parts of a message, a line each; '' where it has none (an image, a tool call).

    Lone surrogates, which cannot be stored, become question marks.
    """
    parts = [message.content] if isinstance(message.content, str) else message.content
    lines = [
        part if isinstance(part, str) else str(part.get("text") or "")
        for part in parts
        if isinstance(part, str) or part.get("type") == "text"
    ]
    text = "\n".join(line for line in lines if line.strip())
    return storable(text)


def role_of(message: BaseMessage) -> Role | None:
    """Whose words a message holds; None for what is never remembered."""
    if isinstance(message, HumanMessage):
        return "human"
    if isinstance(message, AIMessage):
        return "ai"
    if isinstance(message, ToolMessage):
        return "tool"
    if isinstance(message, ChatMessage):
        return {"user": "human", "human": "human", "assistant": "ai", "ai": "ai"}.get(
            message.role.lower()
        )  # type: ignore[return-value]
    return None


def question_of(messages: Iterable[BaseMessage]) -> str:
    """What these messages ask: their texts, one below the other."""
    return "\n".join(filter(None, map(text_of, messages)))
