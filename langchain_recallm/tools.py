"""Tools by which a model uses a memory itself: recall, save, forget, list, update.

Errors go to the model, its own and those of the memory: the agent goes on. Whose memory it is comes
from the runtime alone; nothing that a model writes can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, get_args

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from langchain_recallm._conversation import MessageConversation
from langchain_recallm._limits import takes_k
from langchain_recallm._memory_tools import MemoryTools, ToolName
from langchain_recallm._runs import checked_namespace, memory_of_run, thread_of_run
from langchain_recallm._tool_building import check_prefix, new_tools
from recallm import RecallM
from recallm.adapting import (
    Accept,
    BackgroundWriter,
    MessageFilter,
    RecallOptions,
    Redact,
    Scope,
    check_budget,
    checked_memory,
    checked_scope,
    checks,
)


@takes_k
def create_recallm_tools(
    memory: RecallM,
    *,
    namespace: str | Callable[[Any], str] | None = None,
    scope: Scope = "namespace",
    limit: int | None = 10,
    k: int | None = None,  # noqa: ARG001
    max_tokens: int | None = 1000,
    prefix: str = "",
    tools: Collection[ToolName] = ("recall_memory", "save_memory", "forget_memory"),
    redact: Redact | None = None,
    accept: Accept | None = None,
) -> list[BaseTool]:
    """The tools ``recall_memory(query)``, ``save_memory(text)``, ``forget_memory(id / about)``, or
    those that ``tools`` names, also ``list_memories(before)``, ``update_memory(id, text)`` and
    ``forget_me(confirm)``.

    ``memory``: the core. ``namespace``: whose memory it is, the memory's own by default: a name, a
    template that the run's context or ``configurable`` fills, "user-{user_id}", or a callable over
    the agent's runtime. Saved texts belong to the thread as their session; ``scope="session"``
    keeps all tools inside it. ``limit`` (or ``k``) counts the shown statements, ``max_tokens`` the
    whole result, by the memory's counter. ``prefix`` begins the tools' names ("team_"), so that one
    agent can have the tools of two memories. ``redact`` and ``accept`` decide what is saved, as in
    ``RecallMMiddleware``; ``redact`` changes what recall asks with, too.

    * ``recall_memory`` shows statements with their ids, delimited as data, without what stands in
      the messages of the agent's state. The artifact is a list of dicts with id, text, metadata,
      t_index, timestamp, speaker, source, session, concepts, score and passage.
    * ``save_memory`` writes one update with the speaker "AI"; the same tool call writes it once.
    * ``forget_memory`` forgets one statement, memory or fact by its id, or all that mention a
      concept; a store's item is forgotten as a whole.
    * ``list_memories`` shows whole passages, the latest first, ``limit`` at a time.
    * ``update_memory`` saves a text, then forgets what it replaces: a failure between the two loses
      nothing. A store's items and facts are not updated so.
    * ``forget_me`` forgets everything in the namespace for good (with ``scope="session"`` the
      thread); without ``confirm`` nothing. Give it where each user has a namespace. What the agent
      still says in that run is remembered by a middleware.

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
    RecallOptions(limit=limit, max_tokens=max_tokens).check(checked_memory(memory))
    check_budget(memory, max_tokens)
    check_prefix(prefix)
    names = checks.strings(tools, "tools")
    for name in names:
        checks.choice(name, get_args(ToolName), "tools")
    checked = checked_namespace(namespace)
    scope = checked_scope(scope)
    filter = MessageFilter(redact=redact, accept=accept)

    def bind(run: Any, config: RunnableConfig) -> MemoryTools:
        owned_memory = memory_of_run(memory, checked, run, config)
        BackgroundWriter.wait_for(owned_memory)
        conversation = MessageConversation(
            memory=owned_memory,
            session=filter.redacted_name(thread_of_run(run or config), "session"),
            scope=scope,
            filter=filter,
        )
        return MemoryTools(conversation=conversation, run=run, limit=limit, max_tokens=max_tokens)

    return new_tools(MemoryTools, dict.fromkeys(names), prefix, bind)
