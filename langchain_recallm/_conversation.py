"""One conversation and the memory it belongs to: what all adapters write and recall by.

* The namespace says whose memory it is; the conversation is a session in it, so that what was said
  in one is recalled in the next. ``scope="session"`` keeps recall inside one.
* A message is one knowledge update, its id the message's: written again, it changes nothing.
* The messages of a turn are one transaction, in their order.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from langchain_core.messages import BaseMessage

from langchain_recallm._messages import (
    BOTH,
    Role,
    digest,
    role_of,
    speaker_of,
    storable,
    text_of,
)
from recallm import (
    ConflictError,
    InvalidInputError,
    KnowledgeUpdate,
    Passage,
    RecalledContext,
    RecallM,
)

__all__ = ["NAMES", "Conversation", "Scope", "checked_scope", "memory_of", "thread_of"]

Scope = Literal["namespace", "session"]
"""What is recalled: all that the owner's memory holds, or this conversation alone."""

NAMES: Mapping[Role, str] = MappingProxyType({"human": "Human", "ai": "AI", "tool": "Tool"})
"""How speakers are called whose message has no name."""

_LONGEST_ID = 200
_LONGEST_SESSION = 1024


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
        return _session(info.thread_id)
    config = runtime if isinstance(runtime, Mapping) else getattr(runtime, "config", None) or {}
    return _session(config.get("configurable", {}).get("thread_id"))


def _session(thread: object) -> str | None:
    """A thread id as a session can be named: none where it is empty, a digest where too long."""
    name = storable(str(thread)) if thread is not None else ""
    return (name if len(name) <= _LONGEST_SESSION else digest(name)) or None


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
        asking = [self._passage_of(message) for message in besides if self._keeps(message)]
        held = [passage for passage in asking if passage is not None]
        if held and len(held) == len(asking):
            how["until"] = min(passage.t_index for passage in held) - 1
        return self.memory.recall(question, **how)

    def held(self, messages: Iterable[BaseMessage]) -> set[str]:
        """The ids of the passages that hold these messages in this session.

        Raises:
            StoreError: the store failed.

        """
        found = (self._passage_of(message) for message in messages if self._keeps(message))
        return {passage.id for passage in found if passage is not None}

    def edited(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """Those that this session holds under their id with another text only: not what a
        ``forget`` left of this one.

        Raises:
            StoreError: the store failed.

        """
        return [
            message
            for message in messages
            if self._keeps(message)
            and self._holds(_id(message))
            and self._passage_of(message) is None
        ]

    def remember(self, messages: Iterable[BaseMessage]) -> list[KnowledgeUpdate]:
        """Write what is remembered of ``messages``, all or nothing; those without text are passed
        over, and those of which something was forgotten: it stays forgotten.

        Raises:
            InvalidInputError: a message cannot be stored.
            StoreError: the store failed; nothing was written.

        """
        now = self.memory.now()
        items = [
            {**self._item(message), "timestamp": now}
            for message in messages
            if self._keeps(message)
        ]
        updates = self._written(items)
        elsewhere = {
            update.id for update in updates if update.duplicate and not self._holds(update.id)
        }
        if elsewhere:  # the same id and text, in another conversation
            for item in items:
                if item["id"] in elsewhere:
                    item["id"] = _own_id(item)
            updates = self._written(items)
        return updates

    def _keeps(self, message: BaseMessage) -> bool:
        return role_of(message) in self.roles and bool(text_of(message).strip())

    def _item(self, message: BaseMessage) -> dict[str, Any]:
        """What is written of a message."""
        role = role_of(message) or "human"
        text = text_of(message)
        return {
            "text": text,
            "speaker": speaker_of(message, role, self.names),
            "session": self.session,
            "id": _id(message),
            # The length tells what a forget has cut from what was edited.
            "metadata": {"role": role, "length": len(text)},
        }

    def _written(self, items: list[dict[str, Any]]) -> list[KnowledgeUpdate]:
        while items:
            try:
                return self.memory.update_many(items, batch_size=len(items))
            except ConflictError as error:
                place = error.index or 0
                item = items[place]
                kept = self.memory.get(item["id"])
                if kept is not None and kept.session == self.session and _is_of(kept, item):
                    del items[place]
                elif item["id"] == _own_id(item):
                    raise
                else:
                    # An id that another conversation uses too, or a message that was edited since.
                    item["id"] = _own_id(item)
        return []

    def _holds(self, id: str) -> bool:
        passage = self.memory.get(id)
        return passage is not None and passage.session == self.session

    def _passage_of(self, message: BaseMessage) -> Passage | None:
        """The passage that holds a message in this session, whole or cut."""
        if not message.id:
            return None
        item = self._item(message)
        for id in (item["id"], _own_id(item)):
            kept = self.memory.get(id)
            if kept is not None and kept.session == self.session and _is_of(kept, item):
                return kept
        return None


def _id(message: BaseMessage) -> str:
    """The passage's id: the message's own, a new one where it has none."""
    if not message.id:
        return uuid.uuid4().hex
    id = storable(message.id)
    return id if len(id) <= _LONGEST_ID else digest(id)


def _is_of(kept: Passage, item: Mapping[str, Any]) -> bool:
    """Whether ``kept`` holds an item's text, or what a ``forget`` left of it: its words, in order,
    of a text that was as long."""
    if kept.metadata.get("length") != len(item["text"]):
        return False
    words = iter(item["text"].split())
    return all(word in words for word in kept.text.split())


def _own_id(item: Mapping[str, Any]) -> str:
    """An id for a message whose own is taken: it depends on all that makes it another message."""
    return digest(str(item["session"]), item["speaker"], item["text"])
