"""``RecallMMemoryBlock``: the long-term memory of a LlamaIndex ``Memory``.

* ``Memory`` asks its blocks for what they know before each call of the model, and shows them its
  queue. The block recalls for what the user asked last, and writes what is new in the queue.
* ``Memory`` hands over what overflows its queue, from 21,000 tokens on: that alone would leave
  most conversations unwritten. So the block is eager: what it is shown, it writes.
* A message is written once, however often it is shown, handed over or flushed.
* Whatever fails in the memory, the user has the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import Annotated, Any, Self, TypeVar

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.utils import get_tokenizer
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    model_validator,
)

from llama_index_recallm._messages import asked_last, said_in
from llama_index_recallm._queue import Queues
from recallm import InvalidInputError, RecalledContext, RecallM
from recallm.adapting import (
    BOTH,
    CLOSING,
    NAMES,
    Accept,
    Admission,
    Conversation,
    Redact,
    Role,
    Said,
    Scope,
    as_data,
    bounded,
    checked_limits,
    checked_memory,
    checked_namespace,
    checked_roles,
    checked_room,
    checked_scores,
    new_lock,
    settle,
    shortened,
)

__all__ = ["RecallMMemoryBlock"]

_log = logging.getLogger("llama_index_recallm")

_T = TypeVar("_T")
_Name = Annotated[str, Field(min_length=1, strict=True, pattern=r"\S")]
_HEAD, _, _TAIL = as_data("\0").partition("\0")
_MOST = 256


class RecallMMemoryBlock(BaseMemoryBlock[str]):
    """A memory block of ``Memory``: it recalls for what the user says, and remembers the
    conversation.

    ``memory`` is the core, ``namespace`` another namespace of it: whose memory it is. ``Memory``'s
    session is the session: what was said in one is recalled in the next, unless
    ``scope="session"`` keeps recall inside it; what still stands in the queue is not recalled, for
    the model is given it anyway. ``roles`` are remembered: "human" and "ai" by
    default, "tool" where asked for; their text parts only. ``human_prefix`` and ``ai_prefix`` name
    the speakers of messages whose ``additional_kwargs`` have no ``name``. ``limit`` counts
    statements, ``max_tokens`` the recalled text with its delimiters, by the memory's counter;
    ``min_score`` is the least probability to help, which the default ranking alone gives.

    ``redact``, text → text, and ``accept``, message (``recallm.adapting.Said``) → bool, run before
    anything is written or recalled: what is written, and asked of the memory, is the redacted text,
    and a message that is not accepted is not written. Where one of them fails, nothing is written
    or recalled. Both see the messages of the queue again whenever ``Memory`` asks the block: let
    them answer alike each time. ``Memory``'s queue, which the model is sent, stays as it is.

    Recall asks with what the user said last, of a long text with its first and last 2,000
    characters. What is recalled is a text, delimited as data, '' where nothing is known.
    ``Memory`` puts it into the system message or beside the user's; it is never remembered as if
    somebody had said it.
    ``priority`` is 1: where all is more than ``Memory``'s ``token_limit``, the block gives way,
    by whole statements, the least relevant first (0: never; ``Memory`` cuts the lowest first).
    ``tokenizer_fn`` measures that, as ``Memory``'s own: give both the same.

    ``eager``, the default, writes what is new in the queue whenever ``Memory`` is asked for its
    messages: a block that waits for an overflow remembers nothing of a conversation that ends
    before. Agents ask once more after the model's last answer, chat engines do not: ``flush`` at
    a session's end writes what is left. Without ``eager`` what overflows is written, and what is
    flushed. Where a user says in two turns on end the very same, the second is written a turn
    later, for agents show the block a question twice; where another process goes on with a session,
    a turn in the very words of an earlier one may pass for it. A message that comes as
    ``aget(input=ChatMessage(…))`` is not shown to blocks: what the user said before it is recalled
    for; give a ``str``.

    ``ReActAgent`` leaves out the first system message: give it a ``system_prompt``, or let
    ``Memory`` speak beside the user (``insert_method=InsertMethod.USER``).

    Messages of more than 20,000 characters that are new when ``Memory`` is asked before a call of
    the model are on disk as text before that call (``recallm.adapting.postpone``), and so is what
    is said after them in the turn. They are extracted, and recalled from then on, when ``Memory``
    is asked after the model's answer, as agents do, or by ``flush``; or else by the next call in
    the namespace that asks for something else, before its model is called: end long turns of chat
    engines with ``flush``. What is written as it overflows is extracted at once, at any length:
    without ``eager``, and where the block was never shown it before.

    A failure of the memory is logged (logger ``llama_index_recallm``) and the agent answers without
    it; ``raise_errors`` raises it.

    >>> import asyncio
    >>> from llama_index.core.llms import ChatMessage
    >>> from llama_index.core.memory import Memory
    >>> from recallm import RecallM
    >>> from sqlalchemy.ext.asyncio import create_async_engine
    >>> block = RecallMMemoryBlock(memory=RecallM())
    >>> async def say(text, session):
    ...     engine = create_async_engine("sqlite+aiosqlite://")  # of the queue, as by default
    ...     memory = Memory.from_defaults(session, memory_blocks=[block], async_engine=engine)
    ...     await memory.aput(ChatMessage(role="user", content=text))
    ...     messages = await memory.aget()
    ...     await engine.dispose()
    ...     return messages
    >>> _ = asyncio.run(say("I moved to Porto.", session="monday"))
    >>> system, user = asyncio.run(say("Where did I move to?", session="tuesday"))
    >>> "Human: I moved to Porto." in system.content, user.content
    (True, 'Where did I move to?')

    Raises:
        ValidationError: a field cannot be used (pydantic's; a ``ValueError``).

    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Annotated[RecallM, BeforeValidator(checked_memory)] = Field(exclude=True)
    name: _Name = "recallm"
    priority: int = Field(default=1, ge=0, strict=True)
    scope: Scope = "namespace"
    namespace: Annotated[_Name, AfterValidator(checked_namespace)] | None = None
    roles: Annotated[Collection[Role], BeforeValidator(checked_roles)] = BOTH
    human_prefix: _Name = NAMES["human"]
    ai_prefix: _Name = NAMES["ai"]
    limit: int | None = Field(default=10, strict=True)
    max_tokens: int | None = Field(default=1000, strict=True)
    min_score: float | None = None
    redact: Redact | None = Field(default=None, exclude=True)
    accept: Accept | None = Field(default=None, exclude=True)
    eager: bool = True
    raise_errors: bool = False
    tokenizer_fn: Callable[[str], Sequence[Any]] = Field(
        default_factory=get_tokenizer, exclude=True
    )

    _admission: Admission = PrivateAttr()
    _queues: Queues = PrivateAttr()
    _scores: OrderedDict[str, list[float]] = PrivateAttr(default_factory=OrderedDict)
    _lock: Any = PrivateAttr(default_factory=new_lock)

    @model_validator(mode="after")
    def _can_work(self) -> Self:
        checked_limits(limit=self.limit, max_tokens=self.max_tokens, min_score=self.min_score)
        checked_room(self.memory, self.max_tokens)
        checked_scores(self.memory, min_score=self.min_score)
        self._admission = Admission(redact=self.redact, accept=self.accept)
        self._queues = Queues(complete=self.eager)
        return self

    # -- what Memory calls -----------------------------------------------------------------

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """What is recalled for what the user said last, as data; '' where nothing is. With
        ``eager``, what is new in ``messages`` is written, if there is a ``session_id``."""
        if not messages:
            return ""
        spoken = said_in(messages, self._names())
        session = Conversation.name_of(block_kwargs.get("session_id"))
        return await asyncio.to_thread(self._turn, spoken, session)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Write what is new in ``messages``, which leave the queue of the session that their
        ``additional_kwargs`` name: all of a session's or nothing. Where they name none, each is
        new, and belongs to no session."""
        # Read before anything is awaited: other blocks take the session's id out of the messages.
        named = [(_session_of(message), message) for message in messages]
        for session, group in groupby(named, key=lambda it: it[0]):
            spoken = said_in((message for _, message in group), self._names())
            await asyncio.to_thread(self._left, spoken, session)

    async def atruncate(self, content: str | list[Any], tokens_to_truncate: int) -> str | None:
        """``content`` shorter by ``tokens_to_truncate`` at least: without its least relevant
        statements (the first ones, where that is not known any more), whole ones, with its
        delimiters. None where nothing is left.

        >>> import asyncio
        >>> from llama_index.core.llms import ChatMessage
        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> _ = memory.update_many(["Ann keeps bees.", "Ann has loved bees since her childhood."])
        >>> block = RecallMMemoryBlock(memory=memory)
        >>> async def cut(question, tokens):
        ...     content = await block.aget([ChatMessage(role="user", content=question)])
        ...     return await block.atruncate(content, tokens)
        >>> "since her childhood" in asyncio.run(cut("Who keeps bees?", 5))
        False
        >>> asyncio.run(cut("Who keeps bees?", 500)) is None
        True

        """
        return await asyncio.to_thread(self._truncated, content, tokens_to_truncate)

    # -- what users call -------------------------------------------------------------------

    async def aflush(self, memory: Memory) -> int:
        """Extract what was postponed, and write what is new in the queue of ``memory``, all or
        nothing; how many new messages that were. They stay in the queue; called again, it changes
        nothing.

        >>> import asyncio
        >>> from llama_index.core.llms import ChatMessage
        >>> from llama_index.core.memory import Memory
        >>> from recallm import RecallM
        >>> from sqlalchemy.ext.asyncio import create_async_engine
        >>> core = RecallM()
        >>> block = RecallMMemoryBlock(memory=core)
        >>> async def talk():
        ...     engine = create_async_engine("sqlite+aiosqlite://")
        ...     memory = Memory.from_defaults(memory_blocks=[block], async_engine=engine)
        ...     await memory.aput(ChatMessage(role="assistant", content="Your train is at ten."))
        ...     flushed = await block.aflush(memory), await block.aflush(memory)
        ...     await engine.dispose()
        ...     return flushed
        >>> asyncio.run(talk())
        (1, 0)
        >>> [passage.text for passage in core.passages()]
        ['Your train is at ten.']

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
        spoken = said_in(messages, self._names())
        session = Conversation.name_of(memory.session_id)
        return await asyncio.to_thread(self._remember, spoken, session)

    def flush(self, memory: Memory) -> int:
        """``aflush``, where nothing awaits.

        >>> import asyncio
        >>> from llama_index.core.llms import ChatMessage
        >>> from llama_index.core.memory import Memory
        >>> from recallm import RecallM
        >>> from sqlalchemy.ext.asyncio import create_async_engine
        >>> engine = create_async_engine("sqlite+aiosqlite://")
        >>> block = RecallMMemoryBlock(memory=RecallM())
        >>> memory = Memory.from_defaults(memory_blocks=[block], async_engine=engine)
        >>> memory.put(ChatMessage(role="assistant", content="Your train is at ten."))
        >>> block.flush(memory)
        1
        >>> asyncio.run(engine.dispose())

        Raises:
            Exception: as ``aflush`` does; nothing was written.

        """
        return int(asyncio_run(self.aflush(memory)))

    # -- the memory ------------------------------------------------------------------------

    def _conversation(self, session: str | None) -> Conversation:
        memory = self.memory
        if self.namespace is not None:
            memory = memory.in_namespace(self.namespace)
        return Conversation(memory=memory, session=session, scope=self.scope)

    def _names(self) -> dict[Role, str]:
        return {**NAMES, "human": self.human_prefix, "ai": self.ai_prefix}

    def _turn(self, spoken: list[Said], session: str | None) -> str:
        """Write what is new in the queue, and recall for what was asked last in it."""
        # Once a tool was called, agents give the question again, after a queue that holds it.
        again = _is_said_again(spoken)
        queue = spoken[:-1] if again else spoken
        asked, answered = asked_last(queue)
        placed = self._guarded(
            lambda: self._placed(queue, session, asked if again or not answered else None),
            "what is new was not remembered",
        )
        besides: list[Said] = []
        # Where the model has answered it before, it may be asked anew: then all is recalled.
        if placed is not None and not (again and answered):
            besides = [placed[place] for place in asked if place in placed]
        # The queue stands in the same prompt: what it holds needs not be recalled.
        known = [said.id for said in (placed or {}).values() if said.id is not None]
        conversation = self._conversation(session)
        contexts: list[RecalledContext] = []

        def recalled() -> str:
            texts = [self._admission.redacted(queue[place].text) for place in asked]
            question = shortened("\n".join(texts))
            return question and bounded(
                conversation.memory, lambda room: recall(question, room), self.max_tokens
            )

        def recall(question: str, room: int | None) -> RecalledContext:
            context = conversation.recall(
                question,
                besides=besides,
                limit=self.limit,
                max_tokens=room,
                min_score=self.min_score,
                known=known,
            )
            contexts.append(context)
            return context

        text = self._guarded(recalled, "nothing was recalled")
        if not text:
            return ""
        self._keep_scores(text, contexts[-1])
        return text

    def _admitted(self, spoken: Sequence[Said]) -> dict[int, Said]:
        """By its place, what of ``spoken`` may be written, redacted."""
        return {
            place: admitted
            for place, said in enumerate(spoken)
            if said.role in self.roles
            for admitted in self._admission.admitted([said])
            if admitted.text.strip()
        }

    def _placed(
        self, spoken: Sequence[Said], session: str | None, asked: Sequence[int] | None
    ) -> dict[int, Said]:
        """By its place, what of ``spoken`` is remembered, with the ids of what is written, which
        with ``eager`` is all of it. ``asked`` are the places of what the model is asked next; None
        where it has answered."""
        admitted = self._admitted(spoken)
        if session is None:
            return admitted
        remembered = list(admitted.values())
        conversation, queue = self._conversation(session), self._queues.of(session)
        if self.eager:
            # What was postponed of this turn stays so until the model has answered.
            waiting = {
                (session, admitted[place].text) for place in asked or () if place in admitted
            }
            self._guarded(
                lambda: settle(conversation.memory, but=waiting), "long messages are not extracted"
            )
            kept, _ = queue.remember(conversation, remembered, asked=asked is not None)
        else:
            kept = queue.shown(conversation, remembered)
        return dict(zip(admitted, kept, strict=True))

    def _left(self, spoken: Sequence[Said], session: str | None) -> None:
        self._guarded(
            lambda: self._remember(spoken, session, leaving=True),
            f"{len(spoken)} message(s) were not remembered",
        )

    def _remember(
        self, spoken: Sequence[Said], session: str | None, *, leaving: bool = False
    ) -> int:
        """Write what is new in ``spoken``; how many messages that were."""
        conversation = self._conversation(session)
        remembered = list(self._admitted(spoken).values())
        if not leaving:
            settle(conversation.memory)
        if session is None:
            conversation.remember(remembered)
            return len(remembered)
        return self._queues.of(session).remember(conversation, remembered, leaving=leaving)[1]

    def _guarded(self, work: Callable[[], _T], loss: str) -> _T | None:
        """What ``work`` gives; where it fails, that is logged with the ``loss``, or raised."""
        try:
            return work()
        except Exception:
            if self.raise_errors:
                raise
            _log.warning("the memory failed, the agent goes on: %s", loss, exc_info=True)
            return None

    # -- truncation ------------------------------------------------------------------------

    def _keep_scores(self, text: str, context: RecalledContext) -> None:
        """Keep how relevant each line of ``text`` is, for where it is truncated."""
        scores = [it.score for it in context.statements if it.score is not None]
        if len(scores) == context.text.count("\n"):  # a line each, after the first one
            with self._lock:
                self._scores[text] = scores
                self._scores.move_to_end(text)
                if len(self._scores) > _MOST:
                    self._scores.popitem(last=False)

    def _truncated(self, content: str | list[Any], tokens: int) -> str | None:
        if not (isinstance(content, str) and content.startswith(_HEAD) and CLOSING in content):
            return None
        if tokens <= 0:
            return content
        joint = "\n\n" if self.memory.config.ranking == "paper" else "\n"
        first, *lines = content.removeprefix(_HEAD).removesuffix(_TAIL).split(joint)
        with self._lock:
            scores = self._scores.get(content)
        places = range(len(lines))
        worst_first = sorted(places, key=scores.__getitem__) if scores else list(places)
        most = len(self.tokenizer_fn(content)) - tokens
        for number in range(1, len(lines)):
            left = [lines[place] for place in sorted(worst_first[number:])]
            shorter = _HEAD + joint.join((first, *left)) + _TAIL
            if len(self.tokenizer_fn(shorter)) <= most:
                return shorter
        return None


def _is_said_again(spoken: Sequence[Said]) -> bool:
    """Whether the last that is said is what the user said last before."""
    if not spoken or spoken[-1].role != "human":
        return False
    before = next((said for said in reversed(spoken[:-1]) if said.role == "human"), None)
    return before is not None and before.text == spoken[-1].text


def _session_of(message: ChatMessage) -> str | None:
    return Conversation.name_of(message.additional_kwargs.get("session_id"))
