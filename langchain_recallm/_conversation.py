"""One conversation and the memory it belongs to: what all adapters write and recall by.

* The namespace says whose memory it is; the conversation is a session in it, so that what was said
  in one is recalled in the next. ``scope="session"`` keeps recall inside one.
* A message is one knowledge update, its id the message's: written again, it changes nothing.
* The messages of a turn are one transaction, in their order.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from langchain_core.messages import BaseMessage

from langchain_recallm._messages import BOTH, Role, role_of, speaker_of, text_of
from recallm import ConflictError, InvalidInputError, KnowledgeUpdate, RecalledContext, RecallM

__all__ = ["NAMES", "Conversation", "Scope", "checked_scope", "memory_of", "thread_of"]

Scope = Literal["namespace", "session"]
"""What is recalled: all that the owner's memory holds, or this conversation alone."""

NAMES: Mapping[Role, str] = MappingProxyType({"human": "Human", "ai": "AI", "tool": "Tool"})
"""How speakers are called whose message has no name."""

_LONGEST_ID = 200


def checked_scope(scope: str) -> Scope:
    """The scope, refused where it is unknown.

    Raises:
        InvalidInputError: it is neither "namespace" nor "session".

    """
    if scope in get_args(Scope):
        return cast(Scope, scope)
    raise InvalidInputError(
        f"scope must be 'namespace' or 'session', not {scope!r}", argument="scope"
    )


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
        return str(info.thread_id)
    config = runtime if isinstance(runtime, Mapping) else getattr(runtime, "config", None) or {}
    thread = config.get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A session of a memory, with what is remembered of it and how far recall goes."""

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
        if self.scope == "namespace":
            return None
        if self.session is None:
            raise InvalidInputError(
                "scope='session' needs a conversation: give a session, or run with a thread id, "
                "as in config={'configurable': {'thread_id': …}}",
                argument="scope",
            )
        return self.session

    def recall(
        self, question: str, *, besides: Sequence[BaseMessage] = (), **how: Any
    ) -> RecalledContext:
        """What helps to answer ``question``; ``how`` are the arguments of ``RecallM.recall``.

        ``besides`` are the messages that ask: where all are remembered already (a run goes on,
        or is tried again), what came before them is recalled, as it was at first. Where one is
        new, all is: between a question that nobody answered and this one, more may have been said.

        Raises:
            InvalidInputError: an argument cannot be used, or the scope is the session and there
                is none.
            StoreError: the store failed.

        """
        within = self.within()
        if within is not None:
            how["session"] = within
        asking = [message for message in besides if self._keeps(message)]
        known = [self.memory.get(_id(message)) for message in asking if message.id]
        asked = [it.t_index for it in known if it is not None and it.session == self.session]
        if asked and len(asked) == len(asking):
            how["until"] = min(asked) - 1
        return self.memory.recall(question, **how)

    def remember(self, messages: Iterable[BaseMessage]) -> list[KnowledgeUpdate]:
        """Write what is remembered of ``messages``, all or nothing; those without text are passed
        over.

        Raises:
            InvalidInputError: a message cannot be stored.
            StoreError: the store failed; nothing was written.

        """
        now = self.memory.now()
        items = []
        for message in messages:
            role = role_of(message)
            if role is None or not self._keeps(message):
                continue
            items.append(
                {
                    "text": text_of(message),
                    "speaker": speaker_of(message, role, self.names),
                    "timestamp": now,
                    "session": self.session,
                    "id": _id(message),
                    "metadata": {"role": role},
                }
            )
        if not items:
            return []
        updates = self._written(items)
        elsewhere = [
            index
            for index, update in enumerate(updates)
            if update.duplicate and not self._holds(update.id)
        ]
        if elsewhere:  # the same id and text, in another conversation
            for index in elsewhere:
                items[index]["id"] = _own_id(items[index])
            updates = self._written(items)
        return updates

    def _keeps(self, message: BaseMessage) -> bool:
        return role_of(message) in self.roles and bool(text_of(message).strip())

    def _written(self, items: list[dict[str, Any]]) -> list[KnowledgeUpdate]:
        while True:
            try:
                return self.memory.update_many(items, batch_size=len(items))
            except ConflictError as error:
                # An id that another conversation uses too, or a message that was edited since.
                item = items[error.index or 0]
                if item["id"] == _own_id(item):
                    raise
                item["id"] = _own_id(item)

    def _holds(self, id: str) -> bool:
        passage = self.memory.get(id)
        return passage is None or passage.session == self.session


def _id(message: BaseMessage) -> str:
    """The passage's id: the message's own, a new one where it has none."""
    if not message.id:
        return uuid.uuid4().hex
    return message.id if len(message.id) <= _LONGEST_ID else _digest(message.id)


def _own_id(item: Mapping[str, Any]) -> str:
    """An id for a message whose own is taken: it depends on all that makes it another message."""
    return _digest("\0".join((str(item["session"]), item["speaker"], item["text"])))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
