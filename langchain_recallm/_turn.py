"""The turn of a thread: what the user said since the model last spoke."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_recallm._messages import role_of

__all__ = ["asked_last"]


def asked_last(messages: Sequence[BaseMessage]) -> tuple[list[BaseMessage], bool]:
    """What the user said last, since the model spoke before it, and whether it spoke after it."""
    asked: list[BaseMessage] = []
    answered = False
    for message in reversed(messages):
        role = role_of(message)
        if role == "ai":
            if asked:
                break
            answered = True
        elif role == "human" and not _is_summary(message):
            asked.append(message)
    return asked[::-1], answered


def _is_summary(message: BaseMessage) -> bool:
    """Whether LangChain's ``SummarizationMiddleware`` wrote it in the user's name."""
    return message.additional_kwargs.get("lc_source") == "summarization"
