"""What the tools over a memory do, each in one call of a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

from langchain_core.messages import BaseMessage
from langchain_core.tools import ToolException
from langgraph.prebuilt import ToolRuntime

from langchain_recallm._conversation import MessageConversation, latest_question
from recallm.adapting import (
    SPEAKER_NAMES,
    FactReply,
    ForgottenAbout,
    Message,
    Query,
    WholeSentences,
    checked_text,
    digest,
    forgotten_by_model,
    gives_probabilities,
    statements_reply,
)


@dataclass(frozen=True, kw_only=True)
class MemoryTools:
    """The tools in one call of a model, in a conversation; ``run``: the runtime of its agent. A
    method's name is its tool's, its docstring and annotations are what the model reads of it."""

    NAMES: ClassVar = ("recall_memory", "save_memory", "forget_memory")

    conversation: MessageConversation
    run: ToolRuntime[Any, Any] | None
    limit: int | None
    max_tokens: int | None

    def recall_memory(self, query: Query) -> FactReply:
        """Look up what is remembered from earlier conversations: facts, events, preferences. Gives
        statements in the order in which they became true, each with its id and who said it; what AI
        said, the user did not say."""
        conversation, memory = self.conversation, self.conversation.memory
        query = conversation.filter.redacted(checked_text(query, "query"))
        # The model reads the conversation in its request: it is no answer from the memory.
        known = conversation.passages_in_request(
            query, self._messages, asking=self._turn_messages, limit=self.limit
        )
        limit = self.limit
        if limit is not None and not gives_probabilities(memory):
            # Not every ranking replaces the present turn by what else is remembered.
            limit += len(conversation.passages_of(self._turn_messages))
        context = conversation.recall(query, limit=limit, asker=self._asker(), known=known)
        found = [each for each in context.statements if each.passage not in known]
        return statements_reply(memory, found, self.max_tokens)

    def save_memory(self, text: WholeSentences) -> str:
        """Remember something for later conversations. Name people and things in full, and say when
        it holds if that matters."""
        conversation, memory = self.conversation, self.conversation.memory
        # A text that begins "Human: …" is the model's too.
        message = Message(text=checked_text(text, "text"), speaker=SPEAKER_NAMES["ai"], role="ai")
        accepted = conversation.filter.written([message])
        if not accepted or not accepted[0].text.strip():
            raise ToolException("This app does not let that be remembered; nothing was saved.")
        [message] = accepted
        call = None if self.run is None else self.run.tool_call_id
        update = memory.update(
            message.text,
            speaker=message.speaker,
            session=conversation.session,
            timestamp=memory.now(),
            # Other threads, and with some providers the same thread, repeat ids of calls.
            id=digest(str(conversation.session), call, message.text) if call else None,
            metadata={"tool": "save_memory"},
        )
        return f"Saved as {', '.join(update.statements) or update.id}."

    def forget_memory(
        self,
        id: Annotated[
            str | None, "The id of one statement or memory, as recall_memory shows it."
        ] = None,
        about: ForgottenAbout = None,
    ) -> str:
        """Forget for good: either one statement by its id, or all statements that mention what is
        given as about, with stored items that mention it as a whole. Give exactly one of the
        two."""
        session = self.conversation.only_session()
        return forgotten_by_model(self.conversation.memory, id=id, about=about, session=session)

    def _asker(self) -> str:
        """Whom "I" stands for in a query of the model: the user whom it answers."""
        asking = self.conversation.core_messages(self._turn_messages[:1])
        return asking[0].speaker if asking else SPEAKER_NAMES["human"]

    @cached_property
    def _messages(self) -> list[BaseMessage]:
        """The conversation in the agent's state."""
        state = self.run.state if self.run is not None else None
        in_state = state.get("messages") if isinstance(state, dict) else None
        listed = in_state if isinstance(in_state, list) else []
        return [message for message in listed if isinstance(message, BaseMessage)]

    @cached_property
    def _turn_messages(self) -> list[BaseMessage]:
        """The user's messages that the agent is answering, and the replies so far."""
        asking, _ = latest_question(self._messages)
        return self._messages[self._messages.index(asking[0]) :] if asking else []
