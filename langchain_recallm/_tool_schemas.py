"""What a model reads of the tools: their names, descriptions and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

__all__ = ["DESCRIPTIONS", "SCHEMAS", "WITH_ARTIFACT", "ToolName"]

ToolName = Literal[
    "recall_memory", "save_memory", "forget_memory", "list_memories", "update_memory", "forget_me"
]


class _Recall(BaseModel):
    query: str = Field(description="What to look for: a question, or names and words.")


class _Save(BaseModel):
    text: str = Field(
        description="One or more whole sentences that are understood without the conversation."
    )


class _List(BaseModel):
    before: str | None = Field(
        default=None,
        description="The last id of an earlier list, to see what is older. Leave out at first.",
    )


class _Update(BaseModel):
    id: str = Field(description="The id of a statement or a memory, as the other tools show it.")
    text: str = Field(
        description="What holds instead, in whole sentences that are understood without the "
        "conversation."
    )


class _ForgetMe(BaseModel):
    confirm: bool = Field(
        description="True only where the user has said, in this conversation, that everything "
        "about them is to be forgotten for good."
    )


class _Forget(BaseModel):
    id: str | None = Field(
        default=None,
        description="The id of one statement or memory, as recall_memory shows it.",
    )
    about: str | None = Field(
        default=None,
        description="A name or a noun: all statements that mention it are forgotten, and stored "
        "items that mention it are forgotten whole.",
    )


SCHEMAS: Mapping[str, type[BaseModel]] = {
    "recall_memory": _Recall,
    "save_memory": _Save,
    "forget_memory": _Forget,
    "list_memories": _List,
    "update_memory": _Update,
    "forget_me": _ForgetMe,
}
WITH_ARTIFACT = ("recall_memory", "list_memories")
"""The tools whose result has an artifact beside its text."""
DESCRIPTIONS: Mapping[str, str] = {
    "recall_memory": (
        "Look up what is remembered from earlier conversations: facts, events, preferences. "
        "Gives statements in the order in which they became true, each with its id and "
        "who said it; what AI said, the user did not say."
    ),
    "save_memory": (
        "Remember something for later conversations. Name people and things in full, and say "
        "when it holds if that matters."
    ),
    "forget_memory": (
        "Forget for good: either one statement by its id, or all statements that mention what "
        "is given as about, with stored items that mention it as a whole. Give exactly one of "
        "the two."
    ),
    "list_memories": (
        "List what is remembered from earlier conversations, the latest first, each with its id "
        "and who said it."
    ),
    "update_memory": (
        "Replace something remembered that was wrong from the beginning by what is right. Where "
        "something has changed since, save the news with save_memory in place of this."
    ),
    "forget_me": (
        "Forget everything about the user, for good. Only where the user asks for it, and has "
        "confirmed that everything is meant."
    ),
}
