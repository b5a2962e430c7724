"""What of a LlamaIndex message is remembered: its text, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from recallm.adapting import CLOSING, Role, Said, as_data, spoken_name, storable

__all__ = ["asked_last", "said_in", "text_of"]

_ROLES: Mapping[MessageRole, Role] = {
    MessageRole.USER: "human",
    MessageRole.ASSISTANT: "ai",
    MessageRole.CHATBOT: "ai",
    MessageRole.MODEL: "ai",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}

_OPENED, _CLOSED = "<memory>", "</memory>"
"""What ``Memory`` puts around all of its blocks."""

_BEGINNING = as_data("\0").partition("\0")[0]
"""What every recalled text begins with."""


def text_of(message: ChatMessage) -> str:
    """The text parts of a message, a line each; '' where it has none (an image, a tool call).

    What ``Memory`` has put into the message, recalled text among it, is left out: nobody said it.
    Of what a ``ReActAgent`` keeps of its reasoning the answer alone counts: its observations are
    what tools gave. Lone surrogates, which cannot be stored, become question marks.
    """
    texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
    last = len(texts) - 1
    lines = [
        _without_recalled(text)
        for place, text in enumerate(texts)
        # Memory puts a block of its own before what was said.
        if place == last or _BEGINNING not in text
    ]
    text = storable("\n".join(line for line in lines if line.strip()))
    return _answer(text) if _ROLES.get(message.role) == "ai" else text


def _without_recalled(text: str) -> str:
    """``text`` without recalled texts, and without the tags that ``Memory`` puts around them and
    around its other blocks. In time that grows with the text alone: anybody may have written it."""
    kept: list[str] = []
    done, closed = 0, 0
    while (start := text.find(_BEGINNING, done)) >= 0:
        end = text.find(CLOSING, start)
        if end < 0:
            break
        end += len(CLOSING)
        opened = text.rfind(_OPENED, done, start)
        if opened >= 0 and text.find(_CLOSED, opened, start) < 0 and closed >= 0:
            closed = text.find(_CLOSED, end) if closed < end else closed
            if closed >= 0 and text.find(_OPENED, end, closed) < 0:
                start, end = opened, closed + len(_CLOSED)
        kept.append(text[done:start])
        done = end + (text[end : end + 1] == "\n")
    return "".join((*kept, text[done:]))


def said_in(messages: Iterable[ChatMessage], names: Mapping[Role, str]) -> list[Said]:
    """What people, the model and tools say in these messages, where it is text."""
    found: list[Said] = []
    for message in messages:
        role = _ROLES.get(message.role)
        if role is not None and (text := text_of(message)).strip():
            speaker = spoken_name(message.additional_kwargs.get("name"), role, names)
            found.append(Said(text=text, speaker=speaker, role=role))
    return found


def asked_last(spoken: Sequence[Said]) -> tuple[list[int], bool]:
    """The places of what the user said last, since the model spoke before it, and whether it spoke
    after it."""
    asked: list[int] = []
    answered = False
    for place in range(len(spoken) - 1, -1, -1):
        if spoken[place].role == "ai":
            if asked:
                break
            answered = True
        elif spoken[place].role == "human":
            asked.append(place)
    return asked[::-1], answered


def _answer(text: str) -> str:
    """Of the steps of a ``ReActAgent`` the answer; any other text as it is."""
    if not text.startswith("Thought: "):
        return text
    _, answers, answer = text[max(text.rfind("\nThought: "), 0) :].partition("\nAnswer: ")
    return answer if answers else text
