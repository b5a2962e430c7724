"""LangChain's messages as a conversation of a memory: their texts, roles and speakers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage

from recallm import KnowledgeUpdate, RecalledContext, RecallM, adapting
from recallm.adapting import (
    DEFAULT_ROLES,
    SPEAKER_NAMES,
    Message,
    MessageFilter,
    Role,
    Scope,
    joined_text,
    speaker_name,
)

__all__ = ["MessageConversation", "latest_question", "role_of", "text_of", "texts_of"]

_CHAT_ROLES: Mapping[str, Role] = {
    "user": "human",
    "human": "human",
    "assistant": "ai",
    "ai": "ai",
}


def text_of(message: BaseMessage) -> str:
    """The text parts of a message, a line each; '' where it has none (an image, a tool call). Lone
    surrogates, which no store can hold, become question marks."""
    parts = [message.content] if isinstance(message.content, str) else message.content
    return joined_text(
        part if isinstance(part, str) else str(part.get("text") or "")
        for part in parts
        if isinstance(part, str) or part.get("type") == "text"
    )


def texts_of(messages: Iterable[BaseMessage]) -> str:
    """The texts of messages, one below the other."""
    return "\n".join(filter(None, map(text_of, messages)))


def role_of(message: BaseMessage) -> Role | None:
    """Whose words a message holds; None for messages that are never remembered."""
    if isinstance(message, HumanMessage):
        return "human"
    if isinstance(message, AIMessage):
        return "ai"
    if isinstance(message, ToolMessage):
        return "tool"
    if isinstance(message, ChatMessage):
        return _CHAT_ROLES.get(message.role.lower())
    return None


def latest_question(messages: Sequence[BaseMessage]) -> tuple[list[BaseMessage], bool]:
    """What the user said last, since the model spoke before it; and whether the model has answered
    it."""
    roles = [None if _is_summary(message) else role_of(message) for message in messages]
    places, answered = adapting.latest_question(roles)
    return [messages[place] for place in places], answered


def _is_summary(message: BaseMessage) -> bool:
    """Whether LangChain's ``SummarizationMiddleware`` wrote the message in the user's name."""
    return message.additional_kwargs.get("lc_source") == "summarization"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageConversation:
    """``recallm.adapting.Conversation`` in LangChain's messages. It remembers the messages in
    ``roles`` that ``filter`` accepts; ``names`` are the speakers of messages without a name.

    ``instructor``: the speaker of the human messages where another model wrote them; they are
    remembered in the role "ai".
    """

    memory: RecallM
    session: str | None = None
    scope: Scope = "namespace"
    roles: frozenset[Role] = DEFAULT_ROLES
    names: Mapping[Role, str] = field(default_factory=lambda: SPEAKER_NAMES)
    filter: MessageFilter = field(default_factory=MessageFilter)
    instructor: str | None = None

    @property
    def core(self) -> adapting.Conversation:
        """The conversation in the core's messages."""
        return adapting.Conversation(memory=self.memory, session=self.session, scope=self.scope)

    def core_messages(self, messages: Iterable[BaseMessage]) -> list[Message]:
        """What is remembered of these messages.

        Raises:
            Exception: what ``redact`` or ``accept`` raised.

        """
        found: list[Message] = []
        for message in messages:
            role, text = role_of(message), text_of(message)
            names: Mapping[Role, str] = self.names
            if role == "human" and self.instructor is not None:
                role = "ai"
                names = {**names, "ai": self.instructor}
            if role in self.roles and text.strip():
                speaker = speaker_name(message.name, role, names)
                found.append(Message(text=text, speaker=speaker, role=role, id=message.id))
        return self.filter.accepted(found)

    def recall(
        self, question: str, *, asking: Sequence[BaseMessage] = (), **arguments: Any
    ) -> RecalledContext:
        """What helps to answer ``question``, which the messages ``asking`` ask; ``arguments`` are
        those of ``RecallM.recall``.

        Raises:
            InvalidInputError: an argument cannot be used, or the scope is the session and there
                is none.
            StoreError: the store failed.

        """
        return self.core.recall(question, asking=self.core_messages(asking), **arguments)

    def remember(self, messages: Iterable[BaseMessage]) -> list[KnowledgeUpdate]:
        """Write what is remembered of ``messages``, all or nothing. Messages without text are left
        out, and so are those of which a part was forgotten: that part stays forgotten.

        Raises:
            InvalidInputError: a message cannot be stored.
            StoreError: the store failed; nothing was written.

        """
        return self.core.remember(self.core_messages(messages))

    def passage_ids(self, messages: Iterable[BaseMessage]) -> set[str]:
        """The ids of the passages that hold these messages in this session.

        Raises:
            StoreError: the store failed.

        """
        core = self.core
        ids = (core.passage_id(message) for message in self.core_messages(messages))
        return {id for id in ids if id is not None}

    def edited(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """The messages under whose ids this session holds only other texts. What a ``forget`` left
        of a message's own text does not count.

        Raises:
            StoreError: the store failed.

        """
        core = self.core
        return [
            message
            for message in messages
            if any(core.is_edited(it) for it in self.core_messages([message]))
        ]
