"""The tools of the server over statements. The name of a method is the tool's name, its docstring
and annotations are what a model reads of the tool. Tools over facts are those of every adapter
(``recallm.adapting.FactTools``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from recallm import RecalledStatement, RecallM
from recallm.adapting import (
    SPEAKER_NAMES,
    ForgottenAbout,
    Query,
    WholeSentences,
    checked_text,
    checks,
    claimed_roles,
    forgotten_by_model,
    named_moment,
    speaker_name,
    statements_reply,
    time_of_writing,
)
from recallm.mcp_server.results import Remembered, Reply, Statements

_HUMAN = SPEAKER_NAMES["human"]

_KnownOn = Annotated[str | None, "A day, YYYY-MM-DD: what was known then; none: what is known now."]


class MemoryTools:
    """What a model does with ``memory``: what is recalled in a result takes at most ``max_tokens``,
    by the memory's counter."""

    def __init__(self, memory: RecallM, *, max_tokens: int | None) -> None:
        self._memory = memory
        self._max_tokens = max_tokens

    def remember(
        self,
        text: WholeSentences,
        speaker: Annotated[
            str | None, "Whose words these are: 'user', or a name; none: your own."
        ] = None,
        date: Annotated[
            str | None, "The day on which it was said, as YYYY-MM-DD; none: today."
        ] = None,
        source: Annotated[str | None, "Where it comes from: a file, a page, an address."] = None,
        session: Annotated[str | None, "The conversation or document that it belongs to."] = None,
    ) -> Reply:
        """Remember something for later conversations.

        Name people and things in full, and say when it holds if that matters.
        """
        update = self._memory.update(
            checked_text(text, "text"),
            speaker=_speaker(speaker),
            timestamp=time_of_writing(self._memory, date),
            source=source,
            session=session,
            metadata={"tool": "remember"},
        )
        saved = f"Saved as {', '.join(update.statements) or update.id}."
        return Reply(saved, Remembered.of(update))

    def recall(
        self,
        query: Query,
        limit: Annotated[int, "At most this many statements."] = 10,
        speaker: Annotated[str | None, "Only what this speaker said."] = None,
        since: Annotated[
            str | None, "Only what was said on this day, YYYY-MM-DD, or later."
        ] = None,
        until: Annotated[
            str | None, "Only what was said on this day, YYYY-MM-DD, or earlier."
        ] = None,
        as_of: _KnownOn = None,
    ) -> Reply:
        """Look up what is remembered: facts, events, preferences.

        Gives statements in the order in which they became true, each with its id and who said it;
        a later one replaces an earlier one that it contradicts. What AI said, the user did not say.
        """
        context = self._memory.recall(
            checked_text(query, "query"),
            limit=limit,
            speaker=_HUMAN if _is_user(speaker) else speaker,
            since=checks.optional(named_moment, since, "since"),
            until=checks.optional(named_moment, until, "until"),
            as_of=checks.optional(named_moment, as_of, "as_of"),
            asker=_HUMAN,
        )
        return self._shown(context.statements, context.more, "more match and are not shown.")

    def fetch_thoughts(
        self, question: Annotated[str, "A whole question, as the user asks it."]
    ) -> Reply:
        """What is known about a question, and the question, as one prompt that can be answered.

        For answering from the memory alone, or for handing to another model.
        """
        return Reply(self.prompt(question))

    def prompt(self, question: str) -> str:
        """What is known about a question, and the question, as one prompt.

        Raises:
            InvalidInputError: the question is blank.

        """
        return self._memory.fetch_thoughts(
            checked_text(question, "question"), max_tokens=self._max_tokens, asker=_HUMAN
        )

    def history(
        self,
        concept: Annotated[str, "A name, or any noun."],
        limit: Annotated[int, "At most this many statements, the latest."] = 20,
        as_of: _KnownOn = None,
    ) -> Reply:
        """List all statements that mention a person, a thing or an idea, oldest first."""
        statements = self._memory.history(
            checked_text(concept, "concept"),
            as_of=checks.optional(named_moment, as_of, "as_of"),
        )
        latest = statements[-checks.positive(limit, "limit") :]
        left_out = len(statements) - len(latest)
        return self._shown(latest, left_out, "earlier ones are not shown.")

    def forget(
        self,
        id: Annotated[str | None, "The id of one statement, as recall shows it."] = None,
        about: ForgottenAbout = None,
    ) -> Reply:
        """Forget for good: one statement by its id, or all statements that mention a name.

        Give exactly one of the two. This cannot be undone.
        """
        return Reply(forgotten_by_model(self._memory, id=id, about=about))

    def _shown(
        self, statements: Sequence[RecalledStatement], left_out: int, what_is_left_out: str
    ) -> Reply:
        reply = statements_reply(self._memory, statements, self._max_tokens)
        left_out += len(statements) - len(reply.rows)
        text = f"{reply}\n{left_out} {what_is_left_out}" if reply.rows and left_out else str(reply)
        return Reply(text, Statements.of(reply.rows, left_out))


def _speaker(given: str | None) -> str:
    """The speaker that a model names: the user's name for messages where it names the user's role;
    the model's own where it names none, or the role of somebody else."""
    return _HUMAN if _is_user(given) else speaker_name(given, "ai", SPEAKER_NAMES)


def _is_user(speaker: str | None) -> bool:
    return speaker is not None and claimed_roles(speaker) == {"human"}
