"""What ``RecallMMiddleware`` recalls and writes in the hooks of an agent.

* The user's messages are recalled for first and written then, both just before the model is called:
  they are not lost when the model fails, the question is not recalled as knowledge, and other
  middleware has seen the messages by then.
* What the model says beside a tool call is written just before the first tool runs, a final reply
  when the agent ends: by then all other middleware has seen it. Where the agent is a part of the
  outermost run, replies are written when that ends: only then it is known which it answers.
* Where another middleware ends a run before the model is reached, nothing of the turn is written.
* Only the messages that a run adds are written: an app without checkpoints hands in the whole
  history each time, and the earlier messages are known already.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import Any

from langchain.agents.middleware.types import AgentState, ModelRequest
from langchain_core.messages import AIMessage, BaseMessage

from langchain_recallm._background import BackgroundWriter, Writing
from langchain_recallm._branches import follow_branch
from langchain_recallm._conversation import (
    MessageConversation,
    latest_question,
    loss_of,
    role_of,
    texts_of,
    thread_state,
)
from langchain_recallm._hearing import run_of_agent
from langchain_recallm._runs import Namespace, memory_of_run, thread_of_run
from langchain_recallm._turns import (
    Turn,
    TurnKey,
    Turns,
    ids_of,
    with_structured_response,
)
from langchain_recallm._whose_words import OutermostRun
from langchain_recallm.retriever import traced
from recallm.adapting import Conversation, FailureGuard, shortened_question

_log = logging.getLogger("langchain_recallm")

SEPARATOR = "\n\n"
"""What stands between a message's own text and the recalled text."""

_NOT_REACHED = (
    "%d message(s) of the user were not remembered: the run ended before it reached the model "
    "(another middleware ended it, or failed)"
)
_NOT_SENT = (
    "what the agent was asked is not remembered: the run that the program began was given no such "
    "text, so that no person has sent it"
)


