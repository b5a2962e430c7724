"""``RecallMMemory``: a memory for the chains of ``langchain_classic``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Annotated, Any, Self

from langchain_classic.base_memory import BaseMemory
from langchain_classic.memory.utils import get_prompt_input_key
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from langchain_recallm._background import BackgroundWriter, Writing
from langchain_recallm._conversation import (
    MessageConversation,
    WritesInBackground,
    latest_question,
    role_of,
    texts_of,
)
from recallm import InvalidInputError, RecallM
from recallm.adapting import (
    DEFAULT_ROLES,
    SPEAKER_NAMES,
    Accept,
    MessageFilter,
    RecallOptions,
    Redact,
    Role,
    Scope,
    check_budget,
    checked_memory,
    checked_roles,
    checked_session,
    checks,
    shortened_question,
    speaker_names,
)

_Name = Annotated[str, Field(min_length=1)]


class RecallMMemory(WritesInBackground, BaseMemory):
    """The memory of a ``langchain_classic`` chain: it recalls what helps with the chain's input,
    and remembers input and output.

    ``memory``: the memory; ``namespace``: another namespace of it. ``session`` names the
    conversation that is written; other conversations are recalled too, unless ``scope="session"``.
    ``memory_key``: the prompt's variable. ``input_key``, ``output_key``: which of the chain's
    inputs and outputs belong to the conversation; needed where there are several. ``human_prefix``
    and ``ai_prefix`` name the speakers of messages without a name; ``roles``: whose messages are
    remembered ("human", "ai", "tool"). At most ``limit`` statements are recalled, in at most
    ``max_tokens`` tokens, delimiters included (None: no limit).

    ``write="background"``: ``save_context`` returns before the messages are written; the next call
    in the namespace raises what failed, or ``flush()`` does. ``redact`` and ``accept`` decide what
    is written, and ``redact`` what recall asks with, as in ``RecallMMiddleware``.

    The recalled text is delimited as data, or '' where nothing is known. ``return_messages`` makes
    it a human message for a ``MessagesPlaceholder``, or none: people's words must not have the
    developer's authority.

    The input may be a text, a message, or a list of messages; in a list the user's messages since
    the model's last answer count, and the earlier ones, which the model reads anyway, are not
    recalled.

    >>> from recallm import RecallM
    >>> chain_memory = RecallMMemory(memory=RecallM(), session="monday")
    >>> chain_memory.save_context({"input": "I moved to Porto."}, {"output": "How nice!"})
    >>> known = chain_memory.load_memory_variables({"input": "Where did I move to?"})
    >>> "Human: I moved to Porto." in known["history"]
    True
    >>> chain_memory.clear()
    >>> chain_memory.load_memory_variables({"input": "Where did I move to?"})
    {'history': ''}

    Raises:
        ValidationError: a field cannot be used (pydantic's; a ``ValueError``).
        InvalidInputError: in a call, where an input or output is missing, is one of several, or is
            no text or message. As after all that follows, nothing was written or forgotten.
        ClosedError: in a call, where the memory is closed.
        StoreError: in a call, where the store failed.
        Exception: what ``redact`` or ``accept`` raised.

    """

    model_config = ConfigDict(extra="forbid", strict=True)

    memory: RecallM = Field(exclude=True)
    namespace: Annotated[_Name, AfterValidator(checks.namespace)] | None = None
    session: Annotated[_Name, AfterValidator(checked_session)] | None = None
    scope: Scope = "namespace"
    memory_key: _Name = "history"
    input_key: str | None = None
    output_key: str | None = None
    return_messages: bool = False
    human_prefix: str = SPEAKER_NAMES["human"]
    ai_prefix: str = SPEAKER_NAMES["ai"]
    roles: Annotated[Collection[Role], BeforeValidator(checked_roles)] = DEFAULT_ROLES
    max_tokens: int | None = 1000
    limit: int | None = 10
    redact: Redact | None = Field(default=None, exclude=True)
    accept: Accept | None = Field(default=None, exclude=True)
    write: Writing = "durable"

    @model_validator(mode="after")
    def _check_fields_together(self) -> Self:
        speaker_names(self.human_prefix, self.ai_prefix)
        checked_memory(self.memory)
        RecallOptions(limit=self.limit, max_tokens=self.max_tokens).check(self.memory)
        check_budget(self.memory, self.max_tokens)
        self._conversation().only_session()  # scope="session" needs a session
        return self

    @property
    def memory_variables(self) -> list[str]:
        """The key that is added to a chain's inputs."""
        return [self.memory_key]

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What is recalled for the input, under ``memory_key``: a text, or messages."""
        messages = self._input_messages(inputs)
        asking = _asking(messages)
        conversation = self._conversation()
        BackgroundWriter.wait_for(conversation.memory)
        question = shortened_question(conversation.filter.redacted(texts_of(asking)))
        text, _ = conversation.data_beside(
            question, messages, asking=asking, limit=self.limit, max_tokens=self.max_tokens
        )
        if self.return_messages:
            return {self.memory_key: [HumanMessage(content=text)] if text else []}
        return {self.memory_key: text}

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Remember the input and the output of a chain, in order: both or neither."""
        messages = [*_asking(self._input_messages(inputs)), *self._output_messages(outputs)]
        conversation = self._conversation()
        if self.write == "background":
            BackgroundWriter.of(conversation.memory).raise_failure(conversation.memory.namespace)
        conversation.write(messages, self.write)

    def clear(self) -> None:
        """Forget, for good, everything in the namespace, whoever wrote it; with
        ``scope="session"`` only the session."""
        conversation = self._conversation()
        BackgroundWriter.wait_for(conversation.memory)  # or what waits would be written afterwards
        if self.scope == "session":
            conversation.memory.forget(session=conversation.session)
        else:
            conversation.memory.forget(everything=True)

    def _conversation(self) -> MessageConversation:
        memory = self.memory
        if self.namespace is not None:
            memory = memory.in_namespace(self.namespace)
        filter = MessageFilter(redact=self.redact, accept=self.accept)
        return MessageConversation(
            memory=memory,
            session=self.session and filter.redacted_name(self.session, "session"),
            scope=self.scope,
            roles=frozenset(self.roles),
            names=speaker_names(self.human_prefix, self.ai_prefix),
            filter=filter,
        )

    def _input_messages(self, inputs: Mapping[str, Any]) -> list[BaseMessage]:
        key = self.input_key
        if key is None:
            try:
                key = get_prompt_input_key(dict(inputs), self.memory_variables)
            except ValueError as error:
                raise InvalidInputError(
                    f"{error}; say which holds the user's message: input_key='…'",
                    argument="input_key",
                ) from None
        return _messages(inputs, key, "input_key", HumanMessage)

    def _output_messages(self, outputs: Mapping[str, Any]) -> list[BaseMessage]:
        key = self.output_key
        if key is None:
            if len(outputs) == 1:
                [key] = outputs
            elif "output" in outputs:
                key = "output"
                warnings.warn(
                    f"several outputs ({', '.join(outputs)}): 'output' is remembered; give "
                    "output_key='…' for another one",
                    stacklevel=3,
                )
            else:
                raise InvalidInputError(
                    f"One output key expected got {list(outputs)}; say which holds the answer: "
                    "output_key='…'",
                    argument="output_key",
                )
        messages = _messages(outputs, key, "output_key", AIMessage)
        # An agent returns the whole conversation: only what follows the user's message is new.
        places = [place for place, message in enumerate(messages) if role_of(message) == "human"]
        return messages[places[-1] + 1 :] if places else messages


def _asking(messages: list[BaseMessage]) -> list[BaseMessage]:
    """The user's messages since the model's last answer; where there are none, the last message."""
    return latest_question(messages)[0] or messages[-1:]


def _messages(
    values: Mapping[str, Any], key: str, argument: str, kind: Callable[..., BaseMessage]
) -> list[BaseMessage]:
    """The value under ``key`` as messages; a text becomes a message of ``kind``."""
    if key not in values:
        raise InvalidInputError(
            f"{argument} is {key!r}, and the chain has only {list(values)}", argument=argument
        )
    value = values[key]
    if isinstance(value, str):
        return [kind(content=value)]
    if isinstance(value, BaseMessage):
        return [value]
    if isinstance(value, list | tuple):
        if all(map(_is_content, value)):
            return [kind(content=list(value))]
        with suppress(ValueError, NotImplementedError, TypeError, KeyError):
            return convert_to_messages(value)
    raise InvalidInputError(
        f"{key!r} must be a text, a message or a list of messages to be remembered, not "
        f"{checks.shown(value)}",
        argument=argument,
    )


def _is_content(part: object) -> bool:
    """Whether ``part`` is a part of one message's content, not a message."""
    return isinstance(part, str) or (
        isinstance(part, dict) and "type" in part and not part.keys() & {"role", "content"}
    )
