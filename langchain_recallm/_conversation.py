"""LangChain's messages as a conversation of a memory: their texts, roles and speakers.

Where the store fails, every method raises ``StoreError``, and nothing is written.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_config

from langchain_recallm._background import BackgroundWriter, Writing
from recallm import RecalledContext, RecalledStatement, RecallM, adapting
from recallm.adapting import (
    DEFAULT_ROLES,
    SPEAKER_NAMES,
    Conversation,
    Message,
    MessageFilter,
    Role,
    data_within,
    in_thread,
    joined_text,
    speaker_name,
)

_DEFAULT_LIMIT = 10
"""Statements recalled, or passages read, to find messages by their text."""

LookedUp = dict[tuple[str, int], set[str]]
"""By a message's id and a digest of its text: the ids of the passages that hold the message."""

_SAVER = "__pregel_checkpointer"
"""Where LangGraph's config has the checkpointer of a run."""

_CHAT_ROLES: Mapping[str, Role] = {"user": "human", "human": "human", "assistant": "ai", "ai": "ai"}


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


def loss_of(messages: Sequence[BaseMessage]) -> str:
    """What a log says where messages could not be written."""
    return f"{len(messages)} message(s) were not remembered"


def _is_summary(message: BaseMessage) -> bool:
    """Whether LangChain's ``SummarizationMiddleware`` wrote the message in the user's name."""
    return message.additional_kwargs.get("lc_source") == "summarization"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadState:
    """The messages of a run whose thread has a checkpointer."""

    messages: Sequence[BaseMessage]
    thread: str
    checkpoint: str
    saver: BaseCheckpointSaver[Any]

    def has_branch(self, checkpoint: str) -> bool:
        """Whether the thread has this checkpoint, on another branch than that of the run."""
        at = self.checkpoint
        while at > checkpoint:  # ids ascend in time
            found = self._checkpoint(at)
            if found is None:
                return False
            if found.parent_config is None:
                break
            at = found.parent_config["configurable"]["checkpoint_id"]
        return at != checkpoint and self._saved(checkpoint) is not None

    def _checkpoint(self, id: str) -> Any:
        for _ in range(10):  # the latest checkpoint is written while the run goes on
            found = self._saved(id)
            if found is not None:
                return found
            time.sleep(0.05)
        return None

    def _saved(self, id: str) -> Any:
        configurable = {"thread_id": self.thread, "checkpoint_ns": "", "checkpoint_id": id}
        return self.saver.get_tuple(cast(RunnableConfig, {"configurable": configurable}))


def thread_state(run: Any, messages: Sequence[BaseMessage]) -> ThreadState | None:
    """The thread of a run; None where it has no checkpointer, or is inside another graph."""
    info = getattr(run, "execution_info", None)
    saver: object = None
    with suppress(RuntimeError):  # outside of a run
        saver = get_config().get("configurable", {}).get(_SAVER)
    if info is None or not info.thread_id or "|" in (info.checkpoint_ns or ""):
        return None
    if not isinstance(saver, BaseCheckpointSaver):
        return None
    return ThreadState(
        messages=messages, thread=info.thread_id, checkpoint=info.checkpoint_id, saver=saver
    )


