"""LlamaIndex's chat messages as messages of a conversation: their text, role and speaker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from recallm.adapting import CLOSING, Message, Role, as_data, joined_text, speaker_name

_ROLES: Mapping[MessageRole, Role] = {
    MessageRole.USER: "human",
    MessageRole.ASSISTANT: "ai",
    MessageRole.CHATBOT: "ai",
    MessageRole.MODEL: "ai",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}

_BLOCKS_OPENING, _BLOCKS_CLOSING = "<memory>", "</memory>"
"""The tags that ``Memory`` puts around the texts of all its blocks."""

_RECALLED_OPENING = as_data("\0").partition("\0")[0]
"""The beginning of every recalled text."""


def messages_of(chat_messages: Iterable[ChatMessage], names: Mapping[Role, str]) -> list[Message]:
    """The messages of people, the model and tools that have a text; ``names`` are the speakers of
    messages that name none."""
    found: list[Message] = []
    for chat_message in chat_messages:
        role = _ROLES.get(chat_message.role)
        if role is not None and (text := text_of(chat_message)).strip():
            speaker = speaker_name(chat_message.additional_kwargs.get("name"), role, names)
            found.append(Message(text=text, speaker=speaker, role=role))
    return found


def text_of(chat_message: ChatMessage) -> str:
    """The text blocks of a message, a line each; '' where it has none (an image, a tool call).

    Texts that ``Memory`` has put into the message, recalled text among them, are left out: nobody
    said them. Of the steps of a ``ReActAgent`` only the answer counts: its observations come from
    tools. Lone surrogates, which no store can hold, become question marks.
    """
    texts = [block.text for block in chat_message.blocks if isinstance(block, TextBlock)]
    last = len(texts) - 1
    text = joined_text(
        _without_recalled_text(text)
        for place, text in enumerate(texts)
        # Memory puts a block of its own before the message's own text.
        if place == last or _RECALLED_OPENING not in text
    )
    return _react_answer(text) if _ROLES.get(chat_message.role) == "ai" else text


def _without_recalled_text(text: str) -> str:
    """``text`` without recalled texts, and without the tags and texts of ``Memory``'s other blocks
    around them. It takes time in proportion to the length of the text, which anybody may have
    written."""
    parts: list[str] = []
    done = 0
    closing = 0  # the first closing tag of Memory's blocks after the present place; -1: none
    while (start := text.find(_RECALLED_OPENING, done)) >= 0:
        end = text.find(CLOSING, start)
        if end < 0:
            break
        end += len(CLOSING)
        opening = text.rfind(_BLOCKS_OPENING, done, start)
        if opening >= 0 and text.find(_BLOCKS_CLOSING, opening, start) < 0 and closing >= 0:
            closing = text.find(_BLOCKS_CLOSING, end) if closing < end else closing
            if closing >= 0 and text.find(_BLOCKS_OPENING, end, closing) < 0:
                start, end = opening, closing + len(_BLOCKS_CLOSING)
        parts.append(text[done:start])
        done = end + (text[end : end + 1] == "\n")
    return "".join((*parts, text[done:]))


def _react_answer(text: str) -> str:
    """The answer among the steps of a ``ReActAgent``; any other text as it is."""
    if not text.startswith("Thought: "):
        return text
    last_step = text[max(text.rfind("\nThought: "), 0) :]
    _, mark, answer = last_step.partition("\nAnswer: ")
    return answer if mark else text
