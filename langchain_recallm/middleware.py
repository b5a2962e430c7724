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
from typing import Any, Literal, TypeVar, get_args

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import BaseMessage, SystemMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from langchain_recallm._agent_memory import SEPARATOR, AgentMemory
from langchain_recallm._background import Writing
from langchain_recallm._conversation import MessageConversation, WritesInBackground, role_of
from langchain_recallm._hearing import listen
from langchain_recallm._runs import checked_namespace
from recallm import InvalidInputError, RecallM
from recallm.adapting import (
    Accept,
    FailureGuard,
    MessageFilter,
    RecallOptions,
    Redact,
    Role,
    Scope,
    check_budget,
    checked_memory,
    checked_roles,
    checked_scope,
    checks,
    speaker_names,
    sync_in_thread,
)

_log = logging.getLogger("langchain_recallm")

Position = Literal["system", "user"]
"""Where the recalled text stands: at the end of the system message, or of the user's message."""

OnMissing = Literal["raise", "skip"]
"""What becomes of a run whose namespace cannot be determined: an error, or a run without memory."""

_M = TypeVar("_M", bound=BaseMessage)
_ToolResult = ToolMessage | Command[Any]


class RecallMMiddleware(WritesInBackground, AgentMiddleware[AgentState[Any], Any, Any]):
    """The memory of an agent: it recalls what helps with the user's question, and remembers the
    conversation. What it writes of other runs, beside other middleware and after a failure:
    docs/langchain.md.

    Arguments:
        memory: the core.
        namespace: whose memory, by default the memory's own: a name, a template that the run's
            context or ``configurable`` fills ("user-{user_id}"), or a callable over the runtime.
        scope: "session" keeps recall inside the thread, which is the session.
        position: where the recalled text joins the request: "system", at the end of the system
            message, or "user", beside the user's message, which spares a provider's prompt cache.
        roles: whose texts are remembered: "human", "ai", on request "tool".
        limit: the most statements.
        max_tokens: the most that is added to the request, by the memory's counter.
        min_score: the least probability that a statement helps.
        human_prefix: the person's name, where a message has none.
        ai_prefix: the assistant's name, where a message has none.
        redact: text → text, for all that is written and what recall asks with; the same text must
            always give the same result.
        accept: message → bool, whether to write it (``text`` and ``speaker`` redacted, ``role``,
            ``id``). Where one of the two fails, nothing is written.
        write: "durable" writes before the agent goes on; "background" leaves that to a thread,
            which ``flush()``, ``memory.close()`` and the end of the interpreter wait for.
        raise_errors: a failure of the memory is raised, not logged (``langchain_recallm``).
        on_missing: "skip" runs without memory where a run has no namespace; "raise" fails.
        remember_interrupts: what a person answers to ``interrupt()`` is that person's message.
        name: distinguishes several middleware in one agent.

    Put it after middleware that sets the system prompt or trims the request.

    >>> from langchain.agents import create_agent
    >>> from langchain_core.language_models.fake_chat_models import FakeListChatModel
    >>> from langchain_recallm import RecallMMiddleware
    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> model = FakeListChatModel(responses=["Noted."])
    >>> agent = create_agent(model, middleware=[RecallMMiddleware(memory=memory)])
    >>> _ = agent.invoke({"messages": [("human", "I am vegetarian.")]})
    >>> [(passage.speaker, passage.text) for passage in memory.passages()]
    [('Human', 'I am vegetarian.'), ('AI', 'Noted.')]

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
        self._position: Position = checks.choice(get_args(Position), position, "position")
        self._name = checks.optional_name(name, "name")
        if self._name is not None and not self._name.strip():
            raise InvalidInputError("name is blank; give a name, or None", argument="name")
        self._agent_memory = AgentMemory(
            conversation=MessageConversation(
                memory=memory,
                scope=checked_scope(scope),
                roles=checked_roles(roles),
                names=speaker_names(human_prefix, ai_prefix),
                filter=MessageFilter(redact=redact, accept=accept),
            ),
            namespace=checked_namespace(namespace),
            limit=limit,
            max_tokens=max_tokens,
            min_score=min_score,
            guard=FailureGuard(log=_log, raise_errors=raise_errors),
            writing=checks.choice(get_args(Writing), write, "write"),
            skips_missing=checks.choice(get_args(OnMissing), on_missing, "on_missing") == "skip",
            remember_interrupts=checks.flag(remember_interrupts, "remember_interrupts"),
        )
        listen()

    @property
    def name(self) -> str:
        """Its name in the agent: no two middleware objects may have the same."""
        return self._name or super().name

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Begin a turn; write what the model said in one that was left waiting for its tools."""
        self._agent_memory.begin_turn(state["messages"], runtime)

    abefore_agent = sync_in_thread(AgentMiddleware.abefore_agent)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Recall for the user's question, write it, and call the model with the recalled text."""
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
        earlier tools. By now the ``after_model`` hooks of all other middleware have seen them."""
        self._agent_memory.before_tool(request.state["messages"], request.runtime)
        return handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[_ToolResult]]
    ) -> _ToolResult:
        """``wrap_tool_call``; the memory works off the event loop."""
        await asyncio.to_thread(
            self._agent_memory.before_tool, request.state["messages"], request.runtime
        )
        return await handler(request)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Write the rest of the turn: the final reply, the last tool results, and what could not be
        written before. Where another middleware ended the run before the model was reached, write
        nothing."""
        self._agent_memory.end_turn(state, runtime)

    aafter_agent = sync_in_thread(AgentMiddleware.aafter_agent)


def with_recalled_text(
    request: ModelRequest[Any], recalled_text: str, position: Position
) -> ModelRequest[Any]:
    """The request with the recalled text at the end of its system message or of the user's last
    message; the request itself where the text is empty."""
    if not recalled_text:
        return request
    if position == "user":
        messages = list(request.messages)
        for place in range(len(messages) - 1, -1, -1):
            if role_of(messages[place]) == "human":
                messages[place] = _with_text(messages[place], recalled_text)
                return request.override(messages=messages)
    # Also where the user's messages were trimmed away.
    system = request.system_message or SystemMessage("")
    return request.override(system_message=_with_text(system, recalled_text))


def _with_text(message: _M, text: str) -> _M:
    """The message with one more text at its end."""
    content: str | list[Any]
    if isinstance(message.content, str):
        content = SEPARATOR.join(filter(None, (message.content, text)))
    else:
        content = [*message.content, {"type": "text", "text": text}]
    return message.model_copy(update={"content": content})
