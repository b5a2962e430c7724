"""``RecallMMemoryBlock``: the long-term memory of a LlamaIndex ``Memory``.

* ``Memory`` asks its blocks for text before each call of the model, and shows them its queue. The
  block recalls for the user's last question, and writes the new messages of the queue.
* ``Memory`` hands over the messages that leave its queue, from 21,000 tokens on: that alone would
  leave most conversations unwritten. So the block writes what it is shown.
* A message is written once, however often it is shown, handed over or flushed.
* Where the memory fails, the user still gets an answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from itertools import groupby
from typing import Annotated, Any, Self

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.schema import NodeWithScore
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index_instrumentation import get_dispatcher
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    model_validator,
)

from llama_index_recallm._chat_messages import messages_of
from llama_index_recallm._nodes import statement_node
from llama_index_recallm._session_queue import SessionQueue
from recallm import InvalidInputError, RecalledContext, RecallM
from recallm.adapting import (
    DEFAULT_ROLES,
    SPEAKER_NAMES,
    Accept,
    Conversation,
    FailureGuard,
    Message,
    MessageFilter,
    RecallOptions,
    Redact,
    Role,
    Scope,
    check_budget,
    checked_memory,
    checked_roles,
    checks,
    data_within,
    latest_question,
    new_lock,
    shortened_question,
    speaker_names,
)

_dispatcher = get_dispatcher(__name__)
_log = logging.getLogger("llama_index_recallm")

_MAX_SESSIONS = 1024
"""Sessions that keep their queue: those that were used last."""

_Name = Annotated[str, Field(min_length=1, strict=True, pattern=r"\S")]


class RecallMMemoryBlock(BaseMemoryBlock[str]):
    """A memory block of ``Memory``: it recalls what helps with the user's question, and remembers
    the conversation.

    ``memory``: the core. ``namespace``: whose memory it is, where it is not the memory's own.
    ``Memory``'s session is the session: what was said in one is recalled in the next, unless
    ``scope="session"`` keeps recall inside it. Messages that are still in the queue are not
    recalled. ``roles``: whose messages are remembered, "human" and "ai" by default, "tool" on
    request; only their texts. ``human_prefix`` and ``ai_prefix`` name the speakers of messages
    whose ``additional_kwargs`` have no ``name``. ``limit`` counts statements, ``max_tokens`` the
    recalled text with its delimiters, by the memory's counter. ``min_score`` is the least
    probability that a statement helps; it needs the default ranking.

    ``redact``, text → text, and ``accept``, message (``recallm.adapting.Message``) → bool, run
    before anything is written or recalled. Where one of them fails, nothing is written or
    recalled. Both see the messages of the queue whenever ``Memory`` asks the block, and must give
    the same result each time. ``Memory``'s queue, which the model gets, is not changed.

    Recall asks with the user's last messages; of a long text with its first and last 2,000
    characters. The result is a text, delimited as data, or '' where nothing is known.
    ``priority`` is 1: where everything together exceeds ``Memory``'s ``token_limit``, the recalled
    text goes (0: never).

    The new messages of the queue are written whenever ``Memory`` is asked for its messages, and by
    ``flush`` what is left at the end of a session. Where a user says the very same in two turns in
    a row, the second is written a turn later. Where another process continues a session, a turn in
    the very words of an earlier one may be taken for it. ``Memory`` does not show a message given
    as ``aget(input=ChatMessage(…))`` to its blocks: give a ``str``. ``ReActAgent`` leaves out the
    first system message: give it a ``system_prompt``, or ``Memory``
    ``insert_method=InsertMethod.USER``.

    A failure of the memory is logged (logger ``llama_index_recallm``) and the agent answers without
    it; ``raise_errors`` raises it. docs/llama_index.md has the whole.

    >>> import asyncio
    >>> from llama_index.core.llms import ChatMessage
    >>> from recallm import RecallM
    >>> block = RecallMMemoryBlock(memory=RecallM())
    >>> said, asked = ChatMessage("I moved to Porto."), ChatMessage("Where did I move to?")
    >>> asyncio.run(block.aput([said], session_id="monday"))
    >>> "Human: I moved to Porto." in asyncio.run(block.aget([asked], session_id="tuesday"))
    True

    Raises:
        ValidationError: a field cannot be used (pydantic's; a ``ValueError``).

    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Annotated[RecallM, BeforeValidator(checked_memory)] = Field(exclude=True)
    name: _Name = "recallm"
    priority: int = Field(default=1, ge=0, strict=True)
    scope: Scope = "namespace"
    namespace: Annotated[_Name, AfterValidator(checks.namespace)] | None = None
    roles: Annotated[Collection[Role], BeforeValidator(checked_roles)] = DEFAULT_ROLES
    human_prefix: _Name = SPEAKER_NAMES["human"]
    ai_prefix: _Name = SPEAKER_NAMES["ai"]
    limit: int | None = Field(default=10, strict=True)
    max_tokens: int | None = Field(default=1000, strict=True)
    min_score: float | None = None
    redact: Redact | None = Field(default=None, exclude=True)
    accept: Accept | None = Field(default=None, exclude=True)
    raise_errors: bool = False

    _filter: MessageFilter = PrivateAttr()
    _queues: Callable[[str], SessionQueue] = PrivateAttr()
    _lock: AbstractContextManager[Any] = PrivateAttr(default_factory=new_lock)

    @model_validator(mode="after")
    def _check_fields_together(self) -> Self:
        RecallOptions(limit=self.limit, max_tokens=self.max_tokens, min_score=self.min_score).check(
            self.memory
        )
        check_budget(self.memory, self.max_tokens)
        self._filter = MessageFilter(redact=self.redact, accept=self.accept)
        self._queues = lru_cache(_MAX_SESSIONS)(SessionQueue)
        return self

    # -- called by Memory ------------------------------------------------------------------

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Recalled text for the user's last question, as data; '' where nothing is recalled.
        Where there is a ``session_id``, new ``messages`` are written."""
        if not messages:
            return ""
        shown = messages_of(messages, self._names())
        session = Conversation.session_name(block_kwargs.get("session_id"))
        return await asyncio.to_thread(self._recall_and_remember, shown, session)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Write the new ones of ``messages``, which leave the queue of the session that their
        ``additional_kwargs`` name: all of a session or nothing. Messages that name no session are
        new, and belong to none."""
        # Read before anything is awaited: other blocks take the session's id out of the messages.
        sessions = [
            (Conversation.session_name(message.additional_kwargs.get("session_id")), message)
            for message in messages
        ]
        for session, group in groupby(sessions, key=lambda pair: pair[0]):
            leaving = messages_of((message for _, message in group), self._names())
            await asyncio.to_thread(
                self._guard().run,
                partial(self._remember, leaving, session, leaving=True),
                f"{len(leaving)} message(s) were not remembered",
            )

    # -- called by users -------------------------------------------------------------------

    async def aflush(self, memory: Memory) -> int:
        """Write the new messages of the queue of ``memory``, all or nothing. Returns how many were
        new. They stay in the queue; a second call changes nothing.

        Raises:
            InvalidInputError: ``memory`` is no ``Memory``, or a message cannot be stored.
            ClosedError: the memory is closed.
            StoreError: the store failed; nothing was written.
            Exception: what ``redact`` or ``accept`` raised; nothing was written.

        """
        given: object = memory
        if not isinstance(given, Memory):
            raise InvalidInputError(
                f"flush takes the Memory whose queue is written, not {given!r}", argument="memory"
            )
        messages = await memory.aget_all(status=MessageStatus.ACTIVE)
        shown = messages_of(messages, self._names())
        session = Conversation.session_name(memory.session_id)
        return await asyncio.to_thread(self._remember, shown, session)

    def flush(self, memory: Memory) -> int:
        """``aflush`` for code that is not async."""
        return int(asyncio_run(self.aflush(memory)))

    # -- recalling and remembering ---------------------------------------------------------

    def _conversation(self, session: str | None) -> Conversation:
        memory = self.memory
        if self.namespace is not None:
            memory = memory.in_namespace(self.namespace)
        session = session and self._filter.redacted_name(session, "session")
        return Conversation(memory=memory, session=session, scope=self.scope)

    def _queue_of(self, session: str) -> SessionQueue:
        with self._lock:
            return self._queues(session)

    def _names(self) -> Mapping[Role, str]:
        return speaker_names(self.human_prefix, self.ai_prefix)

    def _guard(self) -> FailureGuard:
        return FailureGuard(log=_log, raise_errors=self.raise_errors)

    def _recall_and_remember(self, shown: list[Message], session: str | None) -> str:
        """Write the new messages of the queue, and recall for the last question in it."""
        # After a tool call, agents show the question once more behind a queue that has it already.
        repeated = _repeats_question(shown)
        queue = shown[:-1] if repeated else shown
        question_places, answered = latest_question([message.role for message in queue])
        written = self._guard().run(
            lambda: self._by_place(queue, session), "new messages were not remembered"
        )
        asking: list[Message] = []
        # A question that the model has answered before may be asked anew: then recall everything.
        if written is not None and not (repeated and answered):
            asking = [written[place] for place in question_places if place in written]
        # The model gets the queue itself: its messages need not be recalled.
        known = [message.id for message in (written or {}).values() if message.id is not None]
        texts = [queue[place].text for place in question_places]
        text = self._guard().run(
            lambda: self._recalled(texts, session, asking=asking, known=known),
            "nothing was recalled",
        )
        return text or ""

    def _recalled(
        self,
        texts: Sequence[str],
        session: str | None,
        *,
        asking: Sequence[Message],
        known: Sequence[str],
    ) -> str:
        """What is recalled for the texts of a question, as data; '' where nothing is."""
        conversation = self._conversation(session)
        question = shortened_question("\n".join(map(self._filter.redacted, texts)))
        if not question:
            return ""

        def recall(max_tokens: int | None) -> RecalledContext:
            return conversation.recall(
                question,
                asking=asking,
                limit=self.limit,
                max_tokens=max_tokens,
                min_score=self.min_score,
                known=known,
            )

        _dispatcher.event(RetrievalStartEvent(str_or_query_bundle=question))
        text, statements = data_within(self.max_tokens, conversation.memory, recall)
        nodes = [
            NodeWithScore(node=statement_node(statement), score=statement.score)
            for statement in statements
        ]
        _dispatcher.event(RetrievalEndEvent(str_or_query_bundle=question, nodes=nodes))
        return text

    def _accepted(self, shown: Sequence[Message]) -> dict[int, Message]:
        """By place in ``shown``: the messages that may be written, redacted."""
        return {
            place: accepted
            for place, message in enumerate(shown)
            if message.role in self.roles
            for accepted in self._filter.accepted([message])
            if accepted.text.strip()
        }

    def _by_place(self, queue: Sequence[Message], session: str | None) -> dict[int, Message]:
        """Write the new messages of the queue; by place in the queue: the messages that are
        remembered, with ids where they are written."""
        accepted = self._accepted(queue)
        if session is None:
            return accepted
        messages = list(accepted.values())
        with_ids, _ = self._queue_of(session).remember(self._conversation(session), messages)
        return dict(zip(accepted, with_ids, strict=True))

    def _remember(
        self, shown: Sequence[Message], session: str | None, *, leaving: bool = False
    ) -> int:
        """Write the new messages; returns how many there were."""
        conversation = self._conversation(session)
        messages = list(self._accepted(shown).values())
        if session is None:
            conversation.remember(messages)
            return len(messages)
        _, new = self._queue_of(session).remember(conversation, messages, leaving=leaving)
        return new


def _repeats_question(shown: Sequence[Message]) -> bool:
    """Whether the last message is the user's, with the text of the user's message before it."""
    if not shown or shown[-1].role != "human":
        return False
    before = next((message for message in reversed(shown[:-1]) if message.role == "human"), None)
    return before is not None and before.text == shown[-1].text
