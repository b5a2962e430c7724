"""Whose memory and which conversation a run in LangChain or LangGraph uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime

from langchain_recallm._background import BackgroundWriter
from langchain_recallm._conversation import MessageConversation
from langchain_recallm._templates import NamespaceTemplate
from recallm import InvalidInputError, RecallM
from recallm.adapting import Conversation, Scope
from recallm.facts import FactMemory

Namespace = str | Callable[[Any], str] | None
"""Whose memory: a name, a template that the run fills, a callable from the run (its ``Runtime``, or
its config) to a name, or None, the memory's own."""


def checked_namespace(namespace: Namespace) -> Namespace:
    """The argument ``namespace``; of a template a callable that fills it."""
    given: object = namespace
    if iscoroutinefunction(given):
        raise InvalidInputError(
            "namespace must be a plain function; what it needs to await belongs in the run's "
            "context",
            argument="namespace",
        )
    if isinstance(given, str) and given:
        has_fields = "{" in given or "}" in given
        return NamespaceTemplate(given) if has_fields else given
    if given is None or callable(given):
        return namespace
    raise InvalidInputError(
        "namespace must be a name, a template such as 'user-{user_id}', a callable over the "
        f"runtime, or None, not {given!r}",
        argument="namespace",
    )


def memory_of_run(
    memory: RecallM, namespace: Namespace, run: Any, config: RunnableConfig | None = None
) -> RecallM:
    """The memory in the namespace of whoever ``run`` runs for. Where there is no run, ``config``
    fills a template."""
    if namespace is None:
        return memory
    if callable(namespace):
        if run is None and config is not None and isinstance(namespace, NamespaceTemplate):
            run = ConfigRun(config)
        if run is None:
            kind = "template" if isinstance(namespace, NamespaceTemplate) else "callable"
            raise InvalidInputError(
                f"namespace is a {kind} over the runtime, and there is none outside of a run; "
                "give a name, or a memory in the namespace: memory.in_namespace(…)",
                argument="namespace",
            )
        namespace = namespace(run)
    return memory.in_namespace(namespace)


def thread_of_run(run: Any) -> str | None:
    """The session of a run: the thread id of a ``Runtime``, ``ToolRuntime`` or ``RunnableConfig``;
    None where it has none."""
    info = getattr(run, "execution_info", None)
    if info is not None and info.thread_id is not None:
        return Conversation.session_name(info.thread_id)
    config = run if isinstance(run, Mapping) else getattr(run, "config", None) or {}
    return Conversation.session_name(config.get("configurable", {}).get("thread_id"))


def conversation_of_run(
    memory: RecallM,
    config: RunnableConfig,
    *,
    namespace: Namespace,
    scope: Scope,
    session: str | None = None,
) -> MessageConversation:
    """The conversation of the run of ``config``, in the memory of whoever it runs for. Where recall
    names a ``session``, the scope is not the run's thread."""
    owned_memory = memory_of_run(memory, namespace, ConfigRun(config))
    BackgroundWriter.wait_for(owned_memory)
    return MessageConversation(
        memory=owned_memory,
        session=thread_of_run(config),
        scope=scope if session is None else "namespace",
    )


def facts_of_run(
    facts: FactMemory, namespace: Namespace, run: Any, config: RunnableConfig | None = None
) -> FactMemory:
    """The facts of whoever ``run`` runs for; ``config`` as in ``memory_of_run``."""
    memory = memory_of_run(facts.memory, namespace, run, config)
    BackgroundWriter.wait_for(memory)
    return facts if namespace is None else facts.in_namespace(memory.namespace)


class ConfigRun(dict[str, Any]):
    """The config of a run; in a graph also with the attributes of the graph's ``Runtime``, so that
    the same callable gives the namespace to middleware, tools and retrievers."""

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(get_runtime(), name)
        except (RuntimeError, KeyError, AttributeError):
            raise AttributeError(
                f"this run has no {name!r}: it is not in a graph, or the graph does not have it; "
                "use its config, as in config['configurable']['user_id']"
            ) from None
