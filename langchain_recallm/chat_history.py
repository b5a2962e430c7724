"""The messages of one session, as ``RunnableWithMessageHistory`` wants them, and out of the texts
of a ``VectorStoreRetrieverMemory``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_recallm._background import BackgroundWriter
from langchain_recallm._conversation import MessageConversation
from recallm import Passage, RecallM
from recallm.adapting import (
    SPEAKER_NAMES,
    Accept,
    MessageFilter,
    RecallOptions,
    Redact,
    checked_memory,
    checked_session,
    checks,
)


class RecallMChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, the oldest first: the latest ``limit`` of them, or all.

    For chains that use a ``RunnableWithMessageHistory`` already: ``RecallMRetriever`` and the other
    classes recall in any conversation what such chains write. Of a message its text, its id, its
    role (human or ai) and its name are kept; tool calls, images, and the messages of tools and of
    the system are not.

    ``redact`` and ``accept`` decide what is written, as in ``RecallMMiddleware``.

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
        InvalidInputError: ``session`` is no name or a template, or ``limit`` is less than 1.
        StoreError: in a call, where the store failed; nothing was written or forgotten.
        Exception: what ``redact`` or ``accept`` raised; nothing was written.

    """

    def __init__(
        self,
        *,
        memory: RecallM,
        session: str,
        limit: int | None = None,
        redact: Redact | None = None,
        accept: Accept | None = None,
    ) -> None:
        super().__init__()
        self.memory = checked_memory(memory)
        RecallOptions(limit=limit).check(memory)
        self.limit = limit
        self._filter = MessageFilter(redact=redact, accept=accept)
        self.session = self._filter.redacted_name(
            checked_session(checks.name(session, "session")), "session"
        )

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The session's messages, the oldest first."""
        BackgroundWriter.wait_for(self.memory)
        messages = [
            _message(passage)
            for passage in self.memory.passages(session=self.session)
            # Not a document whose source has the session's name, nor what a tool wrote.
            if passage.session == self.session and passage.metadata.get("role") in ("human", "ai")
        ]
        return messages if self.limit is None else messages[-self.limit :]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Remember messages, all or none. A message that is already written under its id changes
        nothing; one without text is left out."""
        MessageConversation(memory=self.memory, session=self.session, filter=self._filter).write(
            messages
        )

    def clear(self) -> None:
        """Forget the session, for good, and everything in it."""
        BackgroundWriter.wait_for(self.memory)  # or what waits would be written afterwards
        passages = self.memory.passages(session=self.session)
        if all(passage.session == self.session for passage in passages):
            self.memory.forget(session=self.session)
            return
        # Among them is a document whose source has the session's name: it stays.
        for passage in passages:
            if passage.session == self.session:
                self.memory.forget(id=passage.id)


def _message(passage: Passage) -> BaseMessage:
    is_ai = passage.metadata.get("role") == "ai"
    default_name = SPEAKER_NAMES["ai" if is_ai else "human"]
    name = None if passage.speaker == default_name else passage.speaker
    kind = AIMessage if is_ai else HumanMessage
    return kind(passage.text, id=passage.id, name=name)


def exchange_messages(
    text: str, *, id: str, input_key: str = "input", output_key: str = "output", **update: Any
) -> list[dict[str, Any]]:
    r"""The two messages of a text "input: … output: …" of a ``VectorStoreRetrieverMemory``, for
    ``RecallM.update_many``: what the person said, and what the model answered, each with its role.

    ``id`` is that of the document; the messages get ids from it, so that a second run writes
    nothing. ``input_key`` and ``output_key`` are the names that the chain gave its input and its
    output. ``update`` are arguments of ``RecallM.update``, such as ``timestamp`` and ``session``.
    A text of another form is one update without a speaker: nothing says whose words it holds.
    Where a line of what was said begins with the name of the output, too, the answer begins at the
    first such line.

    >>> from recallm import RecallM
    >>> from langchain_recallm import exchange_messages
    >>> memory = RecallM()
    >>> text = "input: I play the cello.\noutput: Since when?"
    >>> _ = memory.update_many(exchange_messages(text, id="7", session="music"))
    >>> [(passage.id, passage.speaker, passage.text) for passage in memory.passages()]
    [('7-input', 'Human', 'I play the cello.'), ('7-output', 'AI', 'Since when?')]
    """
    pattern = (
        rf"(?:.*?\n)??{re.escape(input_key)}: (?P<asked>.*?)\n"
        rf"{re.escape(output_key)}: (?P<answered>.*)"
    )
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        return [{"text": text, "id": id, **update}]
    return [
        {"role": "user", "content": found["asked"], "id": f"{id}-input", **update},
        {"role": "assistant", "content": found["answered"], "id": f"{id}-output", **update},
    ]
