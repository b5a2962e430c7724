"""What the tools over a memory do, each in one call of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from langchain_core.messages import BaseMessage
from langchain_core.tools import ToolException
from langgraph.prebuilt import ToolRuntime

from langchain_recallm._conversation import MessageConversation, latest_question
from recallm import KnowledgeUpdate, Passage, RecallM
from recallm.adapting import (
    POSTPONED_PATH,
    SPEAKER_NAMES,
    TOO_LONG,
    FactReply,
    ForgottenAbout,
    Message,
    Query,
    WholeSentences,
    as_data,
    checked_text,
    digest,
    forget_everything,
    forgotten_by_model,
    gives_probabilities,
    passage_named,
    plain_id,
    shown_name,
    statements_reply,
)

ToolName = Literal[
    "recall_memory", "save_memory", "forget_memory", "list_memories", "update_memory", "forget_me"
]

_NOTHING_AT_ALL = "Nothing is remembered yet."
_NOTHING_OLDER = "Nothing older is remembered."


@dataclass(frozen=True, kw_only=True)
class MemoryTools:
    """The tools in one call of a model, in a conversation; ``run``: the runtime of its agent. A
    method's name is its tool's, its docstring and annotations are what the model reads of it."""

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
        update = self._saved(text, {"tool": "save_memory"})
        return f"Saved as {', '.join(update.statements) or update.id}."

    def update_memory(
        self,
        id: Annotated[str, "The id of a statement or a memory, as the other tools show it."],
        text: Annotated[
            str,
            "What holds instead, in whole sentences that are understood without the conversation.",
        ],
    ) -> str:
        """Replace something remembered that was wrong from the beginning by what is right. Where
        something has changed since, save the news with save_memory in place of this."""
        id = plain_id(id)
        passage = self._passage(id)
        if passage is None:
            raise ToolException(
                f"Nothing has the id {id!r}; nothing was changed. recall_memory shows the ids."
            )
        if passage.key is not None or not passage.text:
            kind = "a stored item" if passage.key is not None else "a fact"
            raise ToolException(f"{id!r} is {kind}, which is not updated so; nothing was done.")
        update = self._saved(text, {"tool": "update_memory", "replaces": id})
        if not update.duplicate or update.id != passage.id:
            self.forget_memory(id=id)
        return f"Replaced {id} by {', '.join(update.statements) or update.id}."

    def list_memories(
        self,
        before: Annotated[
            str | None, "The last id of an earlier list, to see what is older. Leave out at first."
        ] = None,
    ) -> FactReply:
        """List what is remembered from earlier conversations, the latest first, each with its id
        and who said it."""
        memory = self.conversation.memory
        until: int | None = None
        if before:
            last = self._passage(plain_id(before))
            if last is None:
                raise ToolException(f"Nothing has the id {before!r}; leave before out.")
            until = last.t_index - 1
        known = self.conversation.passages_of(self._messages)
        limit = None if self.limit is None else self.limit + len(known)
        found = memory.passages(limit=limit, until=until, session=self.conversation.only_session())
        latest = [
            passage
            for passage in reversed(found)
            if passage.id not in known and passage.text and passage.path != POSTPONED_PATH
        ][: self.limit]
        while latest and self._takes_too_much(memory, _listed(latest)):
            latest.pop()
        if not latest:
            return FactReply(TOO_LONG if found else _NOTHING_OLDER if before else _NOTHING_AT_ALL)
        return FactReply(_listed(latest), map(_passage_as_dict, latest))

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

    def forget_me(
        self,
        confirm: Annotated[
            bool,
            "True only where the user has said, in this conversation, that everything about them "
            "is to be forgotten for good.",
        ],
    ) -> str:
        """Forget everything about the user, for good. Only where the user asks for it, and has
        confirmed that everything is meant."""
        if not confirm:
            raise ToolException(
                "Nothing was forgotten. Ask the user whether everything about them is to be "
                "forgotten for good, then give confirm=true."
            )
        return forget_everything(self.conversation.memory, self.conversation.only_session())

    def _saved(self, text: str, metadata: Mapping[str, str]) -> KnowledgeUpdate:
        """Write a text of the model, where it is accepted."""
        conversation = self.conversation
        call = None if self.run is None else self.run.tool_call_id
        # A text that begins "Human: …" is the model's too.
        message = Message(text=checked_text(text, "text"), speaker=SPEAKER_NAMES["ai"], role="ai")
        accepted = conversation.filter.written([message])
        if not accepted or not accepted[0].text.strip():
            raise ToolException("This app does not let that be remembered; nothing was saved.")
        return conversation.memory.update(
            accepted[0].text,
            speaker=accepted[0].speaker,
            session=conversation.session,
            timestamp=conversation.memory.now(),
            # Other threads, and with some providers the same thread, repeat ids of calls.
            id=digest(str(conversation.session), call, accepted[0].text) if call else None,
            metadata=metadata,
        )

    def _passage(self, id: str) -> Passage | None:
        return passage_named(self.conversation.memory, id, self.conversation.only_session())

    def _takes_too_much(self, memory: RecallM, text: str) -> bool:
        return self.max_tokens is not None and memory.count_tokens(text) > self.max_tokens

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


# -- listing ---------------------------------------------------------------------------------


def _listed(passages: Sequence[Passage]) -> str:
    """Passages as data, a line each with its id."""
    return as_data(
        "\n".join(f"[{shown_name(passage.id)}] {_said(passage)}" for passage in passages)
    )


def _said(passage: Passage) -> str:
    said = "" if passage.timestamp is None else f"{passage.timestamp:%Y-%m-%d %H:%M} "
    speaker = "" if passage.speaker is None else f"{passage.speaker}: "
    return f"{said}{speaker}{' '.join(passage.text.split())}"


def _passage_as_dict(passage: Passage) -> dict[str, Any]:
    return {
        "id": passage.id,
        "text": passage.text,
        "metadata": dict(passage.metadata),
        "t_index": passage.t_index,
        "timestamp": None if passage.timestamp is None else passage.timestamp.isoformat(),
        "speaker": passage.speaker,
        "source": passage.source,
        "session": passage.session,
    }
