"""Tools by which a model uses a memory itself: recall, save, forget.

What goes wrong by the model's doing is told to the model, and so is a memory that fails: the agent
goes on. Nothing that a model writes says whose memory it is: that comes from the runtime alone.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, Field

from langchain_recallm._conversation import (
    Conversation,
    memory_of,
    thread_of,
)
from langchain_recallm._limits import (
    checked_namespace,
)
from langchain_recallm._turn import asked_last
from recallm import InvalidInputError, RecalledStatement, RecallM
from recallm.adapting import (
    NAMES,
    Scope,
    as_data,
    checked_limits,
    checked_memory,
    checked_room,
    checked_scope,
    digest,
    settle,
    shown_name,
    storable,
)

__all__ = ["create_recallm_tools"]

_log = logging.getLogger("langchain_recallm")

_PREFIX = re.compile("[A-Za-z0-9_-]{0,40}")
_NOTHING = "Nothing is remembered about that."
_TOO_LONG = "What is remembered about that is too long to be shown."

_Runtime = Annotated[ToolRuntime[Any, Any] | None, InjectedToolArg]
"""Injected in an agent, absent outside; never in the schema that the model sees."""


class _Recall(BaseModel):
    query: str = Field(description="What to look for: a question, or names and words.")


class _Save(BaseModel):
    text: str = Field(
        description="One or more whole sentences that are understood without the conversation."
    )


class _Forget(BaseModel):
    id: str | None = Field(
        default=None, description="The id of one statement, as recall_memory shows it."
    )
    about: str | None = Field(
        default=None,
        description="A name or a noun: all statements that mention it are forgotten, and stored "
        "items that mention it are forgotten whole.",
    )


def create_recallm_tools(
    memory: RecallM,
    *,
    namespace: str | Callable[[Any], str] | None = None,
    scope: Scope = "namespace",
    limit: int | None = 10,
    max_tokens: int | None = 1000,
    prefix: str = "",
) -> list[BaseTool]:
    """The tools ``recall_memory(query)``, ``save_memory(text)``, ``forget_memory(id / about)``.

    ``memory`` is the core; ``namespace`` says whose memory it is: the memory's own by default, a
    name, or for many users a callable over the agent's runtime, as in
    ``lambda runtime: runtime.context.user_id``. What is saved belongs to the thread as its session;
    ``scope="session"`` keeps recalling and forgetting inside it. ``limit`` counts the statements
    that are recalled, ``max_tokens`` all that is given back, by the memory's counter. ``prefix``
    begins the tools' names (letters, digits, "_" and "-"), so that the tools of two memories can
    stand in one agent: ``prefix="team_"`` makes them ``team_recall_memory`` and so on.

    * ``recall_memory`` gives statements with their ids, delimited as data; the artifact is a list
      of dicts with id, text, t_index, timestamp, speaker, source, session, metadata, concepts and
      score.
    * ``save_memory`` writes one knowledge update, whose speaker is "AI": the model wrote it, and
      nobody else said it. The same tool call writes it once.
    * ``forget_memory`` forgets one statement by its id, or all that mention a concept; of items of
      a store the whole.

    In an agent the ``ToolRuntime`` is injected; outside, the tools are called like any other.

    >>> from langchain_recallm import create_recallm_tools
    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> recall, save, forget = create_recallm_tools(memory)
    >>> _ = save.invoke({"text": "Ann's flight leaves on Friday."})
    >>> for statement in memory.recall("When does the flight leave?").statements:
    ...     print(statement.text)
    Ann's flight leaves on Friday.
    >>> print(recall.invoke({"query": "When does the flight leave?"}))
    <recalled_memory>
    ...
    [...#0] ... AI: Ann's flight leaves on Friday.
    </recalled_memory>
    >>> forget.invoke({"about": "Ann"})
    "Forgot 1 statement that mentions 'Ann'."
    >>> recall.invoke({"query": "When does the flight leave?"})
    'Nothing is remembered about that.'

    Raises:
        InvalidInputError: an argument cannot be used.

    """
    checked_limits(limit=limit, max_tokens=max_tokens)
    checked_room(checked_memory(memory), max_tokens)
    given: object = prefix
    if not isinstance(given, str) or not _PREFIX.fullmatch(given):
        raise InvalidInputError(
            "prefix must be up to 40 letters, digits, '_' and '-', as models take them in names, "
            f"not {prefix!r}",
            argument="prefix",
        )
    tools = _Tools(
        memory=memory,
        namespace=checked_namespace(namespace),
        scope=checked_scope(scope),
        limit=limit,
        max_tokens=max_tokens,
    )
    return [
        _tool(
            tools.recall,
            f"{prefix}recall_memory",
            "Look up what is remembered from earlier conversations: facts, events, preferences. "
            "Gives statements in the order in which they became true, each with its id and "
            "who said it; what AI said, the user did not say.",
            _Recall,
            response_format="content_and_artifact",
        ),
        _tool(
            tools.save,
            f"{prefix}save_memory",
            "Remember something for later conversations. Name people and things in full, and say "
            "when it holds if that matters.",
            _Save,
        ),
        _tool(
            tools.forget,
            f"{prefix}forget_memory",
            "Forget for good: either one statement by its id, or all statements that mention what "
            "is given as about, with stored items that mention it as a whole. Give exactly one of "
            "the two.",
            _Forget,
        ),
    ]


def _tool(
    work: Callable[..., Any], name: str, description: str, schema: type[BaseModel], **more: Any
) -> BaseTool:
    @wraps(work)
    async def off_the_loop(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(work, *args, **kwargs)

    return StructuredTool.from_function(
        func=work,
        coroutine=off_the_loop,
        name=name,
        description=description,
        args_schema=schema,
        handle_tool_error=True,
        **more,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tools:
    memory: RecallM
    namespace: str | Callable[[Any], str] | None
    scope: Scope
    limit: int | None
    max_tokens: int | None

    def recall(
        self, query: str, config: RunnableConfig, runtime: _Runtime = None
    ) -> tuple[str, list[dict[str, Any]]]:
        with _told():
            conversation = self._conversation(runtime, config)
            # What was just said may be remembered already: it is no answer.
            said = conversation.held(_said(runtime))
            limit = None if self.limit is None else self.limit + len(said)
            context = conversation.recall(_given(query, "query"), limit=limit)
            found = [it for it in context.statements if it.passage not in said]
            if not found:
                return _NOTHING, []
            if self.limit is not None and conversation.memory.config.ranking == "statements":
                found = _without_worst(found, len(found) - self.limit)
            # One that is too long by itself must not take the others with it.
            found = [it for it in found if not self._is_too_long(conversation.memory, [it])]
            while found and self._is_too_long(conversation.memory, found):
                found = _without_worst(found, 1)
            return _shown(found) if found else _TOO_LONG, [_as_dict(it) for it in found]

    def save(self, text: str, config: RunnableConfig, runtime: _Runtime = None) -> str:
        with _told():
            conversation = self._conversation(runtime, config)
            said = _given(text, "text")
            call = runtime.tool_call_id if isinstance(runtime, ToolRuntime) else None
            update = conversation.memory.update(
                said,
                # Nobody else said it: a text that begins "Human: …" is still the model's.
                speaker=NAMES["ai"],
                session=conversation.session,
                timestamp=conversation.memory.now(),
                # Ids of calls repeat: in other threads, with some providers in the same one.
                id=digest(str(conversation.session), call, said) if call else None,
                metadata={"tool": "save_memory"},
            )
            return f"Saved as {', '.join(update.statements) or update.id}."

    def forget(
        self,
        config: RunnableConfig,
        id: str | None = None,
        about: str | None = None,
        runtime: _Runtime = None,
    ) -> str:
        with _told():
            # An odd id is shown in quotation marks, which belong to no id.
            id, about = (id or "").strip().strip('"'), (about or "").strip()
            if bool(id) == bool(about):
                raise ToolException("Give exactly one of id and about; nothing was forgotten.")
            conversation = self._conversation(runtime, config)
            return _forget_one(conversation, id) if id else _forget_about(conversation, about)

    def _conversation(self, runtime: object, config: RunnableConfig) -> Conversation:
        # A model that is called without an agent can write an argument of this name itself.
        run = runtime if isinstance(runtime, ToolRuntime) else None
        return Conversation(
            memory=memory_of(self.memory, self.namespace, run),
            session=thread_of(run or config),
            scope=self.scope,
        )

    def _is_too_long(self, memory: RecallM, found: Sequence[RecalledStatement]) -> bool:
        limit = self.max_tokens
        return limit is not None and memory.count_tokens(_shown(found)) > limit


@contextmanager
def _told() -> Iterator[None]:
    """Tell the model what went wrong."""
    try:
        yield
    except ToolException:
        raise
    except InvalidInputError as error:
        raise ToolException(error.message) from error
    except Exception as error:
        _log.warning("the memory failed, the model is told so", exc_info=True)
        raise ToolException(
            f"The memory failed ({type(error).__name__}); go on without it."
        ) from error


def _given(text: str, argument: str) -> str:
    """What the model wrote, refused where it is empty. Lone surrogates, which cannot be stored,
    become question marks."""
    if not text.strip():
        raise ToolException(f"{argument} is empty; nothing was done.")
    return storable(text)


def _said(runtime: object) -> list[BaseMessage]:
    """The messages that the agent is answering, and what it said to them."""
    state = runtime.state if isinstance(runtime, ToolRuntime) else None
    messages = state.get("messages") if isinstance(state, dict) else None
    given = messages if isinstance(messages, list) else []
    said = [it for it in given if isinstance(it, BaseMessage)]
    asked, _ = asked_last(said)
    return said[said.index(asked[0]) :] if asked else []


# -- what is shown ---------------------------------------------------------------------------


def _shown(statements: Sequence[RecalledStatement]) -> str:
    """The statements as data, a line each with its id."""
    return as_data("\n".join(map(_line, statements)))


def _line(statement: RecalledStatement) -> str:
    # A revised context is no statement that could be forgotten by itself.
    id = "summary" if statement.passage is None else shown_name(statement.id)
    return f"[{id}] {statement.line}"


def _without_worst(found: Sequence[RecalledStatement], count: int) -> list[RecalledStatement]:
    worst = sorted(range(len(found)), key=lambda i: found[i].score or 0)[: max(count, 0)]
    return [it for i, it in enumerate(found) if i not in worst]


def _as_dict(statement: RecalledStatement) -> dict[str, Any]:
    """Plain values alone: artifacts stand in checkpoints."""
    at = statement.timestamp
    return {
        "id": statement.id,
        "text": statement.text,
        "t_index": statement.t_index,
        "timestamp": None if at is None else at.isoformat(),
        "speaker": statement.speaker,
        "source": statement.source,
        "session": statement.session,
        "metadata": dict(statement.metadata),
        "concepts": list(statement.concepts),
        "score": statement.score,
    }


# -- what is forgotten -----------------------------------------------------------------------


def _forget_one(conversation: Conversation, id: str) -> str:
    memory, within = conversation.memory, conversation.within()
    passage = memory.get(id.rpartition("#")[0])
    known = passage is not None and within in (None, passage.session or passage.source)
    if not known or not memory.forget(statement=id):
        raise ToolException(
            f"No statement has the id {id!r}; nothing was forgotten. recall_memory shows the ids."
        )
    return f"Forgot the statement {id}."


def _forget_about(conversation: Conversation, about: str) -> str:
    memory, within = conversation.memory, conversation.within()
    about = _given(about, "about")
    settle(memory)  # long messages that wait for extraction may mention it too
    if within is None:
        count = memory.forget(concept=about).statements
    else:
        count = sum(
            memory.forget(statement=it.id).statements
            for it in memory.history(about)
            if it.session == within
        )
    if not count:
        return f"Nothing is remembered that mentions {about!r}; nothing was forgotten."
    return (
        f"Forgot {count} statement{'s' * (count > 1)} that mention{'s' * (count == 1)} {about!r}."
    )
