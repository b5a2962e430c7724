"""Recalled statements in a framework: as data in a prompt, and as documents with metadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recallm.ground.untrusted_text import as_data
from recallm.memory import RecallM
from recallm.recall.results import RecalledContext, RecalledStatement

_MAX_TRIES = 8

_MAX_QUESTION = 4000
"""Characters of the user's words that recall asks with."""


def delimiter_tokens(memory: RecallM) -> int:
    """The tokens of the delimiters alone, by the memory's counter."""
    return memory.count_tokens(as_data("\n"))


def data_within(
    max_tokens: int | None, memory: RecallM, recall: Callable[[int | None], RecalledContext]
) -> str:
    """What ``recall`` gives, as delimited data of at most ``max_tokens`` tokens, delimiters
    included, by the memory's counter; '' where nothing fits. ``recall`` is given a ``max_tokens``
    for its own text."""
    if max_tokens is None:
        return as_data(recall(None).text)
    room = max_tokens - delimiter_tokens(memory)
    for _ in range(_MAX_TRIES):
        if room <= 0:
            break
        text = as_data(recall(room).text)
        excess = memory.count_tokens(text) - max_tokens
        if excess <= 0:
            return text
        # A user's own counter may count the delimited text otherwise than the sum of its parts.
        room -= max(excess, room // 8)
    return ""


def shortened_question(question: str) -> str:
    """The beginning and the end of a long question: a question about a document stands before the
    document or after it."""
    if len(question) <= _MAX_QUESTION:
        return question
    half = _MAX_QUESTION // 2
    return f"{question[:half]}\n{question[-half:]}"


def statement_metadata(statement: RecalledStatement) -> dict[str, Any]:
    """The metadata of a document that shows a recalled statement, in JSON values, None where
    unknown: ``t_index``, ``timestamp`` (ISO 8601), ``speaker``, ``source``, ``session``, ``score``,
    ``concepts`` (names) and ``passage`` (an id), and the statement's own metadata. Own keys that
    are also one of these stand under ``own``, so that none is lost."""
    timestamp = statement.timestamp
    fields = {
        "t_index": statement.t_index,
        "timestamp": None if timestamp is None else timestamp.isoformat(),
        "speaker": statement.speaker,
        "source": statement.source,
        "session": statement.session,
        "score": statement.score,
        "concepts": list(statement.concepts),
        "passage": statement.passage,
    }
    reserved = {*fields, "own"}
    own = {key: value for key, value in statement.metadata.items() if key not in reserved}
    clashing = {key: value for key, value in statement.metadata.items() if key in reserved}
    return {**fields, **own, **({"own": clashing} if clashing else {})}
