"""Tools over a memory, as a language model calls them: arguments are plain values, results are text
of a bounded length. Each adapter makes its tools from methods of ``MemoryTools`` and ``FactTools``:
the name of a method is the tool's name, its docstring and annotations are what a model reads.

Bad arguments raise ``InvalidInputError``, whose message is for the model.
"""

# LlamaIndex reads the annotations of the methods: they must not be strings.

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from recallm.adapting.arguments import (
    RecallOptions,
    check_budget,
    named_moment,
    time_of_writing,
)
from recallm.adapting.conversation import Conversation
from recallm.adapting.messages import MessageFilter, Redact
from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.ground.untrusted_text import as_data, claimed_roles, shown_name, storable
from recallm.memory import RecallM
from recallm.memory.spoken import SPEAKER_NAMES
from recallm.recall.results import RecalledStatement

_USER = SPEAKER_NAMES["human"]


def says(description: str) -> Any:
    """What a model reads of an argument."""
    return Field(description=description)


WholeSentences: TypeAlias = Annotated[
    str, says("One or more whole sentences that are understood without the conversation.")
]
Query: TypeAlias = Annotated[str, says("What to look for: a question, or names and words.")]
ForgottenAbout: TypeAlias = Annotated[
    str | None,
    says(
        "A name or a noun: all statements that mention it are forgotten, and stored items that "
        "mention it are forgotten whole."
    ),
]
"""Arguments of the tools of several adapters."""

_Limit: TypeAlias = Annotated[int | None, says("At most this many statements.")]
_KnownOn: TypeAlias = Annotated[
    str | None, says("A day, YYYY-MM-DD: what was known then; none: what is known now.")
]


class MemoryTools:
    """The operations of a conversation's memory that a model calls.

    A result shows at most ``limit`` statements, or as many as the model asks for, and has at most
    ``max_tokens`` tokens, by the memory's counter; it says how many more there are. ``redact``
    changes what the model writes or asks with.

    Raises:
        InvalidInputError: an argument cannot be used.

    """

    NAMES = ("remember", "recall", "history", "forget")

    def __init__(
        self,
        conversation: Conversation,
        *,
        limit: int = 10,
        max_tokens: int | None = 1000,
        redact: Redact | None = None,
    ) -> None:
        memory = conversation.memory
        self._limit = checks.positive(limit, "limit")
        RecallOptions(limit=limit, max_tokens=max_tokens).check(memory)
        check_budget(memory, max_tokens)
        conversation.only_session()  # checks that there is one, where it is the scope
        self._redacted = MessageFilter(redact=redact).redacted
        self._max_tokens = max_tokens
        self._memory = memory
        self._conversation = conversation

    def remember(self, text: WholeSentences) -> str:
        """Remember something for later conversations.

        Name people and things in full, and say when it holds if that matters.
        """
        return self._remembered(text)

    def _remembered(
        self, text: str, speaker: str = SPEAKER_NAMES["ai"], date: str | None = None
    ) -> str:
        # A text that begins "Human: …" has this speaker too.
        update = self._memory.update(
            checked_text(self._redacted(text), "text"),
            speaker=speaker,
            session=self._conversation.session,
            timestamp=time_of_writing(self._memory, date),
            metadata={"tool": "remember"},
        )
        ids = update.statements or (update.id,)
        return f"Saved as {', '.join(ids)}."

    def recall(
        self,
        query: Query,
        limit: _Limit = None,
        speaker: Annotated[str | None, says("Only what this speaker said.")] = None,
        since: Annotated[
            str | None, says("Only what was said on this day, YYYY-MM-DD, or later.")
        ] = None,
        until: Annotated[
            str | None, says("Only what was said on this day, YYYY-MM-DD, or earlier.")
        ] = None,
        as_of: _KnownOn = None,
    ) -> str:
        """Look up what is remembered: facts, events, preferences.

        Gives statements in the order in which they became true, each with its id and who said it;
        a later one replaces an earlier one that it contradicts. What AI said, the user did not say.
        """
        context = self._conversation.recall(
            self._redacted(checked_text(query, "query")),
            limit=self._limit if limit is None else limit,
            speaker=_USER if is_user(speaker) else speaker,
            since=checks.optional(named_moment, since, "since"),
            until=checks.optional(named_moment, until, "until"),
            as_of=checks.optional(named_moment, as_of, "as_of"),
            asker=_USER,
        )
        return self._shown(context.statements, context.more, "{} more match and are not shown.")

    def history(
        self,
        concept: Annotated[str, says("A name or a noun, such as 'Ada' or 'the garden'.")],
        limit: _Limit = None,
        as_of: _KnownOn = None,
    ) -> str:
        """List all statements that mention a person, a thing or an idea, oldest first.

        Where there is more than fits, the latest is shown.
        """
        session = self._conversation.only_session()
        found = [
            statement
            for statement in self._memory.history(
                self._redacted(checked_text(concept, "concept")),
                as_of=checks.optional(named_moment, as_of, "as_of"),
            )
            if session in (None, statement.session)
        ]
        latest = found[-(self._limit if limit is None else checks.positive(limit, "limit")) :]
        return self._shown(latest, len(found) - len(latest), "{} earlier ones are not shown.")

    def forget(
        self,
        id: Annotated[str | None, says("The id of one statement, as recall shows it.")] = None,
        about: ForgottenAbout = None,
    ) -> str:
        """Forget for good: one statement by its id, or all statements that mention a name.

        Give exactly one of the two. This cannot be undone.
        """
        session = self._conversation.only_session()
        return forgotten_by_model(self._memory, id=id, about=about, session=session)

    def _shown(self, statements: Sequence[RecalledStatement], beyond: int, more: str) -> str:
        return statements_reply(
            self._memory, statements, self._max_tokens, beyond=beyond, more=more
        )


