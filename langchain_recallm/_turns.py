"""The turns of agents: what the user asked, what was recalled for it, and what is written.

A turn is what the user said since the model last spoke, and what the model and the tools said to
it. The turns are kept in the middleware, not in the graph's state: no checkpoint, stream or output
contains them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic_core import to_json

from langchain_recallm._conversation import LookedUp, role_of, text_of
from recallm.adapting import new_lock

_MAX_TURNS = 1024


class TurnKey(NamedTuple):
    """The owner's namespace, the thread, and the messages that ask; where there are none, the
    thread's latest turn is meant."""

    namespace: str
    thread: str | None
    asking: tuple[str, ...]

    @classmethod
    def of(cls, namespace: str, thread: str | None, asking: Sequence[BaseMessage]) -> TurnKey:
        """The key of the turn that the messages ``asking`` began: by their ids, since other
        middleware may change their texts."""
        return cls(namespace, thread, tuple(each.id or text_of(each) for each in asking))


@dataclass(slots=True, kw_only=True)
class Turn:
    """What is recalled in one turn, and which of its messages are written.

    Attributes:
        asking: ids of the user's messages.
        was_answered: the model had answered them when the turn began.
        earlier: ids of all messages that the run began with; None in a resumed run, whose beginning
            this process did not see.
        refused: ids of messages with which an earlier run did not reach the model, because another
            middleware stopped it.
        reached_model: this turn has come to a call of the model.
        question: the text that ``recalled_text`` was recalled for; None: not yet.
        recalled_text: what was recalled for the question, as data.
        asking_written: the user's messages are written.
        written: ids of the written messages of the model and the tools.
        lock: held by a tool call that writes, where several run at once.

    """

    asking: frozenset[str]
    was_answered: bool = False
    earlier: frozenset[str] | None = None
    refused: frozenset[str] = frozenset()
    reached_model: bool = False
    question: str | None = None
    recalled_text: str = ""
    asking_written: bool = False
    written: set[str] = field(default_factory=set)
    lock: AbstractContextManager[Any] = field(default_factory=new_lock, repr=False, compare=False)

    def without_refused(self, asking: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The messages that ask, without those that were refused."""
        return [message for message in asking if message.id not in self.refused]

    def refused_in_turn_of(self, asking: frozenset[str]) -> frozenset[str]:
        """The messages of this unfinished turn that count as refused in a later turn of the thread,
        which these messages ask. A turn that asks the same messages again tries them again."""
        if self.reached_model or asking <= self.asking:
            return self.refused
        return self.refused | self.asking

    def unwritten_replies(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The messages of the model and the tools in this turn that are not written yet."""
        if self.earlier is None:
            replies = latest_replies(messages)
        else:
            replies = [
                message
                for message in messages
                if message.id not in self.earlier and role_of(message) in ("ai", "tool")
            ]
        return [message for message in replies if message.id not in self.written]


class Turns:
    """The unfinished turns that were used last, at most ``_MAX_TURNS``; safe to use from several
    threads."""

    def __init__(self) -> None:
        self._turns: OrderedDict[TurnKey, Turn] = OrderedDict()
        self._looked_up = lru_cache(_MAX_TURNS)(_nothing_found)
        self._lock = new_lock()

    def put(self, key: TurnKey, turn: Turn) -> None:
        """Add a turn."""
        with self._lock:
            self._put_latest(key, turn)

    def looked_up(self, namespace: str, thread: str | None) -> LookedUp:
        """What was found of the messages of a thread; of the threads that were used last."""
        if thread is None:
            return {}
        with self._lock:
            return self._looked_up(namespace, thread)

    def get_or_put(self, key: TurnKey, turn: Turn) -> Turn:
        """The turn with this key; where there is none, ``turn``, which is added."""
        with self._lock:
            known = self._known(key)
            found = self._turns.get(known, turn)
            self._put_latest(known, found)
            return found

    def get(self, key: TurnKey) -> Turn | None:
        """The turn with this key; None where this process has none."""
        with self._lock:
            known = self._known(key)
            if known in self._turns:
                self._turns.move_to_end(known)
            return self._turns.get(known)

    def remove(self, key: TurnKey) -> None:
        """Remove a turn that has ended."""
        with self._lock:
            self._turns.pop(self._known(key), None)

    def pop_unfinished(self, key: TurnKey, message_ids: frozenset[str]) -> list[Turn]:
        """Remove and return the unfinished turns of the key's owner and thread (or without a
        thread) whose messages are all among ``message_ids``."""
        with self._lock:
            unfinished = [
                other
                for other, turn in self._turns.items()
                if other[:2] == key[:2]
                # Without a thread, only the messages' ids show that it is the same conversation.
                and (key.thread is not None or turn.asking)
                and turn.asking <= message_ids
            ]
            return [self._turns.pop(other) for other in unfinished]

    def _known(self, key: TurnKey) -> TurnKey:
        """The key of the thread's latest turn, where the user's messages have been summarised away
        since; otherwise ``key``."""
        if not key.asking and key.thread is not None:
            for other in reversed(self._turns):
                if other[:2] == key[:2]:
                    return other
        return key

    def _put_latest(self, key: TurnKey, turn: Turn) -> None:
        """Add a turn; where there are too many, the least recently used goes."""
        self._turns[key] = turn
        self._turns.move_to_end(key)
        while len(self._turns) > _MAX_TURNS:
            self._turns.popitem(last=False)


def _nothing_found(namespace: str, thread: str) -> LookedUp:  # noqa: ARG001
    return {}


def ids_of(messages: Iterable[BaseMessage]) -> frozenset[str]:
    """The ids of the messages that have one."""
    return frozenset(message.id for message in messages if message.id)


def latest_replies(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What the model said last, with what tools said just before it and after it."""
    replies: list[BaseMessage] = []
    has_answer = False
    for message in reversed(messages):
        role = role_of(message)
        if role == "human" or (role == "ai" and has_answer):
            break
        has_answer = has_answer or role == "ai"
        if role is not None:
            replies.append(message)
    return replies[::-1]


def with_structured_response(
    replies: list[BaseMessage], state: Mapping[str, Any]
) -> list[BaseMessage]:
    """The replies; where the last answer was given as a tool call (a structured response), it gets
    its content as JSON text, and the message that only acknowledges the call is left out."""
    response = state.get("structured_response")
    places = [place for place, message in enumerate(replies) if isinstance(message, AIMessage)]
    if response is None or not places:
        return replies
    last = replies[places[-1]]
    if not isinstance(last, AIMessage) or not last.tool_calls:
        return replies  # the response stands in the text
    content = to_json(response, fallback=str).decode()
    call_ids = {call["id"] for call in last.tool_calls}
    following = replies[places[-1] + 1 :]
    return [
        *replies[: places[-1]],
        AIMessage("\n".join(filter(None, (text_of(last), content))), id=last.id, name=last.name),
        *(
            message
            for message in following
            if not (isinstance(message, ToolMessage) and message.tool_call_id in call_ids)
        ),
    ]
