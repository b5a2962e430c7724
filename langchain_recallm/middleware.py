"""``RecallMMiddleware``: an agent of ``create_agent`` remembers, and recalls once a turn.

* A turn is what the user said since the model last spoke. It is recalled for first and written
  then, both before the model is called: it is not lost when the model fails, and the question just
  asked is not given back as knowledge.
* What was recalled travels in a state key that is in no checkpoint and in no output (streams that
  show each step's state show it), and joins the model's request alone: the thread's messages stay
  as they are.
* Only what a run adds is written after it: who keeps no checkpoints hands in the whole history each
  time, and that is known already.
* Whatever fails in the memory, the user has the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypeVar, get_args

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic_core import to_json

from langchain_recallm._conversation import (
    Conversation,
    Scope,
    checked_scope,
    memory_of,
    thread_of,
)
from langchain_recallm._data import bounded
from langchain_recallm._limits import (
    checked_limits,
    checked_memory,
    checked_names,
    checked_namespace,
)
from langchain_recallm._messages import Role, checked_roles, role_of, text_of
from langchain_recallm._turn import asked_last
from recallm import InvalidInputError, RecallM

__all__ = ["Position", "RecallMMiddleware", "RecallMState"]

Position = Literal["system", "user"]
"""Where the recalled text stands: at the end of the system message, or of the user's message."""

_KEY = "recalled_memory"
_log = logging.getLogger("langchain_recallm")

_M = TypeVar("_M", bound=BaseMessage)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """What one turn has recalled, and what the thread held before it.

    ``known`` are the ids of the messages that the run began with; None where it is a run that
    goes on, whose beginning nobody saw.
    """

    block: str
    known: tuple[str, ...] | None = None


