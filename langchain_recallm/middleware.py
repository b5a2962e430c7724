"""``RecallMMiddleware``: an agent of ``create_agent`` remembers, and recalls once a turn.

* A turn is what the user said since the model last spoke. It is recalled for first and written
  then, both before the model is called: it is not lost when the model fails, and the question just
  asked is not given back as knowledge.
* What was recalled joins the model's request alone. It stands in the middleware, not in the graph's
  state: no checkpoint, output or stream holds it, and several memories do not meet there.
* What the model says is written as soon as it is said, so that it is not lost in a run that stops.
* Only what a run adds is written: who keeps no checkpoints hands in the whole history each time,
  and that is known already.
* Whatever fails in the memory, the user has the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Literal, TypeVar, get_args

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
)
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langgraph.runtime import Runtime
from pydantic_core import to_json

from langchain_recallm._conversation import (
    Conversation,
    memory_of,
    thread_of,
)
from langchain_recallm._limits import (
    checked_names,
    checked_namespace,
)
from langchain_recallm._messages import role_of, text_of
from langchain_recallm._turn import Turn, TurnKey, Turns, asked_last, spoken_last
from recallm import InvalidInputError, RecallM
from recallm.adapting import (
    Role,
    Scope,
    bounded,
    checked_limits,
    checked_memory,
    checked_roles,
    checked_room,
    checked_scope,
)

__all__ = ["Position", "RecallMMiddleware"]

Position = Literal["system", "user"]
"""Where the recalled text stands: at the end of the system message, or of the user's message."""

_JOINT = "\n\n"
_log = logging.getLogger("langchain_recallm")

_M = TypeVar("_M", bound=BaseMessage)
_T = TypeVar("_T")


class RecallMMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """The memory of an agent: it recalls for what the user says, and remembers the conversation.

    ``memory`` is the core; ``namespace`` says whose memory it is: the memory's own by default, a
    name, or for many users a callable over the runtime, as in
    ``lambda runtime: runtime.context.user_id``. The thread is the session: what was said in one is
    recalled in the next, unless ``scope="session"`` keeps recall inside it. ``position`` is where
    the recalled text joins the request: in the "system" message, or beside the "user" message;
    it is delimited as data. ``roles`` are remembered: "human" and "ai" by default, "tool" where
    asked for; their text parts only. ``limit`` counts statements, ``max_tokens`` all that is added
    to the request, by the memory's counter; ``min_score`` is the least probability to help.
    ``human_prefix`` and ``ai_prefix`` name speakers whose message has no name. ``name`` tells
    several apart in one agent (a user's memory and a team's): the class's name by default.

    Where to put it: after middleware that sets or replaces the system prompt, which would take away
    what was recalled (or with ``position="user"``), and after middleware that interrupts once the
    model has spoken, so that its words are written before; but before middleware that redacts what
    the model says, so that the redacted text is written. What the user says is written as it was
    said, before any middleware that works on the model's messages has seen it. What
    ``position="system"`` adds changes from turn to turn: a provider's cache of the prompt holds no
    further than the system message then.

    A conversation is remembered as it goes on. An app without a checkpointer that hands in a
    history that it had before has only the last turn of it remembered.

    A failure of the memory is logged (logger ``langchain_recallm``) and the agent answers without
    it; ``raise_errors`` raises it. Namespaces that cannot be told are such a failure: nothing is
    recalled or written then.

    >>> from langchain.agents import create_agent
    >>> from langchain_core.language_models.fake_chat_models import FakeListChatModel
    >>> from langchain_recallm import RecallMMiddleware
    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> agent = create_agent(
    ...     FakeListChatModel(responses=["Noted.", "You are vegetarian."]),
    ...     middleware=[RecallMMiddleware(memory=memory)],
    ... )
    >>> def say(text, thread):
    ...     config = {"configurable": {"thread_id": thread}}
    ...     answer = agent.invoke({"messages": [("human", text)]}, config)
    ...     return answer["messages"][-1].content
    >>> say("I am vegetarian.", thread="monday")
    'Noted.'
    >>> say("What can I eat?", thread="tuesday")
    'You are vegetarian.'
    >>> for statement in memory.recall("Who is vegetarian?").statements:
    ...     print(f"{statement.session}, {statement.speaker}: {statement.text}")
    monday, Human: I am vegetarian.
    monday, AI: Noted.
    tuesday, Human: What can I eat?
    tuesday, AI: You are vegetarian.

    Raises:
        InvalidInputError: an argument cannot be used.

    """

    def __init__(
        self,
        *,
        memory: RecallM,
        namespace: str | Callable[[Runtime[Any]], str] | None = None,
        scope: Scope = "namespace",
        position: Position = "system",
        roles: Collection[Role] = ("human", "ai"),
        limit: int | None = 10,
        max_tokens: int | None = 1000,
        min_score: float | None = None,
        human_prefix: str = "Human",
        ai_prefix: str = "AI",
        raise_errors: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if position not in get_args(Position):
            raise InvalidInputError(
                f"position must be 'system' or 'user', not {position!r}", argument="position"
            )
        given: object = name
        if given is not None and not (isinstance(given, str) and given.strip()):
            raise InvalidInputError(f"name must be a name, not {name!r}", argument="name")
        checked_limits(limit=limit, max_tokens=max_tokens, min_score=min_score)
        self.memory = checked_memory(memory)
        checked_room(memory, max_tokens)
        self._namespace = checked_namespace(namespace)
        self._scope: Scope = checked_scope(scope)
        self._position: Position = position
        self._roles = checked_roles(roles)
        self._limit = limit
        self._max_tokens = max_tokens
        self._min_score = min_score
        self._names = checked_names(human_prefix, ai_prefix)
        self._raise_errors = raise_errors
        self._name = name
        self._turns = Turns()

    @property
    def name(self) -> str:
        """What it is called in the agent: no two may be called the same."""
        return self._name or super().name

    # -- the agent's hooks -----------------------------------------------------------------

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Recall for what the user says, then write it.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        conversation = self._conversation(runtime)
        if conversation is None:
            return
        messages = state["messages"]
        asked, answered = asked_last(messages)
        key = _key(conversation, asked)
        known = frozenset(message.id for message in messages if message.id)
        for left in self._turns.take_left(key, known):
            self._remember(left.unwritten(messages), conversation)
        try:
            block = self._recalled(asked, conversation)
        finally:  # what the user said is written even where recall failed
            self._remember_asked(asked, conversation, answered=answered)
        self._turns.put(key, Turn(block=block, asked=_ids(asked), known=known))

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """``before_agent``, off the event loop."""
        await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Call the model with what was recalled.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        return handler(self._with(request, self._block(request)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """``wrap_model_call``, off the event loop where it looks into the memory."""
        block = await asyncio.to_thread(self._block, request)
        return await handler(self._with(request, block))

    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Write what the model said, and what tools gave it before.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        conversation = self._conversation(runtime)
        if conversation is None:
            return
        messages = state["messages"]
        turn = self._turns.get(_key(conversation, asked_last(messages)[0]))
        new = spoken_last(messages) if turn is None else turn.unwritten(messages)
        written = self._remember(_with_structured(new, state), conversation)
        if turn is not None and written:
            turn.written.update(_ids(new))

    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """``after_model``, off the event loop."""
        await asyncio.to_thread(self.after_model, state, runtime)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Write what is left of the turn: what the last tools gave, words that a middleware put in
        the model's place, and what could not be written before.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        conversation = self._conversation(runtime)
        if conversation is None:
            return
        messages = state["messages"]
        turn = self._turns.take(_key(conversation, asked_last(messages)[0]))
        if turn is not None:
            new = _with_structured(turn.unwritten(messages), state)
        else:  # a run that goes on in which the model said nothing: what it said before is written
            new = _with_structured(spoken_last(messages), state)
            last = max((i for i, it in enumerate(new) if role_of(it) == "ai"), default=-1)
            new = new[last + 1 :]
        self._remember(new, conversation)

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """``after_agent``, off the event loop."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    # -- the memory ------------------------------------------------------------------------

    def _conversation(self, runtime: Runtime[Any]) -> Conversation | None:
        """The conversation of a run; None where nobody can say whose it is."""
        return self._guarded(
            lambda: Conversation(
                memory=memory_of(self.memory, self._namespace, runtime),
                session=thread_of(runtime),
                scope=self._scope,
                roles=self._roles,
                names=self._names,
            ),
            "nothing is recalled or remembered",
        )

    def _block(self, request: ModelRequest[Any]) -> str:
        """What this turn has recalled. A run that goes on after an interrupt, and was begun
        elsewhere, recalls again."""
        conversation = self._conversation(request.runtime)
        if conversation is None:
            return ""
        asked, _ = asked_last(request.state["messages"])
        key = _key(conversation, asked)
        turn = self._turns.get(key)
        if turn is None:
            turn = Turn(block=self._recalled(asked, conversation), asked=_ids(asked))
            self._turns.put(key, turn)
        return turn.block

    def _recalled(self, asked: Sequence[BaseMessage], conversation: Conversation) -> str:
        """What is recalled for the messages ``asked``, as data; '' where nothing is, or where the
        memory failed."""
        question = "\n".join(filter(None, map(text_of, asked)))
        memory = conversation.memory

        def recall() -> str:
            room = self._max_tokens
            return bounded(
                memory,
                lambda room: conversation.recall(
                    question,
                    besides=asked,
                    limit=self._limit,
                    max_tokens=room,
                    min_score=self._min_score,
                ),
                None if room is None else room - memory.count_tokens(_JOINT),
            )

        return (question and self._guarded(recall, "nothing was recalled")) or ""

    def _remember_asked(
        self, asked: list[BaseMessage], conversation: Conversation, *, answered: bool
    ) -> None:
        if answered:  # in an earlier run; what the user has edited since is new
            asked = self._guarded(lambda: conversation.edited(asked), "edits were not seen") or []
        self._remember(asked, conversation)

    def _remember(self, messages: Sequence[BaseMessage], conversation: Conversation) -> bool:
        """Write the messages; whether that succeeded."""
        written = self._guarded(
            lambda: conversation.remember(messages),
            f"{len(messages)} message(s) were not remembered",
        )
        return written is not None

    def _guarded(self, work: Callable[[], _T], loss: str) -> _T | None:
        """What ``work`` gives; where it fails, that is logged with the ``loss``, or raised."""
        try:
            return work()
        except Exception:
            if self._raise_errors:
                raise
            _log.warning("the memory failed, the agent goes on: %s", loss, exc_info=True)
            return None

    def _with(self, request: ModelRequest[Any], block: str) -> ModelRequest[Any]:
        if not block:
            return request
        if self._position == "user":
            messages = list(request.messages)
            for index in range(len(messages) - 1, -1, -1):
                if role_of(messages[index]) == "human":
                    messages[index] = _beside(messages[index], block)
                    return request.override(messages=messages)
        # Also where what the user said was trimmed away.
        system = request.system_message
        return request.override(
            system_message=SystemMessage(block) if system is None else _beside(system, block)
        )


def _key(conversation: Conversation, asked: Sequence[BaseMessage]) -> TurnKey:
    return TurnKey.of(conversation.memory.namespace, conversation.session, asked)


def _ids(messages: Sequence[BaseMessage]) -> frozenset[str]:
    return frozenset(message.id for message in messages if message.id)


def _with_structured(answers: list[BaseMessage], state: AgentState[Any]) -> list[BaseMessage]:
    """The answers, where the last one was given as a tool call: with its content as JSON, and
    without the message that only acknowledges the call."""
    structured = state.get("structured_response")
    at = max((i for i, it in enumerate(answers) if isinstance(it, AIMessage)), default=None)
    if structured is None or at is None:
        return answers
    last = answers[at]
    if not isinstance(last, AIMessage) or not last.tool_calls:
        return answers  # it stands in the text
    content = to_json(structured, fallback=str).decode()
    calls = {call["id"] for call in last.tool_calls}
    return [
        *answers[:at],
        AIMessage("\n".join(filter(None, (text_of(last), content))), id=last.id, name=last.name),
        *(
            it
            for it in answers[at + 1 :]
            if not (isinstance(it, ToolMessage) and it.tool_call_id in calls)
        ),
    ]


def _beside(message: _M, block: str) -> _M:
    """The message with one more text block at its end; all that it held stays."""
    content = message.content
    if isinstance(content, str):
        more: str | list[str | dict[Any, Any]] = f"{content}{_JOINT}{block}" if content else block
    else:
        more = [*content, {"type": "text", "text": block}]
    return message.model_copy(update={"content": more})
