"""``RecallMMiddleware``: an agent of ``create_agent`` remembers, and recalls once a turn.

* A turn is what the user said since the model last spoke, known by the ids of its messages. It is
  recalled for first and written then, both just before the model is called: it is not lost when the
  model fails, the question just asked is not given back as knowledge, and other middleware has
  seen the messages by then.
* What was recalled joins the model's request alone. It stands in the middleware, not in the graph's
  state: no checkpoint, output or stream holds it, and several memories do not meet there.
* What the model says beside a call of tools is written just before the first of the tools runs, a
  final reply when the agent ends: by then all other middleware has seen the words.
* Where another middleware ends a run before the model is reached, nothing of the turn is written.
* Only what a run adds is written: who keeps no checkpoints hands in the whole history each time,
  and that is known already.
* Whatever fails in the memory, the user has the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, TypeVar, get_args

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import Runtime
from langgraph.types import Command

from langchain_recallm._conversation import (
    Conversation,
    is_of_a_tool,
    memory_of,
    thread_of,
)
from langchain_recallm._limits import (
    checked_names,
    checked_namespace,
)
from langchain_recallm._messages import question_of, role_of
from langchain_recallm._request import JOINT, Position, joined
from langchain_recallm._standing import standing
from langchain_recallm._turn import (
    Turn,
    TurnKey,
    Turns,
    asked_last,
    calls_tools,
    spoken_last,
    with_structured,
)
from recallm import InvalidInputError, RecallM
from recallm.adapting import (
    NAMES,
    Accept,
    Admission,
    Redact,
    Role,
    Scope,
    bounded,
    checked_limits,
    checked_memory,
    checked_roles,
    checked_room,
    checked_scope,
    checked_scores,
    is_long,
    is_postponed,
    postpone,
    settle_some,
    shortened,
)

__all__ = ["Position", "RecallMMiddleware"]

_log = logging.getLogger("langchain_recallm")

_T = TypeVar("_T")

_ToolResult = ToolMessage | Command[Any]

_NOT_REACHED = (
    "%d message(s) of the user were not remembered: the run ended before it reached the model "
    "(another middleware ended it, or failed)"
)


class RecallMMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """The memory of an agent: it recalls for what the user says, and remembers the conversation.

    ``memory`` is the core; ``namespace`` says whose memory it is: the memory's own by default, a
    name, or for many users a callable over the runtime, as in
    ``lambda runtime: runtime.context.user_id``. The thread is the session: what was said in one is
    recalled in the next, unless ``scope="session"`` keeps recall inside it. ``position`` is where
    the recalled text joins the request: in the "system" message, or beside the "user" message;
    it is delimited as data. ``roles`` are remembered: "human" and "ai" by default, "tool" where
    asked for; their text parts only. ``limit`` counts statements, ``max_tokens`` all that is added
    to the request, by the memory's counter; ``min_score`` is the least probability to help (of the
    default ranking, the only one that gives any). What stands in the request already, in messages
    of this thread, is not recalled. ``human_prefix`` ("Human") and ``ai_prefix`` name speakers
    whose message has no name. ``name`` tells several apart in one agent (a user's memory and a
    team's): the class's name by default.

    ``redact``, a function from text to text, changes all that is written, the names of speakers
    too, and what recall asks with; the same text must always give the same. ``accept``, a function
    from a message (its redacted ``text`` and ``speaker``, its ``role``: "human", "ai" or "tool",
    and ``id``) to a bool, says whether to write it. Where one of them fails, nothing is written.
    They hold wherever the middleware stands, and change nothing of what the model is given.

    Where to put it: after middleware that sets or replaces the system prompt, which would take away
    what was recalled (or with ``position="user"``), and after middleware that trims the request.
    What ``position="system"`` adds changes from turn to turn: a provider's cache of the prompt
    holds no further than the system message then.

    Beside middleware that redacts messages, such as LangChain's ``PIIMiddleware``, the order does
    not matter: what the user said, what tools gave, words beside a tool call and a final reply are
    written as the other middleware left them. Words beside a tool call are written before the first
    tool runs; where a person is asked first (``HumanInTheLoopMiddleware``), once that person has
    answered, or the user goes on.

    Where another middleware stops a run before the model is reached, in ``before_agent`` or
    ``before_model``, neither the user's message nor a reply is written, whether it raises an
    exception (``strategy="block"``) or ends the run (``jump_to="end"``: a moderation, a limit of
    calls). Any other failure there has the same effect. A warning says how many messages were not
    remembered: at once where the run ended, in the thread's next run where it failed. The same
    message (by its id) handed in again with nothing new is tried again. A reply with which another
    middleware raises an exception is not written either.

    This has limits. The refused message stays in the thread's checkpoint, which is LangGraph's, and
    LangChain gives it to the model in the next turn. Only this middleware object knows that it was
    refused: an agent that is built for each request, or after the process began anew, writes it
    with the next turn. A stopped reply that calls tools looks like one that waits for a person,
    and is written when the user goes on. A reply that a moderation flags and leaves in place, with
    another message after it, is written. A guard in ``wrap_model_call`` that stands after this
    middleware comes too late for the user's message; so does one that raises an exception in
    ``before_agent`` and stands before this middleware, for the next turn. What must never be
    written is what ``redact`` and ``accept`` are for: they hold in all of these cases.

    In a run that a tool of another agent started, the human messages are instructions of that
    agent's model: they are remembered in the role "ai", spoken by the message's name,
    ``human_prefix`` where it is given, or else "AI". In a graph of your own that hands an agent
    what a model wrote, give ``human_prefix``, or the message a name.

    A conversation is remembered as it goes on. An app without a checkpointer that hands in a
    history that it had before has only the last turn of it remembered. Messages of more than 20,000
    characters are on disk before the model is called, as text at a path of their own
    (``memory.items``, which ``RecallMStore`` does not show), and are read by extraction when the
    agent ends: they are recalled from then on. Those that a failed run left are read at the end of
    later runs in the namespace, a second's work each. Until then ``memory.forget(concept=…)`` does
    not find what they mention (the tool ``forget_memory`` has them extracted first);
    ``memory.forget(session=…)`` and ``forget(everything=True)`` do. Of a long
    question recall reads the first and the last 2,000 characters.

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
        human_prefix: str | None = None,
        ai_prefix: str = "AI",
        redact: Redact | None = None,
        accept: Accept | None = None,
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
        checked_scores(memory, min_score=min_score)
        self._namespace = checked_namespace(namespace)
        self._scope: Scope = checked_scope(scope)
        self._position: Position = position
        self._roles = checked_roles(roles)
        self._limit = limit
        self._max_tokens = max_tokens
        self._min_score = min_score
        self._names = checked_names(human_prefix, ai_prefix)
        self._instructor = human_prefix or NAMES["ai"]
        self._admission = Admission(redact=redact, accept=accept)
        self._raise_errors = raise_errors
        self._name = name
        self._turns = Turns()

    @property
    def name(self) -> str:
        """What it is called in the agent: no two may be called the same."""
        return self._name or super().name

    # -- the agent's hooks -----------------------------------------------------------------

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Begin a turn; write what the model said in one that was left waiting for its tools.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        conversation = self._conversation(runtime)
        if conversation is None:
            return
        messages = state["messages"]
        asked, answered = asked_last(messages)
        key, asked_ids = _key(conversation, asked), _ids(asked)
        known = _ids(messages)
        refused: frozenset[str] = frozenset()
        for left in self._turns.take_left(key, known):
            refused |= left.refused_for(asked_ids)
            # A final reply that is not written yet was stopped by another middleware.
            words = [it for it in left.unwritten(messages) if calls_tools([it])]
            self._remember(words, conversation)
        if refused:
            _log.warning(_NOT_REACHED, len(refused))
        self._turns.put(key, Turn(asked=asked_ids, answered=answered, known=known, refused=refused))

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """``before_agent``, off the event loop."""
        await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Recall for what the user says, write it, and call the model with what was recalled.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        return handler(joined(request, self._block(request), self._position))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """``wrap_model_call``, off the event loop where it looks into the memory."""
        block = await asyncio.to_thread(self._block, request)
        return await handler(joined(request, block, self._position))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], _ToolResult]
    ) -> _ToolResult:
        """Write what the model said beside the tool call, and what earlier tools gave, before the
        tool runs. By now the ``after_model`` hooks of all other middleware have seen the words.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        self._remember_words(request)
        return handler(request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[_ToolResult]],
    ) -> _ToolResult:
        """``wrap_tool_call``, off the event loop where it looks into the memory."""
        await asyncio.to_thread(self._remember_words, request)
        return await handler(request)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Write what is left of the turn: the final reply, what the last tools gave, and what could
        not be written before. Extract what was postponed. Where another middleware ended the run
        before the model was reached, write nothing.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        conversation = self._conversation(runtime)
        if conversation is None:
            return
        messages = state["messages"]
        asked, answered = asked_last(messages)
        key = _key(conversation, asked)
        turn = self._turns.get(key)
        if turn is None and asked and not answered:  # ended before this middleware began the turn
            turn = self._turns.begun(key, Turn(asked=_ids(asked)))
        if turn is not None and not turn.reached:
            # The turn stays: later runs of the thread count its messages as refused.
            _log.warning(_NOT_REACHED, len(asked))
            return
        if turn is not None:
            self._turns.take(key)
            self._remember_asked(turn, asked, conversation)
            new = with_structured(turn.unwritten(messages), state)
        else:  # a run that goes on in which the model said nothing: what it said before is written
            new = with_structured(spoken_last(messages), state)
            last = max((i for i, it in enumerate(new) if role_of(it) == "ai"), default=-1)
            new = new[last + 1 :]
        if turn is None or turn.remembered:
            self._guarded(
                lambda: settle_some(conversation.memory, conversation.session),
                "long messages are not extracted",
            )
        self._remember(new, conversation, ends=True)

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """``after_agent``, off the event loop."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    # -- the memory ------------------------------------------------------------------------

    def _conversation(self, runtime: Runtime[Any] | ToolRuntime[Any, Any]) -> Conversation | None:
        """The conversation of a run; None where nobody can say whose it is."""
        return self._guarded(
            lambda: Conversation(
                memory=memory_of(self.memory, self._namespace, runtime),
                session=thread_of(runtime),
                scope=self._scope,
                roles=self._roles,
                names=self._names,
                admission=self._admission,
                instructor=self._instructor if is_of_a_tool(runtime) else None,
            ),
            "nothing is recalled or remembered",
        )

    def _block(self, request: ModelRequest[Any]) -> str:
        """What is recalled for this turn, in which what was asked is written then. By now all other
        middleware has seen the messages. A run that goes on after an interrupt, and was begun
        elsewhere, recalls again."""
        conversation = self._conversation(request.runtime)
        if conversation is None:
            return ""
        messages = request.state["messages"]
        asked, _ = asked_last(messages)
        turn = self._turns.get(_key(conversation, asked))
        if turn is None:
            turn = self._resumed(messages, conversation)
            # Words beside a tool call that a person refused: no tool ran that would write them.
            self._remember_new(turn, messages, conversation)
        turn.reached = True
        question = question_of(turn.let_through(asked))
        try:
            # Another text under the same ids: changed within the turn, or of another conversation.
            if turn.question is None or (asked and question != turn.question):
                turn.block = self._recalled(question, turn, asked, conversation, request.messages)
                turn.question = question
        finally:  # what the user said is written even where recall failed
            self._remember_asked(turn, asked, conversation)
        return turn.block

    def _recalled(
        self,
        question: str,
        turn: Turn,
        asked: Sequence[BaseMessage],
        conversation: Conversation,
        messages: Sequence[BaseMessage],
    ) -> str:
        """What is recalled for ``question`` beside the ``messages`` of the request, as data; ''
        where nothing is, or where the memory failed."""
        memory = conversation.memory

        def recall() -> str:
            wanted = shortened(self._admission.redacted(question))
            known = standing(conversation, wanted, messages, asked=asked, limit=self._limit)
            room = self._max_tokens
            return bounded(
                memory,
                lambda room: conversation.recall(
                    wanted,
                    besides=turn.let_through(asked),
                    limit=self._limit,
                    max_tokens=room,
                    min_score=self._min_score,
                    known=known,
                ),
                None if room is None else room - memory.count_tokens(JOINT),
            )

        return (question and self._guarded(recall, "nothing was recalled")) or ""

    def _remember_asked(
        self, turn: Turn, asked: Sequence[BaseMessage], conversation: Conversation
    ) -> None:
        """Write what was asked in this turn, if that is not done."""
        if turn.remembered:
            return
        new = turn.let_through(asked)
        if turn.answered:  # in an earlier run; what the user has edited since is new
            new = self._guarded(lambda: conversation.edited(new), "edits were not seen") or []
        turn.remembered = self._remember(new, conversation, turn)

    def _remember_words(self, request: ToolCallRequest) -> None:
        """Write what the model and tools have said before this tool call; for several calls in one
        message once."""
        conversation = self._conversation(request.runtime)
        if conversation is None:
            return
        messages = request.state["messages"]
        asked, _ = asked_last(messages)
        turn = self._turns.get(_key(conversation, asked)) or self._resumed(messages, conversation)
        if turn.reached:
            with turn.lock:
                self._remember_asked(turn, asked, conversation)
                self._remember_new(turn, messages, conversation)

    def _resumed(self, messages: Sequence[BaseMessage], conversation: Conversation) -> Turn:
        """The turn of a run that goes on after an interrupt, and was begun elsewhere. What was
        asked in it was written then: where that has been forgotten since, what the model said to it
        is not written again."""
        asked, answered = asked_last(messages)
        turn = Turn(asked=_ids(asked), answered=answered, reached=True)

        def forgotten() -> bool:
            inner, spoken = conversation.inner(), conversation.said(asked)
            return bool(spoken) and not any(
                inner.passage_id(said) or is_postponed(inner, said) for said in spoken
            )

        if answered and self._guarded(forgotten, "what was forgotten is not known"):
            turn.written.update(_ids(messages))
        return self._turns.begun(_key(conversation, asked), turn)

    def _remember_new(
        self, turn: Turn, messages: Sequence[BaseMessage], conversation: Conversation
    ) -> None:
        """Write what the model and tools have said in this turn and is not written."""
        new = turn.unwritten(messages)
        if self._remember(new, conversation, turn):
            turn.written.update(_ids(new))

    def _remember(
        self,
        messages: Sequence[BaseMessage],
        conversation: Conversation,
        turn: Turn | None = None,
        *,
        ends: bool = False,
    ) -> bool:
        """Write the messages; whether that succeeded. Long ones, and what is said in the turn after
        them, are written as text alone unless the agent ``ends``."""

        def write() -> bool:
            spoken = conversation.said(messages)
            later = turn is not None and turn.postponed
            if not ends and (later or is_long(spoken)):
                postpone(conversation.inner(), spoken)
                if turn is not None:
                    turn.postponed = True
            else:
                conversation.inner().remember(spoken)
            return True

        loss = f"{len(messages)} message(s) were not remembered"
        return self._guarded(write, loss) is not None

    def _guarded(self, work: Callable[[], _T], loss: str) -> _T | None:
        """What ``work`` gives; where it fails, that is logged with the ``loss``, or raised."""
        try:
            return work()
        except Exception:
            if self._raise_errors:
                raise
            _log.warning("the memory failed, the agent goes on: %s", loss, exc_info=True)
            return None


def _key(conversation: Conversation, asked: Sequence[BaseMessage]) -> TurnKey:
    return TurnKey.of(conversation.memory.namespace, conversation.session, asked)


def _ids(messages: Sequence[BaseMessage]) -> frozenset[str]:
    return frozenset(message.id for message in messages if message.id)
