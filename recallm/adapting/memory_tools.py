"""Tools over a memory as a language model calls them: statements with their ids, within a budget;
forgetting by these ids or by what is mentioned; and ``MemoryTools``, from whose methods an adapter
makes its tools: the name of a method is the tool's name, its docstring and annotations are the
tool's description.

Bad arguments raise ``InvalidInputError``, whose message is for the model.
"""

# LlamaIndex reads the annotations of the methods: they must not be strings.

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from recallm.adapting.arguments import RecallOptions, check_budget, checked_scope, checked_session
from recallm.adapting.conversation import Conversation, Scope
from recallm.adapting.fact_tools import FactReply
from recallm.adapting.messages import SPEAKER_NAMES, MessageFilter, Redact
from recallm.adapting.recalled_text import places_within, statement_fields
from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.ground.untrusted_text import as_data, shown_name, storable
from recallm.memory import RecallM
from recallm.recall.results import RecalledStatement

WholeSentences: TypeAlias = Annotated[
    str, "One or more whole sentences that are understood without the conversation."
]
Query: TypeAlias = Annotated[str, "What to look for: a question, or names and words."]
ForgottenAbout: TypeAlias = Annotated[
    str | None,
    "A name or a noun: all statements that mention it are forgotten, and stored items that mention "
    "it are forgotten whole.",
]
"""Arguments of the tools of all adapters, with what a model reads of them."""

NOTHING_KNOWN = "Nothing is remembered about that."
TOO_LONG = "What is remembered about that is too long to be shown."


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


def statement_row(statement: RecalledStatement) -> dict[str, Any]:
    """A statement in plain values, as checkpoints can hold them."""
    return {
        "id": statement.id,
        "text": statement.text,
        "metadata": dict(statement.metadata),
        **statement_fields(statement),
    }


def statements_reply(
    memory: RecallM, statements: Sequence[RecalledStatement], max_tokens: int | None
) -> FactReply:
    """The result of a tool that shows ``statements``, a line each with its id: those of the highest
    scores that fit into ``max_tokens``, by the memory's counter."""
    if not statements:
        return FactReply(NOTHING_KNOWN)
    lines = [_line_with_id(statement) for statement in statements]
    scores = [statement.score or 0.0 for statement in statements]
    shown = places_within(
        lines,
        scores,
        lambda text: max_tokens is None or memory.count_tokens(text) <= max_tokens,
    )
    if not shown:
        return FactReply(TOO_LONG)
    text = as_data("\n".join(lines[place] for place in shown))
    return FactReply(text, (statement_row(statements[place]) for place in shown))


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


# -- the tools -----------------------------------------------------------------------------------


class MemoryTools:
    """The operations of a memory that a model calls.

    A result shows at most ``limit`` statements and has at most ``max_tokens`` tokens, by the
    memory's counter. What the model writes belongs to ``session``, and the speaker is "AI"; with
    ``scope="session"`` the tools see and forget that session alone. ``redact`` changes what a model
    writes or asks with, and the session's name.
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
        redact: Redact | None = None,
    ) -> None:
        self._redacted = MessageFilter(redact=redact).redacted
        self._limit = checks.positive(limit, "limit")
        RecallOptions(limit=limit, max_tokens=max_tokens).check(memory)
        check_budget(memory, max_tokens)
        self._max_tokens = max_tokens
        self._memory = memory
        self._conversation = Conversation(
            memory=memory,
            session=None if session is None else checked_session(self._redacted(session)),
            scope=checked_scope(scope),
        )
        self._conversation.only_session()  # checks that there is one, where it is the scope

    def remember(self, text: WholeSentences) -> FactReply:
        """Remember something for later conversations.

        Name people and things in full, and say when it holds if that matters.
        """
        update = self._memory.update(
            checked_text(self._redacted(text), "text"),
            speaker=SPEAKER_NAMES["ai"],  # a text that begins "Human: …" is the model's too
            session=self._conversation.session,
            timestamp=self._memory.now(),
            metadata={"tool": "remember"},
        )
        ids = list(update.statements) or [update.id]
        return FactReply(f"Remembered as {', '.join(ids)}.", ({"id": id} for id in ids))

    def recall(self, query: Query) -> FactReply:
        """Look up what is remembered from earlier conversations: facts, events, preferences.

        Gives statements in the order in which they became true, each with its id and who said it;
        what AI said, the user did not say.
        """
        context = self._conversation.recall(
            self._redacted(checked_text(query, "query")),
            limit=self._limit,
            asker=SPEAKER_NAMES["human"],
        )
        return statements_reply(self._memory, context.statements, self._max_tokens)

    def history(
        self, about: Annotated[str, "A name or a noun, such as 'Ada' or 'the garden'."]
    ) -> FactReply:
        """List everything that mentions a name or a noun, oldest first: how something changed.

        Where there is more than fits, the latest is shown.
        """
        session = self._conversation.only_session()
        found = [
            statement
            for statement in self._memory.history(self._redacted(checked_text(about, "about")))
            if session in (None, statement.session)
        ]
        rest = self._memory.count_tokens("\n" + _earlier_text(len(found)))
        budget = None if self._max_tokens is None else max(0, self._max_tokens - rest)
        reply = statements_reply(self._memory, found[-self._limit :], budget)
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
        session = self._conversation.only_session()
        return FactReply(forgotten_by_model(self._memory, id=id, about=about, session=session))


def _earlier_text(count: int) -> str:
    return f"{count} earlier statements are not shown; recall finds them by a question."
