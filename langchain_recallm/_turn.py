"""The turn of a thread: what the user said since the model last spoke, what was recalled for it,
and what is still to be written of it.

The turns of an agent stand beside its graph, not in the graph's state: whatever streams, saves or
gives back that state has nothing of them.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic_core import to_json

from langchain_recallm._messages import role_of, text_of
from recallm.adapting import new_lock

__all__ = [
    "Turn",
    "TurnKey",
    "Turns",
    "asked_last",
    "calls_tools",
    "spoken_last",
    "with_structured",
]

_MOST = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnKey:
    """Whose turn it is: the owner's namespace, the thread, what was asked (a digest of it)."""

    namespace: str
    thread: str | None
    asked: str | None

    @classmethod
    def of(cls, namespace: str, thread: str | None, asked: Sequence[BaseMessage]) -> TurnKey:
        """The key of the turn that these messages ask; where none is left, that of the thread's
        latest. Messages count by their ids: another middleware may change their text."""
        digest = hashlib.sha256()
        for message in asked:
            for part in (message.id or "", "" if message.id else text_of(message)):
                data = part.encode("utf-8", "replace")
                digest.update(len(data).to_bytes(8, "big") + data)
        return cls(namespace=namespace, thread=thread, asked=digest.hexdigest() if asked else None)


