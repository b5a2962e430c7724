"""``RecallMChatMessageHistory``: a session, as ``RunnableWithMessageHistory`` wants it."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_recallm._conversation import Conversation
from recallm import InvalidInputError, Passage, RecallM
from recallm.adapting import NAMES, checked_limits, checked_memory, checked_session

__all__ = ["RecallMChatMessageHistory"]


class RecallMChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, the oldest first: the latest ``limit`` of them, or all.

    An adapter for chains that have a ``RunnableWithMessageHistory`` already: what they write is
    remembered for other conversations too, where ``RecallMRetriever`` or another part recalls it.
    Of a message its text, its id and whose it is are kept (human or ai, and the name); tool calls,
    images and the messages of tools and of the system are not.

    The async methods run in threads and do not block the event loop.

    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> history = RecallMChatMessageHistory(memory=memory, session="monday")
    >>> history.add_user_message("I live in Oslo.")
    >>> history.add_ai_message("Noted.")
    >>> [(message.type, message.content) for message in history.messages]
    [('human', 'I live in Oslo.'), ('ai', 'Noted.')]
    >>> memory.recall("Where do I live?").statements[0].text
    'I live in Oslo.'

    Raises:
        InvalidInputError: ``session`` is no name or a template, ``limit`` no number of at least 1.

    """

    def __init__(self, *, memory: RecallM, session: str, limit: int | None = None) -> None:
        super().__init__()
        given: object = session
        if not isinstance(given, str) or not given:
            raise InvalidInputError(
                "session must name the conversation, as in session='thread-1'", argument="session"
            )
        checked_limits(limit=limit, max_tokens=None)
        self.memory = checked_memory(memory)
        self.session = checked_session(given)
        self.limit = limit

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The session's messages, the oldest first.

        Raises:
            StoreError: the memory's store failed.

        """
        messages = [
            _message(it)
            for it in self.memory.passages(session=self.session)
            # Not a document whose source is named so, nor what a tool gave or saved.
            if it.session == self.session and it.metadata.get("role") in ("human", "ai")
        ]
        return messages if self.limit is None else messages[-self.limit :]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Remember messages, all or none; one whose id is there already with its text changes
        nothing, one without text is passed over.

        Raises:
            StoreError: the memory's store failed; nothing was written.

        """
        Conversation(memory=self.memory, session=self.session).remember(messages)

    def clear(self) -> None:
        """Forget the session, for good, and all that was said or saved in it.

        Raises:
            StoreError: the memory's store failed; nothing was forgotten.

        """
        named = self.memory.passages(session=self.session)
        if all(it.session == self.session for it in named):
            self.memory.forget(session=self.session)
            return
        for it in named:  # a document's source has the same name: it stays
            if it.session == self.session:
                self.memory.forget(id=it.id)


def _message(passage: Passage) -> BaseMessage:
    if passage.metadata.get("role") == "ai":
        name = None if passage.speaker == NAMES["ai"] else passage.speaker
        return AIMessage(passage.text, id=passage.id, name=name)
    name = None if passage.speaker == NAMES["human"] else passage.speaker
    return HumanMessage(passage.text, id=passage.id, name=name)
