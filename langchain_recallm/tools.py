"""Tools by which a model uses a memory itself: recall, save, forget, list, update.

Errors go to the model, its own and those of the memory: the agent goes on. Whose memory it is comes
from the runtime alone; nothing that a model writes can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from langgraph.prebuilt import ToolRuntime

from langchain_recallm._conversation import MessageConversation, latest_question
from langchain_recallm._limits import takes_k
from langchain_recallm._runs import Namespace, checked_namespace, memory_of_run, thread_of_run
from langchain_recallm._tool_building import (
    InjectedRuntime,
    check_prefix,
    errors_for_the_model,
    new_tool,
)
from langchain_recallm._tool_schemas import DESCRIPTIONS, SCHEMAS, WITH_ARTIFACT, ToolName
from recallm import KnowledgeUpdate, Passage, RecallM
from recallm.adapting import (
    POSTPONED_PATH,
    SPEAKER_NAMES,
    Accept,
    BackgroundWriter,
    Message,
    MessageFilter,
    RecallOptions,
    Redact,
    Scope,
    as_data,
    check_budget,
    checked_memory,
    checked_scope,
    checked_text,
    checks,
    digest,
    forget_everything,
    forgotten_by_model,
    gives_probabilities,
    passage_named,
    plain_id,
    shown_name,
    shown_with_ids,
    statement_row,
    statements_within,
)

__all__ = ["create_recallm_tools"]

_NOTHING = "Nothing is remembered about that."
_NOTHING_AT_ALL = "Nothing is remembered yet."
_NOTHING_OLDER = "Nothing older is remembered."
_TOO_LONG = "What is remembered about that is too long to be shown."


@takes_k
def create_recallm_tools(
    memory: RecallM,
    *,
    namespace: str | Callable[[Any], str] | None = None,
    scope: Scope = "namespace",
    limit: int | None = 10,
    k: int | None = None,  # noqa: ARG001
    max_tokens: int | None = 1000,
    prefix: str = "",
    tools: Collection[ToolName] = ("recall_memory", "save_memory", "forget_memory"),
    redact: Redact | None = None,
    accept: Accept | None = None,
) -> list[BaseTool]:
    """The tools ``recall_memory(query)``, ``save_memory(text)``, ``forget_memory(id / about)``, or
    those that ``tools`` names, also ``list_memories(before)``, ``update_memory(id, text)`` and
    ``forget_me(confirm)``.

    ``memory``: the core. ``namespace``: whose memory it is: the memory's own by default, a name, or
    for many users a template that the run's context or ``configurable`` fills, "user-{user_id}", or
    a callable over the agent's runtime, as in
    ``lambda runtime: runtime.context.user_id``. Saved texts belong to the thread as their session;
    ``scope="session"`` keeps recalling and forgetting inside it. ``limit`` (or ``k``) counts the
    recalled statements, ``max_tokens`` the whole result, by the memory's counter. ``prefix`` begins
    the tools' names (letters, digits, "_" and "-"), so that one agent can have the tools of two
    memories: ``prefix="team_"`` makes them ``team_recall_memory`` and so on.

    * ``recall_memory`` returns statements with their ids, delimited as data, without what stands in
      the messages of the agent's state: what was removed there, as by a summary, is found again,
      what other middleware trims from the request alone is not. The artifact is a list
      of dicts with id, text, metadata, t_index, timestamp, speaker, source, session, concepts,
      score and passage.
    * ``save_memory`` writes one knowledge update with the speaker "AI", since the model wrote it.
      The same tool call writes it once.
    * ``forget_memory`` forgets one statement, memory or fact by its id, or all that mention a
      concept; a store's item is forgotten as a whole.
    * ``list_memories`` shows what is remembered with its ids, the latest first, ``limit`` at a
    time, without what stands in the messages of the agent's state. The artifact is as above, of
    whole passages.
    * ``update_memory`` saves a text as ``save_memory`` does, then forgets what it replaces: a
      failure between the two loses nothing. A store's items and facts are not updated so.
    * ``forget_me`` forgets everything in the namespace for good, whoever said it (with
      ``scope="session"`` the thread); without ``confirm`` nothing. Give it where each user has a
      namespace. What the agent still says in that run is remembered by a middleware.

    ``redact`` and ``accept`` decide what is saved, as in ``RecallMMiddleware``; the model is told
    that a text was refused. ``redact`` changes what recall asks with, too.

    In an agent the ``ToolRuntime`` is injected; outside, the tools are called like any other.

    >>> from langchain_recallm import create_recallm_tools
    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> recall, save, forget = create_recallm_tools(memory)
    >>> _ = save.invoke({"text": "Ann's flight leaves on Friday."})
    >>> for statement in memory.recall("When does the flight leave?").statements:
    ...     print(statement.text)
    Ann's flight leaves on Friday.
    >>> print(recall.invoke({"query": "When does the flight leave?"}))
    <recalled_memory>
    ...
    [...#0] ... AI: Ann's flight leaves on Friday.
    </recalled_memory>
    >>> forget.invoke({"about": "Ann"})
    "Forgot 1 statement that mentions 'Ann'."
    >>> recall.invoke({"query": "When does the flight leave?"})
    'Nothing is remembered about that.'

    Raises:
        InvalidInputError: an argument cannot be used.

    """
    RecallOptions(limit=limit, max_tokens=max_tokens).check(checked_memory(memory))
    check_budget(memory, max_tokens)
    check_prefix(prefix)
    names = checks.strings(tools, "tools")
    for name in names:
        checks.choice(name, get_args(ToolName), "tools")
    work = _Tools(
        memory=memory,
        namespace=checked_namespace(namespace),
        scope=checked_scope(scope),
        limit=limit,
        max_tokens=max_tokens,
        filter=MessageFilter(redact=redact, accept=accept),
    )
    return [
        new_tool(
            getattr(work, name),
            f"{prefix}{name}",
            DESCRIPTIONS[name],
            SCHEMAS[name],
            **({"response_format": "content_and_artifact"} if name in WITH_ARTIFACT else {}),
        )
        for name in dict.fromkeys(names)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tools:
    memory: RecallM
    namespace: Namespace
    scope: Scope
    limit: int | None
    max_tokens: int | None
    filter: MessageFilter

    def recall_memory(
        self, query: str, config: RunnableConfig, runtime: InjectedRuntime = None
    ) -> tuple[str, list[dict[str, Any]]]:
        with errors_for_the_model():
            conversation = self._conversation(runtime, config)
            query = self.filter.redacted(checked_text(query, "query"))
            # The model reads the conversation in its request: it is no answer from the memory.
            known = conversation.passages_in_request(
                query, _messages(runtime), asking=_turn_messages(runtime), limit=self.limit
            )
            limit = self.limit
            if limit is not None and not gives_probabilities(conversation.memory):
                # Not every ranking replaces the present turn by what else is remembered.
                limit += len(conversation.passages_of(_turn_messages(runtime)))
            context = conversation.recall(
                query, limit=limit, asker=_asker(runtime, conversation), known=known
            )
            found = [it for it in context.statements if it.passage not in known]
            if not found:
                return _NOTHING, []
            found = statements_within(conversation.memory, found, self.max_tokens)
            text = shown_with_ids(found) if found else _TOO_LONG
            return text, [statement_row(statement) for statement in found]

    def save_memory(
        self, text: str, config: RunnableConfig, runtime: InjectedRuntime = None
    ) -> str:
        with errors_for_the_model():
            conversation = self._conversation(runtime, config)
            update = self._saved(conversation, text, runtime, {"tool": "save_memory"})
            return f"Saved as {', '.join(update.statements) or update.id}."

    def update_memory(
        self, id: str, text: str, config: RunnableConfig, runtime: InjectedRuntime = None
    ) -> str:
        with errors_for_the_model():
            id = plain_id(id)
            conversation = self._conversation(runtime, config)
            passage = passage_named(conversation.memory, id, conversation.only_session())
            if passage is None:
                raise ToolException(
                    f"Nothing has the id {id!r}; nothing was changed. recall_memory shows the ids."
                )
            if passage.key is not None or not passage.text:
                kind = "a stored item" if passage.key is not None else "a fact"
                raise ToolException(f"{id!r} is {kind}, which is not updated so; nothing was done.")
            metadata = {"tool": "update_memory", "replaces": id}
            update = self._saved(conversation, text, runtime, metadata)
            if not update.duplicate or update.id != passage.id:
                forgotten_by_model(
                    conversation.memory, id=id, about=None, session=conversation.only_session()
                )
            return f"Replaced {id} by {', '.join(update.statements) or update.id}."

    def list_memories(
        self, config: RunnableConfig, before: str | None = None, runtime: InjectedRuntime = None
    ) -> tuple[str, list[dict[str, Any]]]:
        with errors_for_the_model():
            conversation = self._conversation(runtime, config)
            memory, session = conversation.memory, conversation.only_session()
            until: int | None = None
            if before:
                last = passage_named(memory, plain_id(before), session)
                if last is None:
                    raise ToolException(f"Nothing has the id {before!r}; leave before out.")
                until = last.t_index - 1
            known = conversation.passages_of(_messages(runtime))
            limit = None if self.limit is None else self.limit + len(known)
            found = memory.passages(limit=limit, until=until, session=session)
            latest = [
                it
                for it in reversed(found)
                if it.id not in known and it.text and it.path != POSTPONED_PATH
            ][: self.limit]
            while latest and self._takes_too_much(memory, _listed(latest)):
                latest.pop()
            if not latest:
                return _TOO_LONG if found else _NOTHING_OLDER if before else _NOTHING_AT_ALL, []
            return _listed(latest), [_passage_as_dict(it) for it in latest]

    def forget_me(
        self, confirm: bool, config: RunnableConfig, runtime: InjectedRuntime = None
    ) -> str:
        with errors_for_the_model():
            if not confirm:
                raise ToolException(
                    "Nothing was forgotten. Ask the user whether everything about them is to be "
                    "forgotten for good, then give confirm=true."
                )
            conversation = self._conversation(runtime, config)
            return forget_everything(conversation.memory, conversation.only_session())

    def forget_memory(
        self,
        config: RunnableConfig,
        id: str | None = None,
        about: str | None = None,
        runtime: InjectedRuntime = None,
    ) -> str:
        with errors_for_the_model():
            conversation = self._conversation(runtime, config)
            return forgotten_by_model(
                conversation.memory, id=id, about=about, session=conversation.only_session()
            )

    def _conversation(self, runtime: object, config: RunnableConfig) -> MessageConversation:
        # Without an agent, a model can write an argument named ``runtime`` itself.
        run = runtime if isinstance(runtime, ToolRuntime) else None
        memory = memory_of_run(self.memory, self.namespace, run, config)
        BackgroundWriter.wait_for(memory)
        return MessageConversation(
            memory=memory,
            session=self.filter.redacted_name(thread_of_run(run or config), "session"),
            scope=self.scope,
            filter=self.filter,
        )

    def _saved(
        self,
        conversation: MessageConversation,
        text: str,
        runtime: object,
        metadata: Mapping[str, str],
    ) -> KnowledgeUpdate:
        """Write a text of the model, where it is accepted."""
        saved = checked_text(text, "text")
        call = runtime.tool_call_id if isinstance(runtime, ToolRuntime) else None
        # A text that begins "Human: …" is the model's too.
        message = Message(text=saved, speaker=SPEAKER_NAMES["ai"], role="ai")
        accepted = self.filter.written([message])
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

    def _takes_too_much(self, memory: RecallM, text: str) -> bool:
        return self.max_tokens is not None and memory.count_tokens(text) > self.max_tokens


def _asker(runtime: object, conversation: MessageConversation) -> str:
    """Whom "I" stands for in a query of the model: the user whom it answers."""
    asking = conversation.core_messages(_turn_messages(runtime)[:1])
    return asking[0].speaker if asking else SPEAKER_NAMES["human"]


def _messages(runtime: object) -> list[BaseMessage]:
    """The conversation in the agent's state."""
    state = runtime.state if isinstance(runtime, ToolRuntime) else None
    in_state = state.get("messages") if isinstance(state, dict) else None
    return [
        it for it in (in_state if isinstance(in_state, list) else []) if isinstance(it, BaseMessage)
    ]


def _turn_messages(runtime: object) -> list[BaseMessage]:
    """The user's messages that the agent is answering, and the replies so far."""
    messages = _messages(runtime)
    asking, _ = latest_question(messages)
    return messages[messages.index(asking[0]) :] if asking else []


# -- listing ---------------------------------------------------------------------------------


def _listed(passages: Sequence[Passage]) -> str:
    """Passages as data, a line each with its id."""
    return as_data("\n".join(f"[{shown_name(it.id)}] {_said(it)}" for it in passages))


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
