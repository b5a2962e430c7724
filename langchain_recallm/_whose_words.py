"""Whose words the messages of a run are. The rule:

    Every message that a person sent in the outermost run is stored once as that person's, every
    answer that the outermost run gave as the assistant's, and nothing else is anybody's words.

* The outermost run is what a program began: a run of LangChain that no other run began. What it was
  given is what a person sent. LangChain's callbacks report both, whatever the graph looks like: the
  names of nodes and the order of messages say neither.
* Its answers are the messages in its result that a chat model wrote, or that a node wrote in which
  a chat model answered. What only code wrote (a limit, a failure after several tries, a greeting)
  is nobody's words.
* A run that began in a thread without its caller's context (``threading.Thread``, a plain
  ``ThreadPoolExecutor``) has no caller that anything names: it is an outermost run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cached_property
from typing import Any
from uuid import UUID, uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langgraph.types import Command
from pydantic import BaseModel

from langchain_recallm._conversation import latest_question, role_of, text_of
from recallm.adapting import digest

_NO_WORDS = frozenset({"type", "action", "name", "id", "edited_action"})
"""Keys of an answer to an interrupt that hold a choice or a tool call, and no text of a person."""

_MOST_VALUES = 10_000
"""How many values of what a run is given are looked through for texts."""

_MAX_IDS = 10_000
_models_ids: OrderedDict[str | None, None] = OrderedDict()
"""The ids of what models wrote last, in all runs: a run that is interrupted goes on in another."""


class OutermostRun:
    """A run that a program began.

    Attributes:
        id: the run's id.
        thread: the id of its thread, if it has one.
        at_start: the messages of its state when its first node began; None: not seen.
        latest: those messages when its latest node began.
        is_recorded: a middleware writes what the person sent, or has written it.
        recorders: called when the run ends, with its result.
        fallback: called in their place where there is none.

    """

    def __init__(self, id: UUID, given: object, thread: str | None) -> None:
        self.id = id
        self.thread = thread
        self.at_start: Sequence[BaseMessage] | None = None
        self.latest: Sequence[BaseMessage] = ()
        self.is_recorded = False
        self.recorders: dict[Hashable, Callable[[object], object]] = {}
        self.fallback: Callable[[object], object] | None = None
        self._given = given
        self._spoken: dict[str, BaseMessage] = {}
        self._rewritten: list[BaseMessage] = []

    # -- what a person sent --------------------------------------------------------------------

    @cached_property
    def sent(self) -> list[BaseMessage]:
        """The messages that the run was given."""
        return _messages_in(self._given)

    @property
    def goes_on(self) -> bool:
        """Whether it was given nothing that a person said: it goes on where another one stopped."""
        return not self.sent and not self._texts

    @cached_property
    def _texts(self) -> frozenset[str]:
        """The texts that the run was given where it was given no message."""
        return frozenset() if self.sent else frozenset(_texts_in(self._given)) - {""}

    @cached_property
    def _asked(self) -> tuple[list[BaseMessage], bool]:
        places_of = {id(message): place for place, message in enumerate(self.sent)}
        asking, answered = latest_question(self.sent)
        return [self._with_id(message, places_of[id(message)]) for message in asking], answered

    def _with_id(self, message: BaseMessage, place: int) -> BaseMessage:
        """The message with the id that the run's state has given it, or one of its own."""
        if message.id:
            return message
        for other in reversed(self.at_start or ()):
            if _is_same(message, other) and other.id:
                return other
        return message.model_copy(update={"id": f"{self.id}-{place}"})

    @property
    def is_all_new(self) -> bool:
        """Whether the run's thread holds more than it was given: an app that keeps the history
        itself hands in all of it."""
        return len(self.at_start or ()) > len(self.sent)

    def asking_in(self, messages: Sequence[BaseMessage]) -> tuple[list[BaseMessage], bool]:
        """The person's messages in the state of the outermost graph, and whether they were given
        with an answer. A run that was given none goes on with the state's latest question."""
        asking, answered = self._asked
        if not asking:
            return latest_question(messages)
        found = _with_ids(messages, [message.id for message in asking])
        if not found:  # summarised away, or replaced by messages with other ids
            latest, _ = latest_question(messages)
            found = self.new(latest)
        return found, answered

    def said_to(self, messages: Sequence[BaseMessage]) -> tuple[list[BaseMessage], bool]:
        """What the person sent, in the words in which the state of the run or of an agent within it
        (``messages``) has it now; and whether that agent was given it."""
        asking, _ = self._asked
        if not asking:  # a text that is no message
            own = [
                message.model_copy(update={"id": digest(str(self.id), text_of(message))})
                for message in latest_question(messages)[0]
                if text_of(message).strip() in self._texts
            ]
            return own, bool(own)
        found: list[BaseMessage] = []
        is_heard = False
        for message in asking:
            here = next(
                (other for other in reversed(messages) if other.id == message.id),
                next((other for other in messages if _is_same(other, message)), None),
            )
            is_heard = is_heard or here is not None
            now = here or next(iter(_with_ids(self.latest, [message.id])), message)
            found.append(now if now.id == message.id else message)
        return found, is_heard

    @cached_property
    def answers_to_interrupts(self) -> list[BaseMessage]:
        """What a person answered to ``interrupt()``, in texts."""
        resume = self._given.resume if isinstance(self._given, Command) else None
        return [
            HumanMessage(text, id=f"{self.id}-resume-{place}")
            for place, text in enumerate(_resume_texts(resume))
        ]

    # -- what it answered ----------------------------------------------------------------------

    def stood_at_start(self, message: BaseMessage) -> bool:
        """Whether the message was in the run's state when it began."""
        return message.id in self._ids_at_start

    def new(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The messages that the run has added: no earlier run wrote them into the memory."""
        return [message for message in messages if not self.stood_at_start(message)]

    @cached_property
    def _ids_at_start(self) -> frozenset[str | None]:
        return frozenset(message.id for message in self.at_start or ())

    def is_a_models(self, message: BaseMessage) -> bool:
        """Whether a chat model wrote the message, as far as this run knows: in it, or before it
        where the message calls tools, which nobody else does."""
        if message.id in self._spoken or message.id in _models_ids:
            return True
        if any(
            message.id == other.id if other.id else _is_same(message, other)
            for other in self._rewritten
        ):
            return True
        calls = isinstance(message, AIMessage) and bool(message.tool_calls)
        return calls and self.stood_at_start(message)

    def replies(
        self, messages: Sequence[BaseMessage], to_interrupts: Sequence[BaseMessage]
    ) -> list[BaseMessage]:
        """What is to be written of the replies in the state of the outermost run's agent: those of
        models and tools, and what a person answered ``to_interrupts``."""
        own = [
            message for message in messages if role_of(message) != "ai" or self.is_a_models(message)
        ]
        earlier = [message for message in own if self.stood_at_start(message)]
        return [*earlier, *to_interrupts, *own[len(earlier) :]]

    def answers_in(self, result: object) -> list[BaseMessage]:
        """The messages of models and tools that the run's ``result`` adds to its state."""
        answers: list[BaseMessage] = []
        said = {text_of(message) for message in self._spoken.values()}
        for message in _messages_in(result):
            role = role_of(message)
            if not self.stood_at_start(message) and (
                role == "tool"
                or (role == "ai" and (self.is_a_models(message) or text_of(message) in said))
            ):
                answers.append(message)
        texts = frozenset(_texts_in(result))
        return answers or [
            message for message in self._spoken.values() if text_of(message).strip() in texts
        ]

    # -- what callbacks report -----------------------------------------------------------------

    def see(self, state: object) -> None:
        """Note the messages that a node of the run got."""
        messages = state.get("messages") if isinstance(state, Mapping) else None
        if isinstance(messages, list) and messages and isinstance(messages[-1], BaseMessage):
            self.latest = messages
            if self.at_start is None:
                self.at_start = messages

    def speak(self, message: BaseMessage) -> None:
        """Note what a chat model answered."""
        self._spoken[message.id or str(len(self._spoken))] = message
        if message.id:
            _models_ids[message.id] = None
            while len(_models_ids) > _MAX_IDS:
                _models_ids.popitem(last=False)

    def rewrite(self, written: object) -> None:
        """Note the answers that a node wrote in which a chat model answered."""
        for message in _messages_in(written):
            if role_of(message) == "ai" and message.id not in self._spoken:
                self._rewritten.append(message)

    def end(self, result: object) -> None:
        """Let middleware write what the run answered."""
        recorders = list(self.recorders.values())
        if not recorders and not self.is_recorded and self.fallback is not None:
            recorders = [self.fallback]
        for record in recorders:
            record(result)


class UnknownRun(OutermostRun):
    """A run that began before there was a middleware: everything in its state counts."""

    def __init__(self) -> None:
        super().__init__(uuid4(), None, None)

    def stood_at_start(self, message: BaseMessage) -> bool:  # noqa: ARG002
        """It does."""
        return True

    def is_a_models(self, message: BaseMessage) -> bool:  # noqa: ARG002
        """It is."""
        return True


# -- messages and texts in what a graph or a chain is given, and in what it gives ---------------


def _fields_of(value: object) -> Mapping[str, object]:
    """The state in what a graph or a chain is given, or gives."""
    if isinstance(value, Command):
        value = value.update
    if isinstance(value, BaseMessage) or (isinstance(value, Mapping) and "content" in value):
        return {"messages": [value]}
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return vars(value)
    if isinstance(value, list | tuple) and any(isinstance(each, Command) for each in value):
        found = [message for each in value for message in _messages_in(each)]
        return {"messages": found}
    return {"messages" if isinstance(value, list) else "": value}


def _messages_in(value: object) -> list[BaseMessage]:
    """The messages in a graph's state, in what is made one, or in the result of a chain."""
    found: list[BaseMessage] = []
    for name, given in _fields_of(value).items():
        items: Sequence[Any] = given if isinstance(given, list | tuple) else [given]
        if name == "messages" and given is not None:
            try:
                found += convert_to_messages(items)
            except (ValueError, NotImplementedError, TypeError, KeyError, AttributeError):
                continue
        else:
            found += [item for item in items if isinstance(item, BaseMessage)]
    return found


def _texts_in(value: object) -> list[str]:
    """The texts in what a graph or a chain is given, or gives, however deep they stand in it."""
    found: list[str] = []
    waiting: list[object] = [value]
    for _ in range(_MOST_VALUES):
        if not waiting:
            break
        item = waiting.pop()
        if isinstance(item, str):
            found.append(item.strip())
        elif isinstance(item, BaseMessage):
            found.append(text_of(item).strip())
        elif isinstance(item, Command):
            waiting.append(item.update)
        elif isinstance(item, list | tuple):
            waiting += item
        elif isinstance(item, Mapping):
            waiting += item.values()
        elif isinstance(item, BaseModel) or (is_dataclass(item) and not isinstance(item, type)):
            waiting += vars(item).values()
    return found


def _resume_texts(value: object) -> list[str]:
    """The texts in an answer to an interrupt: a text, or texts in lists and mappings, without
    choices and tool calls."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, Mapping):
        if isinstance(value.get("args"), Mapping):
            return []
        value = [answer for key, answer in value.items() if key not in _NO_WORDS]
    if isinstance(value, list | tuple):
        return [text for each in value for text in _resume_texts(each)]
    return []


def _is_same(message: BaseMessage, other: BaseMessage) -> bool:
    return role_of(message) == role_of(other) and message.content == other.content


def _with_ids(messages: Sequence[BaseMessage], ids: Iterable[str | None]) -> list[BaseMessage]:
    """The messages with these ids, looked for from the end."""
    wanted = {id for id in ids if id}
    found: list[BaseMessage] = []
    for message in reversed(messages):
        if len(found) == len(wanted):
            break
        if message.id in wanted:
            found.append(message)
    return found[::-1]