@dataclass(slots=True, kw_only=True)
class Turn:
    """What one turn has recalled, and what of its thread is written or was there before.

    ``asked`` are the ids of the user's messages; ``answered`` says whether the model had spoken
    after them when the turn began; ``known`` are the ids of all messages that the run began with,
    None where it is a run that goes on, whose beginning nobody saw here.

    ``refused`` are the ids of messages with which an earlier run never came to the model: another
    middleware stopped it. ``reached`` says that this turn came to it. ``block`` was recalled for
    the text ``question`` (None: nothing yet). ``remembered`` says that what was asked is written,
    ``written`` are the ids of what the model and the tools said and is written; ``postponed`` says
    that something of it waits to be extracted. Tools that run at once take turns by ``lock``.
    """

    asked: frozenset[str]
    answered: bool = False
    known: frozenset[str] | None = None
    refused: frozenset[str] = frozenset()
    reached: bool = False
    question: str | None = None
    block: str = ""
    remembered: bool = False
    postponed: bool = False
    written: set[str] = field(default_factory=set)
    lock: AbstractContextManager[Any] = field(default_factory=new_lock, repr=False, compare=False)

    def let_through(self, asked: Sequence[BaseMessage]) -> list[BaseMessage]:
        """What was asked, without the messages that were refused."""
        return [message for message in asked if message.id not in self.refused]

    def refused_for(self, asked: frozenset[str]) -> frozenset[str]:
        """What of this turn, which was left without an end, counts as refused in a later turn of
        the thread in which these messages are ``asked``: where the very same are asked again, they
        are tried again."""
        if self.reached or asked <= self.asked:
            return self.refused
        return self.refused | self.asked

    def unwritten(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """What the model and the tools said in this turn and is not written yet."""
        if self.known is None:
            new = spoken_last(messages)
        else:
            new = [
                message
                for message in messages
                if message.id not in self.known and role_of(message) in ("ai", "tool")
            ]
        return [message for message in new if message.id not in self.written]


class Turns:
    """The turns that are under way, the ``_MOST`` used last; safe to use from several threads."""

    def __init__(self) -> None:
        self._turns: OrderedDict[TurnKey, Turn] = OrderedDict()
        self._lock = new_lock()

    def __len__(self) -> int:
        return len(self._turns)

    def put(self, key: TurnKey, turn: Turn) -> None:
        """Keep a turn; the one that was used least recently goes where there are too many."""
        with self._lock:
            self._turns[key] = turn
            self._turns.move_to_end(key)
            while len(self._turns) > _MOST:
                self._turns.popitem(last=False)

    def begun(self, key: TurnKey, turn: Turn) -> Turn:
        """The turn that is under way; where there is none, ``turn``, which is kept then."""
        with self._lock:
            found = self._get(key)
            if found is None:
                found = self._turns[key] = turn
            return found

    def get(self, key: TurnKey) -> Turn | None:
        """The turn; None where it is not, or no more, under way here."""
        with self._lock:
            return self._get(key)

    def take(self, key: TurnKey) -> Turn | None:
        """The turn, which is over."""
        with self._lock:
            turn = self._get(key)
            if turn is not None:
                self._drop(turn)
            return turn

    def take_left(self, key: TurnKey, ids: frozenset[str]) -> list[Turn]:
        """The turns of this owner's thread (or without a thread) that were left without an end:
        the messages whose ``ids`` are given hold what they asked."""
        with self._lock:
            left = [
                turn
                for other, turn in self._turns.items()
                if (other.namespace, other.thread) == (key.namespace, key.thread)
                # Without a thread, it is the ids alone that say that it is the same conversation.
                and (key.thread is not None or turn.asked)
                and turn.asked <= ids
            ]
            for turn in left:
                self._drop(turn)
            return left

    def _get(self, key: TurnKey) -> Turn | None:
        if key.asked is None:  # what was asked has been summarised away meanwhile
            place = (key.namespace, key.thread)
            latest = (it for it in reversed(self._turns) if (it.namespace, it.thread) == place)
            found = None if key.thread is None else next(latest, None)
            if found is None:
                return self._turns.get(key)
            key = found
        if key in self._turns:
            self._turns.move_to_end(key)
        return self._turns.get(key)

    def _drop(self, turn: Turn) -> None:
        for key in [key for key, it in self._turns.items() if it is turn]:
            del self._turns[key]


def asked_last(messages: Sequence[BaseMessage]) -> tuple[list[BaseMessage], bool]:
    """What the user said last, since the model spoke before it, and whether it spoke after it."""
    asked: list[BaseMessage] = []
    answered = False
    for message in reversed(messages):
        role = role_of(message)
        if role == "ai":
            if asked:
                break
            answered = True
        elif role == "human" and not _is_summary(message):
            asked.append(message)
    return asked[::-1], answered


def spoken_last(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What the model said last, with what tools said just before it and since."""
    spoken: list[BaseMessage] = []
    answered = False
    for message in reversed(messages):
        role = role_of(message)
        if role == "human" or (role == "ai" and answered):
            break
        answered = answered or role == "ai"
        if role is not None:
            spoken.append(message)
    return spoken[::-1]


def _is_summary(message: BaseMessage) -> bool:
    """Whether LangChain's ``SummarizationMiddleware`` wrote it in the user's name."""
    return message.additional_kwargs.get("lc_source") == "summarization"


def with_structured(answers: list[BaseMessage], state: Mapping[str, Any]) -> list[BaseMessage]:
    """The answers, where the last one was given as a tool call: with its content as JSON, and
    without the message that only acknowledges the call."""
    structured = state.get("structured_response")
    at = max((i for i, it in enumerate(answers) if isinstance(it, AIMessage)), default=None)
    if structured is None or at is None:
        return answers
    last = answers[at]
    if not isinstance(last, AIMessage) or not last.tool_calls:
        return answers  # it stands in the text
    content = to_json(structured, fallback=str).decode()
    calls = {call["id"] for call in last.tool_calls}
    return [
        *answers[:at],
        AIMessage("\n".join(filter(None, (text_of(last), content))), id=last.id, name=last.name),
        *(
            it
            for it in answers[at + 1 :]
            if not (isinstance(it, ToolMessage) and it.tool_call_id in calls)
        ),
    ]


def calls_tools(messages: Sequence[BaseMessage]) -> bool:
    """Whether the last words of the model among ``messages`` come with calls of tools: the turn
    goes on after them."""
    last = next((it for it in reversed(messages) if isinstance(it, AIMessage)), None)
    return last is not None and bool(last.tool_calls)