class WritesInBackground:
    """What writes conversations into ``memory``, on request in the background."""

    memory: RecallM

    def flush(self, timeout: float | None = None) -> bool:
        """With ``write="background"``: wait until all that waits in the memory's store is written;
        whether it is, within ``timeout`` seconds.

        Raises:
            Exception: what failed in the background, and was not raised yet.

        """
        return BackgroundWriter.flush(self.memory, timeout)

    aflush = in_thread(flush)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageConversation(Conversation):
    """A conversation in LangChain's messages. It remembers the messages in ``roles`` that
    ``filter`` accepts; ``names`` are the speakers of messages without a name. ``looked_up`` holds
    what was found of messages by their ids, so that a turn reads the new ones alone. In a
    ``thread`` each passage keeps the place of its message."""

    roles: frozenset[Role] = DEFAULT_ROLES
    names: Mapping[Role, str] = field(default_factory=lambda: SPEAKER_NAMES)
    filter: MessageFilter = field(default_factory=MessageFilter)
    looked_up: LookedUp = field(default_factory=dict)
    thread: ThreadState | None = None

    def core_messages(self, messages: Iterable[BaseMessage]) -> list[Message]:
        """What is remembered of these messages."""
        return self.filter.accepted(self._texts(messages))

    def messages_to_write(self, messages: Iterable[BaseMessage]) -> list[Message]:
        """``core_messages``, with their places in the thread."""
        written = self.core_messages(messages)
        if self.thread is None:
            return written
        return [
            replace(message, thread=self._place(message.id, self.thread)) if message.id else message
            for message in written
        ]

    def _place(self, message_id: str, thread: ThreadState) -> dict[str, Any]:
        """The place of a message in its thread, as metadata; ``after``: the id of the message
        before it that is remembered."""
        earlier = reversed(thread.messages)
        # What is left of ``earlier`` then begins before the message itself.
        any(self.written_id(message) == message_id for message in earlier)
        before = next((message for message in earlier if self.core_messages([message])), None)
        after = before and self.written_id(before)
        return {"message": message_id, "after": after, "checkpoint": thread.checkpoint}

    def write(self, messages: Sequence[BaseMessage], writing: Writing = "durable") -> None:
        """Remember messages that are said now, all or nothing; "background" leaves that to the
        thread of the memory's jobs."""
        at, memory = self.memory.now(), self.memory

        def write() -> None:
            self.remember(self.messages_to_write(messages), at=at)

        if writing == "durable":
            write()
        else:
            BackgroundWriter.of(memory).put(memory.namespace, write, loss_of(messages))

    def written_id(self, message: BaseMessage) -> str | None:
        """The id under which a message is written: redacted."""
        return message.id and self.filter.redacted(message.id)

    def _texts(self, messages: Iterable[BaseMessage]) -> list[Message]:
        """The texts of the messages in ``roles``, with their speakers."""
        found: list[Message] = []
        for message in messages:
            role, text = role_of(message), text_of(message)
            if role in self.roles and text.strip():
                speaker = speaker_name(message.name, role, self.names)
                found.append(Message(text=text, speaker=speaker, role=role, id=message.id))
        return found

    def passages_of(self, messages: Iterable[BaseMessage]) -> set[str]:
        """The ids of the passages that hold these messages in this session."""
        passages = self.passages_of_messages(self.core_messages(messages))
        return {passage.id for passage in passages if passage is not None}

    def edited(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """The messages under whose ids this session holds only other texts. What a ``forget`` left
        of a message's own text does not count."""

        def is_edited(own: Message) -> bool:
            is_known = own.id and self.has_passage(self.passage_id(own.id))
            return bool(is_known) and self.passages_of_messages([own]) == [None]

        return [
            message for message in messages if any(map(is_edited, self.core_messages([message])))
        ]

    def unwritten(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """The messages that this session does not hold: neither under their ids nor, where an app
        hands in the conversation with new ids, among its latest passages."""
        latest = self.memory.passages(limit=_DEFAULT_LIMIT, session=self.session)
        held = {(passage.speaker, passage.text) for passage in latest}
        return [
            message
            for message in messages
            for own in self.core_messages([message])
            if (own.speaker, own.text) not in held and self.passages_of_messages([own]) == [None]
        ]

    def data_beside(
        self,
        question: str,
        messages: Sequence[BaseMessage],
        *,
        asking: Sequence[BaseMessage] = (),
        new: Sequence[BaseMessage] = (),
        limit: int | None,
        max_tokens: int | None,
        **how: Any,
    ) -> tuple[str, Sequence[RecalledStatement]]:
        """What is recalled for a question beside the ``messages`` of a request, as data of at most
        ``max_tokens`` tokens, and the statements in it: both are empty where nothing fits.
        ``asking`` are the messages that ask, ``new`` others of the run that no earlier run wrote;
        ``how`` are further arguments of ``recall``."""
        known = self.passages_in_request(question, messages, asking=[*asking, *new], limit=limit)
        own = self.core_messages(asking)

        def recall(room: int | None) -> RecalledContext:
            return self.recall(
                question, asking=own, limit=limit, max_tokens=room, known=known, **how
            )

        return data_within(max_tokens, self.memory, recall)

    def passages_in_request(
        self,
        question: str,
        messages: Sequence[BaseMessage],
        *,
        asking: Sequence[BaseMessage],
        limit: int | None,
    ) -> set[str]:
        """The ids of the passages of this session (of every session where there is none) that hold
        ``messages`` or ``asking``: the model reads them in its request, and they need not be
        recalled.

        They are found by the messages' ids. An app without checkpoints hands in the conversation
        with new ids each time, or with none: messages with an unknown id are found by their text
        and speaker, among the statements that ``question`` recalls. Messages that ask are new, and
        not looked for by text."""
        found, unknown = self._known_by_id([*messages, *asking])
        asking_ids = {message.id for message in asking if message.id}
        not_asking = [
            message
            for message in unknown
            if message.id not in asking_ids and not any(message is other for other in asking)
        ]
        held = {(message.speaker, message.text) for message in self.core_messages(not_asking)}
        while held:
            context = self.recall(
                question, limit=(limit or _DEFAULT_LIMIT) + len(held), known=sorted(found)
            )
            recalled = {
                statement.passage
                for statement in context.statements
                if statement.passage is not None
            }
            new = {
                passage.id
                for passage in self.memory.get_many(recalled).values()
                if self.session in (None, passage.session)
                and (passage.speaker, passage.text) in held
            } - found
            if not new:
                break
            found |= new
        return found

    def _known_by_id(self, messages: Sequence[BaseMessage]) -> tuple[set[str], list[BaseMessage]]:
        """The ids of the passages that this session holds under the messages' ids, those of edited
        texts included, and the messages under whose id it holds none."""
        keys = [(message.id or "", hash(text_of(message))) for message in messages]
        ids = [
            "" if key in self.looked_up else self.written_id(message) or ""
            for message, key in zip(messages, keys, strict=True)
        ]
        passages = self.memory.get_many({self.passage_id(id) for id in ids if id})
        found: set[str] = set()
        unknown: list[BaseMessage] = []
        for message, key, id in zip(messages, keys, ids, strict=True):
            passage = passages.get(self.passage_id(id))
            if key in self.looked_up:
                found |= self.looked_up[key]
            elif passage is None or passage.session != self.session:
                unknown.append(message)
            else:
                # Redacted, cut by a forget, or edited: a passage of its own has the new text.
                is_whole = passage.text == text_of(message)
                others = set() if is_whole else self.passages_of([message])
                own = {passage.id, *others}
                if is_whole or others:  # an edited text is written after this
                    self.looked_up[key] = own
                found |= own
        return found, unknown
