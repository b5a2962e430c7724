"""Tools by which a model uses a memory itself, and the facts of a memory.

Errors go to the model, its own and those of the memory: the agent goes on. Whose memory it is comes
from the runtime alone; nothing that a model writes can change it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException
from langchain_core.tools.base import create_schema_from_function
from langgraph.prebuilt import ToolRuntime

from langchain_recallm._conversation import MessageConversation, latest_question
from langchain_recallm._runs import (
    checked_namespace,
    conversation_of_run,
    facts_of_run,
    thread_of_run,
)
from recallm import InvalidInputError, RecallM
from recallm.adapting import (
    SPEAKER_NAMES,
    Accept,
    FactTools,
    ForgottenAbout,
    Message,
    MessageFilter,
    Query,
    RecallOptions,
    Redact,
    Scope,
    WholeSentences,
    check_budget,
    checked_facts,
    checked_memory,
    checked_scope,
    checked_text,
    digest,
    forgotten_by_model,
    says,
    statements_reply,
)
from recallm.facts import FactMemory

_log = logging.getLogger("langchain_recallm")

_Runtime = ToolRuntime[Any, Any] | None
_InjectedRuntime = Annotated[_Runtime, InjectedToolArg]
"""Injected in an agent, None outside; not in the schema that the model sees."""


def create_recallm_tools(
    memory: RecallM,
    *,
    namespace: str | Callable[[Any], str] | None = None,
    scope: Scope = "namespace",
    limit: int | None = 10,
    max_tokens: int | None = 1000,
    redact: Redact | None = None,
    accept: Accept | None = None,
) -> list[BaseTool]:
    """The tools ``recall_memory(query)``, ``save_memory(text)`` and ``forget_memory(id / about)``.

    ``namespace``, ``redact`` and ``accept`` are those of ``RecallMMiddleware``. Saved texts belong
    to the thread as their session; ``scope="session"`` keeps all tools inside it. ``limit`` counts
    the shown statements, ``max_tokens`` the whole result, by the memory's counter. Where one agent
    has the tools of two memories, give those of one other names (``tool.name``).

    * ``recall_memory`` leaves out what stands in the messages of the agent's state.
    * ``save_memory`` writes one update with the speaker "AI"; the same tool call writes it once.
    * ``forget_memory`` forgets one statement, memory or fact by its id, or (but for
      ``scope="session"``) all that mention a concept; a store's item is forgotten as a whole.

    >>> from langchain_recallm import create_recallm_tools
    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> recall, save, forget = create_recallm_tools(memory)
    >>> _ = save.invoke({"text": "Ann's flight leaves on Friday."})
    >>> print(recall.invoke({"query": "When does the flight leave?"}))
    <recalled_memory>
    ...
    [...#0] ... AI: Ann's flight leaves on Friday.
    </recalled_memory>
    >>> forget.invoke({"about": "Ann"})
    "Forgot 1 statement that mentions 'Ann'."

    Raises:
        InvalidInputError: an argument cannot be used.

    """
    RecallOptions(limit=limit, max_tokens=max_tokens).check(checked_memory(memory))
    check_budget(memory, max_tokens)
    namespace = checked_namespace(namespace)
    filter = MessageFilter(redact=redact, accept=accept)
    settings = MessageConversation(memory=memory, scope=checked_scope(scope), filter=filter)

    def bind(run: _Runtime, config: RunnableConfig) -> MemoryTools:
        conversation = conversation_of_run(settings, namespace, run, config)
        return MemoryTools(conversation=conversation, run=run, limit=limit, max_tokens=max_tokens)

    return _new_tools(MemoryTools, MemoryTools.NAMES, bind)


def create_fact_tools(
    memory: RecallM | FactMemory,
    *,
    namespace: str | Callable[[Any], str] | None = None,
    limit: int = 20,
    max_tokens: int | None = 1000,
    redact: Redact | None = None,
) -> list[BaseTool]:
    """The tools ``write_fact``, ``end_fact``, ``read_facts``, ``fact_history`` and
    ``count_facts``.

    ``memory``: a memory, or a ``FactMemory`` with its own single-valued relations. ``namespace`` is
    that of ``create_recallm_tools``. A result shows at most ``limit`` facts and takes at most
    ``max_tokens``, by the memory's counter, and says how many more there are.
    ``redact``, text → text, changes every term that the model gives, and the thread's name, which
    is the source of what an agent writes there.

    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> tools = {tool.name: tool for tool in create_fact_tools(memory)}
    >>> write, read = tools["write_fact"], tools["read_facts"]
    >>> write.invoke({"subject": "Ada", "relation": "works for", "object": "BMW"})
    'Written.'
    >>> print(read.invoke({"relation": "works for", "object": "BMW"}))
    <recalled_memory>
    ...
    [...] Ada — works for → BMW
    </recalled_memory>

    Raises:
        InvalidInputError: an argument cannot be used.

    """
    facts = checked_facts(memory)
    namespace = checked_namespace(namespace)
    FactTools(facts, limit=limit, max_tokens=max_tokens, redact=redact)  # checks the arguments

    def bind(run: _Runtime, config: RunnableConfig) -> FactTools:
        return FactTools(
            facts_of_run(facts, namespace, run, config),
            limit=limit,
            max_tokens=max_tokens,
            source=thread_of_run(run or config),
            call=None if run is None else run.tool_call_id,
            redact=redact,
        )

    return _new_tools(FactTools, FactTools.NAMES, bind)


@dataclass(frozen=True, kw_only=True)
class MemoryTools:
    """The tools in one call of a model, in a conversation; ``run``: the runtime of its agent. A
    method's name is its tool's, its docstring and annotations are what the model reads of it."""

    NAMES: ClassVar = ("recall_memory", "save_memory", "forget_memory")

    conversation: MessageConversation
    run: _Runtime
    limit: int | None
    max_tokens: int | None

    def recall_memory(self, query: Query) -> str:
        """Look up what is remembered from earlier conversations: facts, events, preferences. Gives
        statements in the order in which they became true, each with its id and who said it; what AI
        said, the user did not say."""
        conversation, memory = self.conversation, self.conversation.memory
        query = conversation.filter.redacted(checked_text(query, "query"))
        # The model reads the conversation in its request: it is no answer from the memory.
        known = conversation.passages_in_request(
            query, self._messages, asking=self._turn_messages, limit=self.limit
        )
        context = conversation.recall(query, limit=self.limit, asker=self._asker(), known=known)
        found = [each for each in context.statements if each.passage not in known]
        return statements_reply(memory, found, self.max_tokens)

    def save_memory(self, text: WholeSentences) -> str:
        """Remember something for later conversations. Name people and things in full, and say when
        it holds if that matters."""
        conversation, memory = self.conversation, self.conversation.memory
        # A text that begins "Human: …" is the model's too.
        message = Message(text=checked_text(text, "text"), speaker=SPEAKER_NAMES["ai"], role="ai")
        accepted = conversation.filter.accepted([message])
        if not accepted or not accepted[0].text.strip():
            raise ToolException("This app does not let that be remembered; nothing was saved.")
        [message] = accepted
        call = None if self.run is None else self.run.tool_call_id
        update = memory.update(
            message.text,
            speaker=message.speaker,
            session=conversation.session,
            timestamp=memory.now(),
            # Other threads, and with some providers the same thread, repeat ids of calls.
            id=digest(str(conversation.session), call, message.text) if call else None,
            metadata={"tool": "save_memory"},
        )
        return f"Saved as {', '.join(update.statements) or update.id}."

    def forget_memory(
        self,
        id: Annotated[
            str | None, says("The id of one statement or memory, as recall_memory shows it.")
        ] = None,
        about: ForgottenAbout = None,
    ) -> str:
        """Forget for good: either one statement by its id, or all statements that mention what is
        given as about, with stored items that mention it as a whole. Give exactly one of the
        two."""
        session = self.conversation.only_session()
        return forgotten_by_model(self.conversation.memory, id=id, about=about, session=session)

    def _asker(self) -> str:
        """Whom "I" stands for in a query of the model: the user whom it answers."""
        asking = self.conversation.core_messages(self._turn_messages[:1])
        return asking[0].speaker if asking else SPEAKER_NAMES["human"]

    @cached_property
    def _messages(self) -> list[BaseMessage]:
        """The conversation in the agent's state."""
        state = self.run.state if self.run is not None else None
        in_state = state.get("messages") if isinstance(state, dict) else None
        listed = in_state if isinstance(in_state, list) else []
        return [message for message in listed if isinstance(message, BaseMessage)]

    @cached_property
    def _turn_messages(self) -> list[BaseMessage]:
        """The user's messages that the agent is answering, and the replies so far."""
        asking, _ = latest_question(self._messages)
        return self._messages[self._messages.index(asking[0]) :] if asking else []


def _new_tools(
    kind: type, names: Iterable[str], bind: Callable[[_Runtime, RunnableConfig], Any]
) -> list[BaseTool]:
    """A tool for each of the named methods of ``kind``, whose docstrings and annotations are what a
    model reads. ``bind`` gives the object of a call, whose method does the work; LangChain calls a
    tool without a coroutine off the event loop."""

    def new_tool(name: str) -> BaseTool:
        method = getattr(kind, name)

        def call(config: RunnableConfig, runtime: _InjectedRuntime = None, **arguments: Any) -> Any:
            with _errors_for_the_model():
                # Without an agent, a model can write an argument named ``runtime`` itself.
                run = runtime if isinstance(runtime, ToolRuntime) else None
                return getattr(bind(run, config), name)(**arguments)

        paragraphs = (method.__doc__ or "").split("\n\n")
        return StructuredTool.from_function(
            func=call,
            name=name,
            description="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
            args_schema=create_schema_from_function(name, method, filter_args=["self"]),
            handle_tool_error=True,
        )

    return [new_tool(name) for name in names]


@contextmanager
def _errors_for_the_model() -> Iterator[None]:
    """Turn errors into those that LangChain shows the model."""
    try:
        yield
    except ToolException:
        raise
    except InvalidInputError as error:
        raise ToolException(error.message) from error
    except Exception as error:
        _log.warning("the memory failed; the model gets the error", exc_info=True)
        raise ToolException(
            f"The memory failed ({type(error).__name__}); go on without it."
        ) from error
