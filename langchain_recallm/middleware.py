"""``RecallMMiddleware``: an agent of ``create_agent`` remembers, and recalls once a turn.

This module holds the settings and the hooks; ``_agent_memory`` says what is recalled and written in
them. Recalled text joins the model's request alone. It is kept in the middleware, not in the
graph's state, so that no checkpoint, output or stream of state contains it and several memories in
one agent do not meet. Callbacks and tracers see recall as a retriever run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Literal, get_args

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from langchain_recallm._agent_memory import AgentMemory
from langchain_recallm._hearing import listen
from langchain_recallm._limits import takes_k
from langchain_recallm._model_request import Position, with_recalled_text
from langchain_recallm._runs import checked_namespace
from recallm import InvalidInputError, RecallM
from recallm.adapting import (
    Accept,
    BackgroundWriter,
    FailureGuard,
    MessageFilter,
    RecallOptions,
    Redact,
    Role,
    Scope,
    Writing,
    check_budget,
    checked_memory,
    checked_roles,
    checked_scope,
    checks,
    speaker_names,
)

__all__ = ["Position", "RecallMMiddleware"]

_log = logging.getLogger("langchain_recallm")

OnMissing = Literal["raise", "skip"]
"""What becomes of a run whose namespace cannot be determined: an error, or a run without memory."""

_ToolResult = ToolMessage | Command[Any]


class RecallMMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """The memory of an agent: it recalls what helps with the user's question, and remembers the
    conversation.

    ``memory``: the core. ``namespace``: whose memory it is: the memory's own by default, a name, or
    for many users a template that the run's context or ``configurable`` fills, "user-{user_id}", or
    a callable over the runtime, as in ``lambda runtime: runtime.context.user_id``.
    The thread is the session: what was said in one is recalled in the next, unless
    ``scope="session"`` keeps recall inside it. ``position``: where the recalled text joins the
    request: in the "system" message, or beside the "user" message; it is delimited as data.
    ``roles``: whose messages are remembered, "human" and "ai" by default, "tool" on request; only
    their texts. ``limit`` (or ``k``) counts statements, ``max_tokens`` all that is added to the
    request, by the memory's counter. ``min_score`` is the least probability that a statement helps;
    it needs the default ranking. Messages of this thread that are in the request already are not
    recalled. ``human_prefix`` ("Human") and ``ai_prefix`` name speakers whose message has no name.
    ``name`` distinguishes several in one agent (a user's memory and a team's): the class's name by
    default.

    ``redact``, a function from text to text, changes everything that is written, the names of
    speakers too, and what recall asks with; the same text must always give the same result.
    ``accept``, a function from a message (its redacted ``text`` and ``speaker``, its ``role``:
    "human", "ai" or "tool", and ``id``) to a bool, says whether to write it. Where one of them
    fails, nothing is written. They apply wherever the middleware stands, and do not change what the
    model gets.

    Where to put it: after middleware that sets or replaces the system prompt, which would remove
    the recalled text (or use ``position="user"``), and after middleware that trims the request.
    With ``position="system"`` the system message changes from turn to turn, so that a provider's
    prompt cache ends there.

    Beside middleware that redacts messages, such as LangChain's ``PIIMiddleware``, the order does
    not matter: the user's messages, tool results, words beside a tool call and a final reply are
    written as the other middleware left them. Words beside a tool call are written before the first
    tool runs; where a person is asked first (``HumanInTheLoopMiddleware``), once that person has
    answered, or the user goes on.

    Where another middleware stops a run before the model is reached, in ``before_agent`` or
    ``before_model``, neither the user's message nor a reply is written, whether it raises an
    exception (``strategy="block"``) or ends the run (``jump_to="end"``: a moderation, a limit of
    calls). Any other failure there has the same effect. A warning says how many messages were not
    remembered: at once where the run ended, in the thread's next run where it failed. The same
    message (by its id) handed in again without a new one is tried again. A reply that makes another
    middleware raise an exception is not written either.

    This has limits. The refused message stays in the thread's checkpoint, which is LangGraph's, and
    LangChain gives it to the model in the next turn. Only this middleware object knows that it was
    refused: an agent that is built for each request, or in a new process, writes it with the next
    turn. A stopped reply that calls tools looks like one that waits for a person, and is written
    when the user goes on. A reply that a moderation flags and leaves in place, with another message
    after it, is written. A guard in ``wrap_model_call`` that stands after this middleware comes too
    late for the user's message; so does, for the next turn, one that stands before this middleware
    and raises an exception in ``before_agent``. Use ``redact`` and ``accept`` for what must never
    be written: they apply in all of these cases.

    Every message that a person sent in the outermost run is stored once as that person's, every
    answer that the outermost run gave as the assistant's, and nothing else is anybody's words. The
    outermost run is what the program invokes: the agent, or a graph or chain that the agent is a
    part of. Instructions to a sub-agent, its answers to its caller and texts of mere code ("Model
    call limits exceeded", a greeting) are not stored. Where the agent is a part of another run, its
    answers are stored when that run ends, if its result holds them. A tool that calls an agent in a
    thread without the caller's context (``threading.Thread``, ``ThreadPoolExecutor``) hides its
    caller: pass the tool's ``config``, or use LangChain's ``ContextThreadPoolExecutor``.
    ``remember_interrupts``: what a person answers to ``interrupt()`` (``Command(resume=…)``) is
    stored as that person's, too: texts, without decisions and edited tool calls.

    A conversation is remembered as it goes on. An app without a checkpointer that hands in an older
    history has only its last turn remembered. Messages of more than 20,000 characters are written
    as text before the model is called (at a path of their own in ``memory.items``, which
    ``RecallMStore`` does not show). They are extracted when the agent ends, and recalled from then
    on. Those that a failed run left are extracted at the end of later runs in the namespace, about
    a second's work each. Until then ``memory.forget(concept=…)`` does not find what they mention
    (the tool ``forget_memory`` extracts them first); ``memory.forget(session=…)`` and
    ``forget(everything=True)`` do. Of a long question recall reads the first and the last 2,000
    characters.

    Callbacks and tracers, such as LangSmith, see recall as the retriever run ``recall_memory``: the
    question, a document for each recalled statement, the tags "recallm" and "namespace:NAME".

    ``write``: with "durable" a message is on disk before the agent goes on. With "background" a
    thread of the memory writes, in order, and the agent does not wait: a recall through this
    package of the same namespace waits for what was said before it, so that an agent reads its own
    writes; calls of the memory itself do not. 1,000 messages or groups of messages may wait, then
    the agent waits for room. ``flush()``, ``memory.close()`` and the end of the interpreter wait
    for all; what kills the process (``kill -9``, ``os._exit``) loses what waits. A failure is
    logged, and raised by ``flush()``, with ``raise_errors`` also by the next turn in the namespace;
    its messages are not tried again. Long messages are not postponed.

    A failure of the memory is logged (logger ``langchain_recallm``) and the agent answers without
    it; ``raise_errors`` raises it. Where the namespace of a run cannot be determined, as a template
    misses a value, the run fails; with ``on_missing="skip"`` nothing is recalled or written then,
    and one line of the log says so.

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
    tuesday, Human: What can I eat?
    tuesday, AI: You are vegetarian.

    Raises:
        InvalidInputError: an argument cannot be used.

    """

    @takes_k
    def __init__(
        self,
        *,
        memory: RecallM,
        namespace: str | Callable[[Runtime[Any]], str] | None = None,
        scope: Scope = "namespace",
        position: Position = "system",
        roles: Collection[Role] = ("human", "ai"),
        limit: int | None = 10,
        k: int | None = None,  # noqa: ARG002
        max_tokens: int | None = 1000,
        min_score: float | None = None,
        human_prefix: str | None = None,
        ai_prefix: str = "AI",
        redact: Redact | None = None,
        accept: Accept | None = None,
        write: Writing = "durable",
        raise_errors: bool = False,
        on_missing: OnMissing = "raise",
        remember_interrupts: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.memory = checked_memory(memory)
        RecallOptions(limit=limit, max_tokens=max_tokens, min_score=min_score).check(memory)
        check_budget(memory, max_tokens)
        self._position: Position = checks.choice(position, get_args(Position), "position")
        self._name = checks.optional_name(name, "name")
        if self._name is not None and not self._name.strip():
            raise InvalidInputError("name is blank; give a name, or None", argument="name")
        self._agent_memory = AgentMemory(
            memory=memory,
            namespace=checked_namespace(namespace),
            scope=checked_scope(scope),
            roles=checked_roles(roles),
            names=speaker_names(human_prefix, ai_prefix),
            filter=MessageFilter(redact=redact, accept=accept),
            limit=limit,
            max_tokens=max_tokens,
            min_score=min_score,
            guard=FailureGuard(log=_log, raise_errors=raise_errors),
            writing=checks.choice(write, get_args(Writing), "write"),
            skips_missing=checks.choice(on_missing, get_args(OnMissing), "on_missing") == "skip",
            remember_interrupts=checks.flag(remember_interrupts, "remember_interrupts"),
        )
        listen()

    def flush(self, timeout: float | None = None) -> bool:
        """With ``write="background"``: wait until all that waits in the memory's store is written;
        whether it is, within ``timeout`` seconds.

        Raises:
            Exception: what failed in the background, and was not raised yet.

        """
        return BackgroundWriter.flush(self.memory, timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """``flush``, off the event loop."""
        return await asyncio.to_thread(self.flush, timeout)

    @property
    def name(self) -> str:
        """Its name in the agent: no two middleware objects may have the same."""
        return self._name or super().name

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Begin a turn; write what the model said in one that was left waiting for its tools.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        self._agent_memory.begin_turn(state["messages"], runtime)

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """``before_agent``, off the event loop."""
        await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Recall for the user's question, write it, and call the model with the recalled text.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        recalled_text = self._agent_memory.before_model(request)
        return handler(with_recalled_text(request, recalled_text, self._position))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """``wrap_model_call``; the memory works off the event loop."""
        recalled_text = await asyncio.to_thread(self._agent_memory.before_model, request)
        return await handler(with_recalled_text(request, recalled_text, self._position))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], _ToolResult]
    ) -> _ToolResult:
        """Before the tool runs, write what the model said beside the tool call, and the results of
        earlier tools. By now the ``after_model`` hooks of all other middleware have seen them.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        self._agent_memory.before_tool(request.state["messages"], request.runtime)
        return handler(request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[_ToolResult]],
    ) -> _ToolResult:
        """``wrap_tool_call``; the memory works off the event loop."""
        await asyncio.to_thread(
            self._agent_memory.before_tool, request.state["messages"], request.runtime
        )
        return await handler(request)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Write the rest of the turn: the final reply, the last tool results, and what could not be
        written before. Extract postponed messages. Where another middleware ended the run before
        the model was reached, write nothing.

        Raises:
            Exception: what failed in the memory, with ``raise_errors``.

        """
        self._agent_memory.end_turn(state, runtime)

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """``after_agent``, off the event loop."""
        await asyncio.to_thread(self.after_agent, state, runtime)
