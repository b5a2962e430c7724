"""What tools over a memory share: statements with their ids as a model sees them, within a budget,
and forgetting by these ids or by what is mentioned.

Bad arguments raise ``InvalidInputError``, whose message is for the model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from recallm.adapting.postponing import extract_postponed
from recallm.adapting.recalled_text import statement_fields
from recallm.errors import InvalidInputError
from recallm.memory import RecallM
from recallm.model import Passage
from recallm.results import RecalledStatement
from recallm.untrusted_text import as_data, shown_name, storable

__all__ = [
    "checked_text",
    "forget_everything",
    "forgotten_by_model",
    "line_with_id",
    "passage_named",
    "plain_id",
    "shown_with_ids",
    "statement_row",
    "statements_within",
]


def checked_text(text: str, argument: str) -> str:
    """A model's text as it can be stored: lone surrogates become question marks.

    Raises:
        InvalidInputError: the text is blank.

    """
    if not text.strip():
        raise InvalidInputError(f"{argument} is empty; nothing was done.", argument=argument)
    return storable(text)


# -- showing -----------------------------------------------------------------------------------


def shown_with_ids(statements: Sequence[RecalledStatement]) -> str:
    """The statements as data, a line each with its id."""
    return as_data("\n".join(map(line_with_id, statements)))


def line_with_id(statement: RecalledStatement) -> str:
    """The statement on a line, behind the id by which ``forgotten_by_model`` forgets it."""
    if statement.passage is None:
        # Neither a revised context nor a fact without a passage can be forgotten by an id.
        id = "summary" if statement.fact is None else "fact"
    else:
        # A fact that no text states is forgotten with its passage, which has no other.
        id = shown_name(statement.id if statement.fact is None else statement.passage)
    return f"[{id}] {statement.line}"


def statements_within(
    memory: RecallM, statements: Sequence[RecalledStatement], max_tokens: int | None
) -> list[RecalledStatement]:
    """Those of ``statements`` that ``shown_with_ids`` shows in at most ``max_tokens``, by the
    memory's counter. What is too long by itself is left out first, then the statements of the
    lowest score; among equals the first ones."""

    def is_too_long(found: Sequence[RecalledStatement]) -> bool:
        return max_tokens is not None and memory.count_tokens(shown_with_ids(found)) > max_tokens

    if not is_too_long(statements):
        return list(statements)
    # A statement that is too long by itself must not exclude the others.
    found = [statement for statement in statements if not is_too_long([statement])]
    worst_first = sorted(range(len(found)), key=lambda place: found[place].score or 0)

    def without_worst(count: int) -> list[RecalledStatement]:
        left_out = set(worst_first[:count])
        return [it for place, it in enumerate(found) if place not in left_out]

    least = bisect_left(
        range(len(found)), True, key=lambda count: not is_too_long(without_worst(count))
    )
    return without_worst(least)


def statement_row(statement: RecalledStatement) -> dict[str, Any]:
    """A statement in plain values, as checkpoints can hold them."""
    return {
        "id": statement.id,
        "text": statement.text,
        "metadata": dict(statement.metadata),
        **statement_fields(statement),
    }


# -- forgetting --------------------------------------------------------------------------------


def plain_id(id: str) -> str:
    """An id without the quotation marks in which tools show an unusual one."""
    return id.strip().strip('"')


def passage_named(memory: RecallM, id: str, session: str | None = None) -> Passage | None:
    """The passage with this id, or of the statement with this id; None where the memory, or the
    ``session`` if one is given, has none."""
    passage = memory.get(id) or memory.get(id.rpartition("#")[0])
    is_known = passage is not None and session in (None, passage.session or passage.source)
    return passage if is_known else None


def forgotten_by_model(
    memory: RecallM, *, id: str | None, about: str | None, session: str | None = None
) -> str:
    """Forget one statement, fact or passage by the ``id`` that tools show, or all that mention a
    concept, of ``session`` alone where one is given; say what was forgotten.

    Raises:
        InvalidInputError: not exactly one of ``id`` and ``about`` is given, or nothing has the id.

    """
    id, about = plain_id(id or ""), storable((about or "").strip())
    if bool(id) == bool(about):
        raise InvalidInputError(
            "Give exactly one of id and about; nothing was forgotten.", argument="id"
        )
    return _forget_one(memory, id, session) if id else _forget_about(memory, about, session)


def forget_everything(memory: RecallM, session: str | None = None) -> str:
    """Forget all of the memory, or of ``session``; say how much."""
    if session is None:
        forgotten = memory.forget(everything=True)
    else:
        forgotten = memory.forget(session=session)
    return f"Forgot everything: {forgotten.passages} memories."


def _forget_one(memory: RecallM, id: str, session: str | None) -> str:
    passage = passage_named(memory, id, session)
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