def is_user(speaker: str | None) -> bool:
    """Whether a model names the user's role as a speaker."""
    return speaker is not None and claimed_roles(speaker) == {"human"}


def checked_text(text: str, argument: str) -> str:
    """A model's text as it can be stored: lone surrogates become question marks."""
    if not text.strip():
        raise InvalidInputError(f"{argument} is empty; nothing was done.", argument=argument)
    return storable(text)


# -- showing -----------------------------------------------------------------------------------


def _line_with_id(statement: RecalledStatement) -> str:
    """The statement on a line, behind the id by which ``forgotten_by_model`` forgets it."""
    if statement.passage is None:
        # Neither a revised context nor a fact without a passage can be forgotten by an id.
        id = "summary" if statement.fact is None else "fact"
    else:
        # A fact that no text states is forgotten with its passage, which has no other.
        id = shown_name(statement.id if statement.fact is None else statement.passage)
    return f"[{id}] {statement.line}"


def statements_reply(
    memory: RecallM,
    statements: Sequence[RecalledStatement],
    max_tokens: int | None,
    *,
    beyond: int = 0,
    more: str = "",
) -> str:
    """``bounded_reply`` of ``statements``, those of the highest scores, each with its id."""
    return bounded_reply(
        memory,
        [_line_with_id(statement) for statement in statements],
        values=[statement.score or 0.0 for statement in statements],
        max_tokens=max_tokens,
        beyond=beyond,
        more=more,
    )


def bounded_reply(
    memory: RecallM,
    lines: Sequence[str],
    *,
    values: Sequence[float],
    max_tokens: int | None,
    beyond: int,
    more: str,
) -> str:
    """A result that shows ``lines`` as data, those of the greatest ``values`` that fit into
    ``max_tokens``; among equals the last ones. ``more`` says how many others there are, ``beyond``
    of them not among the lines; '' says nothing."""
    if not lines:
        return "Nothing is remembered about that."
    rest = more and "\n" + more.format(len(lines) + beyond)

    def text_of(places: Iterable[int]) -> str:
        return as_data("\n".join(lines[place] for place in sorted(places)))

    def is_too_long(places: Iterable[int]) -> bool:
        return max_tokens is not None and memory.count_tokens(text_of(places) + rest) > max_tokens

    shown = sorted(range(len(lines)), key=lambda place: (-values[place], -place))
    if is_too_long(shown):
        # A line that is too long by itself must not exclude the others.
        best = [place for place in shown if not is_too_long([place])]
        counts = range(1, len(best) + 1)
        shown = best[: bisect_left(counts, True, key=lambda count: is_too_long(best[:count]))]
    if not shown:
        return "What is remembered about that is too long to be shown."
    text = text_of(shown)
    left_out = len(lines) - len(shown) + beyond
    if left_out and more:
        text += "\n" + more.format(left_out)
    return text


# -- forgetting --------------------------------------------------------------------------------


def forgotten_by_model(
    memory: RecallM, *, id: str | None, about: str | None, session: str | None = None
) -> str:
    """Forget one statement, fact or passage by the ``id`` that tools show, or all that mention a
    concept, of ``session`` alone where one is given; say what was forgotten."""
    # Tools show an unusual id in quotation marks.
    id, about = (id or "").strip().strip('"'), storable((about or "").strip())
    if bool(id) == bool(about):
        raise InvalidInputError(
            "Give exactly one of id and about; nothing was forgotten.", argument="id"
        )
    return _forget_one(memory, id, session) if id else _forget_about(memory, about, session)


def _forget_one(memory: RecallM, id: str, session: str | None) -> str:
    passage = memory.get(id) or memory.get(id.rpartition("#")[0])
    if passage is not None and session not in (None, passage.session or passage.source):
        passage = None
    is_whole = passage is not None and passage.id == id
    if passage is None or not (memory.forget(id=id) if is_whole else memory.forget(statement=id)):
        raise InvalidInputError(
            f"No statement has the id {id!r}; nothing was forgotten. Recalled statements show "
            "their ids.",
            argument="id",
        )
    kind = "statement" if not is_whole else "memory" if passage.text else "fact"
    return f"Forgot the {kind} {id}."


def _forget_about(memory: RecallM, about: str, session: str | None) -> str:
    if session is None:
        forgotten = memory.forget(concept=about)
        counts = {"statement": forgotten.statements, "fact": forgotten.triplets}
    else:
        statements = sum(
            memory.forget(statement=statement.id).statements
            for statement in memory.history(about)
            if statement.session == session
        )
        facts = sum(memory.forget(id=id).triplets for id in _facts_about(memory, about, session))
        counts = {"statement": statements, "fact": facts}
    if not any(counts.values()):
        return f"Nothing is remembered that mentions {about!r}; nothing was forgotten."
    texts = [f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items() if count]
    return (
        f"Forgot {' and '.join(texts)} that mention{'s' * (sum(counts.values()) == 1)} {about!r}."
    )


def _facts_about(memory: RecallM, about: str, session: str) -> list[str]:
    """The passages of the facts of ``session`` that have the concept as an end."""
    with memory.graph.reader() as reader:
        found = reader.entities(concepts={memory.graph.concept_name(about)})
        ends = {entity.id for entity in found}
        shown = [*reader.triplet_evidence(subjects=ends), *reader.triplet_evidence(objects=ends)]
        ids = {triplet.passage for triplet in shown if triplet.passage is not None}
        passages = reader.passages(ids=ids)
    return [
        passage.id
        for passage in passages
        if not passage.text and (passage.session or passage.source) == session
    ]
