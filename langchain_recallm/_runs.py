"""Whose memory and which conversation a run in LangChain or LangGraph uses.

A namespace may be a template, ``"user-{user_id}"``, that the run fills. Two users must never share
a namespace: a value that is missing is an error, and so is one that could be taken for another
user's values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction
from operator import add
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import get_runtime

from langchain_recallm._background import BackgroundWriter
from langchain_recallm._conversation import MessageConversation
from recallm import InvalidInputError, RecallM
from recallm.adapting import Conversation
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
    config = run if isinstance(run, Mapping) else getattr(run, "config", None) or {}
    info = None if run is config else getattr(run, "execution_info", None)
    if info is not None and info.thread_id is not None:
        return Conversation.session_name(info.thread_id)
    return Conversation.session_name(config.get("configurable", {}).get("thread_id"))


def conversation_of_run(
    settings: MessageConversation,
    namespace: Namespace,
    run: Any,
    config: RunnableConfig | None = None,
) -> MessageConversation:
    """The conversation with these ``settings`` in the run's thread, in the memory of whoever
    ``run`` runs for; ``config`` as in ``memory_of_run``."""
    memory = memory_of_run(settings.memory, namespace, run, config)
    thread = thread_of_run(run or config)
    session = thread and settings.filter.redacted_name(thread, "session")
    BackgroundWriter.wait_for(memory)
    return replace(settings, memory=memory, session=session, looked_up={})


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


# -- templates -----------------------------------------------------------------------------------

_FIELD = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class NamespaceTemplate:
    """A callable from a run to a name: the template with the values of the run's context and of
    ``configurable`` in place of its fields."""

    text: str

    def __post_init__(self) -> None:
        texts, fields = self._parts()
        has_braces = any("{" in text or "}" in text for text in texts)
        if has_braces or not fields or not all(map(str.isidentifier, fields)):
            raise _unusable(
                self.text, "must have plain names in single braces, {user_id}, and no other braces"
            )
        if not all(texts[1:-1]):
            raise _unusable(self.text, "needs a text between its fields to keep values apart")

    def __call__(self, run: Any) -> str:
        """The name for whoever ``run`` runs for."""
        texts, fields = self._parts()
        between = set("".join(texts[1:-1]))
        values = [self._checked(field, _value_in(run, field), between) for field in fields]
        return texts[0] + "".join(map(add, values, texts[1:]))

    def _parts(self) -> tuple[list[str], list[str]]:
        """The texts around the fields, and the names of the fields."""
        parts = _FIELD.split(self.text)
        return parts[::2], parts[1::2]

    def __str__(self) -> str:
        return self.text

    def _checked(self, field: str, values: list[object], between: set[str]) -> str:
        if not values:
            raise _unusable(
                self.text,
                f"needs {field!r}, which this run does not have: give it in the run's context, or "
                f"in config={{'configurable': {{{field!r}: …}}}}",
            )
        if any(
            isinstance(value, bool) or not isinstance(value, str | int | UUID) for value in values
        ):
            kinds = " and ".join(sorted({type(value).__name__ for value in values}))
            raise _unusable(self.text, f"needs a str or an int as {field!r}, not {kinds}")
        texts = {str(value) for value in values}
        if len(texts) > 1:
            raise _unusable(
                self.text,
                f"finds two values of {field!r}, in the run's context and in its config: give one",
            )
        text = texts.pop()
        if not text.strip() or "{" in text or "}" in text:
            raise _unusable(self.text, f"gets {text!r} as {field!r}: blank, or itself a template")
        if shared := sorted(between.intersection(text)):
            raise _unusable(
                self.text,
                f"gets {text!r} as {field!r}, which contains {', '.join(map(repr, shared))}, as "
                "the text between the fields does: two users could share one memory. Separate "
                "the fields by other characters",
            )
        return text


def _value_in(run: Any, field: str) -> list[object]:
    """The values of a field in the run's context and in its config; None counts as missing."""
    context = getattr(run, "context", None)
    config = run if isinstance(run, Mapping) else getattr(run, "config", None)
    if config is None:
        with suppress(RuntimeError):  # outside of a graph
            config = get_config()
    configurable = (config or {}).get("configurable") or {}
    found = [
        context.get(field) if isinstance(context, Mapping) else getattr(context, field, None),
        configurable.get(field),
    ]
    return [value for value in found if value is not None]


def _unusable(text: str, fault: str) -> InvalidInputError:
    return InvalidInputError(f"the template namespace={text!r} {fault}", argument="namespace")
