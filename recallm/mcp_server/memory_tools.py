"""The tools of the server over statements; tools over facts are those of every adapter
(``recallm.adapting.FactTools``). The name of a method is the tool's name, its docstring and
annotations are what a model reads of the tool; the ``rows`` of its reply are for programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from recallm import RecalledStatement, RecallM
from recallm.adapting import (
    SPEAKER_NAMES,
    FactReply,
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
    ) -> FactReply:
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
        ids = update.statements or (update.id,)
        return FactReply(f"Saved as {', '.join(ids)}.", ({"id": id} for id in ids))

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
    ) -> FactReply:
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

    def history(
        self,
        concept: Annotated[str, "A name, or any noun."],
        limit: Annotated[int, "At most this many statements, the latest."] = 20,
        as_of: _KnownOn = None,
    ) -> FactReply:
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
    ) -> FactReply:
        """Forget for good: one statement by its id, or all statements that mention a name.

        Give exactly one of the two. This cannot be undone.
        """
        return FactReply(forgotten_by_model(self._memory, id=id, about=about))

    def _shown(
        self, statements: Sequence[RecalledStatement], left_out: int, what_is_left_out: str
    ) -> FactReply:
        reply = statements_reply(self._memory, statements, self._max_tokens)
        left_out += len(statements) - len(reply.rows)
        if not reply.rows or not left_out:
            return reply
        return FactReply(f"{reply}\n{left_out} {what_is_left_out}", reply.rows)


def _speaker(given: str | None) -> str:
    """The speaker that a model names: the user's name for messages where it names the user's role;
    the model's own where it names none, or the role of somebody else."""
    return _HUMAN if _is_user(given) else speaker_name(given, "ai", SPEAKER_NAMES)


def _is_user(speaker: str | None) -> bool:
    return speaker is not None and claimed_roles(speaker) == {"human"}
