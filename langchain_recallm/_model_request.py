"""The request of a model: how recalled text joins it, and which passages are in it already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import BaseMessage, SystemMessage

from langchain_recallm._conversation import MessageConversation, role_of, text_of

__all__ = ["SEPARATOR", "Position", "passages_in_request", "with_recalled_text"]

Position = Literal["system", "user"]
"""Where the recalled text stands: at the end of the system message, or of the user's message."""

SEPARATOR = "\n\n"
"""What stands between a message's own text and the recalled text."""

_DEFAULT_LIMIT = 10
"""Statements recalled to find messages by their text, where no limit is given."""

_M = TypeVar("_M", bound=BaseMessage)


def with_recalled_text(
    request: ModelRequest[Any], recalled_text: str, position: Position
) -> ModelRequest[Any]:
    """The request with the recalled text at the end of its system message or of the user's last
    message; the request itself where the text is empty."""
    if not recalled_text:
        return request
    if position == "user":
        messages = list(request.messages)
        for place in range(len(messages) - 1, -1, -1):
            if role_of(messages[place]) == "human":
                messages[place] = _with_text(messages[place], recalled_text)
                return request.override(messages=messages)
    # Also where the user's messages were trimmed away.
    system = request.system_message
    return request.override(
        system_message=(
            SystemMessage(recalled_text) if system is None else _with_text(system, recalled_text)
        )
    )


def _with_text(message: _M, text: str) -> _M:
    """The message with one more text at its end."""
    content = message.content
    if isinstance(content, str):
        new_content: str | list[str | dict[Any, Any]] = (
            f"{content}{SEPARATOR}{text}" if content else text
        )
    else:
        new_content = [*content, {"type": "text", "text": text}]
    return message.model_copy(update={"content": new_content})


def passages_in_request(
    conversation: MessageConversation,
    question: str,
    messages: Sequence[BaseMessage],
    *,
    asking: Sequence[BaseMessage],
    limit: int | None,
) -> set[str]:
    """The ids of the passages of this session that hold ``messages`` or ``asking``: the model reads
    them in its request, and they need not be recalled.

    They are found by the messages' ids. An app without checkpoints hands in the conversation with
    new ids each time: messages with an unknown id are found by their text, among the statements
    that ``question`` recalls. Messages that ask are new, and not looked for by text."""
    found, unknown = _passages_by_id(conversation, [*messages, *asking])
    asking_ids = {message.id for message in asking if message.id}
    not_asking = [
        message
        for message in unknown
        if message.id not in asking_ids and not any(message is other for other in asking)
    ]
    texts = {message.text for message in conversation.core_messages(not_asking)}
    while texts:
        context = conversation.recall(
            question, limit=(limit or _DEFAULT_LIMIT) + len(texts), known=sorted(found)
        )
        recalled = {it.passage for it in context.statements if it.passage is not None}
        new = {
            passage.id
            for passage in conversation.memory.get_many(recalled).values()
            if passage.session == conversation.session and passage.text in texts
        } - found
        if not new:
            break
        found |= new
    return found


def _passages_by_id(
    conversation: MessageConversation, messages: Sequence[BaseMessage]
) -> tuple[set[str], list[BaseMessage]]:
    """The ids of the passages that this session holds under the messages' ids, those of edited
    texts included, and the messages under whose id it holds none."""
    ids = conversation.passage_ids(message.id for message in messages if message.id)
    unknown = [message for message in messages if message.id not in ids]
    passages = conversation.memory.get_many(set(ids.values()))
    # The text was edited (the new one is a passage of its own), redacted, or cut by a forget.
    changed = [
        message
        for message in messages
        if message.id in ids
        and (passage := passages.get(ids[message.id])) is not None
        and passage.text != text_of(message)
    ]
    return set(ids.values()) | conversation.passages_of(changed), unknown
