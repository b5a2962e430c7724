"""What tools over a memory share: statements with their ids, within a budget, and forgetting by
these ids or by what is mentioned.

Bad arguments raise ``InvalidInputError``, whose message is for the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from recallm.adapting.fact_tools import FactReply
from recallm.adapting.recalled_text import places_within, statement_fields
from recallm.errors import InvalidInputError
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
