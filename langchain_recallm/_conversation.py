"""A conversation of LangChain messages, and whose memory and which conversation a run is of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_recallm._messages import role_of, text_of
from recallm import InvalidInputError, KnowledgeUpdate, RecalledContext, RecallM, adapting
from recallm.adapting import BOTH, NAMES, Role, Said, Scope, spoken_name

__all__ = ["Conversation", "memory_of", "thread_of"]


def memory_of(
    memory: RecallM, namespace: str | Callable[[Any], str] | None, runtime: Any
) -> RecallM:
    """The memory of whoever ``runtime`` runs for: in the namespace given, or that ``namespace``
    says of the runtime; None: the memory's own.

    Raises:
        InvalidInputError: ``namespace`` asks the runtime and there is none, or gives no name.

    """
    if namespace is None:
        return memory
    if callable(namespace):
        if runtime is None:
            raise InvalidInputError(
                "namespace is a callable over the runtime, and there is none outside of a run; "
                "give a str, or a memory in the namespace: memory.in_namespace(…)",
                argument="namespace",
            )
        namespace = namespace(runtime)
    return memory.in_namespace(namespace)


def thread_of(runtime: Any) -> str | None:
    """The thread id of a ``Runtime``, ``ToolRuntime`` or ``RunnableConfig``, which is the
    conversation; or None."""
    info = getattr(runtime, "execution_info", None)
    if info is not None and info.thread_id is not None:
        return adapting.Conversation.name_of(info.thread_id)
    config = runtime if isinstance(runtime, Mapping) else getattr(runtime, "config", None) or {}
    return adapting.Conversation.name_of(config.get("configurable", {}).get("thread_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """``recallm.adapting.Conversation`` in messages: of these the roles in ``roles`` are
    remembered, under ``names`` where a message has none of its own."""

    memory: RecallM
    session: str | None = None
    scope: Scope = "namespace"
    roles: frozenset[Role] = BOTH
    names: Mapping[Role, str] = field(default_factory=lambda: NAMES)

    def within(self) -> str | None:
        """The one session that the scope is; None where it is the namespace.

        Raises:
            InvalidInputError: the scope is the session and there is none.

        """
        return self._inner().within()

    def recall(
        self, question: str, *, besides: Sequence[BaseMessage] = (), **how: Any
    ) -> RecalledContext:
        """What helps to answer ``question``, which ``besides`` ask; ``how`` are the arguments of
        ``RecallM.recall``.

        Raises:
            InvalidInputError: an argument cannot be used, or the scope is the session and there
                is none.
            StoreError: the store failed.

        """
        return self._inner().recall(question, besides=self._said(besides), **how)

    def held(self, messages: Iterable[BaseMessage]) -> set[str]:
        """The ids of the passages that hold these messages in this session.

        Raises:
            StoreError: the store failed.

        """
        inner = self._inner()
        return {id for said in self._said(messages) if (id := inner.passage_id(said)) is not None}

    def edited(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """Those that this session holds under their id with another text only: not what a
        ``forget`` left of this one.

        Raises:
            StoreError: the store failed.

        """
        inner = self._inner()
        return [
            message
            for message in messages
            if any(inner.is_edited(said) for said in self._said([message]))
        ]

    def remember(self, messages: Iterable[BaseMessage]) -> list[KnowledgeUpdate]:
        """Write what is remembered of ``messages``, all or nothing; those without text are passed
        over, and those of which something was forgotten: it stays forgotten.

        Raises:
            InvalidInputError: a message cannot be stored.
            StoreError: the store failed; nothing was written.

        """
        return self._inner().remember(self._said(messages))

    def _inner(self) -> adapting.Conversation:
        return adapting.Conversation(memory=self.memory, session=self.session, scope=self.scope)

    def _said(self, messages: Iterable[BaseMessage]) -> list[Said]:
        """What is remembered of these messages."""
        found: list[Said] = []
        for message in messages:
            role, text = role_of(message), text_of(message)
            if role in self.roles and text.strip():
                speaker = spoken_name(message.name, role, self.names)
                found.append(Said(text=text, speaker=speaker, role=role, id=message.id))
        return found
