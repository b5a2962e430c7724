"""The tools of the server over statements, and what all its tools return: a text for the model, and
the same in values for programs.

The name of a method is the tool's name, its docstring and annotations are what a model reads of the
tool. Tools over facts are those of every adapter (``recallm.adapting.FactTools``). Some clients
show the values to a model too. No text in them can therefore be read as one of the delimiters of
recalled text, and the values open with the notice that recalled text is data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field

from recallm import KnowledgeUpdate, RecalledStatement, RecallM
from recallm.adapting import (
    NOTICE,
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
    without_delimiters,
)

_HUMAN = SPEAKER_NAMES["human"]

_KnownOn = Annotated[str | None, "A day, YYYY-MM-DD: what was known then; none: what is known now."]


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a tool: ``text`` for the model, ``values`` for the program."""

    text: str
    values: BaseModel | None = None


class Remembered(BaseModel):
    """What ``remember`` wrote."""

    id: str
    t_index: int
    statements: list[str] = Field(description="Ids.")
    concepts: list[str] = Field(description="Names.")

    @classmethod
    def of(cls, update: KnowledgeUpdate) -> Remembered:
        """The outcome of a knowledge update."""
        return cls(
            id=update.id,
            t_index=update.t_index,
            statements=list(update.statements),
            concepts=_harmless(list(update.concepts)),
        )


class Statements(BaseModel):
    """Statements in the order in which they became true."""

    notice: str
    # Clients check each result against the schema: a schema of every field takes them 10 ms.
    statements: list[dict[str, Any]] = Field(
        description="Each with id, text, t_index, timestamp (ISO 8601), speaker, source, session, "
        "score (0 to 1), concepts (names), passage (an id) and metadata; null where unknown."
    )
    left_out: int = Field(description="How many more there are.")

    @classmethod
    def of(cls, rows: list[dict[str, Any]], left_out: int) -> Statements:
        """The rows of the statements that are shown; ``left_out`` counts those that are not."""
        return cls(notice=NOTICE, statements=_harmless(rows), left_out=left_out)


class FactRows(BaseModel):
    """The results of a tool over facts."""

    notice: str
    rows: list[dict[str, Any]]

    @classmethod
    def of(cls, reply: FactReply) -> FactRows:
        """The rows that a tool over facts shows."""
        return cls(notice=NOTICE, rows=_harmless(reply.rows))


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


def _harmless(value: Any) -> Any:
    """JSON values in which no text can be read as a delimiter."""
    if isinstance(value, str):
        return without_delimiters(value)
    if isinstance(value, list):
        return [_harmless(each) for each in value]
    if isinstance(value, dict):
        return {_harmless(key): _harmless(each) for key, each in value.items()}
    return value
