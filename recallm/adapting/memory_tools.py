"""Tools over a memory, as a language model calls them: arguments are plain values, results are text
of a bounded length. An adapter makes its tools from the methods of ``MemoryTools``: the name of a
method is the tool's name, its docstring and annotations are the tool's description.
"""

# LlamaIndex reads the annotations of the methods: they must not be strings.

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from recallm import checks
from recallm.adapting.arguments import RecallOptions, check_budget, checked_scope, checked_session
from recallm.adapting.conversation import Conversation, Scope
from recallm.adapting.fact_tools import FactReply
from recallm.adapting.messages import SPEAKER_NAMES
from recallm.adapting.postponing import extract_postponed
from recallm.adapting.recalled_text import statement_fields
from recallm.errors import InvalidInputError
from recallm.memory import RecallM
from recallm.results import RecalledStatement
from recallm.untrusted_text import as_data, shown_name, storable

__all__ = ["MemoryTools"]


class MemoryTools:
    """The operations of a memory that a model calls.

    A result shows at most ``limit`` statements and has at most ``max_tokens`` tokens, by the
    memory's counter. What the model writes belongs to ``session``, and the speaker is "AI"; with
    ``scope="session"`` the tools see and forget that session alone.
    """

    NAMES = ("remember", "recall", "history", "forget")

    def __init__(
        self,
        memory: RecallM,
        *,
        session: str | None = None,
        scope: Scope = "namespace",
        limit: int = 10,
        max_tokens: int | None = 1000,
    ) -> None:
        self._limit = checks.positive(limit, "limit")
        RecallOptions(limit=limit, max_tokens=max_tokens).check(memory)
        check_budget(memory, max_tokens)
        self._max_tokens = max_tokens
        self._memory = memory
        self._conversation = Conversation(
            memory=memory,
            session=None if session is None else checked_session(session),
            scope=checked_scope(scope),
        )
        self._conversation.only_session()  # checks that there is one, where it is the scope

    def remember(
        self,
        text: Annotated[
            str, "One or more whole sentences that are understood without the conversation."
        ],
    ) -> FactReply:
        """Remember something for later conversations.

        Name people and things in full, and say when it holds if that matters.
        """
        update = self._memory.update(
            _given(text, "text"),
            speaker=SPEAKER_NAMES["ai"],  # a text that begins "Human: …" is the model's too
            session=self._conversation.session,
            timestamp=self._memory.now(),
            metadata={"tool": "remember"},
        )
        ids = list(update.statements) or [update.id]
        return FactReply(f"Remembered as {', '.join(ids)}.", ({"id": id} for id in ids))

    def recall(
        self, query: Annotated[str, "What to look for: a question, or names and words."]
    ) -> FactReply:
        """Look up what is remembered from earlier conversations: facts, events, preferences.

        Gives statements in the order in which they became true, each with its id and who said it;
        what AI said, the user did not say.
        """
        context = self._conversation.recall(
            _given(query, "query"), limit=self._limit, asker=SPEAKER_NAMES["human"]
        )
        return self._reply(context.statements, lambda statement: statement.score or 0.0)

    def history(
        self, about: Annotated[str, "A name or a noun, such as 'Ada' or 'the garden'."]
    ) -> FactReply:
        """List everything that mentions a name or a noun, oldest first: how something changed.

        Where there is more than fits, the latest is shown.
        """
        session = self._conversation.only_session()
        found = [
            statement
            for statement in self._memory.history(_given(about, "about"))
            if session in (None, statement.session)
        ]
        reply = self._reply(found[-self._limit :], lambda statement: statement.t_index)
        left_out = len(found) - len(reply.rows)
        if not reply.rows or not left_out:
            return reply
        return FactReply(f"{reply}\n{_earlier_text(left_out)}", reply.rows)

    def forget(
        self,
        id: Annotated[str | None, "The id of one statement, as recall shows it."] = None,
        about: Annotated[
            str | None, "A name or a noun: all statements that mention it are forgotten."
        ] = None,
    ) -> FactReply:
        """Forget for good: one statement by its id, or all statements that mention a name or noun.

        Give exactly one of the two.
        """
        id, about = (id or "").strip().strip('"'), (about or "").strip()
        if bool(id) == bool(about):
            raise InvalidInputError(
                "give exactly one of id and about; nothing was forgotten", argument="id"
            )
        if id:
            return self._forget_one(storable(id))
        return self._forget_about(storable(about))

    def _forget_one(self, id: str) -> FactReply:
        memory, session = self._memory, self._conversation.only_session()
        passage = memory.get(id)
        is_fact = passage is not None and not passage.text
        if not is_fact:
            passage = memory.get(id.rpartition("#")[0])
        in_scope = passage is not None and session in (None, passage.session or passage.source)
        if not in_scope or not (memory.forget(id=id) if is_fact else memory.forget(statement=id)):
            raise InvalidInputError(
                f"no statement has the id {id!r}; nothing was forgotten; recall shows the ids",
                argument="id",
            )
        return FactReply(f"Forgot the {'fact' if is_fact else 'statement'} {id}.")

    def _forget_about(self, about: str) -> FactReply:
        memory, session = self._memory, self._conversation.only_session()
        extract_postponed(memory)  # long messages that wait for extraction may mention it too
        if session is None:
            forgotten = memory.forget(concept=about)
            count = forgotten.statements + forgotten.triplets
        else:
            count = sum(
                memory.forget(statement=it.id).statements
                for it in memory.history(about)
                if it.session == session
            )
        if not count:
            return FactReply(f"Nothing is remembered that mentions {about!r}.")
        return FactReply(f"Forgot what mentions {about!r}: {count} in all.")

    def _reply(
        self,
        statements: Sequence[RecalledStatement],
        worth: Callable[[RecalledStatement], float],
    ) -> FactReply:
        """``statements`` as data, a line each with its id, without those of the least ``worth``
        where all are too long."""
        if not statements:
            return FactReply("Nothing is remembered about that.")
        # What is too long by itself must not exclude the others.
        shown = [it for it in statements if self._fits([it])]
        while shown and not self._fits(shown):
            shown.remove(min(shown, key=worth))
        if not shown:
            return FactReply("What is remembered about that is too long to be shown.")
        return FactReply(_text(shown), map(_row, shown))

    def _fits(self, statements: Sequence[RecalledStatement]) -> bool:
        text = f"{_text(statements)}\n{_earlier_text(len(statements))}"
        return self._max_tokens is None or self._memory.count_tokens(text) <= self._max_tokens


def _given(text: str, argument: str) -> str:
    """The model's text. Lone surrogates, which no store can hold, become question marks."""
    if not text.strip():
        raise InvalidInputError(f"{argument} is empty; nothing was done", argument=argument)
    return storable(text)


def _earlier_text(count: int) -> str:
    return f"{count} earlier statements are not shown; recall finds them by a question."


def _text(statements: Sequence[RecalledStatement]) -> str:
    return as_data("\n".join(f"[{_shown_id(it)}] {it.line}" for it in statements))


def _shown_id(statement: RecalledStatement) -> str:
    if statement.passage is None:
        # Neither a revised context nor a fact without a passage can be forgotten by an id.
        return "summary" if statement.fact is None else "fact"
    # A fact that no text states is forgotten with its passage, which has no other.
    return shown_name(statement.id if statement.fact is None else statement.passage)


def _row(statement: RecalledStatement) -> dict[str, Any]:
    """A statement in plain values."""
    return {
        "id": statement.id,
        "text": statement.text,
        "metadata": dict(statement.metadata),
        **statement_fields(statement),
    }
