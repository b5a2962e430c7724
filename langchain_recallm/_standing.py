"""Which passages of a memory stand in a request already: these are not recalled beside it."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_recallm._conversation import Conversation

__all__ = ["standing"]

_LIMIT = 10
"""Statements looked at beside those of the messages, where no limit is given."""


def standing(
    conversation: Conversation,
    question: str,
    messages: Sequence[BaseMessage],
    *,
    asked: Sequence[BaseMessage],
    limit: int | None,
) -> set[str]:
    """The ids of the passages of this session that hold ``messages``, or ``asked``.

    They are found by the messages' ids. Who keeps no checkpoints hands in the conversation with new
    ids each time: messages whose id is unknown are found by their text, among what would be
    recalled for ``question``. What is asked is new, and not looked for by its text.

    Raises:
        StoreError: the store failed.

    """
    known, unknown = conversation.known_by_id([*messages, *asked])
    ids = {id(message) for message in asked}
    own = {message.id for message in asked if message.id}
    others = [it for it in unknown if id(it) not in ids and it.id not in own]
    texts = {said.text for said in conversation.said(others)}
    while texts:
        context = conversation.recall(
            question, limit=(limit or _LIMIT) + len(texts), known=sorted(known)
        )
        recalled = {it.passage for it in context.statements if it.passage is not None}
        again = {
            passage.id
            for passage in conversation.memory.get_many(recalled).values()
            if passage.session == conversation.session and passage.text in texts
        } - known
        if not again:
            break
        known |= again
    return known
