"""Tools by which a model uses a memory itself: recall, save, forget.

Errors go to the model, its own and those of the memory: the agent goes on. Whose memory it is comes
from the runtime alone; nothing that a model writes can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, Field

from langchain_recallm._conversation import MessageConversation, latest_question
from langchain_recallm._limits import takes_k
from langchain_recallm._runs import Namespace, checked_namespace, memory_of_run, thread_of_run
from langchain_recallm._tool_building import (
    InjectedRuntime,
    check_prefix,
    errors_for_the_model,
    new_tool,
)
from recallm import RecalledStatement, RecallM
from recallm.adapting import (
    SPEAKER_NAMES,
    RecallOptions,
    Scope,
    as_data,
    check_budget,
    checked_memory,
    checked_scope,
    digest,
    extract_postponed,
    gives_probabilities,
    shown_name,
    statement_fields,
    storable,
)

__all__ = ["create_recallm_tools"]

_NOTHING = "Nothing is remembered about that."
_TOO_LONG = "What is remembered about that is too long to be shown."


class _Recall(BaseModel):
    query: str = Field(description="What to look for: a question, or names and words.")


class _Save(BaseModel):
    text: str = Field(
        description="One or more whole sentences that are understood without the conversation."
    )


class _Forget(BaseModel):
    id: str | None = Field(
        default=None, description="The id of one statement, as recall_memory shows it."
    )
    about: str | None = Field(
        default=None,
        description="A name or a noun: all statements that mention it are forgotten, and stored "
        "items that mention it are forgotten whole.",
    )


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
) -> list[BaseTool]:
    """The tools ``recall_memory(query)``, ``save_memory(text)``, ``forget_memory(id / about)``.

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
    * ``forget_memory`` forgets one statement or fact by its id, or all that mention a concept; a
      store's item is forgotten as a whole.

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
    tools = _Tools(
        memory=memory,
        namespace=checked_namespace(namespace),
        scope=checked_scope(scope),
        limit=limit,
        max_tokens=max_tokens,
    )
    return [
        new_tool(
            tools.recall,
            f"{prefix}recall_memory",
            "Look up what is remembered from earlier conversations: facts, events, preferences. "
            "Gives statements in the order in which they became true, each with its id and "
            "who said it; what AI said, the user did not say.",
            _Recall,
            response_format="content_and_artifact",
        ),
        new_tool(
            tools.save,
            f"{prefix}save_memory",
            "Remember something for later conversations. Name people and things in full, and say "
            "when it holds if that matters.",
            _Save,
        ),
        new_tool(
            tools.forget,
            f"{prefix}forget_memory",
            "Forget for good: either one statement by its id, or all statements that mention what "
            "is given as about, with stored items that mention it as a whole. Give exactly one of "
            "the two.",
            _Forget,
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tools:
    memory: RecallM
    namespace: Namespace
    scope: Scope
    limit: int | None
    max_tokens: int | None

    def recall(
        self, query: str, config: RunnableConfig, runtime: InjectedRuntime = None
    ) -> tuple[str, list[dict[str, Any]]]:
        with errors_for_the_model():
            conversation = self._conversation(runtime, config)
            query = _checked_text(query, "query")
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
            # A statement that is too long by itself must not exclude the others.
            found = [it for it in found if not self._is_too_long(conversation.memory, [it])]
            while found and self._is_too_long(conversation.memory, found):
                found = _without_worst(found, 1)
            return _shown(found) if found else _TOO_LONG, [_as_dict(it) for it in found]

    def save(self, text: str, config: RunnableConfig, runtime: InjectedRuntime = None) -> str:
        with errors_for_the_model():
            conversation = self._conversation(runtime, config)
            saved = _checked_text(text, "text")
            call = runtime.tool_call_id if isinstance(runtime, ToolRuntime) else None
            update = conversation.memory.update(
                saved,
                # A text that begins "Human: …" is the model's too.
                speaker=SPEAKER_NAMES["ai"],
                session=conversation.session,
                timestamp=conversation.memory.now(),
                # Other threads, and with some providers the same thread, repeat ids of calls.
                id=digest(str(conversation.session), call, saved) if call else None,
                metadata={"tool": "save_memory"},
            )
            return f"Saved as {', '.join(update.statements) or update.id}."

    def forget(
        self,
        config: RunnableConfig,
        id: str | None = None,
        about: str | None = None,
        runtime: InjectedRuntime = None,
    ) -> str:
        with errors_for_the_model():
            # recall_memory shows an unusual id in quotation marks, which are not part of it.
            id, about = (id or "").strip().strip('"'), (about or "").strip()
            if bool(id) == bool(about):
                raise ToolException("Give exactly one of id and about; nothing was forgotten.")
            conversation = self._conversation(runtime, config)
            return _forget_one(conversation, id) if id else _forget_about(conversation, about)

    def _conversation(self, runtime: object, config: RunnableConfig) -> MessageConversation:
        # Without an agent, a model can write an argument named ``runtime`` itself.
        run = runtime if isinstance(runtime, ToolRuntime) else None
        return MessageConversation(
            memory=memory_of_run(self.memory, self.namespace, run, config),
            session=thread_of_run(run or config),
            scope=self.scope,
        )

    def _is_too_long(self, memory: RecallM, found: Sequence[RecalledStatement]) -> bool:
        limit = self.max_tokens
        return limit is not None and memory.count_tokens(_shown(found)) > limit


def _checked_text(text: str, argument: str) -> str:
    """The model's text, refused where it is blank. Lone surrogates, which no store can hold, become
    question marks."""
    if not text.strip():
        raise ToolException(f"{argument} is empty; nothing was done.")
    return storable(text)


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


# -- recalling -------------------------------------------------------------------------------


def _shown(statements: Sequence[RecalledStatement]) -> str:
    """The statements as data, a line each with its id."""
    return as_data("\n".join(map(_line, statements)))


def _line(statement: RecalledStatement) -> str:
    if statement.passage is None:
        # Neither a revised context nor a fact without a passage can be forgotten by an id.
        id = "summary" if statement.fact is None else "fact"
    else:
        # A fact that no text states is forgotten with its passage, which has no other.
        id = shown_name(statement.id if statement.fact is None else statement.passage)
    return f"[{id}] {statement.line}"


def _without_worst(found: Sequence[RecalledStatement], count: int) -> list[RecalledStatement]:
    by_score = sorted(range(len(found)), key=lambda place: found[place].score or 0)
    worst = by_score[: max(count, 0)]
    return [it for place, it in enumerate(found) if place not in worst]


def _as_dict(statement: RecalledStatement) -> dict[str, Any]:
    """A statement in plain values, as checkpoints can hold them."""
    return {
        "id": statement.id,
        "text": statement.text,
        "metadata": dict(statement.metadata),
        **statement_fields(statement),
    }


# -- forgetting ------------------------------------------------------------------------------


def _forget_one(conversation: MessageConversation, id: str) -> str:
    memory, session = conversation.memory, conversation.only_session()
    fact = memory.get(id)
    is_fact = fact is not None and not fact.text
    passage = fact if is_fact else memory.get(id.rpartition("#")[0])
    is_known = passage is not None and session in (None, passage.session or passage.source)
    if not is_known or not (memory.forget(id=id) if is_fact else memory.forget(statement=id)):
        raise ToolException(
            f"No statement has the id {id!r}; nothing was forgotten. recall_memory shows the ids."
        )
    return f"Forgot the {'fact' if is_fact else 'statement'} {id}."


def _forget_about(conversation: MessageConversation, about: str) -> str:
    memory, session = conversation.memory, conversation.only_session()
    about = _checked_text(about, "about")
    extract_postponed(memory)  # long messages that wait for extraction may mention it too
    if session is None:
        forgotten = memory.forget(concept=about)
        counts = {"statement": forgotten.statements, "fact": forgotten.triplets}
    else:
        statements = sum(
            memory.forget(statement=it.id).statements
            for it in memory.history(about)
            if it.session == session
        )
        counts = {"statement": statements}
    if not any(counts.values()):
        return f"Nothing is remembered that mentions {about!r}; nothing was forgotten."
    texts = [f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items() if count]
    return (
        f"Forgot {' and '.join(texts)} that mention{'s' * (sum(counts.values()) == 1)} {about!r}."
    )