class RecallMState(AgentState[Any]):
    """The agent's state, and what this run recalled: neither checkpointed nor given back."""

    recalled_memory: NotRequired[Annotated[_Turn, UntrackedValue, PrivateStateAttr]]


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
    ``human_prefix`` and ``ai_prefix`` name speakers whose message has no name.

    What the user says is written as it was said, before any middleware that works on the model's
    messages (as one that redacts them) has seen it.

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

    state_schema = RecallMState

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
    ) -> None:
        super().__init__()
        if position not in get_args(Position):
            raise InvalidInputError(
                f"position must be 'system' or 'user', not {position!r}", argument="position"
            )
        checked_limits(limit=limit, max_tokens=max_tokens, min_score=min_score)
        self.memory = checked_memory(memory)
        self._namespace = checked_namespace(namespace)
        self._scope: Scope = checked_scope(scope)
        self._position: Position = position
        self._roles = checked_roles(roles)
        self._limit = limit
        self._max_tokens = max_tokens
        self._min_score = min_score
        self._names = checked_names(human_prefix, ai_prefix)
        self._raise_errors = raise_errors

    # -- the agent's hooks -----------------------------------------------------------------

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall for what the user says, then write it.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        messages = state["messages"]
        asked, answered = asked_last(messages)
        try:
            block = self._recalled(asked, runtime)
        finally:  # what the user said is written even where recall failed
            if not answered:
                self._remember(asked, runtime)
        known = tuple(message.id for message in messages if message.id)
        return {_KEY: _Turn(block=block, known=known)}

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any]:
        """``before_agent``, off the event loop."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model with what was recalled.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        turn = _turn(request.state)
        if turn is not None:
            return handler(self._with(request, turn))
        turn = self._resumed(request)
        return _kept(handler(self._with(request, turn)), turn)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """``wrap_model_call``, off the event loop where it recalls."""
        turn = _turn(request.state)
        if turn is not None:
            return await handler(self._with(request, turn))
        turn = await asyncio.to_thread(self._resumed, request)
        return _kept(await handler(self._with(request, turn)), turn)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Write what was answered.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        self._remember(_answers(state), runtime)

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """``after_agent``, off the event loop."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    # -- the memory ------------------------------------------------------------------------

    def _conversation(self, runtime: Runtime[Any]) -> Conversation:
        return Conversation(
            memory=memory_of(self.memory, self._namespace, runtime),
            session=thread_of(runtime),
            scope=self._scope,
            roles=self._roles,
            names=self._names,
        )

    def _recalled(self, asked: Sequence[BaseMessage], runtime: Runtime[Any]) -> str:
        """What is recalled for the messages ``asked``, as data; '' where nothing is, or where the
        memory failed."""
        question = "\n".join(filter(None, map(text_of, asked)))

        def recall() -> str:
            conversation = self._conversation(runtime)
            return bounded(
                conversation.memory,
                lambda room: conversation.recall(
                    question,
                    besides=asked,
                    limit=self._limit,
                    max_tokens=room,
                    min_score=self._min_score,
                ),
                self._max_tokens,
            )

        return (question and self._guarded(recall, "nothing was recalled")) or ""

    def _remember(self, messages: Sequence[BaseMessage], runtime: Runtime[Any]) -> None:
        if messages:
            self._guarded(
                lambda: self._conversation(runtime).remember(messages),
                f"{len(messages)} message(s) were not remembered",
            )

    def _guarded(self, work: Callable[[], _T], loss: str) -> _T | None:
        """What ``work`` gives; where it fails, that is logged with the ``loss``, or raised."""
        try:
            return work()
        except Exception:
            if self._raise_errors:
                raise
            _log.warning("the memory failed, the agent goes on: %s", loss, exc_info=True)
            return None

    def _resumed(self, request: ModelRequest[Any]) -> _Turn:
        """The turn of a run that goes on after an interrupt: it was recalled for in another run."""
        asked, _ = asked_last(request.state["messages"])
        return _Turn(block=self._recalled(asked, request.runtime))

    def _with(self, request: ModelRequest[Any], turn: _Turn) -> ModelRequest[Any]:
        if not turn.block:
            return request
        if self._position == "user":
            messages = list(request.messages)
            for index in range(len(messages) - 1, -1, -1):
                if role_of(messages[index]) == "human":
                    messages[index] = _beside(messages[index], turn.block)
                    return request.override(messages=messages)
        # Also where what the user said was trimmed away.
        system = request.system_message
        return request.override(
            system_message=SystemMessage(turn.block)
            if system is None
            else _beside(system, turn.block)
        )


def _turn(state: AgentState[Any]) -> _Turn | None:
    turn = state.get(_KEY)
    return turn if isinstance(turn, _Turn) else None


def _kept(response: ModelResponse[Any], turn: _Turn) -> ExtendedModelResponse[Any]:
    """The response, and the turn for the run's next calls."""
    return ExtendedModelResponse(model_response=response, command=Command(update={_KEY: turn}))


def _answers(state: AgentState[Any]) -> list[BaseMessage]:
    """What this run added to the thread, the user's words left out."""
    messages: list[BaseMessage] = list(state["messages"])
    turn = _turn(state)
    if turn is not None and turn.known is not None:
        known = set(turn.known)
        messages = [message for message in messages if message.id not in known]
    else:
        asked, _ = asked_last(state["messages"])
        if asked:
            messages = messages[messages.index(asked[-1]) + 1 :]
    answers = [message for message in messages if role_of(message) in ("ai", "tool")]
    structured = state.get("structured_response")
    return answers if structured is None else _with_structured(answers, structured)


def _with_structured(answers: list[BaseMessage], structured: Any) -> list[BaseMessage]:
    """The answers, where the last one was given as a tool call: with its content as JSON, and
    without the message that only acknowledges the call."""
    at = max((i for i, it in enumerate(answers) if isinstance(it, AIMessage)), default=None)
    if at is None:
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
        more: str | list[str | dict[Any, Any]] = f"{content}\n\n{block}" if content else block
    else:
        more = [*content, {"type": "text", "text": block}]
    return message.model_copy(update={"content": more})
