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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from langchain.agents.middleware.types import AgentState, ModelRequest
from langchain_core.messages import BaseMessage

from langchain_recallm._branches import follow_branch
from langchain_recallm._conversation import MessageConversation, role_of, texts_of
from langchain_recallm._documents import traced
from langchain_recallm._hearing import Hearing, hearing_of_run
from langchain_recallm._runs import Namespace, memory_of_run, thread_of_run
from langchain_recallm._threads import thread_state
from langchain_recallm._turns import (
    Turn,
    TurnKey,
    Turns,
    calls_tools,
    ids_of,
    latest_replies,
    with_structured_response,
)
from recallm import RecallM
from recallm.adapting import (
    BackgroundWriter,
    FailureGuard,
    MessageFilter,
    Role,
    Scope,
    Writing,
    extract_some_postponed,
    is_long,
    is_postponed,
    postpone,
    shortened_question,
)

__all__ = ["SEPARATOR", "AgentMemory"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMemory:
    """The settings of a middleware, and the turns of its agents. A failure of the memory goes to
    the ``guard``. Where a run's namespace is missing, the failure is raised unless
    ``skips_missing``."""

    memory: RecallM
    namespace: Namespace
    scope: Scope
    roles: frozenset[Role]
    names: Mapping[Role, str]
    filter: MessageFilter
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
        hearing = self._hearing()
        conversation = self._conversation(runtime, hearing, messages, logs=True)
        if conversation is None:
            return
        self._raise_failure(conversation)
        asking, was_answered = hearing.asking(messages)
        key, message_ids = _key(conversation, asking), ids_of(messages)
        refused: frozenset[str] = frozenset()
        for turn in self.turns.pop_unfinished(key, message_ids):
            refused |= turn.refused_in_turn_of(ids_of(asking))
            # A final reply that is not written yet was stopped by another middleware.
            beside_calls = [it for it in turn.unwritten_replies(messages) if calls_tools([it])]
            if hearing.is_outermost:
                self._write(beside_calls, conversation)
        if refused:
            _log.warning(_NOT_REACHED, len(refused))
        turn = Turn(
            asking=ids_of(asking), was_answered=was_answered, earlier=message_ids, refused=refused
        )
        self.turns.put(key, turn)

    def before_model(self, request: ModelRequest[Any]) -> str:
        """Recall for the question of the turn, then write the question; returns the recalled text.
        A run that was interrupted in another process recalls again."""
        hearing = self._hearing()
        messages = request.state["messages"]
        conversation = self._conversation(request.runtime, hearing, messages)
        if conversation is None:
            return ""
        self._raise_failure(conversation)
        asking, was_answered = hearing.asking(messages)
        turn = self.turns.get(_key(conversation, asking))
        goes_on = turn is None
        if turn is None:
            turn = self._resumed_turn(messages, conversation, hearing)
        if goes_on or hearing.answers_to_interrupts:
            # Where a person refused a tool call, no tool ran that would write the words beside it.
            self._write_replies(turn, messages, conversation, hearing)
        turn.reached_model = True
        if turn.question is None or not was_answered:
            self.guard.run(lambda: follow_branch(conversation), "another branch is not withdrawn")
        question = texts_of(turn.without_refused(asking))
        try:
            # The text under the same ids differs where other middleware has changed it.
            if turn.question is None or (asking and question != turn.question):
                turn.recalled_text = self._recalled_text(
                    question,
                    turn,
                    asking,
                    conversation,
                    request.messages,
                    hearing.new(request.messages),
                )
                turn.question = question
        finally:  # the question is written even where recall failed
            self._write_question(turn, messages, conversation, hearing)
        return turn.recalled_text

    def before_tool(self, messages: Sequence[BaseMessage], runtime: Any) -> None:
        """Write what the model and earlier tools said before this tool call; for several calls of
        one message once."""
        hearing = self._hearing()
        conversation = self._conversation(runtime, hearing, messages)
        if conversation is None:
            return
        asking, _ = hearing.asking(messages)
        key = _key(conversation, asking)
        turn = self.turns.get(key) or self._resumed_turn(messages, conversation, hearing)
        if turn.reached_model:
            with turn.lock:
                self._write_question(turn, messages, conversation, hearing)
                self._write_replies(turn, messages, conversation, hearing)

    def end_turn(self, state: AgentState[Any], runtime: Any) -> None:
        """Write the rest of the turn, and extract postponed messages. Where the run ended before
        the model was reached, write nothing."""
        hearing, messages = self._hearing(), state["messages"]
        conversation = self._conversation(runtime, hearing, messages)
        if conversation is None:
            return
        asking, was_answered = hearing.asking(messages)
        key = _key(conversation, asking)
        turn = self.turns.get(key)
        if turn is None and asking and not was_answered:  # it ended before ``begin_turn``
            turn = self.turns.get_or_put(key, Turn(asking=ids_of(asking)))
        if turn is not None and not turn.reached_model:
            # The turn stays: later runs of the thread count its messages as refused.
            _log.warning(_NOT_REACHED, len(asking))
            return
        if turn is not None:
            self.turns.remove(key)
            self._write_question(turn, messages, conversation, hearing)
            replies = hearing.replies(turn.unwritten_replies(messages))
        else:  # a resumed run without a call of the model: earlier replies are written already
            replies = latest_replies(messages)
            places = [place for place, it in enumerate(replies) if role_of(it) == "ai"]
            replies = hearing.replies(replies[places[-1] + 1 :] if places else replies)
        replies = with_structured_response(replies, state) if hearing.is_outermost else []
        if turn is None or turn.asking_written:
            self._do(
                lambda _: extract_some_postponed(conversation.memory, conversation.session),
                "long messages are not extracted",
                conversation,
            )
        self._write(replies, conversation, postpones=False)

    # -- recalling -----------------------------------------------------------------------------

    def _hearing(self) -> Hearing:
        return hearing_of_run(with_interrupts=self.remember_interrupts)

    def _conversation(
        self, runtime: Any, hearing: Hearing, messages: Sequence[BaseMessage], *, logs: bool = False
    ) -> MessageConversation | None:
        """The conversation of a run whose state holds ``messages``; None where its namespace is
        missing, and that is skipped; one hook of a run ``logs`` that."""
        try:
            memory = memory_of_run(self.memory, self.namespace, runtime)
        except Exception as error:
            if not self.skips_missing:
                raise
            if logs:
                _log.warning("nothing is recalled or remembered: %s", error)
            return None
        session = self.filter.redacted_name(hearing.session or thread_of_run(runtime), "session")
        return MessageConversation(
            memory=memory,
            session=session,
            looked_up=self.turns.looked_up(memory.namespace, session),
            scope=self.scope,
            roles=self.roles,
            names=self.names,
            filter=self.filter,
            thread=thread_state(runtime, messages),
        )

    def _recalled_text(
        self,
        question: str,
        turn: Turn,
        asking: Sequence[BaseMessage],
        conversation: MessageConversation,
        request_messages: Sequence[BaseMessage],
        new: Sequence[BaseMessage],
    ) -> str:
        """What is recalled for ``question`` beside the messages of the request, of which some are
        ``new``, as data; '' where nothing is recalled, or the memory failed."""
        if not question:
            return ""
        max_tokens = self.max_tokens
        if max_tokens is not None:
            max_tokens -= conversation.memory.count_tokens(SEPARATOR)

        def recalled() -> str:
            BackgroundWriter.wait_for(conversation.memory)
            asked = shortened_question(self.filter.redacted(question))
            recall = partial(
                conversation.recall,
                asked,
                asking=conversation.core_messages(turn.without_refused(asking)),
                limit=self.limit,
                min_score=self.min_score,
            )
            beside = partial(
                conversation.data_beside,
                asked,
                request_messages,
                recall,
                asking=[*asking, *new],
                limit=self.limit,
                max_tokens=max_tokens,
            )
            return traced(beside, asked, conversation)[0]

        return self.guard.run(recalled, "nothing was recalled") or ""

    def _resumed_turn(
        self, messages: Sequence[BaseMessage], conversation: MessageConversation, hearing: Hearing
    ) -> Turn:
        """The turn of a run that was interrupted in another process, which wrote the question.
        Where the question has been forgotten since, the replies are not written again."""
        BackgroundWriter.wait_for(conversation.memory)
        asking, was_answered = hearing.asking(messages)
        turn = Turn(asking=ids_of(asking), was_answered=was_answered, reached_model=True)

        def is_forgotten() -> bool:
            questions = conversation.core_messages(asking)
            return bool(questions) and not any(
                conversation.passage_id(it) or is_postponed(conversation, it) for it in questions
            )

        if was_answered and self.guard.run(is_forgotten, "what was forgotten is not known"):
            turn.written.update(ids_of(messages))
        return self.turns.get_or_put(_key(conversation, asking), turn)

    # -- writing -------------------------------------------------------------------------------

    def _write_question(
        self,
        turn: Turn,
        messages: Sequence[BaseMessage],
        conversation: MessageConversation,
        hearing: Hearing,
    ) -> None:
        """Write what a person sent, where that is not done."""
        run = hearing.run
        if turn.asking_written and (run is None or hearing.is_outermost):
            return
        if run is None or hearing.is_outermost:
            new = turn.without_refused(hearing.asking(messages)[0])
            if run is not None:
                run.is_recorded = True
            if turn.was_answered and not hearing.is_all_new:
                # An earlier run wrote them; the user may have edited some since. Or they are handed
                # in with a beginning of the answer.
                BackgroundWriter.wait_for(conversation.memory)
                unknown = conversation.edited if hearing.goes_on else conversation.unwritten
                new = self.guard.run(lambda: unknown(new), "what is new was not seen") or []
            turn.asking_written = self._write(new, conversation, turn)
            return
        said, is_heard = run.said_to(messages)
        if is_heard:
            run.is_recorded = True
            owner = (id(self), conversation.memory.namespace)
            run.recorders[owner] = partial(self._record, conversation, hearing, [])
            if not turn.asking_written:
                new = turn.without_refused(said)
                turn.asking_written = self._write(new, conversation, turn)
        elif run.fallback is None:
            if not said:
                _log.warning(_NOT_SENT)
            run.fallback = partial(self._record, conversation, hearing, said)

    def _record(
        self,
        conversation: MessageConversation,
        hearing: Hearing,
        said: Sequence[BaseMessage],
        result: object,
    ) -> None:
        """Write what a person ``said`` and what the outermost run answered, now that it has
        ended."""
        answers = hearing.run.answers_in(result) if hearing.run else []
        state = result if isinstance(result, Mapping) else {}
        replies = with_structured_response([*hearing.answers_to_interrupts, *answers], state)
        self._write([*said, *replies], conversation, postpones=False)

    def _write_replies(
        self,
        turn: Turn,
        messages: Sequence[BaseMessage],
        conversation: MessageConversation,
        hearing: Hearing,
    ) -> None:
        """Write the unwritten messages of the model and the tools in this turn."""
        if not hearing.is_outermost:
            return
        new = [
            it
            for it in hearing.replies(turn.unwritten_replies(messages))
            if it.id not in turn.written
        ]
        if self._write(new, conversation, turn):
            turn.written.update(ids_of(new))

    def _write(
        self,
        messages: Sequence[BaseMessage],
        conversation: MessageConversation,
        turn: Turn | None = None,
        *,
        postpones: bool = True,
    ) -> bool:
        """Write messages; returns whether that succeeded, or is left to the background. Long ones,
        and those after them in the turn, are postponed where the model is still called
        (``postpones``) and would wait for them."""
        if not messages:
            return True
        waits = postpones and self.writing == "durable"

        def write(at: datetime) -> None:
            new = conversation.messages_to_write(messages)
            after_postponed = turn is not None and turn.has_postponed
            if waits and (after_postponed or is_long(new)):
                postpone(conversation, new)
                if turn is not None:
                    turn.has_postponed = True
            else:
                conversation.remember(new, at=at)

        return self._do(write, f"{len(messages)} message(s) were not remembered", conversation)

    def _do(
        self, work: Callable[[datetime], object], loss: str, conversation: MessageConversation
    ) -> bool:
        """Do what writes with the present time, or leave it to the background; returns whether that
        succeeded."""
        memory = conversation.memory

        def do() -> bool:
            now = memory.now()
            if self.writing == "background":
                writer = BackgroundWriter.of(memory)
                writer.put(memory.namespace, lambda: work(now), loss, _log)
            else:
                work(now)
            return True

        return self.guard.run(do, loss) is not None

    def _raise_failure(self, conversation: MessageConversation) -> None:
        """Raise what failed in the background since the last call, where errors are raised."""
        if self.writing == "background" and self.guard.raise_errors:
            BackgroundWriter.of(conversation.memory).raise_failure(conversation.memory.namespace)


def _key(conversation: MessageConversation, asking: Sequence[BaseMessage]) -> TurnKey:
    return TurnKey.of(conversation.memory.namespace, conversation.session, asking)
