"""A conversation of LangChain messages, and whose memory and which conversation a run is of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.config import get_config

from langchain_recallm._messages import role_of, text_of
from recallm import InvalidInputError, KnowledgeUpdate, RecalledContext, RecallM, adapting
from recallm.adapting import BOTH, NAMES, Admission, Role, Said, Scope, spoken_name

__all__ = ["Conversation", "is_of_a_tool", "memory_of", "thread_of"]

_TOOLS = "tools"
"""The node in which agents of ``create_agent`` call their tools."""


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


def is_of_a_tool(runtime: Any) -> bool:
    """Whether a tool of another agent started this run, in its own thread or in another: a model
    wrote what is asked in it."""
    info = getattr(runtime, "execution_info", None)
    around = [] if info is None else (info.checkpoint_ns or "").split("|")[:-1]
    with suppress(RuntimeError):  # outside of a run
        # The place of a run with a thread of its own says nothing of the caller; its metadata do.
        around += str(get_config().get("metadata", {}).get("checkpoint_ns") or "").split("|")
    return any(node.partition(":")[0] == _TOOLS for node in around)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """``recallm.adapting.Conversation`` in messages: of these the roles in ``roles`` are
    remembered, under ``names`` where a message has none of its own; and of these what
    ``admission`` admits.

    Where ``instructor`` names a model that wrote the human messages, they are remembered as a
    model's.
    """

    memory: RecallM
    session: str | None = None
    scope: Scope = "namespace"
    roles: frozenset[Role] = BOTH
    names: Mapping[Role, str] = field(default_factory=lambda: NAMES)
    admission: Admission = field(default_factory=Admission)
    instructor: str | None = None

    def within(self) -> str | None:
        """The one session that the scope is; None where it is the namespace.

        Raises:
            InvalidInputError: the scope is the session and there is none.

        """
        return self.inner().within()

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
        return self.inner().recall(question, besides=self.said(besides), **how)

    def known_by_id(self, messages: Iterable[BaseMessage]) -> tuple[set[str], list[BaseMessage]]:
        """The ids of the passages that this session holds under ids of ``messages``, with those of
        edited texts, and the messages under whose id it holds none.

        Raises:
            StoreError: the store failed.
            Exception: what ``redact`` or ``accept`` raised.

        """
        given = list(messages)
        found = self.inner().passages_of(message.id for message in given if message.id)
        unknown = [message for message in given if message.id not in found]
        kept = self.memory.get_many(set(found.values()))
        # Edited (the new text is a passage of its own), or redacted, or cut by a forget.
        changed = [
            message
            for message in given
            if message.id in found
            and (passage := kept.get(found[message.id])) is not None
            and passage.text != text_of(message)
        ]
        return set(found.values()) | self.held(changed), unknown

    def held(self, messages: Iterable[BaseMessage]) -> set[str]:
        """The ids of the passages that hold these messages in this session.

        Raises:
            StoreError: the store failed.

        """
        inner = self.inner()
        return {id for said in self.said(messages) if (id := inner.passage_id(said)) is not None}

    def edited(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """Those that this session holds under their id with another text only: not what a
        ``forget`` left of this one.

        Raises:
            StoreError: the store failed.

        """
        inner = self.inner()
        return [
            message
            for message in messages
            if any(inner.is_edited(said) for said in self.said([message]))
        ]

    def remember(self, messages: Iterable[BaseMessage]) -> list[KnowledgeUpdate]:
        """Write what is remembered of ``messages``, all or nothing; those without text are passed
        over, and those of which something was forgotten: it stays forgotten.

        Raises:
            InvalidInputError: a message cannot be stored.
            StoreError: the store failed; nothing was written.

        """
        return self.inner().remember(self.said(messages))

    def inner(self) -> adapting.Conversation:
        """The conversation without its messages."""
        return adapting.Conversation(memory=self.memory, session=self.session, scope=self.scope)

    def said(self, messages: Iterable[BaseMessage]) -> list[Said]:
        """What is remembered of these messages.

        Raises:
            Exception: what ``redact`` or ``accept`` raised.

        """
        found: list[Said] = []
        for message in messages:
            role, text = role_of(message), text_of(message)
            names: Mapping[Role, str] = self.names
            if role == "human" and self.instructor is not None:
                role = "ai"
                names = {**names, "ai": self.instructor}
            if role in self.roles and text.strip():
                speaker = spoken_name(message.name, role, names)
                found.append(Said(text=text, speaker=speaker, role=role, id=message.id))
        return self.admission.admitted(found)