@dataclass(frozen=True, slots=True)
class _Hook:
    """What a hook of an agent works with.

    Attributes:
        messages: those of the agent's state.
        run: the outermost run in which the agent runs.
        is_outermost: the agent is that run itself, not a part of it.
        to_interrupts: what a person answered to interrupts in it, where that is written.
        conversation: where its messages are remembered.
        asking: the messages that ask.
        was_answered: the model has answered them already.
        key: that of the turn that they began.

    """

    messages: Sequence[BaseMessage]
    run: OutermostRun
    is_outermost: bool
    to_interrupts: list[BaseMessage]
    conversation: MessageConversation
    asking: list[BaseMessage]
    was_answered: bool
    key: TurnKey


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMemory:
    """The settings of a middleware, and the turns of its agents. The conversation of each run is
    made from ``conversation``. A failure of the memory goes to the ``guard``. Where a run's
    namespace is missing, the failure is raised unless ``skips_missing``."""

    conversation: MessageConversation
    namespace: Namespace
    limit: int | None
    max_tokens: int | None
    min_score: float | None
    guard: FailureGuard
    remember_interrupts: bool = False
    skips_missing: bool = False
    writing: Writing = "durable"
    turns: Turns = field(default_factory=Turns)

    # -- the hooks of an agent -----------------------------------------------------------------

    def begin_turn(self, messages: Sequence[BaseMessage], runtime: Any) -> None:
        """Begin a turn. Of unfinished turns of the thread write what the model said beside tool
        calls."""
        hook = self._hook(runtime, messages, logs=True)
        if hook is None:
            return
        self._raise_failure(hook.conversation)
        asking_ids, message_ids = ids_of(hook.asking), ids_of(messages)
        refused: frozenset[str] = frozenset()
        for turn in self.turns.pop_unfinished(hook.key, message_ids):
            refused |= turn.refused_in_turn_of(asking_ids)
            # A final reply that is not written yet was stopped by another middleware.
            beside_calls = [
                message
                for message in turn.unwritten_replies(messages)
                if isinstance(message, AIMessage) and message.tool_calls
            ]
            if hook.is_outermost:
                self._write(beside_calls, hook.conversation)
        if refused:
            _log.warning(_NOT_REACHED, len(refused))
        turn = Turn(
            asking=asking_ids,
            was_answered=hook.was_answered,
            earlier=message_ids,
            refused=refused,
        )
        self.turns.put(hook.key, turn)

    def before_model(self, request: ModelRequest[Any]) -> str:
        """Recall for the question of the turn, then write the question; returns the recalled text.
        A run that was interrupted in another process recalls again."""
        hook = self._hook(request.runtime, request.state["messages"])
        if hook is None:
            return ""
        conversation = hook.conversation
        self._raise_failure(conversation)
        turn = self.turns.get(hook.key)
        goes_on = turn is None
        if turn is None:
            turn = self._resumed_turn(hook)
        if goes_on or hook.to_interrupts:
            # Where a person refused a tool call, no tool ran that would write the words beside it.
            self._write_replies(turn, hook)
        turn.reached_model = True
        if turn.question is None or not hook.was_answered:
            self.guard.run(lambda: follow_branch(conversation), "another branch is not withdrawn")
        question = texts_of(turn.without_refused(hook.asking))
        try:
            # The text under the same ids differs where other middleware has changed it.
            if turn.question is None or (hook.asking and question != turn.question):
                turn.recalled_text = self._recalled_text(question, turn, hook, request.messages)
                turn.question = question
        finally:  # the question is written even where recall failed
            self._write_question(turn, hook)
        return turn.recalled_text

    def before_tool(self, messages: Sequence[BaseMessage], runtime: Any) -> None:
        """Write what the model and earlier tools said before this tool call; for several calls of
        one message once."""
        hook = self._hook(runtime, messages)
        if hook is None:
            return
        turn = self.turns.get(hook.key) or self._resumed_turn(hook)
        if turn.reached_model:
            with turn.lock:
                self._write_question(turn, hook)
                self._write_replies(turn, hook)

    def end_turn(self, state: AgentState[Any], runtime: Any) -> None:
        """Write the rest of the turn. Where the run ended before the model was reached, write
        nothing."""
        messages: Sequence[BaseMessage] = state["messages"]
        hook = self._hook(runtime, messages)
        if hook is None:
            return
        turn = self.turns.get(hook.key)
        if turn is None and hook.asking and not hook.was_answered:  # it ended before ``begin_turn``
            turn = self.turns.get_or_put(hook.key, Turn(asking=ids_of(hook.asking)))
        if turn is not None and not turn.reached_model:
            # The turn stays: later runs of the thread count its messages as refused.
            _log.warning(_NOT_REACHED, len(hook.asking))
            return
        if turn is not None:
            self.turns.remove(hook.key)
            self._write_question(turn, hook)
            replies = turn.unwritten_replies(messages)
        else:  # a resumed run without a call of the model: all before its tools is written already
            spoken = ("ai", "human")
            ends = takewhile(lambda message: role_of(message) not in spoken, reversed(messages))
            replies = list(ends)[::-1]
        replies = hook.run.replies(replies, hook.to_interrupts)
        replies = with_structured_response(replies, state) if hook.is_outermost else []
        self._write(replies, hook.conversation)

    def _hook(
        self, runtime: Any, messages: Sequence[BaseMessage], *, logs: bool = False
    ) -> _Hook | None:
        """What a hook needs, of a run whose state holds ``messages``; None where the run's
        namespace is missing, and that is skipped; one hook of a run ``logs`` that."""
        run, is_outermost = run_of_agent()
        try:
            memory = memory_of_run(self.conversation.memory, self.namespace, runtime)
        except Exception as error:
            if not self.skips_missing:
                raise
            if logs:
                _log.warning("nothing is recalled or remembered: %s", error)
            return None
        session = thread_of_run(runtime)
        if not is_outermost:
            session = Conversation.session_name(run.thread) or session
        session = session and self.conversation.filter.redacted_name(session, "session")
        conversation = replace(
            self.conversation,
            memory=memory,
            session=session,
            looked_up=self.turns.looked_up(memory.namespace, session),
            thread=thread_state(runtime, messages),
        )
        asking, was_answered = (run.asking_in if is_outermost else latest_question)(messages)
        return _Hook(
            messages=messages,
            run=run,
            is_outermost=is_outermost,
            to_interrupts=run.answers_to_interrupts if self.remember_interrupts else [],
            conversation=conversation,
            asking=asking,
            was_answered=was_answered,
            key=TurnKey.of(memory.namespace, session, asking),
        )

    # -- recalling -----------------------------------------------------------------------------

    def _recalled_text(
        self, question: str, turn: Turn, hook: _Hook, request: Sequence[BaseMessage]
    ) -> str:
        """What is recalled for ``question`` beside the messages of the ``request``, as data; ''
        where nothing is recalled, or the memory failed."""
        if not question:
            return ""
        conversation = hook.conversation
        max_tokens = self.max_tokens
        if max_tokens is not None:
            max_tokens -= conversation.memory.count_tokens(SEPARATOR)

        def recalled() -> str:
            BackgroundWriter.wait_for(conversation.memory)
            asked = shortened_question(conversation.filter.redacted(question))
            beside = partial(
                conversation.data_beside,
                asked,
                request,
                asking=turn.without_refused(hook.asking),
                new=[*hook.asking, *hook.run.new(request)],
                limit=self.limit,
                max_tokens=max_tokens,
                min_score=self.min_score,
            )
            return traced(beside, asked, conversation)[0]

        return self.guard.run(recalled, "nothing was recalled") or ""

    def _resumed_turn(self, hook: _Hook) -> Turn:
        """The turn of a run that was interrupted in another process, which wrote the question.
        Where the question has been forgotten since, the replies are not written again."""
        conversation = hook.conversation
        BackgroundWriter.wait_for(conversation.memory)
        turn = Turn(asking=ids_of(hook.asking), was_answered=hook.was_answered, reached_model=True)

        def is_forgotten() -> bool:
            questions = conversation.core_messages(hook.asking)
            return bool(questions) and not any(conversation.passages_of_messages(questions))

        if hook.was_answered and self.guard.run(is_forgotten, "what was forgotten is not known"):
            turn.written.update(ids_of(hook.messages))
        return self.turns.get_or_put(hook.key, turn)

    # -- writing -------------------------------------------------------------------------------

    def _write_question(self, turn: Turn, hook: _Hook) -> None:
        """Write what a person sent, where that is not done."""
        run, conversation = hook.run, hook.conversation
        if hook.is_outermost:
            if not turn.asking_written:
                run.is_recorded = True
                turn.asking_written = self._write(self._new_asking(turn, hook), conversation)
            return
        said, is_heard = run.said_to(hook.messages)
        if is_heard:
            run.is_recorded = True
            owner = (id(self), conversation.memory.namespace)
            run.recorders[owner] = partial(self._record, hook, [])
            if not turn.asking_written:
                turn.asking_written = self._write(turn.without_refused(said), conversation)
        elif run.fallback is None:
            if not said:
                _log.warning(_NOT_SENT)
            run.fallback = partial(self._record, hook, said)

    def _new_asking(self, turn: Turn, hook: _Hook) -> list[BaseMessage]:
        """The messages that ask, without those that an earlier run wrote. The user may have edited
        some since; or they are handed in with a beginning of the answer."""
        run, conversation = hook.run, hook.conversation
        asking = turn.without_refused(hook.asking)
        if not turn.was_answered or run.is_all_new:
            return asking
        BackgroundWriter.wait_for(conversation.memory)
        unknown = conversation.edited if run.goes_on else conversation.unwritten
        return self.guard.run(lambda: unknown(asking), "what is new was not seen") or []

    def _record(self, hook: _Hook, said: Sequence[BaseMessage], result: object) -> None:
        """Write what a person ``said`` and what the outermost run answered, now that it has
        ended."""
        answers = hook.run.answers_in(result)
        state = result if isinstance(result, Mapping) else {}
        replies = with_structured_response([*hook.to_interrupts, *answers], state)
        self._write([*said, *replies], hook.conversation)

    def _write_replies(self, turn: Turn, hook: _Hook) -> None:
        """Write the unwritten messages of the model and the tools in this turn."""
        if not hook.is_outermost:
            return
        replies = hook.run.replies(turn.unwritten_replies(hook.messages), hook.to_interrupts)
        new = [message for message in replies if message.id not in turn.written]
        if self._write(new, hook.conversation):
            turn.written.update(ids_of(new))

    def _write(self, messages: Sequence[BaseMessage], conversation: MessageConversation) -> bool:
        """Write messages; returns whether that succeeded, or is left to the background."""
        if not messages:
            return True

        def write() -> bool:
            conversation.write(messages, self.writing)
            return True

        return self.guard.run(write, loss_of(messages)) is not None

    def _raise_failure(self, conversation: MessageConversation) -> None:
        """Raise what failed in the background since the last call, where errors are raised."""
        if self.writing == "background" and self.guard.raise_errors:
            BackgroundWriter.of(conversation.memory).raise_failure(conversation.memory.namespace)
